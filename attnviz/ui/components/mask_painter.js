// Painting of a mask: a stroke allows or forbids cells, with the mouse, a finger or the keyboard.

/** @import { Component, PaintData } from "../types" */
/** @import { Cell, Position } from "./mask_painter_cells.js" */
import { Cells, make } from "./mask_painter_cells.js";
import { squaresBetween } from "../../pictures/stroke.js";

/** @typedef {{ id: number, may: boolean, last: Position, changed: boolean }} Stroke */

/** @param {PaintData} one @param {PaintData} other */
const sameTokens = (one, other) => JSON.stringify([one.queries, one.keys]) === JSON.stringify([other.queries, other.keys]);

class Paint {
  /** @type {string[]} */
  pending = []; // masks that Python has not sent back yet
  /** @type {Stroke | undefined} */
  stroke;
  /** @type {PaintData | undefined} */
  queued; // what Python sent during a stroke
  /** @type {Position | undefined} */
  described; // the cell that the caption names

  /** @param {HTMLElement | ShadowRoot} root @param {PaintData} data */
  constructor(root, data) {
    this.data = data;
    /** @type {(cells: string) => void} */
    this.send = () => {};
    this.wrap = make("div", "paint", root);
    this.grid = make("div", "grid", make("div", "frame", this.wrap));
    this.grid.setAttribute("role", "grid");
    this.grid.setAttribute("aria-multiselectable", "true");
    this.caption = make("div", "caption", this.wrap);
    this.live = make("div", "live", this.wrap);
    this.live.setAttribute("aria-live", "polite");
    this.cells = new Cells(this.grid, data, [0, 0]);
    this.built();
    this.listen();
    this.watch = new ResizeObserver(() => this.cells.fit(this.wrap.clientWidth));
    this.watch.observe(this.wrap);
  }

  listen() {
    const { grid } = this;
    grid.addEventListener("pointerdown", (event) => this.start(event));
    grid.addEventListener("pointermove", (event) => this.move(event));
    grid.addEventListener("pointerup", (event) => this.end(event));
    grid.addEventListener("pointercancel", (event) => this.end(event));
    grid.addEventListener("lostpointercapture", (event) => this.end(event));
    grid.addEventListener("pointerleave", () => this.stroke || this.describe());
    grid.addEventListener("keydown", (event) => this.onKeydown(event));
    grid.addEventListener("focusin", (event) => this.onFocus(event.target));
    grid.addEventListener("focusout", () => this.describe());
  }

  /** @param {PaintData} data @param {(name: "cells", value: string) => void} setTriggerValue */
  update(data, setTriggerValue) {
    this.send = (cells) => setTriggerValue("cells", cells);
    if (this.stroke) this.queued = data;
    else this.adopt(data);
  }

  /** @param {PaintData} data  whose mask is adopted, unless it echoes one that was painted here and may be outdated */
  adopt(data) {
    const before = this.data;
    const same = sameTokens(data, before);
    const [echo, refused] = [this.pending.indexOf(data.cells), data.refused !== before.refused];
    this.data = this.cells.data = data;
    if (!same) {
      this.cells = new Cells(this.grid, data, this.cells.at);
      this.built();
    } else if (!refused && echo >= 0) this.pending.splice(0, echo + 1);
    else if (refused || data.cells !== before.cells) this.draw();
  }

  /** Show cells that are new. */
  built() {
    this.cells.fit(this.wrap.clientWidth);
    this.described = undefined;
    this.draw();
  }

  draw() {
    this.cells.draw(this.data.cells);
    this.pending = [];
    this.describe(this.described);
  }

  /** @param {PointerEvent} event */
  start(event) {
    const cell = this.cells.find(event.target);
    if (this.stroke || event.button !== 0 || !cell) return;
    event.preventDefault();
    this.grid.setPointerCapture(event.pointerId);
    this.stroke = { id: event.pointerId, may: !cell.may, last: [cell.row, cell.column], changed: false };
    cell.element.focus({ preventScroll: true });
    this.paint(this.stroke, [cell.row, cell.column]);
  }

  /** @param {Stroke} stroke @param {Position} to */
  paint(stroke, to) {
    for (const [i, j] of squaresBetween(stroke.last, to)) if (this.cells.set(i, j, stroke.may)) stroke.changed = true;
    stroke.last = to;
    this.describe(to);
  }

  /** @param {PointerEvent} event */
  move(event) {
    if (!this.stroke) this.describe(this.cells.position(event));
    else if (event.pointerId === this.stroke.id) {
      const between = event.getCoalescedEvents?.() ?? [];
      for (const each of between.length ? between : [event]) this.paint(this.stroke, this.cells.position(each));
    }
  }

  /** @param {PointerEvent} event  that ends a stroke: the whole grid is sent once, and only then is what was queued looked at */
  end(event) {
    if (!this.stroke || event.pointerId !== this.stroke.id) return;
    const [{ changed }, queued] = [this.stroke, this.queued];
    this.stroke = this.queued = undefined;
    if (changed) this.sendCells();
    if (!queued) return;
    if (changed && sameTokens(queued, this.data)) this.data = this.cells.data = queued;
    else this.adopt(queued);
  }

  sendCells() {
    const cells = this.cells.text();
    this.pending.push(cells);
    this.send(cells);
  }

  /** @param {Position} [position]  of the cell under the pointer or in focus, named in the line below */
  describe(position) {
    this.described = position;
    const cell = position && this.cells.cells[position[0]]?.[position[1]];
    this.caption.textContent = cell ? this.cells.describe(cell) : this.data.words.hint;
    this.cells.mark(cell && position);
  }

  /** @param {EventTarget | null} target */
  onFocus(target) {
    const cell = this.cells.find(target);
    if (!cell) return;
    this.cells.focus(cell);
    this.describe([cell.row, cell.column]);
  }

  /** @param {KeyboardEvent} event */
  onKeydown(event) {
    const cell = this.cells.find(event.target);
    if (event.metaKey || event.altKey || !cell) return;
    if (event.key === " " || event.key === "Enter") {
      event.preventDefault();
      if (!this.stroke) this.toggle(cell);
      return;
    }
    const { cells } = this.cells;
    const [rows, columns] = [cells.length, cells[0].length];
    const isFar = event.ctrlKey;
    /** @type {Partial<Record<string, Position>>} */
    const moves = {
      ArrowUp: [cell.row - 1, cell.column],
      ArrowDown: [cell.row + 1, cell.column],
      ArrowLeft: [cell.row, cell.column - 1],
      ArrowRight: [cell.row, cell.column + 1],
      Home: [isFar ? 0 : cell.row, 0],
      End: [isFar ? rows - 1 : cell.row, columns - 1],
    };
    const to = moves[event.key];
    if (!to) return;
    event.preventDefault();
    cells[to[0]]?.[to[1]]?.element.focus();
  }

  /** @param {Cell} cell */
  toggle(cell) {
    this.cells.set(cell.row, cell.column, !cell.may);
    this.live.textContent = cell.may ? this.data.words.may : this.data.words.may_not;
    this.describe([cell.row, cell.column]);
    this.sendCells();
  }
}

/** @param {Component<Uint8Array, { cells: string }, { attnPaint?: Paint }>} component */
export default function ({ parentElement, data, setTriggerValue }) {
  /** @type {PaintData} */
  const mask = JSON.parse(new TextDecoder().decode(data));
  const paint = (parentElement.attnPaint ??= new Paint(parentElement, mask));
  paint.update(mask, setTriggerValue);
  return () => {
    paint.watch.disconnect();
    paint.wrap.remove();
    delete parentElement.attnPaint;
  };
}
