// The score and the normaliser: the functions of one cell that Python writes, and their lines.

/** @import { Cell, Computation, Line, Named, Terms } from "./types" */
import { help } from "../../live/help.js";
import { rowArguments, scoreArguments } from "../../pictures/answer/rows.js";
import { exact, list, products, sum, total } from "./formats.js";
import { at, data, held, setting, step, words } from "./run.js";

/** @type {Partial<Record<"score" | "normaliser", (given: Record<string, unknown>) => Computation>>} */
const TYPED = {};
export const READ = { has: (/** @type {string} */ name) => Boolean(step(name)), at };

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

/** What the names of a line stand for in a head. @param {Named} named @param {number} h @returns {Record<string, number>} */
const numbersOfLine = ({ keys }, h) => Object.fromEntries(Object.entries(keys).map(([name, key]) => [name, help.each(setting.knobs[key] ?? at(key, h, 0), h)]));

/** A line with its numbers as they are now. @param {{ text: string } & Named} named @returns {string} */
const textOf = ({ text, keys }) => text.replace(/\btyped_\d+\b/g, (name) => exact(Number(setting.knobs[keys[name]])));

/** @param {number[]} q @param {number[]} k @param {Cell} cell @param {number} recorded @returns {Line[]} */
export function typedScore(q, k, [h, i, j], recorded) {
  const typed = setting.typed.score;
  if (!typed || !TYPED.score) return [];
  const shape = { n: data.queries.length, m: data.keys.length, heads: setting.d_k.length, hidden: setting.d_a };
  const given = scoreArguments(typed, q, k, [h, i, j], shape, READ);
  const made = TYPED.score({ ...given, ...numbersOfLine(typed, h) });
  const size = sizeOf(made) + sum(q.map(Math.abs)) * (1 + sum(k.map(Math.abs)));
  return told(words.score, textOf(typed), made, recorded, size);
}

/** @param {number[]} row @param {number} place @param {Cell} cell @param {number} recorded @returns {Line[]} */
export function typedWeight(row, place, [h, i, j], recorded) {
  const typed = setting.typed.normaliser;
  if (!typed || !TYPED.normaliser || row[place] === -Infinity) return [[words.weight, held(0, recorded)]];
  const over = setting.over === "keys";
  const n = over ? data.queries.length : data.keys.length;
  const given = rowArguments(row, place, [h, over ? i : j], { temperature: setting.temperature, n, heads: setting.d_k.length });
  const made = TYPED.normaliser({ ...given, ...numbersOfLine(typed, h) });
  return told(words.weight, textOf(typed), made, recorded, sizeOf(made) + sum(given.x.map(Math.abs)));
}
