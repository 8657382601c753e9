// What a cell gives to the functions of its rows, and the normalisers that sort: for the page and for the interactive file.

/** @import { Parameter, Read, Shape, TypedScore } from "./types" */
import { help } from "../../live/help.js";

const HIDDEN = ["d_a", "d_b", "d_c", "d_e", "d_f", "d_g", "d_h"];

/** @param {number} n @returns {number[]} the numbers from 0 below n */
const below = (n) => Array.from({ length: n }, (_, at) => at);

/**
 * Read the numbers of one parameter for a query and a key of a head; what is off is zeros.
 *
 * @param {Parameter} parameter
 * @param {number} h
 * @param {number} j
 * @param {Record<string, number>} lengths
 * @param {Read} read
 */
function argument({ step: name, role, axes }, h, j, lengths, { has, at }) {
  const [rows = 0, columns = 0] = axes.map((axis) => lengths[axis]);
  if (!has(name)) return below(rows).fill(0);
  if (role === "number") return at(name, h, 0);
  if (role === "list") return at(name, h, j);
  if (role === "rows") return below(columns).map((d) => at(name, h, j, d));
  if (role === "columns") return below(rows).map((d) => at(name, h, d, j));
  if (role === "vector") return below(rows).map((d) => at(name, h, d));
  return below(rows).map((r) => below(columns).map((d) => at(name, h, r, d)));
}

/** @param {number} h @param {number} i @param {number} j @param {number} n @param {number} m @param {number} heads */
const places = (h, i, j, n, m, heads) => ({ i, j, h: h + 1, n: m, n_query: n, n_key: m, n_heads: heads });

/**
 * What the function of a score takes in a cell.
 *
 * @param {TypedScore} typed
 * @param {number[]} q
 * @param {number[]} k
 * @param {[head: number, query: number, key: number]} cell
 * @param {Shape} shape
 * @param {Read} read
 * @returns {Record<string, unknown>}
 */
export function scoreArguments(typed, q, k, [h, i, j], { n, m, heads, hidden }, read) {
  /** @type {Record<string, number>} */
  const lengths = { d_q: q.length, d_k: k.length };
  for (const name of HIDDEN) lengths[name] = hidden;
  /** @type {Record<string, number>} */
  const sizes = {};
  for (const [each, name] of Object.entries(typed.sizes)) sizes[each] = lengths[name] || 1;
  /** @type {Record<string, unknown>} */
  const given = { q, k, ...lengths, ...places(h, i, j, n, m, heads), sizes };
  for (const each of typed.parameters) given[each.name] = argument(each, h, j, lengths, read);
  return given;
}

/**
 * What the function of a normaliser takes for one place of a row: its score, and those that are not masked.
 *
 * @param {number[]} row
 * @param {number} place
 * @param {[head: number, along: number]} where  the head, and the row or column
 * @param {{ temperature: number, n: number, heads: number }} setting
 */
export function rowArguments(row, place, [h, along], { temperature, n, heads }) {
  const open = below(row.length).filter((at) => row[at] !== -Infinity || at === place);
  const s = open.map((at) => row[at]);
  const taking = s.filter((each) => each !== -Infinity).length;
  const given = { ...places(h, along, 0, n, row.length, heads), n: taking, s, x: s.map((each) => each / temperature), T: temperature };
  return { ...given, places: open, j: open.indexOf(place) };
}

/**
 * Find the threshold above which the entries add up to one: the largest is as far above it as its weight says.
 *
 * @param {number[]} x
 * @param {1 | 2} half  2 for entmax with α = 1.5, which halves the scores
 * @param {number} temperature
 * @returns {{ m: number, z: number[], tau: number }}
 */
export function thresholdOf(x, half, temperature) {
  const m = Math.max(...x), z = x.map((v) => (v - m) / (temperature * half)), weights = new Float64Array(x.length);
  help.above(Float64Array.from(z, (v) => v * half), weights, x.length, half);
  return { m, z, tau: -(Math.max(...weights) ** (1 / half)) };
}

/**
 * Share among the largest: what is equal to it but for rounding gets as much.
 *
 * @param {number[]} x
 * @param {number} size  of the numbers whose sums they are
 * @returns {{ n: number, weights: Float64Array }} how many share, and what each gets
 */
export function winnersOf(x, size) {
  const weights = new Float64Array(x.length);
  help.winners(Float64Array.from(x), weights, x.length, size);
  return { n: weights.filter(Boolean).length, weights };
}

/**
 * Say how large the numbers are whose sums the scores of a head are.
 *
 * @param {number} head
 * @param {{ n: number, m: number, width: number, group: number, scale: number }} shape
 * @param {Read} read
 */
export function sizeOfTerms(head, { n, m, width, group, scale }, { has, at }) {
  if (!has("queries")) return 0;
  /** @param {string} name @param {number} h @param {number} rows */
  const length = (name, h, rows) => Math.hypot(...below(rows).map((row) => Math.hypot(...below(width).map((d) => at(name, h, row, d)))));
  return Math.abs(scale) * length("queries", head, n) * length("keys", Math.floor(head / group), m);
}
