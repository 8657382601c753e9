// The names and words beside the cells of a heat map, over the numbers in them.

import { context, isPictograph, shortened, svg, truncate, wrap } from "../ink.js";
import { Numbered } from "./numbers.js";

const BARE = 20; // pixels left of a map in which no word fits
const NARROWEST_LEGEND = 84; // pixels
const APART = 10; // pixels between two heads over which their names are told apart
const SWITCH = 16; // pixels of what switches a head off, in its name
/** @typedef {[text: string, size: [wide: number, tall: number], fill?: string]} LegendLine */

export class Lettered extends Numbered {
  size = 11; // pixels of a word
  /** @type {string | null} */
  drawn = null; // what all that is drawn depends on
  figured = ""; // and what the numbers do
  /** @type {number[]} */
  named = []; // how many pixels are written over each head

  draw() {
    this.family = this.heatmap.family;
    this.layer.style.fontFamily = this.family;
    this.size = this.meta.large && this.h >= 26 ? 18 : this.h >= 20 ? 13 : this.h >= 13 ? 12 : 11;
    const isChanged = this.drawWords();
    this.drawFigures();
    return isChanged;
  }

  /** Everything that stands over the cells but what numbers tell, unless all that it depends on is as it was; return
   *  whether it is not. */
  drawWords() {
    const { x, y, w, h, width, height, family, heatmap, lettering } = this;
    const drawn = JSON.stringify([lettering, x, y, w, h, width, height, family, heatmap.ground, heatmap.data.words, heatmap.signs]);
    if (drawn === this.drawn) return false;
    this.drawn = drawn;
    this.words.replaceChildren();
    this.drawGaps();
    this.drawMasked();
    this.drawFrames();
    this.drawNames();
    this.drawAxes();
    if (!this.drawLegend()) this.drawSpread();
    this.drawRowWords(this.words);
    this.drawColumnWords(this.words);
    this.words.append(this.figures);
    this.figured = "";
    return true;
  }

  /** What numbers tell: they themselves, the bars, and the frames of those that were changed. */
  drawFigures() {
    if (this.figured === String(this.revision)) return;
    this.figured = String(this.revision);
    this.figures.replaceChildren();
    this.drawEdits();
    this.drawBars();
    this.drawCells();
  }

  /** The pixels that what switches a head off has in its name. */
  get switchWide() {
    return this.meta.share && this.heatmap.data.live?.off ? SWITCH : 0;
  }

  /** Whether that stands at the end of the name for good. */
  get isSwitched() {
    return this.switchWide > 0 && matchMedia("(hover: none)").matches;
  }

  /** Over each head its name, and what it does where there is room for that. */
  drawNames() {
    const { heads, roles, room, large, across, true: all } = this.meta;
    const ragged = new Set(all).size > 1;
    const pitch = across > 1 ? this.edgeX(1, 0) - this.edgeX(0, 0) - 4 : this.columns * this.w + room[1];
    const group = this.group(this.words, large ? 15 : 12, 600, "start");
    const beside = (/** @type {number} */ head) => (this.isSwitched ? this.columns * this.w : head % across === across - 1 && room[1] ? this.columns * this.w + room[1] : pitch) - this.switchWide;
    const fits = (/** @type {string[]} */ parts, /** @type {number} */ head) => context.measureText(parts.join("  ")).width <= beside(head);
    const plains = heads.map((name) => name.split(" · ")[0]);
    const numbers = heads.map((name) => name.match(/\d+/)?.[0] ?? "");
    const shorter = roles?.map((role) => role.replace(/^\D+? ?(?=[\d“„])/, "")) ?? []; // 5.9 words, “cat”
    const whole = roles ? [[plains, roles], [numbers, roles], [numbers, shorter]] : [];
    const forms = [...whole, ...whole.map(([names, said]) => [names, said.map((role, head) => shortened(role, beside(head) - context.measureText(`${names[head]}  `).width))])];
    const alike = forms.find(([names, said]) => names.every((name, head) => fits([name, said[head]], head))); // all heads in the same form
    const wide = (/** @type {number} */ head) => (ragged ? ` · ${all[head]}` : "");
    const bare = [heads.map((name, head) => (ragged ? `${name}${wide(head)} ${this.heatmap.data.words.wide}` : name)), heads, plains, numbers.map((number, head) => number + wide(head)), numbers];
    const even = bare.find((names) => names.every((name, head) => fits([name], head)));
    const few = roles && heads.some((_, head) => !fits([plains[head], roles[head]], head) && fits([numbers[head], roles[head]], head));
    this.named = heads.map((_, head) => {
      const { x, y } = this.corner(head);
      const [plain, number, role] = [plains[head], numbers[head], roles?.[head]];
      const called = few ? number : plain;
      const candidates = role
        ? [...(alike ? [[alike[0][head], alike[1][head]]] : []), [called, role], [called, shorter[head]], [called], [number]]
        : [...(even ? [even] : []), ...bare].map((names) => [names[head]]);
      const parts = candidates.find((each) => fits(each, head)) ?? [""];
      const word = svg(group, "text", { x, y: y - 5, "data-head": head }, parts[0]);
      if (parts[1] && !this.stage.former?.[head]) svg(word, "tspan", { dx: 6, class: "attn-soft" }, parts[1]);
      return context.measureText(parts.join("  ")).width + 6;
    });
  }

  /** Over the bars beside the first heads what they are, if there is room over each of them; over those of the last
   *  alone where another name follows at once. */
  drawSpread() {
    const { sums, across, heads, room } = this.meta;
    if (!sums) return;
    const group = this.group(this.words, this.meta.large ? 14 : 11, 400, "end");
    group.setAttribute("class", "attn-soft");
    const { spread } = this.heatmap.data.words;
    const endAt = this.isSwitched ? -SWITCH : room[1], free = this.columns * this.w + Math.min(endAt, room[1] - this.switchWide) - context.measureText(spread).width;
    const end = Math.min(across, heads.length), isClose = end > 1 && this.edgeX(1, 0) - this.edgeX(0, this.columns) - room[1] < APART;
    const begin = isClose ? end - 1 : 0;
    if (this.named.slice(begin, end).some((name) => name > free)) return;
    for (let head = begin; head < end; head++) svg(group, "text", { x: this.edgeX(head, this.columns) + 2 + endAt, y: this.y - 5 }, spread);
  }

  /** The lines of the legend: of the bars, or of colours where each head has a scale of its own.
   *  @returns {LegendLine[]} */
  get legend() {
    const { words } = this.heatmap.data;
    if (this.meta.sums) return [[words.reads_key, [7, 4]], [words.total_key, [4, 7]]];
    if (!this.meta.ends) return [];
    const { colorscale } = this.filled;
    const [above, below] = [colorscale[colorscale.length - 1][1], colorscale[0][1]];
    return [[words.above_key, [8, 8], above], [words.below_key, [8, 8], below], [words.apart_key, [0, 0]]];
  }

  /** Draw a legend of the bars or the colours where no head is; return whether there is space for it. */
  drawLegend() {
    const { legend } = this;
    if (!legend.length) return false;
    const [size, high] = this.meta.large ? [14, 18] : [11, 14];
    const group = this.group(this.words, size, 400, "start");
    group.setAttribute("class", "attn-soft attn-key");
    const area = this.vacant.find(({ width, height }) => {
      const lines = legend.flatMap(([text]) => wrap(text, width - 12));
      return width >= NARROWEST_LEGEND && lines.length * high + 6 * (legend.length - 1) <= height;
    });
    if (!area) return group.remove(), false;
    const { x, width } = area;
    let { y } = area;
    for (const [text, [wide, tall], fill] of legend) {
      svg(group, "rect", { x, y: y + (size - tall) / 2, width: wide, height: tall, ...(fill ? { fill } : { class: "attn-bars" }) });
      for (const part of wrap(text, width - 12)) svg(group, "text", { x: x + 12, y: (y += high) - high + size - 1 }, part);
      y += 6;
    }
    return true;
  }

  /** The areas without cells or words: that of a head which would fill the last row, and the foot of the box. */
  get vacant() {
    const { heads, across, large } = this.meta;
    const last = heads.length - 1;
    const words = large ? 60 : 40; // under a column
    const foot = this.edgeY(last, this.rows) + 11 + words + 12;
    const found = [{ x: this.x, y: foot, width: this.width - this.x, height: this.height - foot }];
    const empty = heads.length > across ? heads.length % across : 0;
    if (!empty) return found;
    const [x, y] = [this.edgeX(empty, 0), this.edgeY(last - across, this.rows) + 11 + words + 6];
    return [{ x, y, width: this.edgeX(across - 1, this.columns) - x, height: this.edgeY(last, this.rows) - y }, ...found];
  }

  /** What the rows and the columns are, in small words where they begin. */
  drawAxes() {
    const { axes, columns, sums, rows } = this.meta;
    const { words } = this.heatmap.data;
    if (rows.length === 1 && axes[0] === "row") return;
    const group = this.group(this.words, this.meta.large ? 14 : 11, 400, "end");
    group.setAttribute("class", "attn-soft attn-axes");
    const [x, last] = [this.x - 6, this.lowest(0)];
    const bottom = this.edgeY(last, this.rows);
    const ofWords = (/** @type {string} */ axis) => axis === "query" || axis === "key";
    const [queryName, keyName] = axes[0] === "key" && axes[1] === "query" ? [words.to, words.word] : [words.word, words.to]; // turned
    const [down, along] = [ofWords(axes[0]) && queryName, !columns ? words.dimension : ofWords(axes[1]) && keyName];
    if (down && this.meta.room[0] >= BARE) svg(group, "text", { x, y: this.y - 5 }, truncate(down + " ↓", x));
    const below = sums ? Math.max(0, (this.size - this.h) / 2) : 0; // how far the last row's word hangs out of its row
    if (columns && sums) svg(group, "text", { x, y: bottom + 9 + below }, truncate(words.total, x));
    if (columns && along) svg(group, "text", { x, y: bottom + (sums ? 22 : 16) + below }, truncate(along + " →", x));
    if (!columns) svg(group, "text", { x: this.x, y: bottom + (this.meta.large ? 42 : 32), "text-anchor": "start" }, along + " →");
  }

  /**
   * The words left of every row of heads, as many as there is room for without one touching the next; or `only` one of them, over the others.
   *
   * @param {Element} parent
   * @param {number | null} [only]
   * @param {number | null} [beside]
   * @param {number | null} [position]
   */
  drawRowWords(parent, only = null, beside = null, position = null) {
    if (this.meta.room[0] < BARE) return;
    const every = Math.ceil(this.size / this.h);
    const { heads, across } = this.meta;
    const group = this.group(parent, this.size, only === null ? 400 : 600, "end");
    for (let head = 0; head < heads.length; head += across) {
      if (beside !== null && Math.floor(beside / across) !== head / across) continue;
      const { y } = this.corner(head);
      for (let row = only ?? 0; row < (only === null ? this.rows : only + 1); row += every) {
        const word = truncate(this.rowWord(row, position), this.x - 8);
        const at = { x: this.x - 6, y: y + (row + 0.5) * this.h };
        if (only !== null) this.wipe(group, row, every, y, this.h, this.size, (y, height) => ({ x: 0, y, width: this.x - 2, height }));
        svg(group, "text", { ...at, "dominant-baseline": "central" }, word);
      }
    }
  }

  /** Whether the words under the columns can stand level, in the context's font. */
  get level() {
    if (!this.meta.columns) return true;
    return this.w > 26 && this.meta.columns.every((_, at) => context.measureText(this.columnWord(at)).width <= this.w - 4);
  }

  /** @param {Element} parent @param {number | null} [only] @param {number | null} [position] */
  drawColumnWords(parent, only = null, position = null) {
    const most = Math.min(this.size, this.w >= 26 ? 18 : this.w >= 20 ? 13 : this.w >= 14 ? 12 : 11);
    const { heads, across, widths, columns, sums } = this.meta;
    const weight = only === null ? 400 : 600;
    context.font = `${weight} ${most}px ${this.family}`; // in which `level` measures
    const level = this.level;
    const size = level ? most : this.wholeSize(most, weight, only === null ? [...Array(this.columns).keys()] : [only], position);
    const group = this.group(parent, size, weight, "end");
    if (level) group.setAttribute("text-anchor", "middle");
    const wide = columns ? size : context.measureText(this.columnWord(this.columns - 1)).width + 5;
    const every = level && columns ? 1 : Math.ceil(wide / this.w);
    for (let tile = 0; tile < Math.min(across, heads.length); tile++) {
      const head = this.lowest(tile);
      const bottom = this.edgeY(head, this.rows) + (sums ? 11 : 2);
      const last = only === null ? widths[head] : Math.min(only + 1, widths[head]);
      for (let column = only ?? 0; column < last; column += every) {
        const [left, , w] = this.cells(head, 0, column);
        const room = level ? size + 6 : this.below(bottom);
        if (only !== null) this.wipe(group, column, every, this.edgeX(head, 0), this.w, wide, (x, width) => ({ x, y: bottom, width, height: room }));
        this.drawColumnWord(group, this.columnWord(column, position), left + w / 2, bottom - 2, size, level);
      }
    }
  }

  /**
   * The largest size, down to two pixels less than `most`, at which the words of columns are whole; else `most`.
   *
   * @param {number} most
   * @param {number} weight
   * @param {number[]} columns
   * @param {number | null} position
   */
  wholeSize(most, weight, columns, position) {
    const room = this.roomUnder(this.edgeY(this.lowest(0), this.rows) + (this.meta.sums ? 11 : 2) - 2);
    for (let size = most; size >= Math.max(11, most - 2); size--) {
      context.font = `${weight} ${size}px ${this.family}`;
      if (columns.every((column) => context.measureText(this.columnWord(column, position)).width <= room)) return size;
    }
    return most;
  }

  /** Pixels for the letters of a word that is written upwards from under a column. @param {number} y */
  roomUnder(y) {
    return this.below(y) - 4;
  }

  /** Pixels for a word under a column, down to the next head or the foot of the box. @param {number} bottom */
  below(bottom) {
    return Math.min(this.meta.large ? 60 : 40, this.height - bottom - 2);
  }

  /**
   * @param {Element} group
   * @param {string} word
   * @param {number} x
   * @param {number} y
   * @param {number} size
   * @param {boolean} level
   */
  drawColumnWord(group, word, x, y, size, level) {
    if (level || isPictograph(word)) {
      svg(group, "text", { x, y: y + 5 + size / 2, "dominant-baseline": "central" }, word);
    } else {
      svg(group, "text", { transform: `translate(${x},${y + 4})rotate(-90)`, "dominant-baseline": "central" }, truncate(word, this.roomUnder(y)));
    }
  }

  /**
   * Make room for a word that is to stand out; one that stands between two others, of which `every` so many is written,
   * hides both.
   *
   * @param {Element} group
   * @param {number} at
   * @param {number} every
   * @param {number} start
   * @param {number} cell  pixels
   * @param {number} size
   * @param {(start: number, length: number) => Record<string, number>} box
   */
  wipe(group, at, every, start, cell, size, box) {
    const first = at - (at % every);
    const last = Math.ceil(at / every) * every;
    const length = (last - first) * cell + size + 2;
    svg(group, "rect", { ...box(start + (first + 0.5) * cell - size / 2 - 1, length), fill: this.heatmap.ground });
  }
}
