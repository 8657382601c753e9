// The maps of a page as one component: laid out here for the window, drawn by Plotly, with words and numbers over them.
//
// Python sends one message, the stages and what belongs to them. Nothing that is chosen, pointed at or answered changes
// where a cell is.

/** @import { Component } from "../../types" */
/** @import { Tiling } from "../../../pictures/layout/tiling.js" */
/** @import { Message, PlacedMap, Previewed, Room, Stage, StageData, StageValues } from "./types" */
import { unpackStage } from "../../../pictures/stage_bytes.js";
import { STAGE_GAP, placed } from "../../../pictures/layout/placement.js";
import { announceArrays } from "../answer/cell_arrays.js";
import { isDark } from "../colours.js";
import { Ahead } from "./ahead/ahead.js";
import { Drawn } from "./ahead/drawn.js";
import { Flip } from "./ahead/flip.js";
import { Pin } from "./ahead/pin.js";
import { Preview } from "./ahead/preview.js";
import { Values } from "./ahead/values.js";
import { Beside } from "./beside.js";
import { Drawing } from "./drawing.js";
import { Holding } from "./hand/holding.js";
import { announceRun } from "./hand/run_cells.js";
import { heading } from "./heading.js";
import { Highlights } from "./highlights.js";
import { alone, hasMasked, shapeOf, stagesOf, withWords } from "./maps.js";
import { Picking } from "./picking.js";
import { Picture } from "./picture/picture.js";
import { Pointing } from "./pointing.js";
import { Space, roomFor } from "./room.js";

/** @typedef {Pick<Component<Uint8Array, StageValues>, "setTriggerValue">} Page  which values are sent to */

const STACKED = 16; // pixels between stages one below the other
const LEGEND = 140; // pixels that a legend takes beside a heading
const THEME = 100; // milliseconds until a page has the colours of another theme

/** @type {StageData} */
const NOTHING = JSON.parse('{"heads": 0, "focus": null, "live": null, "follow": null, "opening": null, "picked": null, "cells": null, "swept": null, "axes": {}, "words": {}, "view": {}}');

/** All maps that belong together. */
export class Heatmap {
  /** @type {Map<string, Picture>} */
  pictures = new Map();
  /** @type {Stage[]} */
  stages = []; // as they were sent, of all heads
  /** @type {[name: string, title: string][]} */
  turns = []; // those to turn over to, where they are shown one by one
  /** @type {string | null} */
  turned = null; // the one that was turned to, which Python has not heard of
  /** @type {number | null} */
  alone = null; // the head that is shown by itself
  /** @type {boolean | undefined} */
  dark;
  ground = "#fff";
  family = "";
  printing = false;
  stop = new AbortController();

  /** @type {StageData | undefined} */
  header; // what belongs to the maps
  /** @type {StageData | undefined} */
  latest; // of the last message, whose stages may be on their way
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  timer;

  /** @param {HTMLElement} root @param {Page} page */
  constructor(root, page) {
    this.root = root;
    this.page = page;
    this.host = root.appendChild(document.createElement("div"));
    this.host.className = "attn-host";
    this.beside = new Beside(this);
    this.frame = this.beside.frame;
    this.pointing = new Pointing(this);
    this.drawing = new Drawing(this.frame);
    this.highlights = new Highlights(this);
    this.picking = new Picking(this);
    this.holding = new Holding(this);
    this.pin = new Pin(this);
    this.flip = new Flip(this);
    this.values = new Values(this);
    this.preview = new Preview(this);
    this.ahead = new Ahead(this);
    this.drawn = new Drawn(this);
    this.space = new Space(() => this.lay(false));
    this.theme = new MutationObserver(() => this.retheme());
    this.listen();
    document.fonts.ready.then(() => this.redraw());
  }

  listen() {
    const { signal } = this.stop;
    window.addEventListener("resize", () => this.lay(false), { signal });
    // a long sentence scrolls by itself
    const scrolls = (/** @type {Event} */ { target }) => !this.host || (target instanceof Node && target.contains(this.host));
    window.addEventListener("scroll", (event) => scrolls(event) && this.pointing.leave(), { signal, capture: true });
    for (const kind of ["keydown", "keyup"])
      window.addEventListener(kind, (event) => event instanceof KeyboardEvent && event.key === "Shift" && this.pointing.keepLens(kind === "keydown"), { signal });
    window.addEventListener("beforeprint", () => this.print(true), { signal });
    window.addEventListener("afterprint", () => this.print(false), { signal });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.retheme(), { signal });
    this.theme.observe(document.documentElement, { attributes: true, attributeFilter: ["class", "style", "data-theme"] });
    this.theme.observe(document.head, { childList: true, subtree: true });
    this.highlights.listen(signal);
    this.picking.listen(signal);
    this.picking.follow(this.host, signal);
    this.holding.attach(signal);
    this.ahead.listen(signal);
    this.pin.listen(signal);
    this.flip.listen(signal);
  }

  /** A run has sent a message, or said where its stages are. @param {Uint8Array} bytes @param {Page} page */
  async update(bytes, page) {
    /** @type {Message} */
    const { header: about, arrays } = unpackStage(bytes), header = withWords(about);
    this.latest = header;
    const whole = header.there ? await this.ahead.completed({ header, arrays }) : { header, arrays };
    if (header !== this.latest || this.stop.signal.aborted) return;
    if (whole) this.take(whole, page);
    else page.setTriggerValue("event", { kind: "whole" });
  }

  /** @param {Message} message @param {Page} page */
  take({ header, arrays }, page) {
    if (header.view.first !== this.header?.view.first) this.turned = null;
    Object.assign(this, { header, page });
    this.stages = stagesOf(header.stages, arrays, this.stages);
    this.values.take(header.swept, this.stages);
    this.picking.adopt(header.picked);
    this.holding.receive(this.stages);
    this.ahead.take(header.follow);
    if (header.cells && !header.cells.is_computed) announceArrays(header.cells, arrays);
    this.preview.answered(this.stages);
    announceRun(this);
    this.pin.receive(header.follow?.pinned);
    this.follow();
    this.beside.take(arrays);
    this.lay(true);
  }

  /** What belongs to the maps; nothing is drawn before it has come. */
  get data() {
    return this.header ?? NOTHING;
  }

  /** The element that the page knows the maps by. */
  follow() {
    /** @type {Previewed | null} */
    const known = this.root.closest(`.st-key-${this.data.key}`);
    if (!known) return;
    known.preview = (bytes) => this.preview.draw(unpackStage(bytes));
    this.space.follow(known);
  }

  close() {
    this.stop.abort();
    this.theme.disconnect();
    this.space.close();
    this.drawing.close();
    this.holding.close();
    this.preview.close();
    clearTimeout(this.timer);
    this.host.remove();
  }

  /** Lay everything out for the window, and draw what is not as it was. @param {boolean} glides */
  lay(glides) {
    if (!this.host.clientWidth || !this.header) return;
    this.colours();
    const { data, holding: { setting } } = this, stages = this.flip.shown(this.pin.shown(this.values.shown(this.holding.shown(this.stages))));
    const measured = this.space.measure(data.view);
    this.alone = data.focus;
    const room = roomFor(data.view, measured, { film: this.alone !== null, overview: this.beside.hasOverview, handles: setting.handles.lineCount(setting.knobs, measured.width, data.live ? data.words.paint : "") });
    this.turns = room.one && stages.length > 1 ? stages.map(({ name, title }) => [name, title]) : [];
    const first = this.turned ?? data.view.first;
    const front = stages.find(({ name }) => name === first) ?? stages.find(({ leads }) => leads) ?? stages[0];
    const shown = (room.one ? [front] : stages).map((stage) => (this.alone === null ? stage : alone(stage, this.alone, data.heads)));
    this.beside.draw(room, this.dark);
    this.values.draw(this.dark);
    this.arrange(shown, room, glides);
    this.drawn.announce();
    window.dispatchEvent(new Event("attnviz:drawn"));
  }

  /** Turn to another stage, where they are shown one by one. @param {string} name */
  turn(name) {
    this.turned = name;
    this.lay(false);
    this.page.setTriggerValue("event", { kind: "show", stage: name });
  }

  /** @param {Stage[]} shown @param {Room} room @param {boolean} glides */
  arrange(shown, room, glides) {
    const { tilings, spans, sideBySide } = placed(shown.map(shapeOf), room.width, room.height, this.alone !== null || room.one);
    const tallest = room.fill ? room.height : Math.max(...tilings.map(({ height }) => height));
    for (const [name, picture] of this.pictures)
      if (!shown.some((stage) => stage.name === name) && this.pictures.delete(name)) picture.figure.remove();
    let [x, y, right] = [0, 0, room.width];
    /** @type {PlacedMap[]} */
    const maps = [];
    const changed = shown.map((stage, at) => {
      const isLast = at === shown.length - 1;
      const height = sideBySide || room.fill ? tallest : tilings[at].height;
      const picture = this.pictureOf(stage.name, shown.slice(at + 1));
      const isChanged = picture.take(stage, tilings[at], [spans[at], height]);
      Object.assign(picture.figure.style, { left: `${x}px`, top: `${y}px`, width: `${spans[at]}px` });
      picture.box.style.height = `${height}px`;
      const said = this.heading(shown, at, { tiling: tilings[at], span: spans[at], gap: sideBySide && !isLast ? STAGE_GAP : 0 }, room);
      this.holding.setting.settle(picture, () => picture.entitle(said, this.data.words));
      right = Math.max(right, x + spans[at]);
      maps.push({ map: picture.map, x: x + tilings[at].left, y: y + room.heading + tilings[at].top });
      if (sideBySide) x += spans[at] + STAGE_GAP;
      else y += room.heading + height + (isLast ? 0 : STACKED);
      return isChanged;
    });
    const high = sideBySide ? room.heading + tallest : y;
    this.frame.style.height = `${high}px`;
    if (changed.some(Boolean) && !this.holding.isHeld) this.pointing.leave(); // what the tip says may be true no longer
    this.drawing.draw(maps, [right, high], this.data.plotly, glides);
    this.pictures.forEach((picture) => (this.holding.mask.mark(picture), picture.draw()));
  }

  /** The picture of a stage, in the order in which they stand, which is that of the Tab key. @param {string} name @param {Stage[]} after */
  pictureOf(name, after) {
    const picture = this.pictures.get(name) ?? new Picture(this, name);
    this.pictures.delete(name);
    this.pictures.set(name, picture);
    const next = after.map((stage) => this.pictures.get(stage.name)?.figure).find(Boolean) ?? null;
    if (!picture.figure.parentNode) this.frame.insertBefore(picture.figure, next);
    return picture;
  }

  /**
   * The heading of a stage.
   *
   * @param {Stage[]} shown
   * @param {number} at
   * @param {{ tiling: Tiling, span: number, gap: number }} placed
   * @param {Room} room
   */
  heading(shown, at, { tiling, span, gap }, room) {
    const { turns } = this;
    const [stage, left] = [shown[at], turns.length ? 0 : tiling.left];
    const switches = room.fill && stage.name === "scores" && stage.widths.length > 1;
    const saysMasked = stage.leads || !shown.some((each) => each.leads && each.masked !== null && hasMasked(each));
    const [{ block, fold }, pixels] = [tiling, span - left - (turns.length ? LEGEND : 0)];
    const paints = stage.name === "weights" && this.data.live && this.data.live.paints !== null ? this.holding.mask.isOn : null;
    const { handles, knobs } = this.holding.setting, lines = handles.linesOf(knobs, stage.name);
    return heading(stage, { left, block, fold, switches, paints, lines, height: room.heading, room: pixels, gap, turns, saysMasked, isOneLine: this.data.view.one_line }, this.data.words);
  }

  /** The colours of the page. */
  colours() {
    const style = getComputedStyle(this.root);
    this.ground = style.getPropertyValue("--st-background-color") || "#fff";
    this.family = style.fontFamily;
    this.dark = isDark(this.root);
    this.host.style.setProperty("--attn-accent", style.getPropertyValue("--st-primary-color"));
  }

  /** The page may have become a dark one, or a light one. */
  retheme() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => isDark(this.root) !== this.dark && this.lay(false), THEME);
  }

  /** Draw everything anew that is written: fonts may have come. */
  redraw() {
    this.pictures.forEach((picture) => (picture.drawn = null));
    this.lay(false);
  }

  /** @param {boolean} printing */
  print(printing) {
    this.printing = printing;
    this.redraw();
  }

  get signs() {
    return this.printing || this.data.signs;
  }

  /** The name of an axis on the page. @param {string} name */
  axis(name) {
    return this.data.axes[name] ?? name;
  }
}

/** @param {Component<Uint8Array, StageValues, { attn?: Heatmap }, HTMLElement>} component */
export default function ({ parentElement, data, setTriggerValue }) {
  const page = { setTriggerValue };
  const heatmap = (parentElement.attn ??= new Heatmap(parentElement, page));
  heatmap.update(data, page);
  return () => {
    heatmap.close();
    delete parentElement.attn;
  };
}
