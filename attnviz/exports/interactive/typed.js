// The score and the normaliser: the functions of one cell that Python writes, and their lines.

/** @import { TypedScore } from "../../pictures/answer/types" */
/** @import { Cell, Computation, Line, Named, Said, Terms } from "./types" */
import { help } from "../../live/help.js";
import { rowArguments, scoreArguments } from "../../pictures/answer/rows.js";
import { exact, list, products, sum, total } from "./formats.js";
import { at, data, setting, step, words } from "./run.js";

/** @typedef {(given: Record<string, unknown>) => Computation} Made */

/** @type {Partial<Record<"score" | "normaliser", Made>>} */
const TYPED = {};
export const READ = { has: (/** @type {string} */ name) => Boolean(step(name)), at };

export const hasTypedWeight = "normaliser" in TYPED;

/** @param {Terms} terms @returns {string} what is added up, nothing where nothing is */
function added(terms) {
  const [left, right] = terms.map((each) => each.map(Number));
  if (!left) return "";
  return right ? products(left, right) : total(left);
}

/**
 * Say a computation: its lines, and the last of them.
 *
 * @param {string} line
 * @param {Computation} computation
 * @param {number} size  of what it reads
 * @param {Line[]} lines  to which those before the last are added
 * @returns {Said}
 */
function saidBy(line, { lines: before, value, terms }, size, lines) {
  for (const [name, made, its] of before)
    lines.push([name, Array.isArray(made) ? list(made.map(Number)) : [added(its), exact(Number(made))].filter(Boolean).join(" = ")]);
  const last = line.split(";").slice(-1)[0].trim().replace(/\s+/g, " ");
  const sizes = [...before.flatMap(([, made, its]) => [made, ...its].flat()), ...terms.flat()].map(Number).filter(Number.isFinite).map(Math.abs);
  return { text: [last, added(terms)].filter(Boolean).join(" = "), value, size: size + sum(sizes) + Math.abs(value), isNew: true };
}

/** What the names of a line stand for in a head. @param {Named} named @param {number} h @returns {Record<string, number>} */
const numbersOfLine = ({ keys }, h) => Object.fromEntries(Object.entries(keys).map(([name, key]) => [name, help.each(setting.knobs[key] ?? at(key, h, 0), h)]));

/** A line with its numbers as they are now. @param {{ text: string } & Named} named @returns {string} */
const textOf = ({ text, keys }) => text.replace(/\btyped_\d+\b/g, (name) => exact(Number(setting.knobs[keys[name]])));

/** @param {number[]} q @param {number[]} k @param {Cell} cell @param {Line[]} lines @returns {Said} */
export function saidScore(q, k, [h, i, j], lines) {
  const typed = /** @type {TypedScore & Named} */ (setting.typed.score), score = /** @type {Made} */ (TYPED.score);
  const shape = { n: data.queries.length, m: data.keys.length, heads: setting.d_k.length, hidden: setting.d_a };
  const given = scoreArguments(typed, q, k, [h, i, j], shape, READ);
  const made = score({ ...given, ...numbersOfLine(typed, h) });
  return { ...saidBy(textOf(typed), made, sum(q.map(Math.abs)) * (1 + sum(k.map(Math.abs))), lines), title: words.score };
}

/** @param {number[]} row @param {number} place @param {Cell} cell @param {Line[]} lines @returns {Said} */
export function typedWeight(row, place, [h, i, j], lines) {
  const typed = /** @type {{ text: string } & Named} */ (setting.typed.normaliser), normaliser = /** @type {Made} */ (TYPED.normaliser);
  const over = setting.over === "keys";
  const n = over ? data.queries.length : data.keys.length;
  const given = rowArguments(row, place, [h, over ? i : j], { temperature: setting.temperature, n, heads: setting.d_k.length });
  const made = normaliser({ ...given, ...numbersOfLine(typed, h) });
  return saidBy(textOf(typed), made, sum(given.x.map(Math.abs)), lines);
}
