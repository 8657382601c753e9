// The score and the normaliser: the functions of one cell that Python writes, and their lines.

/** @import { Cell, Computation, Line, Parameter, Terms } from "./types" */
import { exact, list, products, range, sum, total } from "./formats.js";
import { at, data, held, setting, step, words } from "./run.js";

/** @type {Partial<Record<"score" | "normaliser", (given: Record<string, unknown>) => Computation>>} */
const TYPED = {};
const HIDDEN = ["d_a", "d_b", "d_c", "d_e", "d_f", "d_g", "d_h"];

export const hasTyped = { score: "score" in TYPED, normaliser: "normaliser" in TYPED };

/** @param {Terms} terms @returns {string} what is added up, with the sign that leads on to the sum */
function added(terms) {
  const [left, right] = terms.map((each) => each.map(Number));
  if (!left) return "";
  return `${right ? products(left, right) : total(left)} = `;
}

/**
 * Write the lines of a computation, the last of them held against what was recorded.
 *
 * @param {string} title
 * @param {string} text
 * @param {Computation} computation
 * @param {number} recorded
 * @param {number} size
 * @returns {Line[]}
 */
const told = (title, text, { lines, value, terms }, recorded, size) => [
  ...lines.map(
    /** @returns {Line} */ ([name, made, its]) => [
      name,
      Array.isArray(made) ? list(made.map(Number)) : added(its) + exact(Number(made)),
    ],
  ),
  [title, `${text.split(";").slice(-1)[0].trim().replace(/\s+/g, " ")} = ${added(terms)}${held(value, recorded, size)}`],
];
/** @param {Computation} computation */
const sizeOf = ({ lines, value, terms }) =>
  sum([...lines.flatMap(([, made, its]) => [made, ...its].flat()), ...terms.flat()].map(Number).filter(Number.isFinite).map(Math.abs)) +
  Math.abs(value);

/**
 * Read the numbers of one parameter for a query and a key of a head; what is off is zeros.
 *
 * @param {Parameter} parameter
 * @param {number} h
 * @param {number} j
 * @param {Record<string, number>} lengths
 */
function parameter({ step: name, role, axes }, h, j, lengths) {
  const [rows = 0, columns = 0] = axes.map((axis) => lengths[axis]);
  if (!step(name)) return range(rows).fill(0);
  if (role === "number") return at(name, h, 0);
  if (role === "list") return at(name, h, j);
  if (role === "rows") return range(columns).map((d) => at(name, h, j, d));
  if (role === "columns") return range(rows).map((d) => at(name, h, d, j));
  if (role === "vector") return range(rows).map((d) => at(name, h, d));
  return range(rows).map((r) => range(columns).map((d) => at(name, h, r, d)));
}

/** @param {number} h @param {number} i @param {number} j @param {number} n @param {number} m */
const places = (h, i, j, n, m) => ({ i, j, h: h + 1, n: m, n_query: n, n_key: m, n_heads: setting.d_k.length });

/** @param {number[]} q @param {number[]} k @param {Cell} cell @param {number} recorded @returns {Line[]} */
export function typedScore(q, k, [h, i, j], recorded) {
  const typed = setting.typed.score;
  if (!typed || !TYPED.score) return [];
  /** @type {Record<string, number>} */
  const lengths = { d_q: q.length, d_k: k.length };
  for (const hidden of HIDDEN) lengths[hidden] = setting.d_a;
  /** @type {Record<string, number>} */
  const sizes = {};
  for (const [each, name] of Object.entries(typed.sizes)) sizes[each] = lengths[name] || 1;
  /** @type {Record<string, unknown>} */
  const given = { q, k, ...lengths, ...places(h, i, j, data.queries.length, data.keys.length), sizes };
  for (const each of typed.parameters) given[each.name] = parameter(each, h, j, lengths);
  const made = TYPED.score(given);
  const size = sizeOf(made) + sum(q.map(Math.abs)) * (1 + sum(k.map(Math.abs)));
  return told(words.score, typed.text, made, recorded, size);
}

/** @param {number[]} row @param {number} place @param {Cell} cell @param {number} recorded @returns {Line[]} */
export function typedWeight(row, place, [h, i, j], recorded) {
  const typed = setting.typed.normaliser;
  const open = range(row.length).filter((l) => row[l] !== -Infinity);
  if (!typed || !TYPED.normaliser || !open.includes(place)) return [[words.weight, held(0, recorded)]];
  const over = setting.over === "keys";
  const n = over ? data.queries.length : data.keys.length;
  const x = open.map((l) => row[l] / setting.temperature);
  const where = { ...places(h, over ? i : j, 0, n, row.length), n: open.length, x };
  const made = TYPED.normaliser({ ...where, places: open, j: open.indexOf(place) });
  return told(words.weight, typed.text, made, recorded, sizeOf(made) + sum(x.map(Math.abs)));
}
