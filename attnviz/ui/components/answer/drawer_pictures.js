// The bars, shares and cells of an answer. All text enters through textContent.

/** @import { Mark } from "../../types" */
/** @import { Answer, AnswerCells, AnswerData, AnswerLine, AnswerRow, AnswerTerms } from "./types" */
import { between, inkOn } from "../colours.js";
import { setMark } from "./marks.js";

const BAR = 250; // pixels of a bar of shares
const NARROWEST = 3; // of a part that can be pointed at
const TOGETHER = 7; // of narrower ones put together: the gap after them is a pixel

/**
 * The cell that an answer is about, and how its lines are drawn.
 *
 * @typedef {{ query: number | null, key: number | null, dark: boolean, sheet: boolean, scales: string[][] }} Setting
 */

/**
 * Append an element of a class.
 *
 * @param {Node} parent
 * @param {string} tag
 * @param {string} name
 * @param {string} [text]
 * @returns {HTMLElement}
 */
export function append(parent, tag, name, text) {
  const element = document.createElement(tag);
  if (name) element.className = name;
  if (text !== undefined) element.textContent = text;
  return parent.appendChild(element);
}

/**
 * What a row attends to in the image that is read, once Python has sent that of this row.
 *
 * @param {AnswerData["image"] | undefined} image
 * @param {Answer | null | undefined} answer
 */
export const imageOf = (image, answer) => (image && image.head === answer?.head && image.query === answer.query ? image : null);

/** @param {number} number */
const percent = (number) => `${(100 * number).toFixed(2)}%`;

/**
 * A bar from the zero line of its row; `range` are the smallest and the largest of all rows.
 *
 * @param {HTMLElement} bar
 * @param {number | null} value
 * @param {[number, number]} range
 * @param {string} name
 */
function drawBar(bar, value, [low, high], name) {
  const all = high - low || 1;
  bar.style.setProperty("--zero", percent(-low / all));
  if (value === null) return;
  const piece = append(bar, "u", `${name}${value < 0 ? " ad-minus" : ""}`);
  piece.style.left = percent((Math.min(value, 0) - low) / all);
  piece.style.width = percent(Math.abs(value) / all);
}

/** @param {(number | null)[]} values @returns {[number, number]} */
export function rangeOf(values) {
  const known = values.map((value) => value ?? 0);
  return [Math.min(0, ...known), Math.max(0, ...known)];
}

/**
 * What is added up: a line and a bar for each entry; the largest where there are many, and what the others come to.
 *
 * @param {HTMLElement} parent
 * @param {AnswerTerms} terms
 * @param {Setting} setting
 * @param {string[] | null} heads  over the columns; entries are numbered under them
 */
function drawTerms(parent, terms, setting, heads) {
  const box = append(parent, "div", heads ? "ad-terms ad-numbered" : "ad-terms");
  if (heads) {
    const [left, right, product] = heads;
    const over = append(box, "div", "ad-term ad-heads");
    for (const text of ["", left, "", right, "", product]) append(over, "span", "", text).title = text;
  }
  const { shown, more, value, rest } = terms.folds[setting.sheet ? 1 : 0];
  const ends = rangeOf([...terms.rows.map((row) => row[3]), ...(terms.whole ?? []), more ? value : 0]);
  for (const at of shown) {
    const row = append(box, "div", "ad-term");
    if (heads) append(row, "small", "", String(at + 1));
    drawTerm(row, terms, at, ends);
    if (terms.axis !== "entry") setMark(row, markAt(terms.axis, at, setting), terms.axis === "key");
  }
  if (!more) return;
  const row = append(box, "div", "ad-term ad-alone ad-more");
  append(row, "bdi", "", more);
  drawBar(append(row, "div", "ad-bar"), value, ends, hasParts(terms) ? "ad-part" : "");
  append(row, "span", "", rest);
}

/** Whether the terms are weights of words, and no signed numbers. @param {AnswerTerms} terms */
const hasParts = ({ axis, rows }) => axis !== "entry" && rows.some(([name, left]) => name && !left);

/** @param {HTMLElement} row @param {AnswerTerms} terms @param {number} at @param {[number, number]} ends */
function drawTerm(row, terms, at, ends) {
  const [name, left, right, value, text] = terms.rows[at];
  row.classList.toggle("ad-named", Boolean(name && left));
  row.classList.toggle("ad-alone", !left);
  if (name || !left) append(row, "bdi", "", name || String(at + 1));
  if (left) {
    append(row, "span", "ad-left", left);
    append(row, "span", "ad-sign", terms.sign ?? "×");
    append(row, "span", "ad-right", right);
  }
  const bar = append(row, "div", "ad-bar");
  if (terms.whole) drawBar(bar, terms.whole[at], ends, "ad-whole");
  drawBar(bar, value, ends, hasParts(terms) ? "ad-part" : "");
  append(row, "b", "ad-text", text).style.fontWeight = "400";
}

/** @param {Mark["axis"]} axis @param {number} at @param {Setting} setting @returns {Mark} */
function markAt(axis, at, { query, key }) {
  if (axis === "key") return { axis, query, key: at };
  if (axis === "query") return { axis, query: at, key };
  return { axis, query, key, [axis]: at };
}

/**
 * The scores of a row as bars side by side; grey where attention is forbidden.
 *
 * @param {HTMLElement} parent
 * @param {AnswerRow} row
 * @param {Setting} setting
 */
function drawColumns(parent, row, setting) {
  const box = append(parent, "div", "ad-columns");
  const [low, high] = rangeOf(row.values);
  const all = high - low || 1;
  row.values.forEach((value, at) => {
    const column = append(box, "span", at === row.at ? "ad-at" : "");
    setMark(column, markAt(row.axis, at, setting), row.axis === "key");
    column.title = row.names[at];
    const bar = append(column, "u", value === null ? "ad-masked" : value < 0 ? "ad-minus" : "");
    if (value === null) return;
    bar.style.top = percent((high - Math.max(value, 0)) / all);
    bar.style.height = percent(Math.abs(value) / all);
  });
  const label = append(parent, "div", "ad-label ad-under");
  const middle = row.at === null ? 0 : (row.at + 0.5) / row.values.length;
  if (row.at !== null) append(label, "b", middle > 0.8 ? "ad-last" : middle < 0.2 ? "ad-first" : "", row.names[row.at]).style.left = percent(middle);
  append(label, "span", middle < 0.5 && row.at !== null ? "ad-right" : "", row.whole ?? "");
}

/**
 * Neighbouring weights that are too narrow to be told apart, put together; each has the position of its one weight, or
 * -1. Between hundreds of words there would be nothing but gaps.
 *
 * @param {AnswerRow} row
 * @param {number} all
 * @returns {{ value: number, at: number }[]}
 */
function wideShares({ values, at }, all) {
  /** @type {{ value: number, at: number }[]} */
  const found = [];
  let isNarrow = false;
  values.forEach((value, position) => {
    if (!value || value < 0) return;
    const last = found[found.length - 1];
    const fits = position !== at && (value / all) * BAR < NARROWEST;
    if (fits && isNarrow && last && (last.value / all) * BAR < TOGETHER) Object.assign(last, { value: last.value + value, at: -1 });
    else found.push({ value, at: position });
    isNarrow = fits;
  });
  return found;
}

/**
 * Weights as parts of one bar.
 *
 * @param {HTMLElement} parent
 * @param {AnswerRow} row
 * @param {Setting} setting
 */
function drawShares(parent, row, setting) {
  const box = append(parent, "div", "ad-shares");
  const all = row.values.reduce((/** @type {number} */ sum, value) => sum + Math.max(value ?? 0, 0), 0);
  if (!all) append(box, "span", "ad-none");
  wideShares(row, Math.max(all, 1)).forEach(({ value, at }) => {
    const name = row.names[at] ?? "";
    const share = append(box, "span", at === row.at ? "ad-at" : "", (value / Math.max(all, 1)) * BAR > name.length * 6.5 + 6 ? name : "");
    share.style.flex = `${value} 0 0`;
    if (at < 0) return;
    share.title = name;
    setMark(share, markAt(row.axis, at, setting), row.axis === "key");
  });
  if (all > 0 && all < 0.999) append(box, "span", "ad-none").style.flex = `${1 - all} 0 0`;
}

/**
 * The entries of an output with their numbers, in the colours of the map.
 *
 * @param {HTMLElement} parent
 * @param {AnswerCells} cells
 * @param {Setting} setting
 */
function drawCells(parent, cells, setting) {
  const label = append(parent, "div", "ad-label");
  append(label, "span", "", cells.label);
  const box = append(parent, "div", "ad-cells");
  const scale = setting.scales[setting.dark ? 1 : 0];
  const written = cells.values.length <= 6;
  cells.values.forEach((value, at) => {
    const cell = append(box, "span", at === cells.at ? "ad-at" : "", written ? cells.texts[at] : "");
    cell.title = cells.texts[at];
    const colour = between(scale, 0.5 + (value ?? 0) / (2 * (cells.end || 1)));
    cell.style.background = `rgb(${colour.join()})`;
    cell.style.color = inkOn(colour);
    setMark(cell, { axis: "d_v", query: setting.query, key: null, d_v: at });
  });
}

/**
 * A note in which ^{...} is a superscript.
 *
 * @param {HTMLElement} parent
 * @param {string} note
 */
function drawNote(parent, note) {
  const line = append(parent, "p", "ad-note");
  note.split(/\^\{([^}]*)\}/).forEach((part, at) => {
    if (at % 2) append(line, "sup", "", part);
    else line.append(part);
  });
}

/**
 * A line of the answer with its pictures.
 *
 * @param {HTMLElement} parent
 * @param {AnswerLine} line
 * @param {number} number
 * @param {Setting} setting
 * @param {string[] | null} heads  over the columns of what is added up
 */
export function drawLine(parent, line, number, setting, heads = null) {
  const section = append(parent, "section", `ad-${line.name}`);
  const head = append(section, "h3", "");
  append(head, "i", "", String(number)).setAttribute("aria-hidden", "true");
  const title = append(head, "span", "", line.title);
  title.title = line.title;
  append(head, "b", "", line.value);
  if (line.columns) drawColumns(section, line.columns, setting);
  if (line.shares) drawShares(section, line.shares, setting);
  if (line.terms) drawTerms(section, line.terms, setting, heads);
  if (line.note) drawNote(section, line.note);
  if (line.cells) drawCells(section, line.cells, setting);
}

/** The answer in words, a sentence each. @param {HTMLElement} parent @param {string} title @param {string[]} said */
export function drawWords(parent, title, said) {
  if (!said.length) return;
  const box = append(parent, "div", "ad-words");
  append(box, "b", "", title);
  for (const sentence of said) append(box, "p", "", sentence);
}
