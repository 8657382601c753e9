// The numbers of the setting that headings show: handles that are dragged sideways, typed, or changed by keys. What
// follows from most is computed here; the length of an axis makes another run, of which the server's stages are asked.

/** @import { Holding } from "./holding.js" */
/** @import { Picture } from "../picture/picture.js" */
/** @import { LiveKnob } from "../types" */
import { asWritten, fourDigits } from "../../number_format.js";
import { say } from "../ink.js";
import { Field } from "./field.js";
import { Handles } from "./handles.js";
import { signOf } from "../../signs.js";

const KNOB_PULL = 220; // pixels over which a number goes from one end to the other
const PER_WHOLE = 14; // pixels for each whole number
const KNOB_FINER = 0.1; // with Shift
const KNOB_NUDGE = 4; // pixels that an arrow stands for
const DIGITS = 3; // of what is dragged, and of what there is room for
const FIGURE = /^[\d.,−-]$/;
const [NOTE, OVER] = [72, 12]; // pixels of what a number was, and from its middle to the top of a handle below it
const ROOM = 96; // pixels of what is said of it, or of a field

export class SettingHand {
  /** @type {LiveKnob | null} */
  held = null;
  value = 0;
  at = 0; // pixels from where it was
  x = 0; // of the pointer
  isDragged = false;
  hasMoved = false; // since it was taken
  /** @type {PointerEvent | null} */
  pressed = null; // the press that waits for the run,
  /** @type {PointerEvent | null} */
  tapped = null; // or that was let go meanwhile
  isSettling = false; // while headings are made anew
  handles = new Handles();

  /** @param {Holding} holding */
  constructor(holding) {
    this.holding = holding;
    this.field = new Field(holding.heatmap);
    this.note = document.createElement("div");
    this.note.className = "attn-hold";
  }

  get isHeld() {
    return this.held !== null;
  }

  /** @returns {LiveKnob[]} */
  get knobs() {
    const { data, ahead } = this.holding.heatmap, { live } = data;
    return (live?.knobs ?? []).filter(({ name, reruns }) => !reruns || (ahead.follow && name in ahead.follow.fields));
  }

  /** Whether a number can be held now. @param {LiveKnob} knob */
  isFree({ reruns }) {
    const { run, isAhead, latest, heatmap } = this.holding;
    if (heatmap.pin.isFlipped) return false; // what is drawn is another setting
    return reruns ? latest === 0 : run !== null && !isAhead;
  }

  /** @param {AbortSignal} signal */
  attach(signal) {
    window.addEventListener("pointermove", (event) => this.move(event), { signal });
    window.addEventListener("pointerup", (event) => this.release(event), { signal });
    for (const kind of ["pointerdown", "focusin"]) window.addEventListener(kind, (event) => this.handles.leave(event), { signal });
    window.addEventListener("pointercancel", () => ((this.pressed = null), this.isDragged && this.leave()), { signal });
  }

  /** Listen to what is done at the handles in a box. @param {HTMLElement} box */
  listen(box) {
    const knobOf = (/** @type {EventTarget | null} */ target) => {
      const handle = target instanceof Element && target.closest(".attn-knob");
      return handle instanceof HTMLElement ? this.knobs.find(({ name }) => name === handle.dataset.knob) : undefined;
    };
    box.addEventListener("pointermove", () => this.holding.prepare());
    box.addEventListener("focusin", () => this.holding.prepare());
    box.addEventListener("focusout", () => this.held && !this.isDragged && !this.isSettling && !this.field.isOpen && this.keep());
    box.addEventListener("keydown", (event) => this.onKeydown(knobOf(event.target), event));
    box.addEventListener("pointerdown", (event) => this.press(knobOf(event.target), event));
  }

  /** Set the handles into the heading of a picture; the one with the focus keeps it. @param {Picture} picture @param {() => void} entitle  makes the heading */
  settle(picture, entitle) {
    const focused = document.activeElement, { handles, knobs } = this;
    this.isSettling = true;
    entitle();
    handles.make(knobs, this.holding.heatmap.data.words, (box) => this.listen(box));
    handles.settle(picture);
    this.write();
    if (focused instanceof HTMLElement && focused !== document.activeElement && focused.isConnected) focused.focus({ preventScroll: true });
    this.isSettling = false;
  }

  /** A number as it is now. @param {LiveKnob} knob */
  now({ name, value }) {
    const { latest, run } = this.holding;
    return this.held?.name === name ? this.value : ((latest && run?.setting(name)) || value);
  }

  /** Write each number as it is in what is drawn. */
  write() {
    const { drawn } = this.holding.heatmap;
    for (const knob of this.knobs) {
      const { name, value, text } = knob, known = drawn.knob(name, this.now(knob)), now = known ?? value;
      const handle = this.handles.of.get(name), number = handle?.querySelector("b");
      handle?.toggleAttribute("data-unknown", known === null);
      const digits = Number(now.toPrecision(DIGITS));
      if (number) say(number, !text ? asWritten(digits) : now === value ? text : fourDigits(digits)); // lines are code
      handle?.setAttribute("aria-valuenow", String(now));
    }
  }

  /** Hold a number; a finger is there before the run of which it is. @param {LiveKnob | undefined} knob @param {PointerEvent} event */
  async press(knob, event) {
    if (!knob || event.button !== 0 || !event.isPrimary) return;
    if (event.pointerType === "touch") event.preventDefault(); // a field that it opens keeps the focus
    this.pressed = event;
    if (!knob.reruns && !this.holding.run) await this.holding.prepare();
    if (!this.isFree(knob)) return;
    if (this.tapped === event) this.type(knob, String(knob.value));
    if (this.pressed !== event) return;
    this.take(knob);
    Object.assign(this, { isDragged: true, x: event.clientX });
    document.documentElement.classList.add("attn-drags"); // wherever the pointer goes
  }

  /** What is dragged is kept; a tap opens a field, as there are no keys. @param {PointerEvent} event */
  release({ pointerType }) {
    const { held, hasMoved, isDragged, pressed } = this, isTap = pointerType === "touch" && !hasMoved;
    Object.assign(this, { pressed: null, tapped: isTap ? pressed : null });
    if (!held || !isDragged) return;
    this.isDragged = false;
    document.documentElement.classList.remove("attn-drags");
    if (isTap) this.type(held, String(held.value));
    else this.keep();
  }

  /** @param {LiveKnob} knob */
  take(knob) {
    if (this.held === knob) return;
    this.leave();
    const value = this.holding.run?.setting(knob.name) ?? knob.value;
    Object.assign(this, { held: { ...knob, value }, value, at: 0, hasMoved: false });
  }

  /** @param {PointerEvent} event */
  move(event) {
    if (!this.held || !this.isDragged) return;
    this.pull((event.clientX - this.x) * (event.shiftKey ? KNOB_FINER : 1));
    this.x = event.clientX;
  }

  /** @param {number} by  pixels */
  pull(by) {
    const { held } = this;
    if (!held) return;
    this.at += by;
    this.set(numberAt(held, this.at));
  }

  /** Show what follows from a number in place of the one that is held. @param {number} value */
  set(value) {
    const { held, holding } = this;
    if (!held) return;
    this.value = Math.min(Math.max(held.whole ? Math.round(value) : value, held.least), held.most);
    this.hasMoved ||= this.value !== held.value;
    this.follow(held, this.value, true);
    this.write();
    const handle = this.handles.of.get(held.name), [x, y] = this.besideHandle(held.name);
    if (handle) this.handles.reveal(handle);
    this.note.textContent = "";
    this.note.appendChild(document.createElement("span")).textContent = holding.heatmap.data.words.was.replace("{number}", asWritten(held.value));
    Object.assign(this.note.style, { left: `${x}px`, top: `${y}px` });
    holding.heatmap.frame.append(this.note);
  }

  /** Show what follows from a number. @param {LiveKnob} knob @param {number} value @param {boolean} isHeld */
  follow({ name, value: first, reruns }, value, isHeld) {
    const { holding } = this, isAsBefore = value === first;
    if (reruns) holding.heatmap.ahead.receive({ key: name, text: isAsBefore ? null : String(value), isHeld });
    else holding.show(isAsBefore ? [] : [{ setting: name, value }]);
  }

  /** Where what is said of a handle stands. @param {string} name @returns {[x: number, y: number]} */
  point(name) {
    const handle = this.handles.of.get(name)?.getBoundingClientRect(), outer = this.holding.heatmap.frame.getBoundingClientRect();
    return handle ? [Math.min(handle.left - outer.left, outer.width - ROOM), handle.bottom - outer.top + 14] : [0, 0];
  }

  /** Where what a number was stands, and covers no words: behind all handles of the line, or else over it; below those in other lines. @param {string} name @returns {[x: number, y: number]} */
  besideHandle(name) {
    const handle = this.handles.of.get(name), slot = handle?.closest(".attn-handles"), last = handle?.parentElement?.lastElementChild;
    if (!handle || !slot || !last) return this.point(name);
    const [{ left, top }, box, { right }] = [this.holding.heatmap.frame, handle, last].map((element) => element.getBoundingClientRect());
    const next = slot.nextElementSibling?.getBoundingClientRect().left ?? Infinity;
    return next - right >= NOTE ? [right - left + 8, box.top + box.height / 2 - top] : [box.left - left, box.top - top - OVER];
  }

  keep() {
    const { held, value } = this;
    if (!held) return;
    if (value === held.value) return this.leave();
    this.end();
    this.follow(held, value, false);
    if (held.reruns) this.holding.forget(); // the run is another one
    this.holding[held.reruns ? "send" : "keep"]({ setting: held.name, value });
    this.write();
  }

  /** Take it back. */
  leave() {
    const { held } = this;
    if (!held) return;
    this.end();
    this.follow(held, held.value, false);
    this.write();
  }

  end() {
    Object.assign(this, { held: null, isDragged: false });
    document.documentElement.classList.remove("attn-drags");
    this.field.close();
    this.note.remove();
  }

  /** @param {LiveKnob | undefined} knob @param {KeyboardEvent} event */
  onKeydown(knob, event) {
    this.holding.prepare(); // one that was there may have been of another setting
    if (!knob || !(this.held?.name === knob.name || this.isFree(knob)) || event.ctrlKey || event.metaKey || event.altKey) return;
    const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key] ?? 0;
    if (by) {
      if (this.held?.name !== knob.name) this.take(knob);
      this.pull(by * (knob.whole ? PER_WHOLE : KNOB_NUDGE * (event.shiftKey ? KNOB_FINER : 1)));
    } else if (event.key === "Enter" && this.held) this.keep();
    else if (event.key === "F2" || event.key === "Enter" || FIGURE.test(event.key)) this.type(knob, event.key.length === 1 ? event.key : String(knob.value));
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** What is wrong with a number for a handle, "" if nothing. @param {LiveKnob} knob @param {number} value */
  fault({ least, most, whole }, value) {
    const { out_of_range, not_whole } = this.holding.heatmap.data.words, ends = [least, most].map(asWritten);
    if (value < least || value > most) return out_of_range.replace("{low}", ends[0]).replace("{high}", ends[1]);
    return whole && !Number.isInteger(value) ? not_whole : "";
  }

  /** @param {LiveKnob} knob @param {string} text */
  type(knob, text) {
    this.take(knob);
    this.field.open(this.point(knob.name), /** @type {HTMLElement} */ (this.handles.of.get(knob.name)), text, {
      typed: (value) => this.set(value ?? this.held?.value ?? knob.value),
      fault: (value) => this.fault(knob, value),
      nudged: (by, isFine) => this.pull(by * (knob.whole ? PER_WHOLE : KNOB_NUDGE * (isFine ? KNOB_FINER : 1))),
      kept: () => this.keep(),
      left: () => this.leave(),
      written: () => String(this.value),
      label: knob.label + signOf(": ") + asWritten(knob.value),
    });
  }
}

/** The number of a handle that is so many pixels from where it was: by factors where all are above 0. @param {LiveKnob} knob @param {number} by */
function numberAt({ low, high, value, whole }, by) {
  if (whole) return value + Math.round(by / PER_WHOLE);
  if (by === 0) return value;
  const moved = low > 0 && value > 0 ? value * (high / low) ** (by / KNOB_PULL) : value + ((high - low) * by) / KNOB_PULL;
  return Number(moved.toPrecision(DIGITS));
}
