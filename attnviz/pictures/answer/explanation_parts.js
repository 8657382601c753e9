// The parts of an explanation, as `explanation_parts.py` makes them: what is added up, a row of scores or of shares, and
// the cells of an output.

/** @import { AnswerCells, AnswerRow, AnswerTerms, SumOfTerms } from "./types" */
/** @import { Cells } from "./cell_numbers.js" */
/** @import { Numerals } from "./numerals.js" */
import { fill, plain, settled, sumOf } from "./numerals.js";

/** @typedef {{ cells: Cells, numerals: Numerals, h: number, i: number }} Told  what is explained, and how numbers are written */

const MAX_ENTRIES = [6, 4]; // that a line shows beside the maps, and on a sheet from the foot of the window

/**
 * The terms of a sum, a row for each entry: its name, its two parts, their product, and the same written.
 *
 * @param {Told} told
 * @param {SumOfTerms} sum
 * @param {AnswerTerms["axis"]} axis  what the entries are
 * @param {{ sign?: string, whole?: number[] }} more
 * @param {string[]} [names]
 * @param {(x: number) => string} [write]
 * @returns {AnswerTerms}
 */
export function termsOf(told, sum, axis, { sign, whole }, names = [], write) {
  const { numerals } = told;
  const values = settled(sum.values);
  const text = write ?? numerals.writer(values);
  const [left, right] = [sum.left, sum.right].map((part) => part && settled(part));
  const writers = [left, right].map((part) => part && numerals.writer(part));
  /** @type {AnswerTerms["rows"]} */
  const rows = values.map((x, at) => [
    names[at] ?? "", writers[0]?.(left?.[at] ?? 0) ?? "", writers[1]?.(right?.[at] ?? 0) ?? "", plain(x), text(x)]);
  const folds = MAX_ENTRIES.map((most) => {
    const { shown, hidden, rest } = folded(values, most);
    return { shown, more: hidden ? fill(told.cells.facts.words.parts.more, { n: hidden }) : "", value: plain(rest), rest: text(rest) };
  });
  return { axis, rows, folds, ...(sign ? { sign } : {}), ...(whole ? { whole: whole.map(plain) } : {}) };
}

/** All entries if they are few, else the largest by size and the sum of the others. @param {number[]} values @param {number} most */
function folded(values, most) {
  if (values.length <= most) return { shown: values.map((_, at) => at), hidden: 0, rest: 0 };
  const size = values.map((x) => (Number.isNaN(x) ? Infinity : Math.abs(x)));
  const falling = size.map((_, at) => at).sort((a, b) => (size[a] === size[b] ? a - b : size[b] > size[a] ? 1 : -1));
  const shown = falling.slice(0, most - 1).sort((a, b) => a - b);
  const hidden = values.filter((_, at) => !shown.includes(at));
  return { shown, hidden: hidden.length, rest: sumOf(hidden) };
}

/** Weights as parts of one bar. @param {Told} told @param {number[]} weights @param {number | null} at @param {boolean} overKeys @returns {AnswerRow} */
export function sharesOf({ cells }, weights, at, overKeys) {
  const { visible } = cells.facts;
  return { values: weights.map(plain), at, axis: overKeys ? "key" : "query", names: overKeys ? visible.key : visible.query };
}

/** The scores that stand together, as bars side by side. @param {Told} told @param {number[]} scores @param {number | null} at @param {boolean} overKeys @returns {AnswerRow} */
export function columnsOf(told, scores, at, overKeys) {
  const whole = told.cells.facts.words.parts[overKeys ? "whole_row" : "whole_column"];
  return { ...sharesOf(told, scores, at, overKeys), whole };
}

/** The entries of the output of the query as cells with their numbers. @param {Told} told @param {number | null} at @returns {AnswerCells} */
export function outputCells({ cells, numerals, h, i }, at) {
  const values = settled(cells.output(h, i));
  const write = numerals.writer(values);
  const label = fill(cells.facts.words.parts.z, { query: cells.facts.visible.query[i] });
  return { values: values.map(plain), texts: values.map(write), at, label, end: cells.end };
}
