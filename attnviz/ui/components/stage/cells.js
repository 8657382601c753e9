// The cells of a heat map: their positions on the screen, and their numbers.

/** @import { Heatmap } from "./heatmap.js" */
/** @import { Cell, Meta, Numbers, Plot, Spot, Trace } from "./types" */
import { between, unpacked } from "../colours.js";
import { fourDigits } from "../number_format.js";
import { percent } from "../percent.js";
import { full, svg, visible } from "./ink.js";

/** @type {WeakMap<object, Numbers[]>} */
export const NUMBERS = new WeakMap(); // the numbers as they are of a trace that holds them in parts of its own scales

/**
 * The strong weights of the rows of a map, and where those of each row begin among them.
 *
 * @typedef {{ starts: number[], columns: Uint16Array, weights: Float32Array }} Strong
 */

/** @param {Meta} meta @returns {Strong | null} */
function strongOf({ strong }) {
  if (!strong) return null;
  const starts = [0];
  for (const count of new Uint16Array(unpacked(strong.counts).buffer)) starts.push(starts[starts.length - 1] + count);
  return { starts, columns: new Uint16Array(unpacked(strong.columns).buffer), weights: new Float32Array(unpacked(strong.weights).buffer) };
}

export class Cells {
  // in pixels of the chart: where its cells begin, how large one is, how wide and high all is, and how long a unit of each axis
  x = 0;
  y = 0;
  w = 0;
  h = 0;
  width = 0;
  height = 0;
  kx = 1;
  ky = 1;
  /** @type {{ text: string, meta: Meta, nan: Uint8Array | null, strong: Strong | null } | undefined} */
  parsed;

  /** @param {Heatmap} heatmap @param {string} name @param {Plot} chart */
  constructor(heatmap, name, chart) {
    this.heatmap = heatmap;
    this.name = name;
    this.chart = chart;
    this.layer = document.createElement("div");
    this.layer.className = "attn-layer";
    this.words = svg(this.layer, "svg", { "aria-hidden": true });
    this.light = svg(this.layer, "svg", { "aria-hidden": true });
    this.focus = this.layer.appendChild(document.createElement("div"));
    this.focus.className = "attn-focus";
    this.focus.tabIndex = 0;
    this.focus.setAttribute("role", "application");
  }

  /** What shows where the cells are: their image, or where no cell is drawn, its ground; null while there is neither. */
  get image() {
    return this.chart.querySelector(".heatmaplayer image") ?? this.chart.querySelector(".shapelayer path");
  }

  /** What the chart holds: nothing once Plotly has taken it away, and no numbers before they are put in. */
  get trace() {
    return this.chart.data?.[0];
  }

  /** What the chart holds, where it is known to hold numbers. */
  get filled() {
    return /** @type {Trace} */ (this.trace);
  }

  get meta() {
    return this.read().meta;
  }

  /** The `meta` of the trace, and its bytes as numbers. */
  read() {
    const text = this.filled.meta;
    if (this.parsed?.text === text) return this.parsed;
    /** @type {Meta} */
    const meta = JSON.parse(text);
    return (this.parsed = { text, meta, nan: meta.nan === null ? null : unpacked(meta.nan), strong: strongOf(meta) });
  }

  get columns() {
    return Math.max(...this.meta.widths);
  }

  get rows() {
    return Math.ceil(this.meta.rows.length / this.meta.block[0]);
  }

  /** Where the image is, in pixels of the chart; false while there is none. */
  measure() {
    const paper = this.chart.querySelector(".svg-container");
    const { image } = this;
    if (!paper || !image || !this.trace?.meta) return false;
    if (this.layer.parentNode !== paper) paper.append(this.layer);
    const outer = paper.getBoundingClientRect();
    const inner = image.getBoundingClientRect();
    if (!inner.width) return false;
    const { x, y } = this.filled;
    this.x = inner.left - outer.left;
    this.y = inner.top - outer.top;
    this.kx = inner.width / x[x.length - 1];
    this.ky = inner.height / y[y.length - 1];
    this.w = (x[this.columns] / this.columns) * this.kx;
    this.h = (y[this.rows] / this.rows) * this.ky;
    this.width = outer.width;
    this.height = outer.height;
    return true;
  }

  /**
   * The left edge of a column of a head, or the right one of the column before.
   *
   * @param {number} head
   * @param {number} column
   */
  edgeX(head, column) {
    return this.x + this.filled.x[(head % this.meta.across) * (this.columns + 1) + column] * this.kx;
  }

  /** @param {number} head @param {number} row */
  edgeY(head, row) {
    return this.y + this.filled.y[Math.floor(head / this.meta.across) * (this.rows + 1) + row] * this.ky;
  }

  /** @param {number} head */
  corner(head) {
    return { x: this.edgeX(head, 0), y: this.edgeY(head, 0) };
  }

  /**
   * x, y, width and height of a run of cells.
   *
   * @param {number} head
   * @param {number} row
   * @param {number} column
   * @returns {[x: number, y: number, width: number, height: number]}
   */
  box(head, row, column, rows = 1, columns = 1) {
    const [x, y] = [this.edgeX(head, column), this.edgeY(head, row)];
    return [x, y, this.edgeX(head, column + columns) - x, this.edgeY(head, row + rows) - y];
  }

  /**
   * The position among all words of a row or column of the array, of which only some may be shown.
   *
   * @param {0 | 1} axis
   * @param {number} index
   */
  position(axis, index) {
    return this.meta.positions?.[axis]?.[index] ?? index;
  }

  /**
   * The index along an axis of the array of a position among all words; null where it is not shown.
   *
   * @param {0 | 1} axis
   * @param {number | null} position
   */
  index(axis, position) {
    const shown = this.meta.positions?.[axis];
    const index = shown && position !== null ? shown.indexOf(position) : position;
    return index !== null && index < 0 ? null : index;
  }

  /** The last head of a column of heads: the words stand under it. @param {number} tile */
  lowest(tile) {
    const { heads, across } = this.meta;
    return tile + across * Math.floor((heads.length - 1 - tile) / across);
  }

  /**
   * The cell under a point of the screen, the row or column whose word is there, or the head whose name; else null.
   *
   * @param {PointerEvent} event
   * @returns {Spot | null}
   */
  locate(event) {
    if (!this.w) return null;
    const outer = this.layer.getBoundingClientRect();
    const { across, widths, room } = this.meta;
    const [px, py] = [event.clientX - outer.left, event.clientY - outer.top];
    /** @param {number[]} edges @param {number} length */
    const at = (edges, length) => edges.reduce((found, edge, i) => (edge <= length ? i : found), -1);
    const x = at(this.filled.x, (px - this.x) / this.kx);
    const y = at(this.filled.y, (py - this.y) / this.ky);
    const [tileX, column] = [Math.floor(x / (this.columns + 1)), x % (this.columns + 1)];
    const [tileY, row] = [Math.floor(y / (this.rows + 1)), y % (this.rows + 1)];
    const inRows = y >= 0 && row < this.rows;
    const inColumns = x >= 0 && column < this.columns;
    const head = tileY * across + tileX;
    if (inRows && inColumns) return column < widths[head] ? { head, row, column } : null;
    if (inRows && x < 0) return { row };
    if (!inColumns) return null;
    const named = Array.from({ length: Math.ceil(widths.length / across) }, (_, down) => down * across + tileX);
    const name = named.find((each) => each < widths.length && py < this.edgeY(each, 0) && py >= this.edgeY(each, 0) - room[2]);
    if (name !== undefined) return { name };
    const last = this.lowest(tileX);
    return tileX < Math.min(across, widths.length) && py >= this.edgeY(last, this.rows) ? { column } : null;
  }

  /** What the picture that is drawn shows, row by row: the next one may be on its way already. */
  get numbers() {
    return NUMBERS.get(this.filled) ?? this.filled.z;
  }

  /** The number in a cell; null where it is masked, NaN where it is not a number. @param {Cell} cell */
  value({ head, row, column }) {
    const { meta, nan } = this.read();
    const { across } = meta;
    const x = (head % across) * (this.columns + 1) + column;
    const y = Math.floor(head / across) * (this.rows + 1) + row;
    const number = this.numbers[y][x];
    const bit = (head * this.rows + row) * this.columns + column;
    return Number.isNaN(number) && !(nan && (nan[bit >> 3] >> (7 - (bit & 7))) & 1) ? null : number;
  }

  /**
   * The numbers of a row of the array. Where words share a cell of a map of weights, the strong ones: the others are 0.
   *
   * @param {number} head
   * @param {number} row
   * @returns {(number | null)[]}
   */
  rowOf(head, row) {
    const { meta, strong } = this.read();
    if (!strong) return Array.from({ length: this.columns }, (_, column) => this.value({ head, row, column }));
    const numbers = Array(meta.columns?.length ?? 0).fill(0);
    const [first, last] = [0, 1].map((next) => strong.starts[head * meta.rows.length + row + next]);
    for (let at = first; at < last; at++) numbers[strong.columns[at]] = strong.weights[at];
    return numbers;
  }

  /** The colour of a number on the scale of its head. @param {number} head @param {number} number */
  colour(head, number) {
    const { zmin, zmax, colorscale } = this.filled;
    const { ends } = this.meta;
    const shown = ends ? number / (ends[head] || 1) : number;
    const colours = colorscale.map(([, colour]) => colour);
    return between(colours, (shown - zmin) / (zmax - zmin));
  }

  /** Describe a cell: its number, of a share also the percentage, that it is masked, or that it is no number. @param {Cell} cell */
  describe(cell) {
    const { words } = this.heatmap.data;
    const number = this.value(cell);
    if (number === null) return words.masked;
    if (Number.isNaN(number)) return words.nan;
    return this.meta.share && number >= 0 && number <= 1 ? `${fourDigits(number)} (${percent(number)})` : fourDigits(number);
  }

  /** All the digits of the number in a cell, where four are not all; none where there is no number. @param {Cell} cell */
  digits(cell) {
    const number = this.value(cell);
    if (number === null || !Number.isFinite(number)) return "";
    const digits = full(number, this.numbers[0] instanceof Float32Array);
    return digits.replace("≈ ", "") === fourDigits(number) ? "" : digits;
  }

  /**
   * The word of a row of cells: the first of those that share it, or the one at an index of the array.
   *
   * @param {number} row
   * @param {number | null} [index]
   */
  rowWord(row, index = null) {
    const { rows, axes, block } = this.meta;
    const word = rows[index ?? row * block[0]];
    return word === "" && axes[0] === "row" ? "" : visible(word, this.heatmap.data.words); // a vector's row has no word
  }

  /** @param {number} column @param {number | null} [index] */
  columnWord(column, index = null) {
    const { columns, block } = this.meta;
    const i = index ?? column * block[1];
    return columns ? visible(columns[i], this.heatmap.data.words) : String(i + 1);
  }

  /**
   * The positions that share a row or a column of cells, counted from 1; a single one where none do.
   *
   * @param {number} at
   * @param {0 | 1} axis
   */
  positions(at, axis) {
    const { block, rows, columns, true: widths } = this.meta;
    const length = axis === 0 ? rows.length : columns ? columns.length : Math.max(...widths);
    const [first, last] = [at * block[axis], Math.min((at + 1) * block[axis], length) - 1].map((i) => this.position(axis, i) + 1);
    return first === last ? String(first) : `${first}–${last}`;
  }
}
