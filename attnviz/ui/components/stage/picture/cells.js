// The cells of a heat map: their numbers, and the words and positions that they have.

/** @import { Cell } from "../types" */
import { between } from "../../colours.js";
import { fourDigits, inLanguage } from "../../number_format.js";
import { percent } from "../../percent.js";
import { full, visible } from "../ink.js";
import { isDrawn } from "../maps.js";
import { Tiles } from "./tiles.js";
import { signOf } from "../../signs.js";

export class Cells extends Tiles {
  /**
   * The position among all words of a row or column of the array, of which only some may be shown, or of the words of
   * all stages, where these have others.
   *
   * @param {0 | 1} axis
   * @param {number} index
   */
  position(axis, index) {
    return this.shown(axis)?.[index] ?? index;
  }

  /** The positions that the rows or the columns have. @param {0 | 1} axis */
  shown(axis) {
    return this.meta.common?.[axis] ?? this.meta.positions?.[axis];
  }

  /**
   * The index along an axis of the array of a position among all words; null where it is not shown.
   *
   * @param {0 | 1} axis
   * @param {number | null} position
   */
  index(axis, position) {
    const shown = this.shown(axis);
    const index = shown && position !== null ? shown.indexOf(position) : position;
    return index !== null && index < 0 ? null : index;
  }

  /** The number in a cell; null where it is masked, NaN where it is not a number. @param {Cell} cell */
  value({ head, row, column }) {
    const at = this.map.at[(head * this.rows + row) * this.columns + column];
    return at < 0 ? null : this.stage.values[at];
  }

  /**
   * The row and the column of the array whose number a cell shows; its first ones where it is masked.
   *
   * @param {Cell} cell
   */
  behind({ head, row, column }) {
    const [, rows, columns] = this.stage.shape;
    const at = this.map.at[(head * this.rows + row) * this.columns + column];
    if (at < 0) return { row: row * this.meta.block[0], column: column * this.meta.block[1] };
    return { row: Math.floor(at / columns) % rows, column: at % columns };
  }

  /**
   * The numbers of a row of the array; null where they are masked.
   *
   * @param {number} head
   * @param {number} row
   * @returns {(number | null)[]}
   */
  rowOf(head, row) {
    const { stage } = this;
    const [, rows, columns] = stage.shape;
    const first = (head * rows + row) * columns;
    return Array.from({ length: columns }, (_, column) => (isDrawn(stage, head, row, column) ? stage.values[first + column] : null));
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
    const text = inLanguage(fourDigits(number), words);
    return this.meta.share && number >= 0 && number <= 1 ? text + signOf(" (") + percent(number) + signOf(")") : text;
  }

  /** All the digits of the number in a cell, where four are not all; none where there is no number. @param {Cell} cell */
  digits(cell) {
    const number = this.value(cell);
    if (number === null || !Number.isFinite(number)) return "";
    const digits = full(number, this.stage.values instanceof Float32Array);
    return digits.replace("≈ ", "") === fourDigits(number) ? "" : inLanguage(digits, this.heatmap.data.words);
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
    const [first, last] = [at * block[axis], Math.min((at + 1) * block[axis], length) - 1].map((i) => (this.meta.positions?.[axis]?.[i] ?? i) + 1);
    return first === last ? String(first) : `${first}–${last}`;
  }
}
