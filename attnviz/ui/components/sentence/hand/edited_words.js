// A sentence in which a word is moved, replaced or left out, as text.

/** @import { EditedWord, Editable, EditableSent } from "../types" */

const OF_WORD = /[\p{Letter}\p{Mark}\p{Number}_'’]/u;

/**
 * The words of a sentence as they were sent.
 *
 * @param {EditableSent} sent
 * @param {string[]} queries
 * @returns {Editable}
 */
export function wordsOf({ words, of, said }, queries) {
  const read = words.map((packed, at) => {
    const [gap, text, joins] = packed || [" ", queries[at], 3];
    return { gap, text, starts: Boolean(joins & 1), ends: Boolean(joins & 2) };
  });
  return { words: read, of: of ?? [...queries.keys()], said };
}

/**
 * The text of words in some order: what stood between two neighbours stays, and others are kept apart where they would
 * become one.
 *
 * @param {EditedWord[]} words
 * @param {EditedWord[]} before  as they were
 */
export function textOf(words, before) {
  return words.map((word, at) => (at ? gapOf(words[at - 1], word, before) : "") + word.text).join("");
}

/** @param {EditedWord} left @param {EditedWord} right @param {EditedWord[]} before */
function gapOf(left, right, before) {
  const at = before.indexOf(right);
  const isOld = at > 0 && before[at - 1] === left;
  return !isOld && !right.gap && left.ends && right.starts ? " " : right.gap;
}

/** Another word in the place of one. @param {EditedWord} word @param {string} text @returns {EditedWord} */
export function replaced({ gap, starts, ends }, text) {
  const letters = [...text], [first, last] = [letters[0], letters[letters.length - 1]].map((letter = "") => OF_WORD.test(letter));
  return { gap, text, starts: starts || first, ends: ends || last };
}

/**
 * The words with one of them at another place.
 *
 * @template Item
 * @param {Item[]} words
 * @param {number} from
 * @param {number} to
 */
export function moved(words, from, to) {
  const others = words.filter((_, at) => at !== from);
  return [...others.slice(0, to), words[from], ...others.slice(to)];
}

/**
 * What becomes of a word, in words.
 *
 * @param {Editable} data
 * @param {number} word
 * @param {number | string | null} becomes  its position among so many, counted from 1, or another word; null: it is left out
 * @param {number} all
 */
export function saidOf({ words, said }, word, becomes, all) {
  const sentence = becomes === null ? said.off : typeof becomes === "string" ? said.becomes : said.moves;
  const slots = { "{word}": words[word].text, "{other}": String(becomes), "{place}": String(becomes), "{all}": String(all) };
  return sentence.replace(/\{\w+\}/g, (slot) => slots[/** @type {keyof typeof slots} */ (slot)] ?? slot);
}
