// The values that a setting has moved through, as a strip of small maps below the others: the one that is pointed at is
// shown on the stage, and a press keeps it. The stages are those that the server has sent; nothing is asked for.

/** @import { Heatmap } from "../heatmap.js" */
/** @import { FilmValues } from "../../pickers/types" */
/** @import { Stage, Swept } from "../types" */
import { isDrawn } from "../maps.js";

const MOST_KEPT_NUMBERS = 2_000_000; // of all stages that are kept, 16 MB: with more in each, there are fewer values
const MOST_MAP_PIXELS = 16; // of a small map, each way
const STRIP_HEIGHT = 64; // pixels of the strip
const NARROW = matchMedia("(max-width: 767px)"); // where the sidebar lies over the maps
const FOLD = "[data-testid=stSidebarCollapseButton] button"; // there while it is open

/** @typedef {{ value: number, stages: Stage[] }} Reached */

/**
 * The weights of a head as bytes: the largest of each block of words, from 1 to 255; 0 where all are masked.
 *
 * @param {Stage} stage
 * @param {number} head
 * @returns {{ bytes: Uint8Array, size: [rows: number, columns: number] }}
 */
export function smallMap(stage, head) {
  const [, rows, columns] = stage.shape, block = Math.ceil(Math.max(rows, columns) / MOST_MAP_PIXELS);
  /** @type {[rows: number, columns: number]} */
  const size = [Math.ceil(rows / block), Math.ceil(columns / block)];
  const bytes = new Uint8Array(size[0] * size[1]);
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++) {
      const number = isDrawn(stage, head, row, column) ? stage.values[(head * rows + row) * columns + column] : NaN;
      const at = Math.floor(row / block) * size[1] + Math.floor(column / block);
      if (!Number.isNaN(number)) bytes[at] = Math.max(bytes[at], 1 + Math.round(254 * Math.min(Math.max(number, 0), 1)));
    }
  return { bytes, size };
}

export class Values {
  /** @type {Reached[]} */
  reached = [];
  of = ""; // the setting that they are of, but for what moves
  /** @type {number | null} */
  pointed = null;
  drawn = "";
  moves = false;

  /** @param {Heatmap} heatmap */
  constructor(heatmap) {
    this.heatmap = heatmap;
    this.box = heatmap.host.appendChild(document.createElement("div"));
    this.box.className = "attn-values";
    this.box.addEventListener("pointerleave", () => this.point(null));
    this.box.addEventListener("focusout", () => this.point(null));
  }

  /** The server has sent the stages of a value. @param {Swept | null} swept @param {Stage[]} stages */
  take(swept, stages) {
    if (!swept || swept.of !== this.of) Object.assign(this, { reached: [], pointed: null });
    const begins = swept?.moves && !(this.moves && swept.of === this.of); // one may begin before the other is heard to end
    const fold = begins && NARROW.matches ? document.querySelector(FOLD) : null;
    if (fold instanceof HTMLElement) fold.click(); // so that what moves is seen
    this.moves = swept?.moves ?? false;
    this.of = swept?.of ?? "";
    if (!swept || !stages.some(({ name }) => name === "weights")) return;
    const numbers = stages.reduce((sum, { values }) => sum + values.length, 0);
    const others = this.reached.filter(({ value }) => value !== swept.value);
    const all = [...others, { value: swept.value, stages }].slice(-Math.max(1, Math.floor(MOST_KEPT_NUMBERS / numbers)));
    this.reached = all.sort((a, b) => swept.values.indexOf(a.value) - swept.values.indexOf(b.value));
  }

  /** The stages as they are to be drawn. @param {Stage[]} stages */
  shown(stages) {
    const { pointed, reached } = this;
    return pointed === null ? stages : (reached[pointed]?.stages ?? stages);
  }

  /** @param {number | null} at */
  point(at) {
    if (at === this.pointed) return;
    this.pointed = at;
    this.heatmap.lay(false);
  }

  /** @param {boolean | undefined} dark */
  draw(dark) {
    const { box, reached, heatmap } = this, { swept, words, opening } = heatmap.data;
    const head = heatmap.alone ?? opening?.[0] ?? 0;
    const drawn = JSON.stringify([this.of, swept?.value, reached.map(({ value }) => value), head, dark, box.clientWidth]);
    box.hidden = !swept;
    if (!swept || drawn === this.drawn) return;
    this.drawn = drawn;
    box.style.height = `${STRIP_HEIGHT}px`;
    const small = reached.flatMap(({ stages }) => stages.filter(({ name }) => name === "weights").map((stage) => ({ stage, ...smallMap(stage, Math.min(head, stage.shape[0] - 1)) })));
    const bytes = small.flatMap((each) => [...each.bytes]), [first] = small;
    if (!first) return;
    const { colours, dark: darker } = first.stage.scale;
    const data = { head: reached.findIndex(({ value }) => value === swept.value), labels: reached.map(({ value }) => String(value)), size: first.size, pixels: btoa(String.fromCharCode(...bytes)), scales: [colours, darker] };
    const said = { heads: swept.label, head: `${swept.label} {n}`, all: words.close };
    /** @param {string} _ @param {FilmValues[keyof FilmValues]} value */
    const setTriggerValue = (_, value) => (typeof value === "number" ? this.point(value) : this.keep(value.head));
    const parentElement = box.shadowRoot ?? box.attachShadow({ mode: "open" });
    window.attnvizScripts?.parts.attnviz_film_strip?.draw({ parentElement, data: new TextEncoder().encode(JSON.stringify({ ...data, words: said })), setTriggerValue });
  }

  /** @param {number | null} at  none where they are let go of */
  keep(at) {
    this.heatmap.page.setTriggerValue("swept", at === null ? null : this.reached[at].value);
  }
}
