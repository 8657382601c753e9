// The mask of the weights under the hand: a press or a stroke over cells forbids or allows them, a word its whole row or
// column; with Shift held it is a block, with Alt, or with Control and Shift, a diagonal. Shares are divided anew at once.

/** @import { Change } from "../../../../live/types" */
/** @import { Holding } from "./holding.js" */
/** @import { Picture } from "../picture/picture.js" */
/** @import { Place } from "../../../../pictures/stroke.js" */
/** @import { Spot } from "../types" */
import { blockBetween, diagonalOf, squaresBetween } from "../../../../pictures/stroke.js";

const PAINTED = "weights"; // the stage

/** @typedef {"line" | "block" | "diagonal"} Shape */
/** @typedef {{ picture: Picture, before: Float64Array, mask: Float64Array, may: number, first: Spot, last: Spot, shape: Shape, id: number | null }} Stroke */

/** @param {Spot} spot @returns {spot is Spot & Place} */
const isSquare = (spot) => spot.row !== undefined && spot.column !== undefined;

export class MaskHand {
  isOn = false; // whether a press on the weights paints
  isPanel = false; // whether the page has opened what paints
  /** @type {Stroke | null} */
  stroke = null;
  swallows = false; // whether the click that comes next is that of letting go
  /** @type {{ isUp: boolean } | null} */
  early = null; // a press that waits for the run

  /** @param {Holding} holding */
  constructor(holding) {
    this.holding = holding;
  }

  get isHeld() {
    return this.stroke !== null;
  }

  /** The page says whether its place for masks is open. @param {boolean} isPanel */
  adopt(isPanel) {
    if (isPanel !== this.isPanel) this.isOn = this.isPanel = isPanel;
  }

  /** The switch in the heading. */
  toggle() {
    const { host } = this.holding.heatmap, hadFocus = host.querySelector(".attn-paint:focus") !== null;
    this.isOn = !this.isOn;
    this.holding.prepare();
    this.holding.heatmap.lay(false);
    const button = host.querySelector(".attn-paint");
    if (hadFocus && button instanceof HTMLElement) button.focus({ preventScroll: true }); // the heading is a new one
  }

  /** Escape ends what the switch began; whether it did. */
  end() {
    if (!this.isOn || this.isPanel) return false;
    this.toggle();
    return true;
  }

  /** Whether a press on a map is for its mask. @param {Picture} picture */
  isOf(picture) {
    return this.isOn && picture.name === PAINTED && this.holding.heatmap.data.live?.paints !== null;
  }

  /** A finger on it scrolls nothing meanwhile. @param {Picture} picture */
  mark(picture) {
    picture.box.classList.toggle("attn-painting", this.isOf(picture));
  }

  /** Whether a map is painted now. @param {Picture} picture */
  paints(picture) {
    return this.isOf(picture) && Boolean(this.holding.run?.stepOf("allowed", this.holding.layer));
  }

  /** @param {Picture} picture @param {AbortSignal} signal */
  listen(picture, signal) {
    const { box } = picture;
    box.addEventListener("pointerdown", (event) => this.press(picture, event), { signal });
    box.addEventListener("pointermove", (event) => this.move(event), { signal });
    box.addEventListener("pointerup", () => this.release(), { signal });
    box.addEventListener("pointercancel", () => this.leave(), { signal });
    box.addEventListener("touchmove", (event) => (this.stroke || this.early) && event.preventDefault(), { signal, passive: false });
    box.addEventListener("contextmenu", (event) => (this.stroke || this.early) && event.preventDefault(), { signal });
    box.addEventListener("click", (event) => this.swallow(event), { signal, capture: true });
  }

  /** @param {Picture} picture @param {PointerEvent} event */
  async press(picture, event) {
    this.swallows = false;
    const spot = event.button === 0 && event.isPrimary && this.isOf(picture) ? picture.locate(event) : null;
    if (!spot || spot.name !== undefined) return;
    const { altKey, ctrlKey, shiftKey, pointerId } = event, early = (this.early = { isUp: false });
    this.holding.heatmap.picking.pressed = null;
    picture.box.setPointerCapture(pointerId);
    if (!this.paints(picture)) await this.holding.prepare();
    if (this.early !== early || !this.paints(picture)) return;
    this.early = null;
    this.begin(picture, spot, pointerId, altKey || (ctrlKey && shiftKey) ? "diagonal" : shiftKey ? "block" : "line");
    if (early.isUp) this.release();
  }

  /** @param {Picture} picture @param {Spot} spot @param {number | null} id  of the pointer @param {Shape} shape */
  begin(picture, spot, id, shape) {
    const mask = this.now();
    if (!mask) return;
    const squares = this.squares(picture, spot, mask);
    const may = squares.some((at) => mask[at]) ? 0 : 1;
    this.stroke = { picture, before: mask.slice(), mask: mask.slice(), may, first: spot, last: spot, shape, id };
    this.holding.heatmap.pointing.rest();
    this.paint(spot);
  }

  /** Who may attend to whom, as it is now. @returns {Float64Array | undefined} */
  now() {
    const { run, layer } = this.holding;
    const step = run?.stepOf("allowed", layer);
    return step && (run?.follow([])[step.name] ?? run?.arrays[step.name]);
  }

  /**
   * The places in the mask of a drawn cell, or of a whole row or column.
   *
   * @param {Picture} picture
   * @param {Spot} spot
   * @param {Float64Array} mask
   */
  squares(picture, { row, column }, mask) {
    const { block, rows, columns } = picture.meta;
    const width = this.holding.run?.stepOf("allowed", this.holding.layer)?.shape[2] ?? 1;
    /** @param {0 | 1} axis @param {number | undefined} drawn @param {number} shown @param {number} all */
    const along = (axis, drawn, shown, all) => {
      if (drawn === undefined) return Array.from({ length: all }, (_, at) => at);
      const first = drawn * block[axis];
      return Array.from({ length: Math.min(block[axis], shown - first) }, (_, at) => picture.position(axis, first + at));
    };
    const down = along(0, row, rows.length, mask.length / width), across = along(1, column, columns?.length ?? 0, width);
    return down.flatMap((i) => across.map((j) => i * width + j));
  }

  /** @param {PointerEvent} event */
  move(event) {
    const spot = this.stroke?.picture.locate(event);
    if (spot && spot.name === undefined) this.paint(spot);
  }

  /** Paint all between what was painted last and a spot, or the block or diagonal up to there alone. @param {Spot} spot */
  paint(spot) {
    const { stroke } = this;
    if (!stroke) return;
    const { first, last, mask, may, picture, shape } = stroke, { rows, columns } = picture.meta;
    /** @type {Spot[]} */
    let way = [spot];
    if (isSquare(spot) && isSquare(last) && isSquare(first) && spot.head === last.head) {
      if (shape !== "line") mask.set(stroke.before);
      if (shape === "block") way = blockBetween(first, spot);
      else if (shape === "diagonal") way = diagonalOf(spot, rows.length, columns?.length ?? 0);
      else way = squaresBetween([last.row, last.column], [spot.row, spot.column]).map(([row, column]) => ({ row, column }));
    } else if ((spot.row === undefined) !== (last.row === undefined) || (spot.column === undefined) !== (last.column === undefined)) return; // a row of words is left
    for (const each of way) for (const at of this.squares(picture, each, mask)) mask[at] = may;
    stroke.last = spot;
    this.holding.show(this.changes(mask));
  }

  /** A mask is that of every layer. @param {Float64Array} mask @returns {Change[]} */
  changes(mask) {
    const steps = this.holding.run?.program.steps ?? [];
    return steps.filter(({ name }) => name.startsWith("allowed.")).map(({ name }) => ({ step: name, array: mask.slice() }));
  }

  release() {
    const { stroke, early } = this;
    if (early) early.isUp = this.swallows = true;
    if (!stroke) return;
    this.swallows = stroke.id !== null;
    this.stroke = null;
    const width = this.holding.run?.stepOf("allowed", this.holding.layer)?.shape[2] ?? 1;
    const rows = Array.from({ length: stroke.mask.length / width }, (_, row) => stroke.mask.slice(row * width, (row + 1) * width).join(""));
    this.holding.show(this.changes(stroke.mask));
    this.holding.keep({ cells: rows.join("\n") });
  }

  /** Take it back. */
  leave() {
    this.early = null;
    if (!this.stroke) return;
    this.swallows = this.stroke.id !== null;
    this.stroke = null;
    this.holding.show([]);
  }

  /** @param {MouseEvent} event */
  swallow(event) {
    if (!this.swallows) return;
    this.swallows = false;
    event.stopImmediatePropagation();
  }

  /**
   * Space forbids or allows the cell at the cursor, with Shift its row, with Control its column, with both its diagonal;
   * return whether it did.
   *
   * @param {Picture} picture
   * @param {KeyboardEvent} event
   */
  onKeydown(picture, event) {
    const { cursor } = picture;
    if (event.key !== " " || !cursor || !this.paints(picture)) return false;
    event.preventDefault();
    const isDiagonal = event.shiftKey && event.ctrlKey, spot = event.shiftKey ? { row: cursor.row } : event.ctrlKey ? { column: cursor.column } : cursor;
    this.begin(picture, isDiagonal ? cursor : spot, null, isDiagonal ? "diagonal" : "line");
    this.release();
    return true;
  }
}
