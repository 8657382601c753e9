// The arithmetic of a weight, from the scores of its row or column.

/** @import { Cell, Line, Normalised } from "./types" */
import { sizeOfTerms, thresholdOf, winnersOf } from "../../pictures/answer/rows.js";
import { exact, factor, list, range, short } from "./formats.js";
import { at, data, digitsOf, held, setting, step, words } from "./run.js";
import { READ, hasTyped, typedWeight } from "./typed.js";

/**
 * Share among the largest, which tells rounding from what is apart.
 *
 * @param {number[]} x
 * @param {number} place
 * @param {number} head
 * @returns {Normalised}
 */
export function winners(x, place, head) {
  const shape = { n: data.queries.length, m: data.keys.length, width: setting.d_k[head], group: setting.group, scale: setting.scale[head] };
  // Equal but for rounding is equal.
  const { m, least, n } = winnersOf(x, sizeOfTerms(head, shape, READ));
  return [[[words.largest, exact(m)]], x[place] >= least ? `1 / ${n}` : "0", x[place] >= least ? 1 / n : 0];
}

/**
 * Give each what lies above a threshold, to a power: the order half-way between 1 and 2 takes the square of halves.
 *
 * @param {number[]} x
 * @param {number} place
 * @param {1 | 2} power
 * @returns {Normalised}
 */
export function above(x, place, power) {
  const { m, z, tau } = thresholdOf(x, power, setting.temperature);
  const of = `${power === 1 ? "" : "½ "}(s − ${factor(m)})${setting.temperature === 1 ? "" : " / " + short(setting.temperature)}`;
  /** @type {Line[]} */
  const lines = [[words.largest, exact(m)], [words.below, `${of} = ${list(z)}`], [words.threshold, `τ = ${exact(tau)}`]];
  return [lines, `max(${short(z[place])} − ${factor(tau)}, 0)${power === 2 ? "²" : ""}`, Math.max(z[place] - tau, 0) ** power, 1];
}

/**
 * What the row of a normaliser says in the place of a line; Python writes it here where the run has such a row.
 *
 * @type {(x: number[], place: number, head: number) => Normalised | null}
 */
const written = () => null;

/** @param {Cell} cell @returns {Line[]} */
export function weightLines([h, i, j]) {
  const recorded = at("weights", h, i, j);
  if (!step("masked")) return [[words.weight, `${words.given}: ${digitsOf("weights", recorded)}`]];
  if (step("weights")?.form === "rounded") return [[words.weight, digitsOf("weights", recorded)]];
  const over = setting.over === "keys";
  const x = range(over ? data.keys.length : data.queries.length).map((l) => (over ? at("masked", h, i, l) : at("masked", h, l, j)));
  const place = over ? j : i;
  /** @type {Line[]} */
  const rows = [[over ? words.row : words.column, list(x)]];
  if (x.every((v) => v === -Infinity)) return [...rows, [words.weight, held(0, recorded)]];
  if (hasTyped.normaliser) return [...rows, ...typedWeight(x, place, [h, i, j], recorded)];
  const said = x.some((v) => Number.isNaN(v) || v === Infinity) ? null : written(x, place, h);
  if (!said) return [...rows, [words.weight, exact(recorded)]];
  const [lines, text, made, size] = said;
  return [...rows, ...lines, [words.weight, `${text} = ${held(made, recorded, size)}`]];
}
