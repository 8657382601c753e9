// The maps of a page, and their connection to Python.
//
// The numbers come apart from the charts (pictures.js) and are put into them here, so that a chart that is there draws
// them; a trace's `meta` says how its heads are laid out; the pixels are read off the drawn image. Words and numbers are
// drawn over the maps here, so a click redraws no chart.

/** @import { Component } from "../../types" */
/** @import { Chart } from "./chart.js" */
/** @import { Cell, Host, Plot, Spot, StageData, StageValues } from "./types" */
import { isDark } from "../colours.js";
import { Afterimage } from "./afterimage.js";
import { Lens } from "./lens.js";
import { Highlights } from "./highlights.js";
import { Picking } from "./picking.js";
import { Picture } from "./picture.js";
import { AvailableSpace } from "./available_space.js";
import { Tip } from "./tip.js";

/** @typedef {Pick<Component<Uint8Array, StageValues>, "setStateValue" | "setTriggerValue">} Page  which values are sent to */

const PICTURES = "attnviz:pictures"; // the host has other `attnPictures`

/** All maps that belong together. */
export class Heatmap {
  /** @type {Map<string, Picture>} */
  pictures = new Map();
  /** @type {Host | undefined} */
  host; // the element around the maps
  /** @type {string | undefined} */
  focusedStage; // the stage that has the focus
  /** @type {Picture | undefined} */
  refocus; // the picture to focus once it is drawn
  /** @type {boolean | undefined} */
  dark;
  ground = "#fff";
  printing = false;
  /** @type {number | undefined} */
  frame;
  stop = new AbortController();

  /** @param {HTMLElement} root @param {StageData} data @param {Page} page */
  constructor(root, data, page) {
    this.root = root;
    this.data = data;
    this.page = page;
    this.tip = new Tip(root);
    this.live = root.appendChild(document.createElement("div"));
    this.live.className = "attn-live";
    this.live.setAttribute("aria-live", "polite");
    this.lens = new Lens(root);
    this.highlights = new Highlights(this);
    this.picking = new Picking(this);
    this.space = new AvailableSpace(this);
    this.afterimage = new Afterimage(this);
    this.observer = new MutationObserver(() => this.bind());
    this.listen();
    document.fonts.ready.then(() => this.redraw());
  }

  listen() {
    const { signal } = this.stop;
    window.addEventListener("resize", () => this.redraw(), { signal });
    // a long sentence scrolls by itself
    const scrolls = (/** @type {Event} */ { target }) => !this.host || (target instanceof Node && target.contains(this.host));
    window.addEventListener("scroll", (event) => scrolls(event) && this.leave(), { signal, capture: true });
    for (const kind of ["focusin", "pointerdown"])
      window.addEventListener(kind, ({ target }) => target instanceof Element && target.className !== "attn-focus" && (this.focusedStage = undefined), { signal });
    for (const kind of ["keydown", "keyup"])
      window.addEventListener(kind, (event) => event instanceof KeyboardEvent && event.key === "Shift" && this.keepLens(kind === "keydown"), { signal });
    window.addEventListener("beforeprint", () => this.print(true), { signal });
    window.addEventListener("afterprint", () => this.print(false), { signal });
    this.highlights.listen(signal);
    this.picking.listen(signal);
  }

  /** @param {StageData} data @param {Page} page */
  update(data, page) {
    this.data = data;
    this.page = page;
    this.picking.adopt(data.picked);
    if (this.dark === undefined) this.colours();
    /** @type {Host | null} */
    const host = this.root.closest(".st-key-" + data.key);
    if (host && host !== this.host) this.follow(host);
    this.bind();
    this.pictures.forEach((picture) => this.draw(picture));
  }

  /** @param {Host} host */
  follow(host) {
    this.host = host;
    host.classList.add("attn-host");
    this.picking.follow(host, this.stop.signal);
    host.addEventListener(PICTURES, () => this.pictures.forEach((picture) => picture.updateProps()), { signal: this.stop.signal });
    this.observer.disconnect();
    this.observer.observe(host, { childList: true, subtree: true });
    this.space.follow(host);
  }

  close() {
    this.stop.abort();
    this.observer.disconnect();
    this.space.close();
    this.afterimage.end();
    if (this.frame !== undefined) cancelAnimationFrame(this.frame);
    this.pictures.forEach((picture) => picture.layer.remove());
  }

  /** Have a picture over each chart that is there. */
  bind() {
    this.afterimage.show();
    for (const [name, picture] of this.pictures)
      if (!this.data.stages.includes(name) && this.pictures.delete(name)) picture.layer.remove();
    for (const name of this.data.stages) {
      /** @type {Plot | null | undefined} */
      const chart = this.host?.querySelector(`.st-key-${this.data.key}-${name} .js-plotly-plot`);
      const known = this.pictures.get(name);
      if (!chart?.on || !chart.data?.length || known?.chart === chart) continue;
      const lost = this.focusedStage === name && document.activeElement === document.body; // it went with the chart
      const focused = known && (lost || document.activeElement === known.focus);
      known?.layer.remove();
      this.leave(); // what the tip says may be outdated
      const picture = new Picture(this, name, chart);
      this.pictures.set(name, picture);
      picture.updateProps();
      this.draw(picture);
      if (focused) this.refocus = picture;
    }
  }

  /** The colours of the page; where it has become a dark one, or a light one, the pictures change theirs. */
  colours() {
    const style = getComputedStyle(this.root);
    const before = this.dark;
    this.ground = style.getPropertyValue("--st-background-color") || "#fff";
    this.dark = isDark(this.root);
    const accent = style.getPropertyValue("--st-primary-color");
    this.pictures.forEach(({ layer }) => layer.style.setProperty("--attn-accent", accent));
    if (before !== undefined && before !== this.dark) this.pictures.forEach((picture) => picture.updateProps());
  }

  /** Draw a picture at the next frame, once, however often it is asked for. @param {Chart} picture */
  draw(picture) {
    picture.stale = true;
    this.frame ??= requestAnimationFrame(() => this.drawStale());
  }

  drawStale() {
    this.frame = undefined;
    this.colours();
    const ready = [...this.pictures.values()].filter((picture) => picture.stale && picture.measure());
    for (const picture of ready) {
      picture.stale = false;
      picture.draw();
    }
    this.afterimage.leave();
    this.afterimage.keep();
    if (!this.refocus?.layer.isConnected) return;
    this.refocus.focus.focus({ preventScroll: true });
    this.refocus = undefined;
  }

  /** Draw everything anew: fonts may have come, or the window has another size. */
  redraw() {
    this.pictures.forEach((picture) => {
      picture.drawn = null;
      this.draw(picture);
    });
  }

  /** @param {boolean} printing */
  print(printing) {
    this.printing = printing;
    this.redraw();
    this.drawStale();
  }

  get signs() {
    return this.printing || this.data.signs;
  }

  /** The name of an axis on the page. @param {string} name */
  axis(name) {
    return this.data.axes[name] ?? name;
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
    if (this.highlights.point(picture, spot)) this.tip.showCell(this, picture, spot);
    const low = this.tip.moveTo(x, y);
    this.lens.follow(picture, spot, { x, y, low });
  }

  /** @param {Picture} picture @param {PointerEvent} event */
  hover(picture, event) {
    const spot = picture.locate(event);
    const named = spot?.name !== undefined;
    picture.chart.style.cursor = named ? (this.data.heads > 1 ? "pointer" : "") : spot ? "crosshair" : "";
    if (spot && !named) return this.show(picture, spot, event.clientX, event.clientY);
    this.leave();
    if (spot?.name !== undefined) this.tip.showHead(this, picture, spot.name, event.clientX, event.clientY);
  }

  /** Shift keeps the lens where it is; once it is released, the lens follows the pointer again. @param {boolean} kept */
  keepLens(kept) {
    this.lens.keep(kept);
    if (!kept && !this.highlights.highlight) this.lens.leave();
  }

  /** Nothing is pointed at any more. */
  leave() {
    this.lens.leave();
    this.tip.hide();
    if (this.highlights.highlight) this.highlights.clear();
  }

  /** Move to a cell with the keyboard: it is highlighted and announced. @param {Picture} picture @param {Cell} cell */
  visit(picture, cell) {
    const { heads, axes } = picture.meta;
    const outer = picture.layer.getBoundingClientRect();
    const [x, y] = [picture.edgeX(cell.head, cell.column + 1), picture.edgeY(cell.head, cell.row + 1)];
    this.show(picture, cell, outer.left + x, outer.top + y);
    const where = [heads[cell.head], `${this.axis(axes[0])} ${picture.rowWord(cell.row)}`, `${this.axis(axes[1])} ${picture.columnWord(cell.column)}`];
    this.live.textContent = `${where.filter(Boolean).join(", ")}: ${picture.describe(cell)}`;
  }
}

/** @param {Component<Uint8Array, StageValues, { attn?: Heatmap }, HTMLElement>} component */
export default function ({ parentElement, data, setStateValue, setTriggerValue }) {
  /** @type {StageData} */
  const message = JSON.parse(new TextDecoder().decode(data));
  const page = { setStateValue, setTriggerValue };
  const heatmap = (parentElement.attn ??= new Heatmap(parentElement, message, page));
  heatmap.update(message, page);
  return () => {
    heatmap.close();
    delete parentElement.attn;
  };
}
