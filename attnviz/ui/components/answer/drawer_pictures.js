// The bars, shares and cells of an answer. All text enters through textContent.

/** @import { Mark } from "../../types" */
/** @import { AnswerCells, AnswerLine, AnswerRow, AnswerTerms } from "./types" */
import { between, inkOn } from "../colours.js";
import { stand } from "./marks.js";

/**
 * What the lines of an answer belong to, and how they are drawn.
 *
 * @typedef {{ query: number, key: number | null, dark: boolean, sheet: boolean, scales: string[][] }} Setting
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
export function put(parent, tag, name, text) {
  const element = document.createElement(tag);
  if (name) element.className = name;
  if (text !== undefined) element.textContent = text;
  return parent.appendChild(element);
}

/** @param {number} number */
const percent = (number) => `${(100 * number).toFixed(2)}%`;

/**
 * A bar from the zero line of its row; `reach` are the smallest and the largest of all rows.
 *
 * @param {HTMLElement} bar
 * @param {number | null} value
 * @param {[number, number]} reach
 * @param {string} name
 */
function drawBar(bar, value, [low, high], name) {
  const all = high - low || 1;
  bar.style.setProperty("--zero", percent(-low / all));
  if (value === null) return;
  const piece = put(bar, "u", `${name}${value < 0 ? " ad-minus" : ""}`);
  piece.style.left = percent((Math.min(value, 0) - low) / all);
  piece.style.width = percent(Math.abs(value) / all);
}

/** @param {(number | null)[]} values @returns {[number, number]} */
export function reach(values) {
  const known = values.map((value) => value ?? 0);
  return [Math.min(0, ...known), Math.max(0, ...known)];
}

/**
 * What is added up: a line and a bar for each entry; the largest where there are many, and what the others come to.
 *
 * @param {HTMLElement} parent
 * @param {AnswerTerms} terms
 * @param {Setting} setting
 */
function drawTerms(parent, terms, setting) {
  const box = put(parent, "div", "ad-terms");
  const { shown, more, value, rest } = terms.folds[setting.sheet ? 1 : 0];
  const ends = reach([...terms.rows.map((row) => row[3]), ...(terms.whole ?? []), more ? value : 0]);
  for (const at of shown) {
    const row = put(box, "div", "ad-term");
    drawTerm(row, terms, at, ends);
    stand(row, markOf(terms.axis, at, setting), terms.axis === "key");
  }
  if (!more) return;
  const row = put(box, "div", "ad-term ad-alone ad-more");
  put(row, "bdi", "", more);
  drawBar(put(row, "div", "ad-bar"), value, ends, "");
  put(row, "span", "", rest);
}

/** @param {HTMLElement} row @param {AnswerTerms} terms @param {number} at @param {[number, number]} ends */
function drawTerm(row, terms, at, ends) {
  const [name, left, right, value, text] = terms.rows[at];
  row.classList.toggle("ad-named", Boolean(name && left));
  row.classList.toggle("ad-alone", !left);
  if (name || !left) put(row, "bdi", "", name || String(at + 1));
  if (left) {
    put(row, "span", "ad-left", left);
    put(row, "span", "ad-sign", terms.sign ?? "×");
    put(row, "span", "ad-right", right);
  }
  const bar = put(row, "div", "ad-bar");
  if (terms.whole) drawBar(bar, terms.whole[at], ends, "ad-whole");
  drawBar(bar, value, ends, name && !left ? "ad-part" : "");
  put(row, "b", "ad-text", text).style.fontWeight = "400";
}

/** @param {AnswerTerms["axis"] | AnswerRow["axis"]} axis @param {number} at @param {Setting} setting @returns {Mark} */
function markOf(axis, at, { query, key }) {
  if (axis === "key") return { own: axis, query, key: at };
  if (axis === "query") return { own: axis, query: at, key };
  return { own: axis, query, key, [axis]: at };
}

/**
 * The scores that stand together, as bars side by side; grey where nothing may be taken.
 *
 * @param {HTMLElement} parent
 * @param {AnswerRow} row
 * @param {Setting} setting
 */
function drawColumns(parent, row, setting) {
  const box = put(parent, "div", "ad-columns");
  const [low, high] = reach(row.values);
  const all = high - low || 1;
  row.values.forEach((value, at) => {
    const column = put(box, "span", at === row.at ? "ad-at" : "");
    stand(column, markOf(row.axis, at, setting), row.axis === "key");
    column.title = row.names[at];
    const bar = put(column, "u", value === null ? "ad-masked" : value < 0 ? "ad-minus" : "");
    if (value === null) return;
    bar.style.top = percent((high - Math.max(value, 0)) / all);
    bar.style.height = percent(Math.abs(value) / all);
  });
  const label = put(parent, "div", "ad-label ad-under");
  const place = row.at === null ? 0 : (row.at + 0.5) / row.values.length;
  if (row.at !== null) put(label, "b", place > 0.8 ? "ad-last" : place < 0.2 ? "ad-first" : "", row.names[row.at]).style.left = percent(place);
  put(label, "span", place < 0.5 && row.at !== null ? "ad-right" : "", row.whole ?? "");
}

/**
 * Weights as parts of one bar.
 *
 * @param {HTMLElement} parent
 * @param {AnswerRow} row
 * @param {Setting} setting
 */
function drawShares(parent, row, setting) {
  const box = put(parent, "div", "ad-shares");
  const all = row.values.reduce((/** @type {number} */ sum, value) => sum + Math.max(value ?? 0, 0), 0);
  if (!all) put(box, "span", "ad-none");
  row.values.forEach((value, at) => {
    if (!value || value < 0) return;
    const wide = value / Math.max(all, 1);
    const share = put(box, "span", at === row.at ? "ad-at" : "", wide * 250 > row.names[at].length * 6.5 + 6 ? row.names[at] : "");
    share.style.flex = `${value} 0 0`;
    share.title = row.names[at];
    stand(share, markOf(row.axis, at, setting), row.axis === "key");
  });
  if (all > 0 && all < 0.999) put(box, "span", "ad-none").style.flex = `${1 - all} 0 0`;
}

/**
 * The entries of an output with their numbers, in the colours of the map.
 *
 * @param {HTMLElement} parent
 * @param {AnswerCells} cells
 * @param {Setting} setting
 */
function drawCells(parent, cells, setting) {
  const label = put(parent, "div", "ad-label");
  put(label, "span", "", cells.label);
  const box = put(parent, "div", "ad-cells");
  const scale = setting.scales[setting.dark ? 1 : 0];
  const written = cells.values.length <= 6;
  cells.values.forEach((value, at) => {
    const cell = put(box, "span", at === cells.at ? "ad-at" : "", written ? cells.texts[at] : "");
    cell.title = cells.texts[at];
    const colour = between(scale, 0.5 + (value ?? 0) / (2 * (cells.end || 1)));
    cell.style.background = `rgb(${colour.join()})`;
    cell.style.color = inkOn(colour);
    stand(cell, { own: "d_v", query: setting.query, key: null, d_v: at });
  });
}

/**
 * A note in which ^{...} stands higher.
 *
 * @param {HTMLElement} parent
 * @param {string} note
 */
function drawNote(parent, note) {
  const line = put(parent, "p", "ad-note");
  note.split(/\^\{([^}]*)\}/).forEach((part, at) => {
    if (at % 2) put(line, "sup", "", part);
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
 */
export function drawLine(parent, line, number, setting) {
  const section = put(parent, "section", `ad-${line.name}`);
  const head = put(section, "h3", "");
  put(head, "i", "", String(number)).setAttribute("aria-hidden", "true");
  const title = put(head, "span", "", line.title);
  title.title = line.title;
  put(head, "b", "", line.value);
  if (line.columns) drawColumns(section, line.columns, setting);
  if (line.shares) drawShares(section, line.shares, setting);
  if (line.terms) drawTerms(section, line.terms, setting);
  if (line.note) drawNote(section, line.note);
  if (line.cells) drawCells(section, line.cells, setting);
}
