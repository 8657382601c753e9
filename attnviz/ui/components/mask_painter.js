// Painting of a mask: a stroke allows or forbids cells, with the mouse, a finger or the keyboard.

/** @import { Component, PaintData } from "../types" */
/** @import { Cell, Place } from "./mask_painter_cells.js" */
import { Cells, make } from "./mask_painter_cells.js";

/** @typedef {{ id: number, may: boolean, last: Place, changed: boolean }} Stroke */

/**
 * Return every cell on the way from one to another, so that a fast stroke has no holes.
 *
 * @param {Place} from
 * @param {Place} to
 * @returns {Place[]}
 */
function between([row, column], [toRow, toColumn]) {
  const steps = Math.max(Math.abs(toRow - row), Math.abs(toColumn - column), 1);
  /** @param {number} from @param {number} to @param {number} i */
  const at = (from, to, i) => Math.round(from + ((to - from) * i) / steps);
  return Array.from({ length: steps + 1 }, (_, i) => [at(row, toRow, i), at(column, toColumn, i)]);
}

/** @param {PaintData} one @param {PaintData} other */
const sameTokens = (one, other) => JSON.stringify([one.queries, one.keys]) === JSON.stringify([other.queries, other.keys]);

class Paint {
  /** @type {string[]} */
  sent = []; // masks that have not come back
  /** @type {Stroke | undefined} */
  stroke;
  /** @type {PaintData | undefined} */
  late; // what the page said during a stroke
  /** @type {Place | undefined} */
  told;

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
    grid.addEventListener("pointerleave", () => this.stroke || this.tell());
    grid.addEventListener("keydown", (event) => this.key(event));
    grid.addEventListener("focusin", (event) => this.focused(event.target));
    grid.addEventListener("focusout", () => this.tell());
  }

  /** @param {PaintData} data @param {(name: "cells", value: string) => void} setTriggerValue */
  update(data, setTriggerValue) {
    this.send = (cells) => setTriggerValue("cells", cells);
    if (this.stroke) this.late = data;
    else this.adopt(data);
  }

  /** @param {PaintData} data  whose mask is taken, unless it is the echo of one that was painted here and may be old */
  adopt(data) {
    const before = this.data;
    const same = sameTokens(data, before);
    const [echo, refused] = [this.sent.indexOf(data.cells), data.refused !== before.refused];
    this.data = this.cells.data = data;
    if (!same) {
      this.cells = new Cells(this.grid, data, this.cells.at);
      this.built();
    } else if (!refused && echo >= 0) this.sent.splice(0, echo + 1);
    else if (refused || data.cells !== before.cells) this.draw();
  }

  /** Show cells that are new. */
  built() {
    this.cells.fit(this.wrap.clientWidth);
    this.told = undefined;
    this.draw();
  }

  draw() {
    this.cells.draw(this.data.cells);
    this.sent = [];
    this.tell(this.told);
  }

  /** @param {PointerEvent} event */
  start(event) {
    const cell = this.cells.of(event.target);
    if (this.stroke || event.button !== 0 || !cell) return;
    event.preventDefault();
    this.grid.setPointerCapture(event.pointerId);
    this.stroke = { id: event.pointerId, may: !cell.may, last: [cell.row, cell.column], changed: false };
    cell.element.focus({ preventScroll: true });
    this.paint(this.stroke, [cell.row, cell.column]);
  }

  /** @param {Stroke} stroke @param {Place} to */
  paint(stroke, to) {
    for (const [i, j] of between(stroke.last, to)) if (this.cells.put(i, j, stroke.may)) stroke.changed = true;
    stroke.last = to;
    this.tell(to);
  }

  /** @param {PointerEvent} event */
  move(event) {
    if (!this.stroke) this.tell(this.cells.place(event));
    else if (event.pointerId === this.stroke.id) {
      const between = event.getCoalescedEvents?.() ?? [];
      for (const each of between.length ? between : [event]) this.paint(this.stroke, this.cells.place(each));
    }
  }

  /** @param {PointerEvent} event  that ends a stroke: the whole grid is sent once, and only then what came is looked at */
  end(event) {
    if (!this.stroke || event.pointerId !== this.stroke.id) return;
    const [{ changed }, late] = [this.stroke, this.late];
    this.stroke = this.late = undefined;
    if (changed) this.tellPage();
    if (!late) return;
    if (changed && sameTokens(late, this.data)) this.data = this.cells.data = late;
    else this.adopt(late);
  }

  tellPage() {
    const cells = this.cells.drawn();
    this.sent.push(cells);
    this.send(cells);
  }

  /** @param {Place} [place]  of the cell under the pointer or in focus, named in the line below */
  tell(place) {
    this.told = place;
    const cell = place && this.cells.cells[place[0]]?.[place[1]];
    this.caption.textContent = cell ? this.cells.named(cell) : this.data.words.hint;
    this.cells.mark(cell && place);
  }

  /** @param {EventTarget | null} target */
  focused(target) {
    const cell = this.cells.of(target);
    if (!cell) return;
    this.cells.focus(cell);
    this.tell([cell.row, cell.column]);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const cell = this.cells.of(event.target);
    if (event.metaKey || event.altKey || !cell) return;
    if (event.key === " " || event.key === "Enter") {
      event.preventDefault();
      if (!this.stroke) this.toggle(cell);
      return;
    }
    const { cells } = this.cells;
    const [rows, columns] = [cells.length, cells[0].length];
    const far = event.ctrlKey;
    /** @type {Partial<Record<string, Place>>} */
    const moves = {
      ArrowUp: [cell.row - 1, cell.column],
      ArrowDown: [cell.row + 1, cell.column],
      ArrowLeft: [cell.row, cell.column - 1],
      ArrowRight: [cell.row, cell.column + 1],
      Home: [far ? 0 : cell.row, 0],
      End: [far ? rows - 1 : cell.row, columns - 1],
    };
    const to = moves[event.key];
    if (!to) return;
    event.preventDefault();
    cells[to[0]]?.[to[1]]?.element.focus();
  }

  /** @param {Cell} cell */
  toggle(cell) {
    this.cells.put(cell.row, cell.column, !cell.may);
    this.live.textContent = cell.may ? this.data.words.may : this.data.words.may_not;
    this.tell([cell.row, cell.column]);
    this.tellPage();
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
