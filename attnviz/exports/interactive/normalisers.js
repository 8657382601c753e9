// The arithmetic of a weight, from the scores of its row or column.

/** @import { Cell, Line, Normalised, Said } from "./types" */
import { sizeOfTerms, thresholdOf, winnersOf } from "../../pictures/answer/rows.js";
import { exact, factor, list, short } from "./formats.js";
import { at, data, setting, words } from "./run.js";
import { READ, hasTypedWeight, typedWeight } from "./typed.js";

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
  const { n, weights } = winnersOf(x, sizeOfTerms(head, shape, READ));
  return [[[words.largest, exact(Math.max(...x))]], weights[place] ? `1 / ${n}` : "0", weights[place]];
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

/**
 * Say a weight by the scores of its row or column.
 *
 * @param {number[]} x
 * @param {number} place
 * @param {Cell} cell
 * @param {Line[]} lines  to which those before the last are added
 * @returns {Said}
 */
export function saidWeight(x, place, cell, lines) {
  const own = { title: words.weight, isNew: true };
  if (x[place] === -Infinity) return { text: "", value: 0, size: 0, ...own };
  if (hasTypedWeight) return { ...typedWeight(x, place, cell, lines), ...own };
  const isNumeric = x.every((v) => v < Infinity), found = isNumeric ? written(x, place, cell[0]) : null;
  const [before, text, value, size = Math.abs(value)] = found ?? [[], "", at("weights", ...cell)]; // no line says it
  lines.push(...before);
  return { text, value, size, ...own };
}
