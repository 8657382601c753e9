// A heat map with highlights: rows, columns and cells that are pointed at, chosen, or opened by the page.

/** @import { Heatmap } from "../heatmap.js" */
/** @import { Cell, Highlight } from "../types" */
import { svg } from "../ink.js";
import { Lettered } from "./lettering.js";
import { drawRowSummary } from "./row_summary.js";

/**
 * A highlight in the cells of one picture; `positions` are those of the arrays, of which a cell may hold several.
 *
 * @typedef {object} CellMark
 * @property {number | null} head
 * @property {number | null} row
 * @property {number | null} column
 * @property {(number | null)[]} positions
 */

export class Picture extends Lettered {
  /** @type {Cell | undefined} */
  cursor; // where the keyboard is

  /** @param {Heatmap} heatmap @param {string} name */
  constructor(heatmap, name) {
    super(heatmap, name);
    const { box, focus } = this;
    box.addEventListener("pointermove", (event) => heatmap.pointing.hover(this, event));
    box.addEventListener("pointerdown", (event) => {
      heatmap.picking.press(this, event);
      if (event.pointerType === "touch") heatmap.pointing.hover(this, event);
    });
    box.addEventListener("pointerleave", () => heatmap.pointing.leave());
    box.addEventListener("click", (event) => event instanceof PointerEvent && heatmap.picking.click(this, event));
    focus.addEventListener("keydown", (event) => heatmap.picking.onKeydown(this, event));
    focus.addEventListener("focus", () => heatmap.picking.enter(this));
    focus.addEventListener("blur", () => heatmap.pointing.leave());
    heatmap.holding.listen(this, heatmap.stop.signal);
  }

  draw() {
    const isChanged = super.draw();
    if (isChanged || !this.heatmap.holding.isHeld || this.heatmap.drawn.other) this.drawHighlight();
    return isChanged;
  }

  drawHighlight() {
    this.relight(() => this.drawLights());
  }

  /** What stands in the name of a head. @param {HTMLElement} name @param {number} head  among all */
  offer(name, head) {
    this.heatmap.holding.head.offer(this, name, head);
  }

  /** Draw highlighted rows, columns and cells: thin under the pointer; chosen ones thick, their words in the accent colour. */
  drawLights() {
    const { highlight } = this.heatmap.highlights;
    const picked = this.heatmap.picking.highlight;
    this.heatmap.holding.head.draw(this);
    if (highlight) this.drawMark(this.cellsOf(highlight), highlight.exact ? 1.5 : 1, !highlight.exact);
    if (!highlight && !picked) this.drawOpening();
    const mark = highlight ?? picked;
    const now = mark ? this.cellsOf(mark).head : this.opening?.[0];
    this.words.querySelectorAll("[data-head]").forEach((name) => name.classList.toggle("attn-now", Number(name.getAttribute("data-head")) === now));
    const { chosen } = this.heatmap.picking;
    if (picked && chosen) this.drawMark(this.cellsOf(picked), 2, chosen.column === null || chosen.row === null);
  }

  /** The head and the row that the page opens on, of the heads that are shown. */
  get opening() {
    const { alone, data } = this.heatmap;
    return data.opening && /** @type {const} */ ([alone === null ? data.opening[0] : 0, data.opening[1]]);
  }

  /** The row that the page opens on, in its head alone, while nothing is pointed at or chosen. */
  drawOpening() {
    const { opening } = this;
    const { heads, axes, block, rows } = this.meta;
    if (!opening || axes[0] !== "query" || opening[0] >= heads.length || opening[1] >= rows.length) return; // of numbers that are on their way
    const mark = { head: opening[0], row: Math.floor(opening[1] / block[0]), column: null, positions: [opening[1], null] };
    this.drawMark(mark, 1.5, false);
    if (!this.heatmap.holding.isHeld) drawRowSummary(this, mark.head, mark.row);
  }

  /** Return a highlight in this picture's own cells; axes that it does not have are ignored. @param {Highlight} mark @returns {CellMark} */
  cellsOf(mark) {
    const { axes } = this.meta;
    const positions = [this.index(0, mark.at[axes[0]] ?? null), this.index(1, mark.at[axes[1]] ?? null)];
    const [row, column] = positions.map((position, i) => (position === null ? null : Math.floor(position / this.meta.block[i])));
    const n = this.meta.heads.length;
    const shared = mark.exact && mark.head !== null ? Math.floor((mark.head * n) / mark.heads) : null;
    const sameNumber = this.heatmap.data.by_number && (mark.head ?? n) < n;
    const head = mark.heads === n || sameNumber ? mark.head : this.heatmap.data.by_number ? null : shared; // key/value heads have other numbers
    /** @param {number | null} at @param {number} length */
    const inside = (at, length) => (at !== null && at < length ? at : null);
    return { head, row: inside(row, this.rows), column: inside(column, this.columns), positions };
  }

  /**
   * @param {CellMark} mark
   * @param {number} line  pixels
   * @param {boolean} everywhere  in every head, whole rows and columns
   */
  drawMark({ head, row, column, positions }, line, everywhere) {
    const words = svg(this.light, "g", line > 1 ? { class: "attn-chosen" } : {});
    if (row !== null) this.drawRowWords(words, row, everywhere ? null : head, positions[0]);
    if (column !== null) this.drawColumnWords(words, column, positions[1]);
    /** @type {[number, number, number, number][]} */
    const rings = [];
    this.meta.widths.forEach((width, each) => {
      const inside = column !== null && column < width;
      const isHead = each === head;
      if (row !== null && (everywhere || (isHead && !inside))) rings.push(this.cells(each, row, 0, 1, width));
      if (inside && everywhere) rings.push(this.cells(each, 0, column, this.rows, 1));
      if (row === null || !inside || !isHead) return;
      if (!everywhere) this.drawRings([this.cells(each, row, 0, 1, width)], 1.5, "attn-ring"); // the row that it is a share of
      this.drawRings([this.cells(each, row, column)], 2);
    });
    if (rings.length) this.drawRings(rings, line, "attn-ring");
  }

  /**
   * Boxes that stand out on any cell: thick ones by an edge in the colour of the page, thin ones by inversion.
   *
   * @param {[number, number, number, number][]} boxes
   * @param {number} line
   * @param {string} [name]
   */
  drawRings(boxes, line, name = "") {
    const d = boxes.map(([x, y, w, h]) => `M${x - 0.5},${y - 0.5}h${w + 1}v${h + 1}h${-w - 1}Z`).join("");
    if (line > 1) svg(this.light, "path", { d, stroke: this.heatmap.ground, "stroke-width": line + 2, fill: "none" });
    svg(this.light, "path", { d, class: line > 1 ? name : "attn-thin", stroke: "currentColor", "stroke-width": line, fill: "none" });
  }
}
