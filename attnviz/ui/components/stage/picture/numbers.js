// What stands in the cells of a heat map and beside its heads: gaps, frames, bars and numbers.

/** @import { Cell } from "../types" */
import { inkOn } from "../../colours.js";
import { inLanguage } from "../../number_format.js";
import { Cells } from "./cells.js";
import { NOT_A_NUMBER, context, decimals, hatch, minus, share, short, svg, truncate, wrap } from "../ink.js";

const GAP_FROM = 9; // pixels of a cell
const INSIDE = 1.5; // pixels from the edge of a cell to the middle of a frame in it
const ADDED_TO = 0.005; // how far from one the sum of a row is said
const GROUND_FROM = 16; // pixels of a cell that has room for a ground of the frame in it
const MOST_FRAMES = 200;
const NUMBERS_FROM = [26, 14]; // pixels of a cell that its number fits into,
const SHARES_FROM = [17, 14]; // and of one that holds a share, which is shorter; those of the opening have 17

export class Numbered extends Cells {
  family = "";

  /** Whether cells are large enough for their numbers, or for their signs where these are asked for. */
  get written() {
    const [w, h] = this.isShare ? SHARES_FROM : NUMBERS_FROM;
    return {
      numbers: this.w >= w && this.h >= h,
      signs: this.heatmap.signs && this.filled.zmin < 0 && Math.min(this.w, this.h) >= 5,
    };
  }

  /** Whether the numbers are shares of one. */
  get isShare() {
    return this.meta.share && this.filled.zmin === 0 && this.filled.zmax <= 1;
  }

  /**
   * A group in which words of one size are written.
   *
   * @param {Element} parent
   * @param {number} size
   * @param {number} weight
   * @param {"start" | "middle" | "end"} anchor
   */
  group(parent, size, weight, anchor) {
    context.font = `${weight} ${size}px ${this.family}`;
    return svg(parent, "g", { "font-size": size, "font-weight": weight, "text-anchor": anchor });
  }

  /** Thin gaps around every cell that is not masked, while cells are large; masked ones stay one shape. */
  drawGaps() {
    if (Math.min(this.w, this.h) < GAP_FROM) return;
    /** @type {string[]} */
    const lines = [];
    this.meta.widths.forEach((width, head) => {
      const x = (/** @type {number} */ column) => this.edgeX(head, column);
      const y = (/** @type {number} */ row) => this.edgeY(head, row);
      /** @param {number} row @param {number} column */
      const shown = (row, column) => !this.meta.masked || this.value({ head, row, column }) !== null;
      for (let row = 1; row < this.rows; row++)
        this.runs(width, (at) => shown(row, at) || shown(row - 1, at), (from, to) => lines.push(`M${x(from)},${y(row)}H${x(to)}`));
      for (let column = 1; column < width; column++)
        this.runs(this.rows, (at) => shown(at, column) || shown(at, column - 1), (from, to) => lines.push(`M${x(column)},${y(from)}V${y(to)}`));
    });
    svg(this.words, "path", { d: lines.join(""), stroke: this.heatmap.ground, "stroke-width": 1, fill: "none" });
  }

  /**
   * Call `found` for every run of indices below `length` that pass.
   *
   * @param {number} length
   * @param {(at: number) => boolean} passes
   * @param {(from: number, to: number) => void} found
   */
  runs(length, passes, found) {
    for (let from = 0, at = 0; at <= length; at++)
      if (at === length || !passes(at)) {
        if (at > from) found(from, at);
        from = at + 1;
      }
  }

  /** Lines in masked cells, and an edge around each region of them. */
  drawMasked() {
    if (!this.meta.masked) return;
    const fill = hatch(this.words);
    /** @type {{ inside: string[], edges: string[] }} */
    const { inside, edges } = { inside: [], edges: [] };
    this.meta.widths.forEach((width, head) => {
      const x = (/** @type {number} */ column) => this.edgeX(head, column);
      const y = (/** @type {number} */ row) => this.edgeY(head, row);
      /** @param {number} row @param {number} column */
      const masked = (row, column) => row >= 0 && row < this.rows && column >= 0 && column < width && this.value({ head, row, column }) === null;
      for (let row = 0; row < this.rows; row++)
        this.runs(width, (at) => masked(row, at), (from, to) => inside.push(`M${x(from)},${y(row)}H${x(to)}V${y(row + 1)}H${x(from)}Z`));
      for (let row = 0; row <= this.rows; row++)
        this.runs(width, (at) => masked(row, at) !== masked(row - 1, at), (from, to) => edges.push(`M${x(from)},${y(row)}H${x(to)}`));
      for (let column = 0; column <= width; column++)
        this.runs(this.rows, (at) => masked(at, column) !== masked(at, column - 1), (from, to) => edges.push(`M${x(column)},${y(from)}V${y(to)}`));
    });
    svg(this.words, "path", { d: inside.join(""), fill });
    svg(this.words, "path", { d: edges.join(""), fill: "none", class: "attn-masked" });
  }

  drawFrames() {
    const boxes = this.meta.widths.map((width, head) => {
      const [x, y, w, h] = this.cells(head, 0, 0, this.rows, width).map(Math.round);
      return `M${x - 0.5},${y - 0.5}h${w + 1}v${h + 1}h${-w - 1}Z`;
    });
    svg(this.words, "path", { d: boxes.join(""), stroke: "rgba(128,128,128,.35)", fill: "none" });
  }

  /** Frames in the cells that were changed by hand, where weights should lie, and where they differ from what is pinned. */
  drawEdits() {
    const { block } = this.meta;
    const isLarge = this.cells(0, 0, 0)[2] >= GROUND_FROM;
    const { wanted, edited, differs } = this.stage, { more, less } = differs ?? { more: [], less: [] };
    for (const [kind, found] of /** @type {const} */ ([["attn-wanted", wanted], ["attn-edited", edited], ["attn-more", more], ["attn-less", less]])) {
      const frames = found.slice(0, MOST_FRAMES).map(([head, row, column]) => {
        const [x, y, w, h] = this.cells(head, Math.floor(row / block[0]), Math.floor(column / block[1]));
        const off = Math.min(INSIDE, w / 6, h / 6);
        return `M${x + off},${y + off}h${w - 2 * off}v${h - 2 * off}h${2 * off - w}Z`;
      });
      if (!frames.length) continue;
      if (isLarge) svg(this.figures, "path", { d: frames.join(""), class: "attn-ground", fill: "none", "stroke-width": 4 }); // seen on a cell of any colour
      svg(this.figures, "path", { d: frames.join(""), class: kind, fill: "none", "stroke-width": 2 });
    }
  }

  /** What each column adds to, under its head, and over how much of all keys each row spreads, beside it. */
  drawBars() {
    const { sums, widths, room } = this.meta;
    if (!sums) return;
    const group = this.group(this.figures, 11, 600, "start");
    /** @type {string[]} */
    const bars = [];
    /** @type {[x: number, y: number, sum: number][]} */
    const totals = [];
    /** @param {number} length */
    const inset = (length) => (length >= GAP_FROM ? [length * 0.15, length * 0.7] : [0, length]);
    widths.forEach((width, head) => {
      const [right, bottom] = [this.edgeX(head, width) + 3, this.edgeY(head, this.rows) + 2];
      const next = head + 1 < widths.length ? this.edgeX(head + 1, 0) : 0, free = next > right ? next - right : Infinity; // a number lies over no other head
      sums.rows[head].forEach((part, row) => {
        const [, y, , h] = this.cells(head, row, 0), sum = this.editedSum(head, row);
        const [off, high] = inset(h);
        if (sum !== null && h >= GAP_FROM && context.measureText(sum.toFixed(2)).width <= free) return void totals.push([right, y + h / 2, sum]);
        bars.push(`M${right},${y + off}h${Math.max(1, (room[1] - 5) * part)}v${high}h${-Math.max(1, (room[1] - 5) * part)}Z`);
      });
      const most = Math.max(...sums.columns[head], 1e-9);
      sums.columns[head].forEach((total, column) => {
        const [x, , w] = this.cells(head, 0, column);
        const [off, wide] = inset(w);
        bars.push(`M${x + off},${bottom}h${wide}v${Math.max(1, (8 * total) / most)}h${-wide}Z`);
      });
    });
    svg(this.figures, "path", { d: bars.join(""), class: "attn-bars" });
    for (const [x, y, sum] of totals) {
      const text = inLanguage(minus(sum.toFixed(2)), this.heatmap.data.words), whole = `Σ ${text}`, fits = context.measureText(whole).width <= room[1] - 4;
      svg(group, "text", { x, y, class: "attn-total", "dominant-baseline": "central" }, fits ? whole : text);
    }
  }

  /** What a row adds up to where a weight in it was set by hand, if not to one; null for others. @param {number} head @param {number} row */
  editedSum(head, row) {
    const { stage, meta } = this;
    if (stage.kind !== "share" || meta.block[0] > 1 || !stage.edited.some(([h, i]) => h === head && i === row)) return null;
    const sum = this.rowOf(head, row).reduce((/** @type {number} */ all, weight) => all + (weight ?? 0), 0);
    return Math.abs(sum - 1) >= ADDED_TO ? sum : null;
  }

  /** Numbers where they fit, the sign where it is asked for, and whatever is not a finite number. */
  drawCells() {
    const { numbers, signs } = this.written;
    if (!numbers && !signs && !this.meta.odd) return this.drawEmpty();
    const size = this.meta.large && this.w >= 50 ? (this.w >= 80 ? 26 : 18) : this.w >= 34 ? 13 : 11.5;
    const group = this.group(this.figures, size, 400, "middle");
    const cells = this.meta.widths.flatMap((width, head) =>
      Array.from({ length: this.rows * width }, (_, at) => ({ head, row: Math.floor(at / width), column: at % width })),
    );
    const found = cells.map((cell) => this.value(cell));
    const finite = found.flatMap((number) => (number !== null && Number.isFinite(number) ? [number] : []));
    const digits = this.isShare ? 0 : decimals(finite, this.w - 5);
    const text = (/** @type {number} */ number) => (!numbers || digits < 0 ? "" : this.isShare ? share(number, this.w) : short(number, digits));
    cells.forEach((cell, at) => {
      const number = found[at];
      if (number !== null) this.drawCell(group, cell, number, inLanguage(text(number), this.heatmap.data.words), signs);
    });
  }

  /** Whether a head has a number at all: where all is masked there is none, not even a zero. @param {number} head @param {number} width */
  hasNumbers(head, width) {
    return Array.from({ length: this.rows * width }, (_, at) => this.value({ head, row: Math.floor(at / width), column: at % width })).some(
      (number) => number !== null && Number.isFinite(number),
    );
  }

  /** In a head all of whose numbers are zero nothing can be seen, so it is said. */
  drawEmpty() {
    const { ends, widths } = this.meta;
    if (!ends || this.columns * this.w < 60) return;
    const group = this.group(this.figures, 11, 400, "middle");
    group.setAttribute("class", "attn-soft");
    widths.forEach((width, head) => {
      if (ends[head] > 0 || !this.hasNumbers(head, width)) return;
      const [x, y, w, h] = this.cells(head, 0, 0, this.rows, width);
      const lines = wrap(this.heatmap.data.words.zero, w - 4);
      const first = y + h / 2 - 7 * (lines.length - 1);
      lines.forEach((line, at) => svg(group, "text", { x: x + w / 2, y: first + 14 * at, "dominant-baseline": "central" }, truncate(line, w - 4)));
    });
  }

  /** @param {Element} group @param {Cell} cell @param {number} number @param {string} word @param {boolean} signs */
  drawCell(group, { head, row, column }, number, word, signs) {
    const [x, y, w, h] = this.cells(head, row, column);
    /** @param {string} word @param {string} fill */
    const write = (word, fill) =>
      svg(group, "text", { x: x + w / 2, y: y + h / 2, style: `fill:${fill}`, "dominant-baseline": "central" }, word);
    if (!Number.isFinite(number)) {
      svg(group, "rect", { x, y, width: w, height: h, fill: NOT_A_NUMBER.ground });
      const name = Number.isNaN(number) ? this.heatmap.data.words.mark : minus(String(number).replace("Infinity", "∞"));
      if (context.measureText(name).width <= w && h >= 9) write(name, NOT_A_NUMBER.ink);
      return;
    }
    const fits = word && context.measureText(word).width <= w - 1;
    if (!fits && !(signs && number < 0)) return;
    const fill = inkOn(this.colour(head, number));
    if (fits) write(word, fill);
    else svg(group, "rect", { x: x + w * 0.28, y: y + h / 2 - 0.5, width: w * 0.44, height: Math.max(1, h * 0.07), fill });
  }
}
