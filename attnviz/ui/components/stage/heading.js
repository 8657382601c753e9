// The two lines over a map: its letter and name, what it shows, and its colours with the numbers at their ends.

/** @import { Heading, Stage, StageWords } from "./types" */
import { inLanguage } from "../number_format.js";
import { isDrawn } from "./maps.js";

const SUBSCRIPT = /(?<![A-Za-z0-9_&#])([A-Za-z](?:&#39;|′)?)_([A-Za-z])(?![A-Za-z0-9_])/g;
const [LETTER, LETTER_FOR_A_ROOM] = [5.6, 8.4]; // pixels of a letter of a phrase, at most on average: Source Sans at 12 and 18
const [LETTER_OF_NAME, LETTER_OF_LEADING] = [7.2, 8.3]; // of a letter of a name, at most on average: at 15 and 17
const [LETTER_OF_LEGEND, GRADIENT] = [6, 52]; // the second with what is left free of it
const LEAST_WITH_LEGEND = 170; // pixels of a heading; a narrower one shows none, by heading.css
const PHRASES_APART = 10; // pixels between phrases, and between what stands beside a name
const SCORE_LINE = "score_formula"; // the formula of the scores, where it was typed
/** @type {Record<string, string>} */
const ESCAPES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** How many letters of the Latin script a text is as wide as. @param {string} text */
export const letterCount = (text) => [...text].reduce((sum, each) => sum + (each < "⺀" ? 1 : 2.2), 0); // from there on Chinese

/** @param {string} text */
const escaped = (text) => text.replace(/[&<>"']/g, (letter) => ESCAPES[letter]);

/** Text as HTML, with a letter under the line where one has an index. @param {string} text */
const typeset = (text) => escaped(text).replace(SUBSCRIPT, "$1<sub>$2</sub>");

/**
 * Letter, name and legend; below them phrase, formula and shape, as HTML. Words of a visitor never enter here.
 *
 * @param {Stage} stage
 * @param {Heading} about
 * @param {StageWords} words
 */
export function heading(stage, about, words) {
  const symbol = stage.symbol ? `<b class="attn-symbol">${typeset(stage.symbol)}</b>` : "";
  const name = `<h2 class="attn-name">${symbol}${typeset(stage.title)}</h2>`;
  const isOne = about.turns.length > 0, paint = about.paints === null ? "" : paintSwitch(about.paints, words);
  const masked = about.saysMasked && stage.mask?.includes(1) ? swatch(stage.grey || words.masked) : "";
  const paints = paint && !isOne && !about.switches && !about.isOneLine; // what is masked then stands before it, so that it stays where it was pressed
  const button = about.switches ? scaleSwitch(stage, words) : paints ? `${masked && `<span class="attn-legend">${masked}</span>`}${paint}` : "";
  const legend = legendOf(stage, paints ? "" : masked, words);
  const below = isOne || about.isOneLine ? 0 : roomBelow(stage, about, button, legend, words); // a legend that has no room beside the name
  const [formula, shape] = formulas(stage, words), room = roomOfPhrase(formula, stage, { ...about, room: about.room - below }, words);
  const phrases = phrasesOf(stage, about, room, words).map((each) => `<span class="attn-phrase">${escaped(each)}</span>`);
  const typed = about.lines.map((each) => `<span class="attn-typed" data-line="${each}"></span>`);
  const rest = [about.lines.includes(SCORE_LINE) ? "" : typeset(formula), escaped(shape)];
  phrases.push(...rest.filter(Boolean).map((each) => `<span class="attn-formula">${each}</span>`));
  const whole = [...phrasesOf(stage, about, Infinity, words), formula, shape].filter(Boolean).join(" · ");
  const second = `<span class="attn-phrases" title="${escaped(whole)}">${typed.join("")}${phrases.join("")}</span>`;
  const handles = paint && `<span class="attn-handles">${isOne ? paint : ""}</span>`;
  const lines = isOne ? [turning(stage, name, about.turns), `${second}${button}${legend}`] : about.isOneLine ? [`${name}${second}${legend}`] : [`${name}${handles}${button}${below ? "" : legend}`, `${second}${below ? legend : ""}`];
  const own = isOne && handles ? `<div class="attn-own">${handles}</div>` : ""; // a line of their own
  const kind = `attn-head${stage.leads ? " attn-leading" : ""}${stage.large ? " attn-large" : ""}${isOne ? " attn-one" : ""}`;
  return `<div class="${kind}" style="padding-left:${about.left}px;padding-right:${about.gap}px;height:${about.height}px">${lines.map((line) => `<div>${line}</div>`).join("")}${own}</div>`;
}

/** The pixels of a legend that has no room beside the name and a button, whichever word that has; else 0. @param {Stage} stage @param {Heading} about @param {string} button @param {string} legend @param {StageWords} words */
function roomBelow(stage, about, button, legend, words) {
  const scale = stage.large ? LETTER_FOR_A_ROOM / LETTER : 1, [ofButton, said] = [button, legend].map((part) => letterCount(part.replace(/<[^>]*>/g, "")));
  const pressed = about.switches ? Math.max(letterCount(words.apart), letterCount(words.common)) : ofButton;
  const name = letterCount(`${stage.symbol} ${stage.title}`) * (stage.leads ? LETTER_OF_LEADING : LETTER_OF_NAME);
  const beside = pressed ? LETTER * pressed + 2 * PHRASES_APART : PHRASES_APART;
  const wide = LETTER_OF_LEGEND * Math.max(said, about.switches ? 6 : 0) + GRADIENT + (legend.includes("attn-swatch") ? 2 * PHRASES_APART : 0);
  if (about.room - about.gap <= LEAST_WITH_LEGEND) return 0;
  return scale * (name + beside + wide) > about.room - about.gap ? scale * wide + PHRASES_APART : 0;
}

/** The pixels for a phrase: the formula of the weights stays beside it where there is a shorter one. @param {string} formula @param {Stage} stage @param {Heading} about @param {StageWords} words */
function roomOfPhrase(formula, stage, about, words) {
  if (!stage.leads || about.turns.length || about.lines.includes(SCORE_LINE)) return about.room;
  const letter = stage.large ? LETTER_FOR_A_ROOM : LETTER, left = about.room - Math.round(letter * letterCount(formula)) - PHRASES_APART;
  const wide = phrasesOf(stage, about, left, words).reduce((sum, each) => sum + letter * letterCount(each), 0);
  return wide <= left ? left : about.room;
}

/** The phrase of a stage in so many pixels. @param {Stage} stage @param {Heading} about @param {number} room @param {StageWords} words */
function phrasesOf(stage, { block, fold }, room, words) {
  const letter = stage.large ? LETTER_FOR_A_ROOM : LETTER;
  const fitting = (/** @type {string[]} */ ways, /** @type {number} */ pixels) => ways.find((way) => letter * letterCount(way) <= pixels) ?? ways[ways.length - 1] ?? "";
  const shared = stage.columns !== null && block > 1 ? block : stage.columns === null && fold > 1 ? fold : 0;
  const of = stage.columns === null ? [words.fold, words.fold_shorter] : [words.blocks, words.blocks_shorter];
  const pooled = fitting(shared ? of.map((way) => way.replaceAll("{n}", String(shared))) : [], room);
  const left = room - Math.round(letter * letterCount(pooled) + (pooled ? PHRASES_APART : 0));
  return [pooled, fitting([stage.phrase, ...stage.shorter], left)].filter(Boolean);
}

/** The name of a stage among buttons for those to turn over to. @param {Stage} stage @param {string} name @param {Heading["turns"]} turns */
function turning(stage, name, turns) {
  const button = (/** @type {string} */ step, /** @type {string} */ title) => `<button type="button" class="attn-step" data-step="${escaped(step)}">${escaped(title)}</button>`;
  return turns.map(([step, title]) => (step === stage.name ? name : button(step, title))).join("");
}

/** @param {Stage} stage @param {StageWords} words */
function scaleSwitch({ apart }, words) {
  const [word, hint] = apart ? [words.apart, words.apart_hint] : [words.common, words.common_hint];
  return `<button type="button" class="attn-scale" aria-pressed="${apart}" title="${escaped(hint)}">${escaped(word)}</button>`;
}

/** @param {boolean} isOn @param {StageWords} words */
function paintSwitch(isOn, words) {
  return `<button type="button" class="attn-paint" aria-pressed="${isOn}" title="${escaped(words.paint_hint)}">${escaped(words.paint)}</button>`;
}

/** The formula of a stage, and its shape. @param {Stage} stage @param {StageWords} words */
function formulas({ formula, shape, margin, widths, heads }, words) {
  const rows = shape[1] - margin;
  const all = [...new Set(widths)].sort((a, b) => a - b).map((width) => width - margin);
  const columns = all.length === 1 ? String(all[0]) : words.range.replace("{low}", String(all[0])).replace("{high}", String(all[all.length - 1]));
  const localised = formula.replace(/(?<=\d)\.(?=\d)/g, words.decimal);
  return [localised, heads.length === 1 && heads[0] === "" ? `${rows} × ${columns}` : `${shape[0]} × ${rows} × ${columns}`];
}

/** The colour scale as a small gradient between the numbers at its ends. @param {Stage} stage @param {string} masked  what stands before it @param {StageWords} words */
function legendOf(stage, masked, words) {
  const { low, high, colours, dark } = stage.scale;
  if (stage.kind === "allowed") return `<span class="attn-legend">${swatch(words.may, colours[0])}${swatch(words.may_not)}</span>`;
  const half = (colours.length - 1) / 2;
  const [below, above] = low < 0 ? signs(stage) : [true, true];
  const [from, to] = below === above ? [0, colours.length] : above ? [half, colours.length] : [0, half + 1];
  const ends = [from && low < 0 ? 0 : low, to === colours.length ? high : 0].map((end) => inLanguage(endOfScale(end, low < 0), words));
  const stops = colours.slice(from, to).map((colour, i) => `light-dark(${colour},${dark[from + i]})`);
  const [first, last] = stage.apart ? ["−", "+"] : ends;
  return `<span class="attn-legend">${masked}${first}<i style="background:linear-gradient(90deg,${stops.join(",")})"></i>${last}</span>`;
}

/** Whether any number of a stage is below 0, and whether any is above. @param {Stage} stage */
function signs(stage) {
  const [heads, rows, columns] = stage.shape;
  let [below, above] = [false, false];
  for (let index = 0; index < heads * rows * columns && !(below && above); index++) {
    const number = stage.values[index];
    const head = Math.floor(index / (rows * columns));
    if (!number || !Number.isFinite(number) || !isDrawn(stage, head, Math.floor(index / columns) % rows, index % columns)) continue;
    if (number < 0) below = true;
    else above = true;
  }
  return [below, above];
}

/** A cell of a colour, or without one a masked cell, and what it is called. @param {string} word @param {string} [colour] */
const swatch = (word, colour) => `<span class="attn-swatch" title="${escaped(word)}"><i ${colour ? `style="background:${colour}"` : 'class="attn-hatched"'}></i><span>${escaped(word)}</span></span>`;

/**
 * A number at the end of a legend: two digits are enough, and whole numbers while they are short.
 *
 * @param {number} number
 * @param {boolean} signed
 */
export function endOfScale(number, signed) {
  if (!number) return "0";
  const size = Math.abs(number);
  const text = size >= 100 && size < 10_000 ? size.toFixed(0) : twoDigits(size);
  return (number < 0 ? "−" : signed ? "+" : "") + text;
}

/** @param {number} size */
function twoDigits(size) {
  const [digits, power] = size.toExponential(1).split("e");
  const exponent = Number(power);
  if (exponent >= -4 && exponent < 2) return String(Number(size.toPrecision(2)));
  return `${Number(digits)}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
}
