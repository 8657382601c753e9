// What a hand holds in the maps: they show what follows from it before the server is asked, which confirms what is kept.

/** @import { Change } from "../../../../live/types" */
/** @import { Heatmap } from "../heatmap.js" */
/** @import { Picture } from "../picture/picture.js" */
/** @import { Kept, Spot, Stage } from "../types" */
/** @import { LiveRun } from "./live_run.js" */
import { announceHeld } from "../../held_numbers.js";
import { runOf } from "./live_run.js";
import { HeadHand } from "./head_hand.js";
import { agrees, movedFormula, movedStage } from "./moved_stage.js";
import { MaskHand } from "./mask_hand.js";
import { NumberHand } from "./number_hand.js";
import { announceRun } from "./run_cells.js";
import { SettingHand } from "./setting_hand.js";

const ANSWERED = 10_000; // milliseconds for the server to say what became of what was let go of
const SLOW = 33, NOTIFIED = 60; // milliseconds of a frame from which there are fewer of them, and until other views follow
const AGAIN = [1500, 30_000]; // milliseconds until a run that could not be had is asked for again: at first, and at last
const LATER = ["408", "429", "502", "503", "504"]; // answers that say so: a lost line has none

export class Holding {
  /** @type {LiveRun | null} */
  run = null;
  asked = ""; // the address of the run that was asked for
  /** @type {Promise<void> | undefined} */
  coming; // that run
  pause = AGAIN[0]; // until it is asked for again
  /** @type {Change[]} */
  now = []; // what is held, but not kept yet
  /** @type {Change[]} */
  before = []; // what the setting had kept before what it has not confirmed yet
  isAnnounced = false; // whether other views show what follows from it
  latest = 0; // the number of the last event; 0 where it has been answered
  frame = 0;
  returns = false; // whether what was kept is to be taken back once it is confirmed
  isForgotten = false; // whether the run is to be forgotten then
  took = 0; // milliseconds of the last one
  ended = 0; // when it was drawn
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  timer;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  notifying;

  /** @param {Heatmap} heatmap */
  constructor(heatmap) {
    this.heatmap = heatmap;
    this.mask = new MaskHand(this);
    this.number = new NumberHand(this);
    this.head = new HeadHand(this);
    this.setting = new SettingHand(this);
  }

  /** Listen to the keys, wherever they are pressed. @param {AbortSignal} signal */
  attach(signal) {
    const isOfHand = () => this.isHeld || this.number.pressed !== null;
    const isTyped = (/** @type {Event} */ { target }) => target instanceof HTMLInputElement; // there words are selected
    for (const kind of ["selectstart", "dragstart"]) // a drag selects no words, and takes none away that are selected
      document.addEventListener(kind, (event) => isOfHand() && !isTyped(event) && event.preventDefault(), { signal });
    window.addEventListener("pointerdown", () => (this.isFresh = false), { signal, capture: true });
    window.addEventListener("pointerup", () => this.number.letGoOutside(), { signal });
    window.addEventListener("keydown", (event) => this.escape(event), { signal, capture: true });
    window.addEventListener("keydown", (event) => this.number.typing.typeChosen(event), { signal });
    window.addEventListener("keydown", (event) => this.undo(event), { signal });
    this.setting.attach(signal);
  }

  /** Listen to what a hand does in a picture. @param {Picture} picture @param {AbortSignal} signal */
  listen(picture, signal) {
    this.mask.listen(picture, signal);
    this.number.listen(picture, signal);
  }

  close() {
    clearTimeout(this.timer);
    clearTimeout(this.notifying);
    cancelAnimationFrame(this.frame);
  }

  get layer() {
    return this.heatmap.data.live?.layer ?? 0;
  }

  /** Whether the maps are of a setting that is on its way to the server, so that no run is theirs. */
  get isAhead() {
    return this.heatmap.preview.stages !== null;
  }

  /** Whether a hand holds something. */
  get isHeld() {
    return this.number.isHeld || this.mask.isHeld || this.setting.isHeld;
  }

  /** Whether a number was kept, and nothing has been pressed since: Escape takes it back before it closes anything. */
  get isFresh() {
    return "fresh" in this.heatmap.host.dataset;
  }

  set isFresh(is) {
    this.heatmap.host.toggleAttribute("data-fresh", is);
  }

  /** Take back what is held. */
  leave() {
    this.mask.leave();
    this.number.leave();
    this.setting.leave();
  }

  /** Escape takes back what is held, or the number that was kept just before. @param {KeyboardEvent} event */
  escape(event) {
    const { isFresh, isHeld } = this;
    this.isFresh = false;
    if (event.key !== "Escape" || !(isHeld || isFresh) || this.number.field.isOpen || this.setting.field.isOpen) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (isHeld) this.leave();
    else if (this.latest) this.returns = true;
    else this.goBack(true);
  }

  /** Control and Z takes back what was changed by hand last, with Shift it is done again. @param {KeyboardEvent} event */
  undo(event) {
    const { target, key, shiftKey, ctrlKey, metaKey, altKey, defaultPrevented } = event;
    const isTyped = target instanceof HTMLElement && (target.isContentEditable || target.matches("input, textarea, select"));
    if (key.toLowerCase() !== "z" || !(ctrlKey || metaKey) || altKey || isTyped || defaultPrevented || this.isHeld || !this.heatmap.data.live) return;
    event.preventDefault();
    if (!this.latest) this.goBack(!shiftKey); // else what was let go of is on its way
  }

  /** Take back what was changed by hand last, or do it again. @param {boolean} isBack */
  goBack(isBack) {
    this.forget();
    this.send({ undo: isBack });
  }

  /** A key that is pressed in a map; return whether it was for what can be held there. @param {Picture} picture @param {KeyboardEvent} event */
  onKeydown(picture, event) {
    if (event.key.toLowerCase() === "x" && picture.cursor && this.head.switches(picture) && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      this.head.toggle(picture.cursor.head + (picture.stage.only ?? 0));
      return true;
    }
    const at = this.number.pointed ?? (picture.cursor && { picture, cell: picture.cursor });
    return this.mask.onKeydown(picture, event) || (at !== undefined && this.number.typing.type(at.picture, at.cell, event));
  }

  /** How the pointer looks over a spot; nothing where nothing can be held. @param {Picture} picture @param {Spot} spot */
  cursor(picture, spot) {
    if (this.mask.paints(picture)) return "cell";
    return this.number.target(picture, spot) ? "ns-resize" : "";
  }

  /** What can be done there, in words; until the run has come that says so, the room for them. @param {Picture} picture @param {Spot} spot */
  hint(picture, spot) {
    const { words, live } = this.heatmap.data, cursor = this.cursor(picture, spot);
    if (live && !this.run && this.number.isNumber(picture, spot)) return "\u00a0";
    if (cursor === "cell") return matchMedia("(hover: none)").matches ? words.painted : `${words.painted}; ${words.painted_keys}`;
    return cursor && words.hold;
  }

  /** Get the run ready: somebody points at a map. */
  prepare() {
    const { live } = this.heatmap.data;
    if (live && this.asked !== live.address && !this.isHeld && !this.latest && !this.isAhead) this.coming = this.fetch(live.address);
    return this.coming;
  }

  /** @param {string} address */
  async fetch(address) {
    this.asked = address;
    try {
      const run = await runOf(address);
      this.pause = AGAIN[0];
      if (this.asked !== address) return;
      if (address === this.heatmap.data.live?.address && !this.isHeld && !this.latest && !this.isAhead) this.take(run);
      else this.asked = ""; // so that it is asked for again
    } catch (error) {
      if (!(error instanceof TypeError || (error instanceof Error && LATER.includes(error.message)))) return;
      await new Promise((done) => setTimeout(done, this.pause));
      this.pause = Math.min(2 * this.pause, AGAIN[1]);
      if (this.asked !== address || this.heatmap.stop.signal.aborted) return;
      this.asked = "";
      this.heatmap.pointing.again();
    }
  }

  /** @param {LiveRun} run */
  take(run) {
    this.run = this.isOf(run, this.heatmap.stages) ? run : null;
    announceRun(this.heatmap);
    this.heatmap.pointing.again();
  }

  /** Whether the server's stages have the numbers of a run. @param {LiveRun} run @param {Stage[]} stages */
  isOf(run, stages) {
    const made = run.follow([]);
    return stages.every((stage) => agrees(stage, run, this.layer, made));
  }

  /** The server has sent stages; `stages` are those. @param {Stage[]} stages */
  receive(stages) {
    const { live } = this.heatmap.data, { run } = this;
    if (!this.latest || (live && live.confirmed >= this.latest)) this.head.pending.clear();
    this.mask.adopt(Boolean(live?.paints));
    const isConfirmed = this.latest > 0 && (live?.confirmed ?? 0) >= this.latest;
    const returns = isConfirmed && this.returns && live?.address !== run?.address; // and not refused
    if (isConfirmed) this.settle();
    if (returns) return this.goBack(true);
    if (!run) return;
    if (!live) return this.forget();
    if (isConfirmed) {
      if (live.address === run.address) {
        run.changes = this.before; // it was refused
        this.isFresh = false;
      }
      run.address = live.address;
      this.before = run.changes;
      this.announce(true);
      if (this.isForgotten || !this.isOf(run, stages)) this.forget(); // something else was changed in the same moment
    } else if (!this.latest && live.address !== run.address) this.forget();
  }

  /** Nothing can be held until another run has come. */
  forget() {
    this.leave();
    this.settle();
    Object.assign(this, { run: null, now: [], before: [], asked: "", isForgotten: false });
    this.announce();
    announceRun(this.heatmap);
  }

  settle() {
    clearTimeout(this.timer);
    this.latest = 0;
    this.returns = false;
  }

  /** The stages as they are to be drawn: with what follows from what is held, or kept and not yet confirmed. @param {Stage[]} stages */
  shown(stages) {
    const { run, now } = this;
    if (!run || this.isAhead || !(now.length || this.latest)) return stages; // ahead: of another setting
    const made = run.follow(now), changes = [...run.changes, ...now];
    const moved = stages.map((stage) => movedStage(stage, run, this.layer, made, changes));
    return moved.map((stage) => (stage.name === "weights" ? { ...stage, formula: movedFormula(stage.formula, this.heatmap.data.live?.formula, changes) } : stage));
  }

  /** Show what follows from changes, in the next frame: of several the last ones. @param {Change[]} changes */
  show(changes) {
    this.now = changes;
    this.frame ||= requestAnimationFrame(() => this.draw());
  }

  /** Draw what is held. Where that takes long, the hand has as much time before it is drawn again. */
  draw() {
    const began = performance.now(), { ended, took } = this;
    this.frame = took > SLOW && began - ended < took ? requestAnimationFrame(() => this.draw()) : 0;
    if (this.frame) return;
    this.heatmap.lay(false);
    this.ended = performance.now();
    this.took = this.ended - began;
    this.notifying ??= setTimeout(() => this.notify(), NOTIFIED);
  }

  /** Other views follow, which take longer than the maps. */
  notify() {
    this.notifying = undefined;
    this.announce();
    const { highlight } = this.heatmap.highlights;
    if (highlight) this.heatmap.highlights.sendRow(highlight.at.query ?? null, highlight.head);
  }

  /** Say what follows from what is held, or kept and not yet confirmed; or that nothing does any more. @param {boolean} [isConfirmed] */
  announce(isConfirmed = false) {
    const { run, now, layer, isAnnounced } = this;
    const isMoved = run !== null && !this.isAhead && (now.length > 0 || this.latest > 0);
    this.isAnnounced = isMoved;
    if (isMoved) announceHeld(run.numbers(now, layer));
    else if (isAnnounced) announceHeld(null, isConfirmed);
  }

  /** Let go, and keep it. @param {Kept} kept */
  keep(kept) {
    const { run } = this;
    if (!run) return;
    if (!this.latest) this.before = run.changes;
    run.changes = [...run.changes, ...this.now];
    this.send(kept);
    this.show([]);
  }

  /** Send what was let go of. @param {Kept} kept */
  send(kept) {
    this.latest = Math.max(Date.now(), this.latest + 1);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.forget(), ANSWERED);
    this.heatmap.page.setTriggerValue("held", { ...kept, id: this.latest });
  }
}
