// Numbers as text, to the digit as `number_format.py` and `explanation_parts.py` write them, and sums as NumPy adds up.

/** @import { Percents } from "./types" */

const MORE = 60; // digits after those that are kept, by which a tie is told from what is near one
const SMALLEST = 1e-4, LARGEST = 1e6; // between these a number is written out
const NEARLY_ZERO = "~0", ROUNDING = 1e-12;
const PLACES = 3, WHOLE = 1000, SMALL = 0.01, TINY = 1e-6;
const IN_TEXT = /\$[^$]*\$|`[^`]*`|“[^“”]*”|„[^„“]*“|(?<![\w.:])(\d+)\.(\d+)(?!\.?\d)/g;
const LISTED = "[−~]?\\d+(?:,\\d+)?(?:e−?\\d+)?";
const LIST = new RegExp(`(?<!\\d)${LISTED}(?:, ${LISTED})+`, "g");

/**
 * Digits as they are rounded, or cut where what follows is exactly a half and the last of them even, as Python does it.
 *
 * @param {string} rounded  by JavaScript, which rounds every half up
 * @param {string} longer  the same with `MORE` digits
 */
function evenly(rounded, longer) {
  const cut = longer.slice(0, -MORE).replace(/\.$/, "");
  return /^50*$/.test(longer.slice(-MORE)) && "02468".includes(cut.slice(-1)) ? cut : rounded;
}

/** @param {number} x @param {number} places @returns {string} */
export const fixed = (x, places) => evenly(x.toFixed(places), x.toFixed(Math.min(places + MORE, 100)));

/** @param {number} x @param {number} places @returns {[digits: string, power: number]} */
function exponential(x, places) {
  const [rounded, longer] = [places, places + MORE].map((n) => x.toExponential(n).split("e"));
  const digits = evenly(rounded[0], longer[0]);
  return [digits, Number((digits === rounded[0] ? rounded : longer)[1])];
}

/** @param {string} decimal */
const stripped = (decimal) => (decimal.includes(".") ? decimal.replace(/0+$/, "").replace(/\.$/, "") : decimal);

/** @param {string} text */
const minus = (text) => text.replaceAll("-", "−");

/** Four significant digits. @param {number} x @param {number} [digits] @returns {string} */
export function short(x, digits = 4) {
  if (Number.isNaN(x)) return "–";
  if (!Number.isFinite(x)) return x > 0 ? "∞" : "−∞";
  if (Math.abs(x) < ROUNDING) return x ? NEARLY_ZERO : "0";
  const [mantissa, power] = exponential(x, digits - 1);
  const size = Math.abs(Number(`${mantissa}e${power}`));
  const isPlain = size >= SMALLEST && size < LARGEST;
  return minus(isPlain ? stripped(fixed(x, Math.max(digits - 1 - power, 0))) : `${stripped(mantissa)}e${power}`);
}

/** A number with the six digits that a bar shows; null for what is not finite. @param {number} x */
export function plain(x) {
  return Number.isFinite(x) ? (x ? Number(exponential(x, 5).join("e")) : x) : null;
}

/** Fill in the names in braces; a doubled brace stands for itself. @param {string} template @param {Record<string, string | number>} values */
export const fill = (template, values) =>
  template.replace(/\{\{|\}\}|\{(\w+)\}/g, (found, name) => (name === undefined ? found[0] : String(values[name])));

/** @param {ArrayLike<number>} x @param {number} [start] @param {number} [n] @returns {number} added up in the order of NumPy */
export function sumOf(x, start = 0, n = x.length) {
  if (n > 128) {
    const half = Math.floor(n / 2) - (Math.floor(n / 2) % 8);
    return sumOf(x, start, half) + sumOf(x, start + half, n - half);
  }
  let total = 0, at = 0;
  if (n >= 8) {
    const eight = Array.from({ length: 8 }, (_, d) => x[start + d]);
    for (at = 8; at + 8 <= n; at += 8) for (let d = 0; d < 8; d++) eight[d] += x[start + at + d];
    const [a, b, c, d, e, f, g, h] = eight;
    total = a + b + (c + d) + (e + f + (g + h));
  }
  for (; at < n; at++) total += x[start + at];
  return total;
}

/** The size of the largest finite number, 0 if there is none. @param {Iterable<number>} numbers */
export function largest(numbers) {
  let most = 0;
  for (const x of numbers) if (Number.isFinite(x)) most = Math.max(most, Math.abs(x));
  return most;
}

/** The numbers with 0 for what is zero but for rounding beside the largest of them. @param {number[]} values */
export function settled(values) {
  const least = 1e-12 * Math.min(largest(values), 1e3);
  return values.map((x) => (Math.abs(x) <= least ? 0 : x));
}

/** Writes numbers in the language of the page. */
export class Numerals {
  /** @param {boolean} hasComma  between the digits @param {Percents} percents */
  constructor(hasComma, percents) {
    this.hasComma = hasComma;
    this.percents = percents;
  }

  /** A text with a comma in its numbers where the language has it, but in formulas and quotes. @param {string} text */
  localised(text) {
    if (!this.hasComma) return text;
    const written = text.replace(IN_TEXT, (found, whole, rest) => (whole === undefined ? found : `${whole},${rest}`));
    return written.replace(LIST, (found) => (/\d,\d/.test(found) ? found.replaceAll(", ", "; ") : found));
  }

  /** A number with so many decimals; ~0 for what is not zero but would read so. @param {number} x @param {number} [places] */
  number(x, places = PLACES) {
    if (x === 0 || !Number.isFinite(x)) return short(x);
    if (Math.abs(x) >= LARGEST) return this.localised(short(x, PLACES));
    const text = fixed(x, Math.abs(x) >= WHOLE ? 0 : places);
    return Number(text) ? this.localised(minus(text)) : NEARLY_ZERO;
  }

  /** What makes text of numbers that stand together, and of what they add up to. @param {number[]} values @returns {(x: number) => string} */
  writer(values) {
    const most = largest(values);
    if (most >= WHOLE) return (x) => this.number(x, 0);
    if (most > 0 && most < TINY) return (x) => (x ? this.localised(minus(scientific(x))) : "0");
    const places = most > 0 && most < SMALL ? PLACES - 1 - Math.floor(Math.log10(most)) : PLACES;
    return (x) => this.number(x, places);
  }

  /** A number as it stands after an operator: a negative one in brackets. @param {number} x */
  factor(x) {
    const text = this.number(x);
    return text.startsWith("−") ? `(${text})` : text;
  }

  /** A share in whole percent, halves upwards. @param {number} share */
  percent(share) {
    const { below, above, share: whole } = this.percents;
    if (share > 0 && share < 0.01) return below;
    if (share > 0.99 && share < 1 - 1e-12) return above;
    return fill(whole, { n: Math.floor(100 * share + 0.5) });
  }
}

/** @param {number} x */
function scientific(x) {
  if (!Number.isFinite(x)) return Number.isNaN(x) ? "nan" : x > 0 ? "inf" : "-inf";
  const [digits, power] = exponential(x, PLACES - 1);
  return `${digits}e${power < 0 ? "-" : "+"}${power < 0 || Math.abs(power) > 9 ? "" : "0"}${Math.abs(power)}`;
}
