// The cells of a mask as a grid, a row for each query and a column for each key, with their words. All text enters
// through textContent or attributes.

/** @import { PaintData } from "../types" */
import { signOf } from "./signs.js";

/** @typedef {[row: number, column: number]} Position  counted from 0 */
/** @typedef {{ element: HTMLElement, row: number, column: number, may?: boolean }} Cell */

const SMALLEST_CELL = 8;
const GAPS_FROM = 11; // pixels of a cell from which cells stand apart, and every word has room

/**
 * Append an element of a class.
 *
 * @param {"div" | "span"} tag
 * @param {string} name
 * @param {Node} parent
 * @returns {HTMLElement}
 */
export function make(tag, name, parent) {
  const node = document.createElement(tag);
  node.className = name;
  return parent.appendChild(node);
}

/**
 * Replace the names between braces in a template by their values.
 *
 * @param {string} template
 * @param {Record<string, string | number>} values
 */
function filled(template, values) {
  return template.replace(/\{(\w+)\}/g, (_, name) => String(values[name]));
}

export class Cells {
  /**
   * @param {HTMLElement} grid
   * @param {PaintData} data
   * @param {Position} at  the cell that Tab reaches, as far as there is one
   */
  constructor(grid, data, [row, column]) {
    this.grid = grid;
    this.data = data;
    const { queries, keys, words } = data;
    grid.replaceChildren();
    grid.setAttribute("aria-label", words.grid);
    grid.style.setProperty("--columns", String(keys.length));
    grid.style.setProperty("--may", data.may);
    const head = this.row();
    make("div", "corner", head);
    this.keys = keys.map((word, i) => this.word(head, "key", "columnheader", word, i));
    /** @type {Cell[][]} */
    this.cells = [];
    this.queries = queries.map((word, i) => {
      const row = this.row();
      const header = this.word(row, "query", "rowheader", word, i);
      this.cells.push(keys.map((_, j) => this.cell(row, i, j)));
      return header;
    });
    /** @type {Position} */
    this.at = [Math.min(row, queries.length - 1), Math.min(column, keys.length - 1)];
    this.cells[this.at[0]][this.at[1]].element.tabIndex = 0;
  }

  row() {
    const row = make("div", "", this.grid);
    row.setAttribute("role", "row");
    return row;
  }

  /** @param {HTMLElement} row @param {string} name @param {string} role @param {string} word @param {number} i */
  word(row, name, role, word, i) {
    const header = make("div", name, row);
    header.setAttribute("role", role);
    make("span", "number", header).textContent = String(i + 1);
    make("span", "word", header).textContent = word || this.data.words.empty;
    header.title = `${i + 1} ${word}`;
    return header;
  }

  /** @param {HTMLElement} row @param {number} i @param {number} j @returns {Cell} */
  cell(row, i, j) {
    const element = make("div", "cell", row);
    element.setAttribute("role", "gridcell");
    element.tabIndex = -1;
    return { element, row: i, column: j };
  }

  /** @param {EventTarget | null} target @returns {Cell | undefined} the cell that an event happened to */
  find(target) {
    return this.cells.flat().find((cell) => cell.element === target);
  }

  /** @param {number} i @param {number} j @param {boolean} may @returns {boolean} whether that changed the cell */
  set(i, j, may) {
    const cell = this.cells[i]?.[j];
    if (!cell || cell.may === may) return false;
    cell.may = may;
    cell.element.setAttribute("aria-selected", String(may));
    cell.element.setAttribute("aria-label", this.describe(cell));
    return true;
  }

  /** @param {string} text  lines of 0 and 1 */
  draw(text) {
    text.split("\n").forEach((row, i) => [...row].forEach((mark, j) => this.set(i, j, mark === "1")));
  }

  /** @returns {string} lines of 0 and 1 */
  text() {
    return this.cells.map((row) => row.map((cell) => (cell.may ? "1" : "0")).join("")).join("\n");
  }

  /** @param {Cell} cell @returns {string} its query, its key and what it says */
  describe({ row: i, column: j, may }) {
    const { queries, keys, words } = this.data;
    const row = filled(words.row, { row: i + 1, query: queries[i] || words.empty });
    const column = filled(words.column, { column: j + 1, key: keys[j] || words.empty });
    return row + signOf(", ") + column + signOf(": ") + (may ? words.may : words.may_not);
  }

  /** @param {number} width  for which cells are as large as there is room; words that would not fit are left out */
  fit(width) {
    const left = this.queries.reduce((widest, header) => Math.max(widest, header.offsetWidth), 0);
    const pitch = (width - left - 6) / this.keys.length;
    const cell = Math.max(SMALLEST_CELL, Math.min(this.data.largest, Math.floor(pitch >= GAPS_FROM + 1 ? pitch - 1 : pitch)));
    const fine = cell < GAPS_FROM;
    this.grid.style.setProperty("--cell", `${cell}px`);
    this.grid.style.setProperty("--gap", fine ? "0px" : "1px");
    this.grid.classList.toggle("fine", fine);
    this.grid.classList.toggle("large", cell > 40);
    this.grid.classList.toggle("thin", cell < 16);
    const every = Math.ceil(12 / cell);
    for (const headers of [this.queries, this.keys]) headers.forEach((header, i) => header.classList.toggle("skipped", i % every > 0));
  }

  /** @param {MouseEvent} event @returns {Position} under the pointer, also outside the grid */
  position(event) {
    const [first, second] = this.cells[0].map((cell) => cell.element);
    const box = first.getBoundingClientRect();
    const pitch = second ? second.getBoundingClientRect().left - box.left : box.width + 1;
    return [Math.floor((event.clientY - box.top) / pitch), Math.floor((event.clientX - box.left) / pitch)];
  }

  /** @param {Cell} cell  that Tab reaches from now on */
  focus(cell) {
    this.cells[this.at[0]][this.at[1]].element.tabIndex = -1;
    this.at = [cell.row, cell.column];
    cell.element.tabIndex = 0;
  }

  /** @param {Position} [position]  whose row and column are marked */
  mark(position) {
    for (const hot of this.grid.querySelectorAll(".hot")) hot.classList.remove("hot");
    if (position) [this.queries[position[0]], this.keys[position[1]]].forEach((header) => header.classList.add("hot"));
  }
}
