// What is written over the maps: words and numbers, as far as there is room. Words of a visitor are only ever drawn on a
// canvas or set as text.

/** @import { StageWords } from "./types" */
import { contextOf } from "../colours.js";

const GRAPHEMES = new Intl.Segmenter(undefined, { granularity: "grapheme" });
const BIDI = /[\u202a-\u202e\u2066-\u2069]/g;
const BLANK = /^[\s\p{C}\p{Z}]*$/u;
/** @type {Partial<Record<string, string>>} */
const BREAKS = { "\n": "↵", "\t": "→" };
export const NOT_A_NUMBER = { ground: "#f5c518", ink: "#111" }; // on neither colour scale

/** The code of a character as Unicode writes it. @param {string} character */
const code = (character) => "U+" + (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");

/** A token as it can be seen: a blank one shows what it is made of. @param {string} token @param {StageWords} words */
export function visible(token, words) {
  if (token === "") return words.empty;
  if (/^\s+$/.test(token)) return [...token].map((character) => BREAKS[character] || "·").join("");
  if (BLANK.test(token)) return [...token].map(code).join(" ");
  return token.replace(BIDI, "").replace(/\s/g, " ");
}

export const context = contextOf(document.createElement("canvas")); // never shown: it measures words

/** The graphemes of a text. @param {string} text */
export const graphemes = (text) => [...GRAPHEMES.segment(text.slice(0, 400))].map(({ segment }) => segment);

/** Whether a word is one picture or Chinese character, which is read standing. @param {string} word */
export const isPictograph = (word) => /^[\p{Extended_Pictographic}\p{Ideographic}]/u.test(word) && graphemes(word).length === 1;

/** `text` truncated by whole graphemes to `room` pixels in the context's font. @param {string} text @param {number} room */
export function truncate(text, room) {
  if (text.length < 60 && context.measureText(text).width <= room) return text;
  let kept = "";
  for (const each of graphemes(text)) {
    if (context.measureText(kept + each + "…").width > room) break;
    kept += each;
  }
  return kept + "…";
}

const LEAST_LETTERS = 3; // of a word that is shortened

/**
 * What a head does with the word that it names shortened, so that it takes no more room in the context's font: the word
 * gives way before what is said of it.
 *
 * @param {string} role
 * @param {number} room
 */
export function shortened(role, room) {
  const [, before, word, after] = role.match(/^(.*[“„])(.+)([”“])$/) ?? [];
  if (!word || context.measureText(role).width <= room) return role;
  const short = truncate(word, room - context.measureText(before + after).width);
  return graphemes(short).length > LEAST_LETTERS ? before + short + after : role;
}

/** `text` in lines of no more than `room` pixels in the context's font. @param {string} text @param {number} room */
export function wrap(text, room) {
  /** @type {string[]} */
  const lines = [];
  for (const piece of text.split(/(?<= )|(?=[㐀-鿿])/)) { // a word, or one Chinese character with the signs behind it
    const longer = (lines[lines.length - 1] ?? "") + piece;
    if (lines.length && context.measureText(longer.trimEnd()).width <= room) lines[lines.length - 1] = longer;
    else lines.push(piece);
  }
  return lines.map((line) => line.trimEnd());
}

/** Write a text, unless it stands there: a change would be drawn. @param {Element} element @param {string} text */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/**
 * An element of an SVG drawing; a word enters it as text only.
 *
 * @template {keyof SVGElementTagNameMap} Kind
 * @param {Element} parent
 * @param {Kind} kind
 * @param {Record<string, string | number | boolean>} attributes
 * @param {string} [word]
 */
export function svg(parent, kind, attributes, word) {
  const element = parent.appendChild(document.createElementNS("http://www.w3.org/2000/svg", kind));
  for (const name in attributes) element.setAttribute(name, String(attributes[name]));
  if (word !== undefined) element.textContent = word;
  return element;
}

const HATCH = { every: 6, line: 1.2 }; // pixels
let hatches = 0;

/** The lines in masked cells, as the fill of what is drawn in an SVG. @param {Element} parent */
export function hatch(parent) {
  const id = `attn-hatch-${++hatches}`;
  const pattern = svg(parent, "pattern", { id, width: HATCH.every, height: HATCH.every, patternUnits: "userSpaceOnUse", patternTransform: "rotate(-45)" });
  svg(pattern, "rect", { width: HATCH.every, height: HATCH.line, class: "attn-hatch" });
  return `url(#${id})`;
}

/** @param {string} text */
export const minus = (text) => text.replace(/-/g, "−");

/**
 * All the digits a number has: 17 at most in double precision, 9 in single.
 *
 * @param {number} number
 * @param {boolean} single
 */
export function full(number, single) {
  if (!Number.isFinite(number)) return minus(String(number).replace("Infinity", "∞"));
  if (!single) return minus(String(number));
  for (let digits = 6; ; digits++) {
    const short = Number(number.toPrecision(digits));
    if (digits > 8 || Math.fround(short) === number) return "≈ " + minus(String(short));
  }
}

/**
 * A share in two places and without its zero; nothing for one that is none, or too small for so narrow a cell.
 *
 * @param {number} number
 * @param {number} room
 */
export function share(number, room) {
  if (number >= 0.995) return "1";
  return number < (room < 24 ? 0.05 : 0.005) ? "" : number.toFixed(2).slice(1);
}

/**
 * How many decimals all of the numbers have room for in the context's font, two at most; -1 where not even none have.
 *
 * @param {number[]} numbers
 * @param {number} room
 */
export function decimals(numbers, room) {
  const high = numbers.reduce((most, number) => Math.max(most, Math.abs(number)), 0);
  const whole = numbers.every((number) => Number.isInteger(number));
  return (whole ? [0] : [2, 1, 0]).find((n) => high < 1e5 && context.measureText("−" + high.toFixed(n)).width <= room) ?? -1;
}

/**
 * A number with so many decimals; one that is not zero but would read so is only about zero.
 *
 * @param {number} number
 * @param {number} digits
 */
export function short(number, digits) {
  const text = number.toFixed(digits);
  return Number(text) === 0 ? (number === 0 ? "0" : "≈0") : minus(text);
}
