// @ts-check
// The largest weights of all words of a long text, block by block, and a frame around those that are shown: it is
// dragged, or moved with the arrow keys, and on release the page shows those words.

import { asWritten } from "../number_format.js";
import { CLEAR, between, contextOf, isDark } from "../colours.js";

/** @typedef {[query: number, key: number]} Pair */
/**
 * What `overview.packed` sends before the weights of the blocks.
 *
 * @typedef {object} OverviewData
 * @property {Record<"name" | "all" | "blocks" | "window" | "scale" | "block" | "masked", string>} words
 * @property {Pair} size  queries and keys
 * @property {number} block  words that share one
 * @property {Pair} start  the first words that are shown, counted from 0
 * @property {Pair} shown  how many
 * @property {number} high  the weight at the end of the colours
 * @property {string[][]} scales
 */

const STEP = 8; // words that an arrow key goes on
const REST = 250; // milliseconds after the last arrow key
const LEVEL = 112; // pixels of the map where it stands over the pictures
const [LEAST, MOST] = [80, 168]; // and beside them
const WIDEST = 200; // pixels that it has beside the maps at most
const GRABBED = 10; // pixels that the frame takes at least

/**
 * Numbers of words, counted from 1.
 *
 * @param {number} from
 * @param {number} length
 */
function words(from, length) {
  return length === 1 ? String(from + 1) : `${from + 1}–${from + length}`;
}

class Overview {
  /** @type {Pair | null} */
  grip = null; // where in the frame the pointer holds it, while it does
  /** @type {Pair} */
  start = [0, 0]; // the first words in the frame
  scale = 1; // pixels of a word
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  timer;

  /**
   * @param {ShadowRoot} root
   * @param {OverviewData} data
   */
  constructor(root, data) {
    this.host = root.host;
    this.data = data;
    this.weights = new Float32Array();
    this.onMove = (/** @type {Pair} */ _start) => {};
    this.box = this.make(root, "div", "overview");
    this.map = this.make(this.box, "div", "map");
    this.canvas = this.make(this.map, "canvas");
    this.frame = this.make(this.map, "button", "frame");
    this.frame.type = "button";
    const text = this.make(this.box, "div");
    this.title = this.make(text, "b");
    this.about = this.make(text, "small");
    this.colours = this.make(text, "small");
    this.shown = this.make(text, "small");
    this.shown.setAttribute("aria-live", "polite");
    this.map.addEventListener("pointerdown", (event) => this.grab(event));
    this.map.addEventListener("pointermove", (event) => (this.grip ? this.drag(event, this.grip) : this.describe(event)));
    for (const kind of /** @type {const} */ (["pointerup", "pointercancel"])) this.map.addEventListener(kind, () => this.release());
    this.frame.addEventListener("keydown", (event) => this.onKeydown(event));
  }

  /**
   * @template {keyof HTMLElementTagNameMap} Tag
   * @param {Node} parent
   * @param {Tag} tag
   * @param {string} name
   */
  make(parent, tag, name = "") {
    const element = parent.appendChild(document.createElement(tag));
    element.className = name;
    return element;
  }

  /**
   * @param {OverviewData} data
   * @param {Float32Array} weights
   * @param {(start: Pair) => void} onMove
   */
  update(data, weights, onMove) {
    Object.assign(this, { data, weights, onMove });
    const { clientWidth, clientHeight } = this.host;
    const isOver = clientWidth > WIDEST;
    this.box.classList.toggle("level", isOver);
    this.title.textContent = data.words.all;
    this.about.textContent = data.words.blocks;
    this.colours.textContent = data.words.scale;
    this.frame.setAttribute("aria-label", data.words.name);
    if (!this.grip) this.start = data.start;
    const side = isOver ? LEVEL : Math.max(LEAST, Math.min(MOST, clientHeight - 100));
    this.scale = side / Math.max(...data.size);
    const [height, width] = data.size.map((length) => `${length * this.scale}px`);
    Object.assign(this.map.style, { height, width });
    this.paint();
    this.drawFrame();
  }

  /** Blocks of queries and of keys; the last of them may hold fewer words. @returns {Pair} */
  get blocks() {
    const { size, block } = this.data;
    return [Math.ceil(size[0] / block), Math.ceil(size[1] / block)];
  }

  paint() {
    const { size, block, scales, high } = this.data;
    const scale = scales[isDark(this.box) ? 1 : 0];
    const [height, width] = this.blocks;
    Object.assign(this.canvas, { width, height });
    const image = new ImageData(width, height);
    this.weights.forEach((weight, i) => {
      image.data.set(Number.isNaN(weight) ? CLEAR : [...between(scale, weight / high), 255], 4 * i);
    });
    contextOf(this.canvas).putImageData(image, 0, 0);
    this.canvas.style.height = `${(100 * height * block) / size[0]}%`;
    this.canvas.style.width = `${(100 * width * block) / size[1]}%`;
  }

  drawFrame() {
    const [top, left, height, width] = [...this.start, ...this.data.shown].map((length) => length * this.scale);
    const [frameHeight, frameWidth] = [height, width].map((length) => `${Math.max(length, GRABBED)}px`);
    Object.assign(this.frame.style, { top: `${top}px`, left: `${left}px`, height: frameHeight, width: frameWidth });
    const [rows, columns] = this.start.map((from, axis) => words(from, this.data.shown[axis]));
    this.shown.textContent = this.data.words.window.replace("{rows}", rows).replace("{columns}", columns);
  }

  /**
   * The position of the pointer, in words.
   *
   * @param {PointerEvent} event
   * @returns {Pair}
   */
  position(event) {
    const { left, top } = this.map.getBoundingClientRect();
    return [(event.clientY - top) / this.scale, (event.clientX - left) / this.scale];
  }

  /**
   * Describe the block under the pointer in the tooltip.
   *
   * @param {PointerEvent} event
   */
  describe(event) {
    const { size, block, words: texts } = this.data;
    const index = this.position(event).map((position, axis) => Math.min(Math.max(0, Math.floor(position / block)), this.blocks[axis] - 1));
    const [rows, columns] = index.map((each, axis) => words(each * block, Math.min(block, size[axis] - each * block)));
    const weight = this.weights[index[0] * this.blocks[1] + index[1]];
    const text = Number.isNaN(weight) ? texts.masked : texts.block.replace("{weight}", asWritten(weight));
    this.map.title = text.replace("{rows}", rows).replace("{columns}", columns);
  }

  /**
   * Grab the frame where it is pressed, or by its centre where the press is beside it.
   *
   * @param {PointerEvent} event
   */
  grab(event) {
    if (event.button) return;
    event.preventDefault();
    this.frame.focus({ preventScroll: true });
    this.map.setPointerCapture(event.pointerId);
    const { shown } = this.data;
    const [row, column] = this.position(event).map((position, axis) => position - this.start[axis]);
    const isInside = row >= 0 && row < shown[0] && column >= 0 && column < shown[1];
    this.grip = isInside ? [row, column] : [shown[0] / 2, shown[1] / 2];
    this.drag(event, this.grip);
  }

  /**
   * @param {PointerEvent} event
   * @param {Pair} grip
   */
  drag(event, grip) {
    const [row, column] = this.position(event);
    this.move(row - grip[0], column - grip[1]);
  }

  /**
   * @param {number} row
   * @param {number} column
   */
  move(row, column) {
    const { size, shown } = this.data;
    const clamp = (/** @type {number} */ x, /** @type {number} */ last) => Math.min(Math.max(Math.round(x), 0), last);
    this.start = [clamp(row, size[0] - shown[0]), clamp(column, size[1] - shown[1])];
    this.drawFrame();
  }

  release() {
    if (!this.grip) return;
    this.grip = null;
    this.report();
  }

  report() {
    if (String(this.start) !== String(this.data.start)) this.onMove(this.start);
  }

  /** @param {KeyboardEvent} event */
  onKeydown(event) {
    const step = event.shiftKey ? Math.max(...this.data.shown) : STEP;
    /** @type {Record<string, Pair>} */
    const moves = { ArrowUp: [-step, 0], ArrowDown: [step, 0], ArrowLeft: [0, -step], ArrowRight: [0, step] };
    const by = moves[event.key];
    if (!by || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    this.move(this.start[0] + by[0], this.start[1] + by[1]);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.report(), REST);
  }

  close() {
    clearTimeout(this.timer);
    this.box.remove();
  }
}

/** @param {import("../../types.js").Component<Uint8Array, import("../../types.js").Reported, { attnOverview?: Overview }>} component */
export default function ({ parentElement, data, setTriggerValue }) {
  const end = data.indexOf(0);
  const message = JSON.parse(new TextDecoder().decode(data.subarray(0, end)));
  const overview = (parentElement.attnOverview ??= new Overview(parentElement, message));
  overview.update(message, new Float32Array(data.slice(end + 1).buffer), ([row, column]) => setTriggerValue("event", { kind: "window", row, column }));
  return () => {
    overview.close();
    delete parentElement.attnOverview;
  };
}
