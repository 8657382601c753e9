// The weight of a query on one key in a plain sentence, as `attnviz/text/cell_sentence.py` says it.

/** @import { Cells } from "./cell_numbers.js" */
/** @import { Numerals } from "./numerals.js" */
import { fill, short, sumOf } from "./numerals.js";

const NEAR = 1e-9; // how far the sum of shares may be from one

/**
 * @param {Cells} cells
 * @param {Numerals} numerals
 * @param {number} h
 * @param {number} i
 * @param {number} j
 */
export function saidOfCell(cells, numerals, h, i, j) {
  const { attends } = cells.facts.words;
  const row = cells.weightsOf(h, i), weight = row[j];
  /** @param {string} template @param {Record<string, string>} [values] */
  const said = (template, values = {}) => {
    const { query, key } = cells.header.words, { again } = cells.facts.words;
    const named = { query: name(query, i, again), key: name(key, j, again) };
    return sentence(numerals, template, named, values);
  };
  if (Number.isNaN(weight)) return said(attends.undefined);
  if (weight === 0)
    return cells.masked(h, i, j) === -Infinity ? said(attends.forbidden, { why: why(cells, h, i, j) }) : said(attends.nothing);
  if (areTaken(cells, row)) return said(attends.share, { percent: numerals.percent(weight), rank: rank(cells, row, j) });
  return said(attends.weight, { weight: short(weight) });
}

/**
 * Fill in a template: our own words in the language of the page, and those of the visitor as they are.
 *
 * @param {Numerals} numerals
 * @param {string} template
 * @param {Record<string, [word: string, place: string]>} named
 * @param {Record<string, string>} values
 */
function sentence(numerals, template, named, values) {
  /** @type {[isOurs: boolean, text: string][]} */
  const parts = [];
  const ours = (/** @type {string} */ text) => {
    const last = parts.at(-1);
    if (last?.[0]) last[1] += text;
    else parts.push([true, text]);
  };
  for (const piece of template.split(/(\{\w+\})/)) {
    const slot = /^\{\w+\}$/.test(piece) ? piece.slice(1, -1) : "";
    if (!(slot in named)) ours(slot ? values[slot] : piece);
    else {
      if (named[slot][0]) parts.push([false, named[slot][0]]);
      ours(named[slot][1]);
    }
  }
  return parts.map(([isOurs, text]) => (isOurs ? numerals.localised(text) : text)).join("");
}

/**
 * A word, and its place where it stands more than once.
 * @param {string[]} words @param {number} at @param {string} again how that is said @returns {[string, string]}
 */
const name = (words, at, again) => [words[at], words.filter((word) => word === words[at]).length > 1 ? fill(again, { n: at + 1 }) : ""];

/** Whether the weights of a row are shares, be it that they leave something. @param {Cells} cells @param {number[]} row */
function areTaken(cells, row) {
  const { judges_alone, leaves_a_rest } = cells.facts;
  if (!cells.overKeys || judges_alone) return false;
  const total = sumOf(row), least = Math.min(...row);
  return least >= 0 && (Math.abs(total - 1) <= NEAR || (leaves_a_rest && total < 1));
}

/** @param {number} a @param {number} b */
const alike = (a, b) => Math.abs(a - b) <= 1e-12 * Math.max(Math.abs(a), Math.abs(b));

/** The rank of a weight among the others, where none is larger. @param {Cells} cells @param {number[]} row @param {number} j */
function rank(cells, row, j) {
  const words = cells.facts.words.rank;
  const others = row.filter((_, at) => at !== j);
  const tied = others.filter((other) => alike(other, row[j])).length;
  if (!others.some((other) => other !== 0)) return words.only;
  if (others.some((other) => other > row[j] && !alike(other, row[j]))) return words.behind;
  if (tied === others.length) return words.all_tied;
  return tied ? fill(tied === 1 ? words.one : words.many, { n: tied }) : words.largest;
}

/** Why a query may not attend to a key. @param {Cells} cells @param {number} h @param {number} i @param {number} j */
function why(cells, h, i, j) {
  const { masks, reach, words } = cells.facts;
  if (cells.may(h, i, j)) return words.why[cells.has("bias") && cells.at("bias", h, i, j) === -Infinity ? "bias" : "score"];
  const by = cells.ofMask("forbidden_by", h, i, j);
  const names = masks.filter((_, place) => (by >> place) & 1);
  if (!names.length && reach !== null && i - j > reach) return fill(words.why.window, { n: reach + 1 });
  const labels = names.length > 1 ? [names.slice(0, -1).join(words.comma), names.at(-1)].join(words.and) : names.join("");
  return fill(words.why[names.length > 1 ? "masks" : names.length ? "mask" : "edited"], { labels });
}
