// A number of a map under the hand: dragged up and down, or typed.

/** @import { Holding } from "./holding.js" */
/** @import { Picture } from "../picture/picture.js" */
/** @import { Cell, Spot } from "../types" */
import { Grip } from "./grip.js";
import { Rail } from "./rail.js";
import { TypedNumber } from "./typed_number.js";

const DRAGGED_FROM = 12; // pixels from which a press is a drag: more than a click slips
const LONG = 350; // milliseconds until a finger holds what it presses
const SHAKES = 8; // pixels that it may move meanwhile
const PULL = 118; // pixels over which a number goes through the scale of its head
const BEYOND_SCALE = 1.2; // of the largest number of the head
const FINER = 0.1; // with Shift
const RAIL_BESIDE = 11; // pixels from the edge of a cell to the middle of the rail

/**
 * What is pressed: with its number, or without it until the run has come.
 *
 * @typedef {object} Press
 * @property {Picture} picture
 * @property {Spot} spot
 * @property {Target | null} target
 * @property {number} x  of the screen
 * @property {number} y
 * @property {number} id  of the pointer
 * @property {boolean} holds  whether it is no press for anything else any more
 */

/**
 * A number that can be held: where it stands, and how far it goes.
 *
 * @typedef {object} Target
 * @property {Picture} picture
 * @property {Cell} cell  as it is drawn
 * @property {string} step  of the program
 * @property {number} at  in its array
 * @property {number[]} index  in the array of the run
 * @property {number} first  what it is
 * @property {number} unit  how much a pixel is
 * @property {[low: number, high: number]} ends  of what a hand can drag it to
 */

export class NumberHand {
  /** @type {Target | null} */
  held = null;
  value = 0; // of what is held, before it is rounded
  /** @type {{ picture: Picture, cell: Cell } | null} */
  pointed = null; // what the pointer rests on, that can be held, or will be once the run has come
  /** @type {Press | null} */
  pressed = null;
  swallows = false; // whether the click that comes next is that of letting go
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  timer;

  /** @param {Holding} holding */
  constructor(holding) {
    this.holding = holding;
    this.rail = new Rail(holding.heatmap);
    this.grip = new Grip(holding.heatmap);
    this.typing = new TypedNumber(this);
  }

  get field() {
    return this.typing.field;
  }

  get isHeld() {
    return this.held !== null;
  }

  /** @param {Picture} picture @param {AbortSignal} signal */
  listen(picture, signal) {
    const { box } = picture;
    box.addEventListener("pointerdown", (event) => this.press(picture, event), { signal });
    box.addEventListener("pointermove", (event) => this.move(event), { signal });
    box.addEventListener("pointerup", (event) => this.release(event), { signal });
    box.addEventListener("pointercancel", () => this.leave(), { signal });
    box.addEventListener("lostpointercapture", () => this.pressed && this.leave(), { signal });
    box.addEventListener("touchmove", (event) => (this.held || this.pressed?.holds) && event.preventDefault(), { signal, passive: false });
    box.addEventListener("contextmenu", (event) => (this.held || this.pressed?.holds) && event.preventDefault(), { signal });
    box.addEventListener("click", (event) => this.swallow(event), { signal, capture: true });
  }

  /** Whether a spot is one cell with a number that is finite. @param {Picture} picture @param {Spot} spot */
  isNumber(picture, { head, row, column }) {
    if (head === undefined || row === undefined || column === undefined) return false;
    const { stage, meta } = picture, value = picture.value({ head, row, column });
    return stage.kind !== "allowed" && meta.block.every((side) => side <= 1) && Number.isFinite(value);
  }

  /**
   * A spot as a number that can be held; null where nothing can: it is masked, no number, or one of several in a cell.
   *
   * @param {Picture} picture
   * @param {Spot} spot
   * @returns {Target | null}
   */
  target(picture, { head, row, column }) {
    const { run, layer, isAhead } = this.holding;
    if (head === undefined || row === undefined || column === undefined) return null;
    if (!run || isAhead || this.holding.heatmap.pin.isFlipped || this.holding.mask.paints(picture) || !this.isNumber(picture, { head, row, column })) return null;
    const { stage } = picture, step = run.stepOf(picture.name, layer);
    const first = picture.value({ head, row, column });
    if (!step || first === null) return null;
    const entry = [head + (stage.only ?? 0), picture.position(0, row), picture.position(1, column)];
    const at = (entry[0] * step.shape[1] + entry[1]) * step.shape[2] + entry[2];
    const axes = step.axes.length, ofHeads = step.axes[0].endsWith("head");
    const index = axes === 3 ? entry : axes === 1 ? [entry[2]] : ofHeads ? [entry[0], entry[2]] : [entry[1], entry[2]];
    const end = Math.max(Math.abs(first), stage.ends[head]) * BEYOND_SCALE || 1;
    /** @type {[number, number]} */
    const ends = stage.scale.low < 0 ? [-end, end] : [0, Math.max(1, stage.scale.high)];
    return { picture, cell: { head, row, column }, step: step.name, at, index, first, unit: (ends[1] - ends[0]) / PULL, ends };
  }

  /** Mark a number that can be held. @param {Picture} picture @param {Spot} spot */
  mark(picture, spot) {
    const target = this.target(picture, spot), { head, row, column } = spot;
    if (head === undefined || row === undefined || column === undefined || !(target || this.mayCome(picture, spot))) return this.unmark();
    this.pointed = { picture, cell: { head, row, column } };
    if (target) this.grip.show(this.point(target), picture.h);
    else this.grip.hide();
  }

  unmark() {
    this.pointed = null;
    this.grip.hide();
  }

  /** Whether a spot is a number that can be held as soon as the run has come. @param {Picture} picture @param {Spot} spot */
  mayCome(picture, spot) {
    const { run, isAhead, mask, heatmap } = this.holding;
    return !run && !isAhead && heatmap.data.live !== null && !mask.isOf(picture) && this.isNumber(picture, spot);
  }

  /** @param {Picture} picture @param {PointerEvent} event */
  press(picture, event) {
    this.swallows = false;
    const spot = event.button === 0 && event.isPrimary ? picture.locate(event) : null;
    const target = spot && this.target(picture, spot);
    if (!spot || (!target && !this.mayCome(picture, spot))) return;
    this.pressed = { picture, spot, target, x: event.clientX, y: event.clientY, id: event.pointerId, holds: false };
    if (!target) this.holding.prepare(); // there at the end of a long press
    if (event.pointerType === "touch") this.timer = setTimeout(() => this.hold(), LONG);
  }

  /** @param {PointerEvent} event */
  move(event) {
    const { pressed } = this;
    if (!pressed) return;
    const [right, up] = [event.clientX - pressed.x, pressed.y - event.clientY];
    if (!this.held && event.pointerType === "touch" && !pressed.holds) {
      if (Math.hypot(right, up) > SHAKES) this.leave(); // the page is moved
      return;
    }
    if (!this.held && Math.abs(up) >= DRAGGED_FROM) this.hold();
    if (!this.held) return;
    pressed.y = event.clientY;
    this.drag(this.value + up * this.held.unit * (event.shiftKey ? FINER : 1));
  }

  /** The number that is pressed is held from now on, or as soon as the run has come. */
  async hold() {
    const { pressed } = this, { picking } = this.holding.heatmap;
    if (!pressed || pressed.holds) return;
    pressed.holds = true;
    picking.pressed = picking.touch = null;
    if (!pressed.target) await this.holding.prepare();
    if (this.pressed !== pressed) return;
    const target = pressed.target ?? this.target(pressed.picture, pressed.spot);
    if (!target) return this.leave();
    this.take(target);
    target.picture.box.setPointerCapture(pressed.id);
    this.drag(target.first);
  }

  /** @param {Target} target */
  take(target) {
    const { heatmap, run } = this.holding;
    target.first = (run?.follow([])[target.step] ?? run?.arrays[target.step])?.[target.at] ?? target.first; // a stage may have fewer digits
    heatmap.pointing.rest();
    heatmap.highlights.point(target.picture, target.cell);
    Object.assign(this, { held: target, value: target.first });
  }

  /** @param {number} value */
  drag(value) {
    const { held } = this;
    if (!held) return;
    this.value = Math.min(Math.max(value, Math.min(held.ends[0], held.first)), Math.max(held.ends[1], held.first));
    this.set(this.rounded(this.value));
  }

  /** Show what follows from a number in place of the one that is held. @param {number} value  as it would be kept */
  set(value) {
    const { held } = this;
    if (!held) return;
    this.holding.show([{ step: held.step, at: held.at, value }]);
    const [at, edges] = this.field.isOpen ? [this.point(held), this.edges(held)] : [this.beside(held), null];
    this.rail.show(at, (this.value - held.first) / held.unit, [held.first, value], edges);
  }

  /** The middle of a cell in the maps. @param {{ picture: Picture, cell: Cell }} target @returns {[x: number, y: number]} */
  point({ picture, cell }) {
    const [outer, inner] = [this.holding.heatmap.frame, picture.layer].map((element) => element.getBoundingClientRect());
    const [x, y, w, h] = picture.cells(cell.head, cell.row, cell.column);
    return [inner.left - outer.left + x + w / 2, inner.top - outer.top + y + h / 2];
  }

  /** From where to where the map of a head reaches in the maps. @param {Target} target @returns {[top: number, bottom: number]} */
  edges({ picture, cell: { head } }) {
    const [outer, inner] = [this.holding.heatmap.frame, picture.layer].map((element) => element.getBoundingClientRect().top);
    const [, y, , h] = picture.cells(head, 0, 0, picture.rows, 1);
    return [inner - outer + y, inner - outer + y + h];
  }

  /** A point beside a cell, so that its number is seen. @param {Target} target @returns {[x: number, y: number]} */
  beside(target) {
    const [x, y] = this.point(target), { cell, picture } = target;
    return [x + picture.cells(cell.head, cell.row, cell.column)[2] / 2 + RAIL_BESIDE, y];
  }

  /** A number with the digits that a pixel tells apart, with Shift; the one that was there stays whole. @param {number} value */
  rounded(value) {
    const { held } = this;
    if (!held || value === held.first) return value;
    return Number(value.toFixed(Math.min(Math.max(Math.ceil(-Math.log10(held.unit * FINER)), 0), 20)));
  }

  /** @param {PointerEvent} event */
  release(event) {
    clearTimeout(this.timer);
    const { held } = this;
    this.pressed = null;
    if (!held || this.field.isOpen) return;
    event.stopPropagation(); // a swipe it is not
    this.keep(this.rounded(this.value));
    this.swallows = true; // also where it is what it was
  }

  /** The pointer goes up, maybe outside of the map in which it came down: nothing is pressed any more. */
  letGoOutside() {
    if (!this.held) this.pressed = null;
  }

  /** @param {number} value */
  keep(value) {
    const { held } = this;
    if (!held) return;
    if (value === held.first) return this.leave();
    this.holding.show([{ step: held.step, at: held.at, value }]);
    this.holding.keep({ step: held.picture.name, at: held.index, value });
    this.holding.isFresh = true;
    this.end();
  }

  /** Take it back. */
  leave() {
    const { held } = this;
    this.swallows = held !== null && this.pressed !== null;
    this.end();
    if (held) this.holding.show([]);
  }

  end() {
    clearTimeout(this.timer);
    const { held } = this;
    Object.assign(this, { held: null, pressed: null });
    this.rail.hide();
    this.field.close();
    if (held) this.holding.heatmap.highlights.clear();
  }

  /** @param {MouseEvent} event */
  swallow(event) {
    if (!this.swallows) return;
    this.swallows = false;
    event.stopImmediatePropagation();
  }
}
