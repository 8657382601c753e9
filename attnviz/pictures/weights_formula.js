// The formula from the scores to the weights, as `stages.py` writes it.

/**
 * What it is made of, as `stages.py` says it.
 *
 * @typedef {object} WeightsFormula
 * @property {string} normaliser
 * @property {boolean} is_over_root
 * @property {boolean} has_bias
 * @property {number | null} scale
 * @property {number} softcap
 * @property {number} temperature
 */

const BELOW_THE_LINE = "₀₁₂₃₄₅₆₇₈₉";

/** A number with six digits at most, without zeros at its end. @param {number} x */
function general(x) {
  const [digits, power] = x.toExponential(5).split("e");
  const exponent = Number(power);
  if (exponent >= -4 && exponent < 6) return String(Number(x.toPrecision(6)));
  return `${Number(digits)}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
}

/** @param {WeightsFormula} of */
export function weightsFormula({ normaliser, is_over_root, has_bias, scale, softcap, temperature }) {
  let inner = scale !== null ? `${general(scale)} S` : is_over_root ? "S / √d_k" : "S";
  if (softcap) inner = `cap${general(softcap).replace(/\d/g, (digit) => BELOW_THE_LINE[Number(digit)])}(${inner})`;
  if (has_bias) inner += " + bias";
  if (temperature !== 1) inner = `${inner === "S" ? inner : `(${inner})`} / ${general(temperature)}`;
  return `${normaliser}(${inner})`;
}
