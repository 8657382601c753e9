// A number of a map that is typed, or changed by keys: also before the run has come of which it is.

/** @import { NumberHand } from "./number_hand.js" */
/** @import { Picture } from "../picture/picture.js" */
/** @import { Cell } from "../types" */
import { asWritten } from "../../number_format.js";
import { Field } from "./field.js";

const NUDGE = 0.02; // of the scale, by an arrow
const NUDGE_FINER = 0.1; // with Shift
const AWAY = 14; // pixels from the middle of a cell to the field
const ASKED = 3; // times that a run which cannot be had at once is asked for
const TYPED = /^[\d.,−-]$/;

export class TypedNumber {
  isEntered = false; // whether what was typed is to be kept once the run has come

  /** @param {NumberHand} hand */
  constructor(hand) {
    this.hand = hand;
    this.field = new Field(hand.holding.heatmap);
  }

  /** A figure is for the cell under the pointer, or the one that is chosen, where it is for nothing else. @param {KeyboardEvent} event */
  typeChosen(event) {
    const { picking, pictures } = this.hand.holding.heatmap, { pointed } = this.hand;
    if (!(event.target instanceof Element) || !event.target.matches("body, [data-testid=stMain]")) return;
    if (pointed) return void this.type(pointed.picture, pointed.cell, event); // whose tip says that it can be typed
    const picture = picking.chosen && pictures.get(picking.chosen.stage), { highlight } = picking;
    if (!picture || !highlight) return;
    const { head, row, column } = picture.cellsOf(highlight);
    if (head !== null && row !== null && column !== null) this.type(picture, { head, row, column }, event);
  }

  /**
   * A figure, or F2, opens a field for the number of a cell, also before the run has come; return whether it did.
   * @param {Picture} picture @param {Cell} cell @param {KeyboardEvent} event
   */
  type(picture, cell, event) {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || this.hand.held || this.field.isOpen) return false;
    if (event.key !== "F2" && !TYPED.test(event.key)) return false;
    const target = this.hand.target(picture, cell);
    let first = picture.value(cell);
    if (first === null || (!target && !this.hand.mayCome(picture, cell))) return false;
    event.preventDefault();
    this.hand.value = first;
    this.isEntered = false;
    if (target) {
      this.hand.take(target);
      first = target.first; // with all its digits
    }
    this.hand.set(first);
    const was = first;
    const [x, y] = this.hand.point({ picture, cell });
    this.field.open([x + AWAY, y], picture.focus, event.key === "F2" ? String(was) : event.key, {
      typed: (value) => this.hand.set((this.hand.value = value ?? was)),
      fault: () => "",
      nudged: (by, isFine) => this.hand.set((this.hand.value = this.nudged(by * (isFine ? NUDGE_FINER : 1)))),
      kept: () => this.enter(),
      left: () => this.hand.leave(),
      written: () => String(this.hand.value),
      label: `${this.hand.holding.heatmap.data.words.number} ${asWritten(was)}`,
    });
    if (!target) this.awaitRun(picture, cell);
    return true;
  }

  /** @param {number} by  steps */
  nudged(by) {
    return this.hand.rounded(this.hand.value + by * NUDGE * this.reach);
  }

  /** How far the number that is held can be dragged. */
  get reach() {
    const { held } = this.hand;
    return held ? held.ends[1] - held.ends[0] : 0;
  }

  /** Keep what was typed, at once or as soon as the run has come. */
  enter() {
    if (this.hand.held) this.hand.keep(this.hand.value);
    else this.isEntered = true;
  }

  /** Hold the number that is typed once the run has come. @param {Picture} picture @param {Cell} cell */
  async awaitRun(picture, cell) {
    const { input } = this.field;
    for (let n = 0; n < ASKED && !this.hand.holding.run; n++) await this.hand.holding.prepare();
    if (this.field.input !== input) return; // it was left meanwhile
    const target = this.hand.target(picture, cell), { value } = this.hand;
    if (!target) return this.hand.leave();
    this.hand.take(target);
    this.hand.set((this.hand.value = value));
    if (this.isEntered) this.hand.keep(value);
  }
}
