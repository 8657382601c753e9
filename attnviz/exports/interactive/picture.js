// Pictures of a stage: its heads on two canvases, one for the numbers and one over it for what is pointed at.

/** @import { Cell, Listener, Scale, Stage } from "./types" */
import { cut, hatch, make, paintDots, penOf, shade, sharp } from "./canvas.js";
import { range } from "./formats.js";
import { headingNow } from "./knobs.js";
import { cross, frameHeld, mark } from "./marks.js";
import { hasOutput, hasPainted, isMasked, isOff } from "./moved.js";
import { isPainted } from "./paint.js";
import { at, data, headName, view, words } from "./run.js";

const LARGEST_CELL = 34, TALLEST = 620, GAP = 14, NAME = 18, SMALL = 10;
const NEXT_TO_NOTHING = 1e-12; // of the largest number, or of 1: a head whose numbers are smaller has no colours of its own
/** @type {Partial<Record<string, Cell>>} */
const MOVES = { ArrowUp: [0, -1, 0], ArrowDown: [0, 1, 0], ArrowLeft: [0, 0, -1], ArrowRight: [0, 0, 1], PageUp: [-1, 0, 0], PageDown: [1, 0, 0] };

/**
 * Set the heads of all these pictures side by side in the same number, with cells of one size, the largest there is.
 *
 * @param {Picture[]} some
 */
export function arrange(some) {
  const counts = range(Math.max(...some.map((each) => each.heads))).map((n) => n + 1);
  /** @param {number} tall */
  const best = (tall) =>
    counts
      .map((across) => ({ across, cell: Math.min(...some.map((each) => each.fits(across, tall))) }))
      .reduce((a, b) => (b.cell > a.cell ? b : a));
  let found = best(TALLEST);
  if (found.cell < SMALL) found = best(3 * TALLEST);
  some.forEach((each) => each.place(found.across, found.cell));
}

export class Picture {
  // in pixels: where cells begin, what words take below them, and what is left for the cells
  left = 0;
  below = 0;
  room = 0;
  width = 0;
  height = 0;
  cell = 0;
  across = 1; // heads side by side
  isApart = false; // the colours of each head reach to its own largest number
  /** @type {number[]} by size, where that is so */
  ends = [];
  /** @type {HTMLElement[]} */
  hatched = []; // what says how masked cells look

  /** @param {Stage} stage @param {HTMLElement} parent @param {Listener} listener */
  constructor(stage, parent, listener) {
    this.stage = stage;
    this.listener = listener;
    const section = make("section", parent);
    make("h2", section, stage.title);
    make("p", section, stage.phrase, "quiet");
    this.formula = make("p", section, headingNow(stage), "quiet");
    this.key = make("div", section, undefined, "legend");
    this.box = make("div", section, undefined, "picture");
    this.box.tabIndex = 0;
    this.box.setAttribute("role", "application");
    this.box.setAttribute("aria-label", `${stage.alt} ${words.keys}`);
    this.base = make("canvas", this.box);
    this.over = make("canvas", this.box);
    this.box.addEventListener("pointermove", (event) => listener.point(stage, this.locate(event), event));
    this.box.addEventListener("pointerleave", () => listener.point(stage, null));
    this.box.addEventListener("click", (event) => listener.choose(stage, this.locate(event)));
    this.box.addEventListener("keydown", (event) => this.move(event));
    this.legend();
  }

  get heads() { return this.stage.widths.length; }
  get rows() { return data.queries.length; }
  get columns() { return Math.max(...this.stage.widths); }
  /** @param {number} column */
  columnWord(column) { return this.stage.worded ? data.keys[column] : String(column + 1); }

  /** The colours and what they reach to; of the scores of several heads, that is for the reader to choose. */
  legend() {
    const { key: parent, stage: { name, scale }, heads } = this;
    const offered = name === "scores" && heads > 1, apart = offered && view.apart;
    parent.replaceChildren();
    this.isApart = apart;
    this.measureEnds();
    make("span", parent, apart ? "−" : scale.said[0]);
    const pen = penOf(make("canvas", parent));
    [pen.canvas.width, pen.canvas.height] = [56, 1];
    range(56).forEach((x) => {
      pen.fillStyle = shade(scale, scale.low + (scale.high - scale.low) * (x / 55));
      pen.fillRect(x, 0, 1, 1);
    });
    make("span", parent, apart ? "+" : scale.said[1]);
    if (offered) this.switch(parent);
    this.hatched = [make("i", parent), make("span", parent, words.masked)];
    this.sayMasked();
  }

  /** Say what masked cells look like, where there are some. */
  sayMasked() {
    for (const each of this.hatched) each.hidden = !(this.stage.masked || (this.stage.worded && hasPainted()));
  }

  measureEnds() {
    this.ends = this.isApart ? range(this.heads).map((head) => this.end(head)) : [];
  }

  /** Draw the same picture of other numbers. */
  renew() {
    this.measureEnds();
    this.formula.textContent = headingNow(this.stage);
    this.sayMasked();
    this.draw();
  }

  /** @param {HTMLElement} parent */
  switch(parent) {
    const button = make("button", parent, view.apart ? words.apart : words.common);
    button.type = "button";
    button.title = view.apart ? words.apart_hint : words.common_hint;
    button.setAttribute("aria-pressed", String(view.apart));
    button.addEventListener("click", () => {
      view.apart = !view.apart;
      this.legend();
      this.draw();
      this.key.querySelector("button")?.focus();
    });
  }

  /** @param {number} head @returns {number} its largest number by size, or what is next to nothing beside all; 1 where all are 0 */
  end(head) {
    const numbers = range(this.rows * this.stage.widths[head]).map((n) => this.value([head, Math.floor(n / this.stage.widths[head]), n % this.stage.widths[head]]));
    const most = numbers.reduce((/** @type {number} */ most, x) => (x !== null && Number.isFinite(x) ? Math.max(most, Math.abs(x)) : most), 0);
    return most ? Math.max(most, NEXT_TO_NOTHING * Math.max(1, this.stage.scale.high)) : 1;
  }

  /** @param {number} head @returns {Scale} */
  scale(head) {
    const { stage, ends } = this;
    return ends.length ? { ...stage.scale, low: -ends[head], high: ends[head] } : stage.scale;
  }

  measure() {
    const pen = sharp(this.base, 1, 1);
    /** @param {string[]} list @param {number} most */
    const longest = (list, most) => Math.min(Math.max(...list.map((word) => pen.measureText(word.slice(0, 60)).width)) + 10, most);
    this.left = longest(data.queries, 90);
    this.below = this.stage.worded ? longest(data.keys, 90) : 20;
    this.room = this.box.clientWidth - this.left - 2;
  }

  /**
   * Return the size of a cell with so many heads side by side, in a picture of so much height.
   *
   * @param {number} across
   * @param {number} tall
   */
  fits(across, tall) {
    const down = Math.ceil(this.heads / across);
    const wide = (this.room - (across - 1) * GAP) / (across * this.columns);
    return Math.min(wide, (tall - down * NAME - this.below) / (down * this.rows), LARGEST_CELL);
  }

  /** @param {number} across @param {number} cell */
  place(across, cell) {
    this.across = across;
    this.cell = Math.max(cell >= 4 ? Math.floor(cell) : cell, 0.5);
    this.width = this.left + across * (this.columns * this.cell + GAP);
    this.height = Math.ceil(this.heads / across) * (this.rows * this.cell + NAME) + this.below;
  }

  /** @param {number} head @returns {[x: number, y: number]} of its first cell */
  corner(head) {
    const [down, across] = [Math.floor(head / this.across), head % this.across];
    return [this.left + across * (this.columns * this.cell + GAP), NAME + down * (this.rows * this.cell + NAME)];
  }

  /** @param {Cell} cell @returns {number | null} its number, or null where it is masked */
  value([h, i, j]) {
    return isMasked(this.stage, [h, i, j]) ? null : at(this.stage.name, h, i, j);
  }

  draw() {
    const pen = sharp(this.base, this.width, this.height);
    sharp(this.over, this.width, this.height);
    const ink = getComputedStyle(this.box).color;
    this.stage.widths.forEach((width, h) => {
      const [x, y] = this.corner(h);
      if (this.cell < SMALL) this.dots(pen, h, width, x, y);
      else this.squares(pen, h, width, x, y);
      pen.fillStyle = ink;
      this.name(pen, h, x, y);
      this.labels(pen, h, width, x, y);
      if (this.switches && isOff(h)) cross(this, pen, width, x, y);
    });
    this.light();
  }

  /** @param {CanvasRenderingContext2D} pen @param {number} h @param {number} width @param {number} x @param {number} y */
  squares(pen, h, width, x, y) {
    const scale = this.scale(h);
    const masked = hatch(pen);
    for (let i = 0; i < this.rows; i++)
      for (let j = 0; j < width; j++) {
        const number = this.value([h, i, j]);
        pen.fillStyle = number === null ? masked : shade(scale, number);
        const side = number === null ? this.cell : this.cell - 1; // what is masked stays one shape
        pen.fillRect(x + j * this.cell, y + i * this.cell, side, side);
      }
  }

  /** @param {CanvasRenderingContext2D} pen @param {number} h @param {number} width @param {number} x @param {number} y */
  dots(pen, h, width, x, y) {
    const image = document.createElement("canvas");
    paintDots(image, width, this.rows, this.scale(h), (j, i) => this.value([h, i, j]));
    pen.imageSmoothingEnabled = this.cell < 1;
    pen.drawImage(image, x, y, width * this.cell, this.rows * this.cell);
  }

  /** Whether heads are switched off by their names here. */
  get switches() { return this.stage.name === "weights" && hasOutput(); }

  /** @param {CanvasRenderingContext2D} pen @param {number} h @param {number} x @param {number} y */
  name(pen, h, x, y) {
    const room = this.columns * this.cell + GAP - 4, sign = this.switches ? " ×" : "";
    const ways = [headName(this.stage, h), this.stage.heads[h].split(" · ")[0], String(h + 1)].map((way) => way + sign);
    pen.textAlign = "left";
    pen.textBaseline = "alphabetic";
    pen.fillText(ways.find((way) => pen.measureText(way).width <= room) ?? "", x, y - 4);
  }

  /** @param {CanvasRenderingContext2D} pen @param {number} h @param {number} width @param {number} x @param {number} y */
  labels(pen, h, width, x, y) {
    pen.textBaseline = "middle";
    pen.textAlign = "right";
    const every = Math.ceil(13 / this.cell);
    if (h % this.across === 0)
      for (let i = 0; i < this.rows; i += every) pen.fillText(cut(pen, data.queries[i], this.left - 8), x - 5, y + (i + 0.5) * this.cell);
    if (h + this.across < this.heads) return;
    const step = this.stage.worded ? every : Math.ceil((pen.measureText(String(width)).width + 4) / this.cell);
    for (let j = 0; j < width; j += step) {
      pen.save();
      pen.translate(x + (j + 0.5) * this.cell, y + this.rows * this.cell + 5);
      if (this.stage.worded) pen.rotate(-Math.PI / 2);
      else pen.textAlign = "center";
      pen.fillText(cut(pen, this.columnWord(j), this.stage.worded ? this.below - 8 : 60), 0, this.stage.worded ? 0 : 6);
      pen.restore();
    }
  }

  /** @param {MouseEvent} event @returns {number} the head at whose name it is, or -1 */
  headAt(event) {
    const box = this.box.getBoundingClientRect(), [x, y] = [event.clientX - box.left, event.clientY - box.top];
    return this.stage.widths.findIndex((width, h) => {
      const [left, top] = this.corner(h);
      return y >= top - NAME && y < top && x >= left && x < left + width * this.cell;
    });
  }

  /** @param {MouseEvent} event @returns {{ row?: number, column?: number } | null} a cell, or the word of a whole row or column */
  wordOrCell(event) {
    const cell = this.locate(event), box = this.box.getBoundingClientRect(), [x, y] = [event.clientX - box.left, event.clientY - box.top];
    if (cell) return { row: cell[1], column: cell[2] };
    for (let h = 0; h < this.heads; h++) {
      const [left, top] = this.corner(h), [i, j] = [Math.floor((y - top) / this.cell), Math.floor((x - left) / this.cell)];
      if (x < left && h % this.across === 0 && i >= 0 && i < this.rows) return { row: i };
      if (i >= this.rows && y < top + this.rows * this.cell + this.below && h + this.across >= this.heads && j >= 0 && j < this.stage.widths[h]) return { column: j };
    }
    return null;
  }

  /** @param {Cell} cell @returns {[x: number, y: number]} of the window, where it ends at the right and below */
  foot([h, i, j]) {
    const box = this.box.getBoundingClientRect(), [left, top] = this.corner(h);
    return [box.left + left + (j + 1) * this.cell, box.top + top + (i + 1) * this.cell];
  }

  /** @param {MouseEvent} event @returns {Cell | null} */
  locate(event) {
    const box = this.box.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    for (let h = 0; h < this.heads; h++) {
      const [left, top] = this.corner(h);
      const [i, j] = [Math.floor((y - top) / this.cell), Math.floor((x - left) / this.cell)];
      if (i >= 0 && j >= 0 && i < this.rows && j < this.stage.widths[h]) return [h, i, j];
    }
    return null;
  }

  /** Mark the row and the column of what is pointed at or chosen, over every head, and frame the cell itself. */
  light() {
    const pen = penOf(this.over);
    pen.clearRect(0, 0, this.over.width, this.over.height);
    if (view.chosen) mark(this, pen, view.chosen, 2);
    if (view.lit) mark(this, pen, view.lit, 1);
    frameHeld(this, pen);
  }

  /** @param {KeyboardEvent} event */
  move(event) {
    const move = MOVES[event.key];
    if (event.target !== this.box || (!move && event.key !== "Enter" && (event.key !== " " || isPainted(this.stage)))) return;
    event.preventDefault();
    const [h, i, j] = view.chosen?.stage === this.stage ? view.chosen.cell : [0, 0, 0];
    const [down, below, beside] = (view.chosen?.stage === this.stage && move) || [0, 0, 0];
    this.listener.choose(this.stage, this.within([h + down, i + below, j + beside]));
  }

  /** @param {Cell} cell @returns {Cell} the nearest that there is */
  within([h, i, j]) {
    /** @param {number} index @param {number} n */
    const to = (index, n) => Math.min(Math.max(index, 0), n - 1);
    const head = to(h, this.heads);
    return [head, to(i, this.rows), to(j, this.stage.widths[head])];
  }
}
