// The arithmetic of a weight, from the scores of its row or column.

/** @import { Cell, Line, Normalised } from "./types" */
import { exact, factor, list, range, short, sum } from "./formats.js";
import { at, data, digitsOf, held, setting, step, vector, words } from "./run.js";
import { hasTyped, typedWeight } from "./typed.js";

/**
 * Find the threshold above which the entries add up to one.
 *
 * @param {number[]} x
 * @param {1 | 2} half  2 for entmax with α = 1.5, which halves the scores
 * @returns {{ z: number[], tau: number, lines: Line[] }}
 */
function threshold(x, half) {
  const m = Math.max(...x);
  const z = x.map((v) => (v - m) / (setting.temperature * half));
  const falling = [...z].filter((v) => v !== -Infinity).sort((a, b) => b - a);
  let tau = 0;
  falling.forEach((v, place) => {
    const n = place + 1;
    const first = falling.slice(0, n);
    const mean = sum(first) / n;
    const spread = sum(first.map((u) => u * u)) - n * mean * mean;
    const made = half === 1 ? mean - 1 / n : mean - Math.sqrt(Math.max((1 - spread) / n, 0));
    if (made <= v && (half === 2 || 1 + n * v > sum(first))) tau = made;
  });
  const of = `${half === 1 ? "" : "½ "}(s − ${factor(m)})${setting.temperature === 1 ? "" : " / " + short(setting.temperature)}`;
  return { z, tau, lines: [[words.largest, exact(m)], [words.below, `${of} = ${list(z)}`], [words.threshold, `τ = ${exact(tau)}`]] };
}

/**
 * Say how large the numbers are whose sums the scores of a head are.
 *
 * @param {number} head
 */
function sizeOfTerms(head) {
  if (!step("queries")) return 0;
  /** @param {string} name @param {number} h @param {number} n */
  const length = (name, h, n) => Math.hypot(...range(n).map((row) => Math.hypot(...vector(name, h, row, setting.d_k[head]))));
  const size = Math.abs(setting.scale[head]) * length("queries", head, data.queries.length);
  return size * length("keys", Math.floor(head / setting.group), data.keys.length);
}

/**
 * Share among the largest, which tells rounding from what is apart.
 *
 * @param {number[]} x
 * @param {number} place
 * @param {number} head
 * @returns {Normalised}
 */
export function winners(x, place, head) {
  const m = Math.max(...x);
  const low = Math.min(...x.filter((v) => v !== -Infinity));
  const size = Math.max(Math.abs(m), Math.abs(low), sizeOfTerms(head));
  const least = m - Math.max(1e-9 * (m - low), 2 ** -44 * size); // equal but for rounding is equal
  const n = x.filter((v) => v >= least).length;
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
  const { z, tau, lines } = threshold(x, power);
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
