// Pointing at the maps, with the pointer or by keys: the tip, the lens and what is announced.

/** @import { Heatmap } from "./heatmap.js" */
/** @import { Picture } from "./picture/picture.js" */
/** @import { Cell, Spot } from "./types" */
import { Lens } from "./lens.js";
import { Tip } from "./tip.js";
import { signOf } from "../signs.js";

export class Pointing {
  /** @type {(() => void) | null} */
  last = null; // points at what is pointed at

  /** @param {Heatmap} heatmap */
  constructor(heatmap) {
    this.heatmap = heatmap;
    this.tip = new Tip(heatmap.host);
    this.live = heatmap.host.appendChild(document.createElement("div"));
    this.live.className = "attn-live";
    this.live.setAttribute("aria-live", "polite");
    this.lens = new Lens(heatmap.host);
  }

  /**
   * Highlight what is pointed at, and describe it beside a point of the screen.
   *
   * @param {Picture} picture
   * @param {Spot} spot
   * @param {number} x
   * @param {number} y
   */
  show(picture, spot, x, y) {
    if (this.heatmap.highlights.point(picture, spot)) this.tip.showCell(this.heatmap, picture, spot);
    const low = this.tip.moveTo(x, y);
    this.lens.follow(picture, spot, { x, y, low });
    this.heatmap.holding.number.mark(picture, spot);
  }

  /** @param {Picture} picture @param {PointerEvent} event */
  hover(picture, event) {
    const { holding, data } = this.heatmap;
    if (holding.isHeld) return;
    this.last = () => this.hover(picture, event);
    holding.prepare();
    const spot = picture.locate(event);
    const named = spot?.name !== undefined;
    picture.box.style.cursor = named ? (data.heads > 1 ? "pointer" : "") : spot ? holding.cursor(picture, spot) || "crosshair" : "";
    if (spot && !named) return this.show(picture, spot, event.clientX, event.clientY);
    this.leave();
    if (spot?.name !== undefined) this.tip.showHead(this.heatmap, picture, spot.name, event.clientX, event.clientY);
  }

  /** Shift keeps the lens where it is; once it is released, the lens follows the pointer again. @param {boolean} kept */
  keepLens(kept) {
    this.lens.keep(kept);
    if (!kept && !this.heatmap.highlights.highlight) this.lens.leave();
  }

  /** Say it anew: more may be said of it now. */
  again() {
    const { last } = this;
    if (!last || !this.heatmap.highlights.highlight) return;
    this.heatmap.highlights.highlight = null;
    last();
  }

  /** Nothing is said of what is pointed at. */
  rest() {
    this.heatmap.holding.number.unmark();
    this.lens.leave();
    this.tip.hide();
  }

  /** Nothing is pointed at any more. */
  leave() {
    if (this.heatmap.holding.isHeld) return;
    this.rest();
    this.last = null;
    if (this.heatmap.highlights.highlight) this.heatmap.highlights.clear();
  }

  /** Move to a cell with the keyboard: it is highlighted and announced. @param {Picture} picture @param {Cell} cell */
  visit(picture, cell) {
    const { heads, axes } = picture.meta;
    const outer = picture.layer.getBoundingClientRect();
    const { holding } = this.heatmap;
    holding.prepare();
    const [x, y] = [picture.edgeX(cell.head, cell.column + 1), picture.edgeY(cell.head, cell.row + 1)];
    this.show(picture, cell, outer.left + x, outer.top + y);
    holding.number.unmark(); // by keys it is typed
    const where = [heads[cell.head], `${this.heatmap.axis(axes[0])} ${picture.rowWord(cell.row)}`, `${this.heatmap.axis(axes[1])} ${picture.columnWord(cell.column)}`];
    this.live.textContent = where.filter(Boolean).join(signOf(", ")) + signOf(": ") + picture.describe(cell);
  }
}
