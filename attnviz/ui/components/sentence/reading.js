// The line that says what a word takes most from, in pieces of which each is a word or what stands between words.

/** @import { Highlighted } from "./opening_sentence.js" */
/** @import { OpeningData } from "./types" */
import { asWritten } from "../number_format.js";
import { percent } from "../percent.js";
import { ranked } from "./weight_rows.js";
import { make } from "./words.js";

const ALSO = 0.2; // from which a second word is named beside one that attends most to itself
const WHOLE = "at-whole"; // a word that is not shortened, as it belongs to what is said

/** @typedef {[tag: "em" | "strong" | "", text: string, name?: string]} Piece */

/**
 * What is said of a word.
 *
 * @param {OpeningData} data
 * @param {OpeningData["kinds"]} kinds  of its weights, and those of the others
 * @param {Highlighted} highlighted
 * @returns {Piece[]}
 */
export function piecesOf({ words, queries, positions, same, keys }, kinds, { query, row }) {
  const shares = kinds[query] === "shares";
  const takes = ranked(row).filter(([weight]) => weight > 0 && weight < Infinity);
  const [weight, key] = takes[0] ?? [0, null];
  const isItself = key !== null && same && (positions ? positions[0][query] === positions[1][key] : query === key);
  const [more, other] = isItself && takes[1]?.[0] >= ALSO ? takes[1] : [0, null]; // of itself, it tells less
  const word = (/** @type {number | null} */ at) => (at === null ? "" : (keys ?? queries)[at]);
  /** @type {Partial<Record<string, Piece>>} */
  const slots = {
    "{query}": ["em", queries[query]],
    "{key}": isItself ? ["strong", words.itself, WHOLE] : ["strong", word(key)],
    "{other}": ["strong", word(other)],
    "{amount}": ["", shares ? percent(weight) : asWritten(weight)],
    "{more}": ["", percent(more)],
  };
  const sentence = !shares ? words.weighs : other === null ? words.takes : words.takes_two;
  const said = kinds[query] === "no_numbers" ? words.no_numbers : key === null ? words.nothing : sentence;
  return said.split(/(\{\w+\})/).map((piece) => slots[piece] ?? ["", piece]);
}

/** Write pieces into a line; return the words that may be shortened. @param {HTMLElement} line @param {Piece[]} pieces */
export function written(line, pieces) {
  line.replaceChildren();
  /** @type {HTMLElement[]} */
  const named = [];
  for (const [tag, text, name] of pieces) {
    if (!tag) line.append(text);
    else if (name) make(line, tag, name, text);
    else Object.assign(named[named.push(make(line, tag, "", text)) - 1], { dir: "auto" });
  }
  return named;
}
