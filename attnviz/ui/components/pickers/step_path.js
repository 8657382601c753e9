// The way from the words to the output: small pictures from raw bytes, joined by what happens between them. A press on
// one of either tells the page what to show large. All text enters through textContent.

/** @import { Component, Mark } from "../../types" */
/** @import { PathData, PathNode } from "./types" */
import { isDark, paint } from "../colours.js";
import { lowered, stepColours, unpackedPictures } from "./small_pictures.js";

const HIGH = 26; // pixels
const MANY = 10; // nodes from which there is room for less of each
const LIT = "attnviz:lit"; // detail: the cells that are pointed at in some view, or null
/** @type {Partial<Record<string, Mark["own"][]>>} */
const AXES = {
  embedded: ["query"],
  embedded_kv: ["key"],
  queries: ["query", "d_k"],
  keys: ["key", "d_k"],
  scores: ["query", "key"],
  weights: ["query", "key"],
  values: ["key", "d_v"],
  heads: ["query", "d_v"],
  output: ["query"],
};

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Node} parent
 * @param {Tag} tag
 * @param {string} name
 * @param {string} [text]
 */
function make(parent, tag, name, text) {
  const element = parent.appendChild(document.createElement(tag));
  element.className = name;
  if (text !== undefined) element.textContent = text;
  return element;
}

class StepPath {
  /** @type {PathData | undefined} */
  data;
  /** @type {Uint8Array[]} */
  pixels = [];
  /** @type {HTMLCanvasElement[]} */
  canvases = [];
  /** @type {(step: string) => void} */
  tell = () => {};

  /** @param {ShadowRoot} root */
  constructor(root) {
    this.root = root;
    this.box = make(root, "nav", "way");
    this.box.addEventListener("keydown", (event) => this.key(event));
    this.theme = new MutationObserver(() => this.paint());
    this.theme.observe(document.documentElement, { attributes: true, attributeFilter: ["class", "style", "data-theme"] });
    this.media = matchMedia("(prefers-color-scheme: dark)");
    this.media.onchange = () => setTimeout(() => this.paint(), 100);
    this.stopped = new AbortController();
    const { signal } = this.stopped;
    window.addEventListener(LIT, (event) => event instanceof CustomEvent && this.light(event.detail), { signal });
  }

  /** Frame the cells of every small picture that are pointed at in some view. @param {Mark | null} mark */
  light(mark) {
    this.box.querySelectorAll(".lit").forEach((frame) => frame.remove());
    if (mark) this.data?.nodes.forEach((node, at) => this.frame(mark, node, this.canvases[at]));
  }

  /** @param {Mark} mark @param {PathNode} node @param {HTMLCanvasElement} canvas */
  frame(mark, { name, shape }, canvas) {
    const sizes = shape.split(" × ").map(Number);
    const [row = null, column = null] = (AXES[name] ?? []).map((axis, i) => inside(mark[axis], sizes[i]));
    if (row === null || !canvas.parentNode) return;
    const { offsetLeft, offsetTop, offsetWidth, offsetHeight } = canvas;
    const high = offsetHeight / sizes[0];
    const wide = column === null ? offsetWidth : offsetWidth / sizes[1];
    Object.assign(make(canvas.parentNode, "i", "lit").style, {
      top: `${offsetTop + row * high}px`,
      height: `${Math.max(high, 2)}px`,
      left: `${offsetLeft + (column ?? 0) * wide}px`,
      width: `${Math.max(wide, 2)}px`,
    });
  }

  /** @param {Uint8Array} bytes @param {(step: string) => void} tell */
  update(bytes, tell) {
    const { data, pixels } = unpackedPictures(bytes, (/** @type {PathData} */ { nodes }) => nodes);
    const held = this.held();
    this.data = data;
    this.pixels = pixels;
    this.tell = tell;
    this.box.setAttribute("aria-label", data.strip);
    this.box.replaceChildren();
    this.box.classList.toggle("many", data.nodes.length > MANY);
    this.canvases = [];
    this.fill(data);
    this.paint();
    this.stop(Math.max(0, held >= 0 ? held : 0));
    if (held >= 0) this.buttons[held]?.focus();
  }

  /** @param {PathData} data */
  fill({ nodes, words, count }) {
    const first = make(this.box, "div", "node words");
    const text = make(first, "span", "");
    make(text, "b", "", words);
    make(text, "small", "", count);
    for (const node of nodes) {
      this.between(node.before);
      this.node(node);
    }
  }

  /** @param {PathNode["before"]} before */
  between([word, step]) {
    const sign = word.length === 1;
    const name = sign ? "step sign" : "step";
    if (!step) return void make(make(this.box, "span", name), "span", "", word);
    const arrow = make(this.box, "button", name);
    make(arrow, "span", "", word);
    arrow.type = "button";
    arrow.dataset.step = step;
    arrow.title = word; // also where there is no room for it
    arrow.setAttribute("aria-label", word);
    arrow.addEventListener("click", () => this.tell(step));
  }

  /** @param {PathNode} node */
  node(node) {
    const button = make(this.box, "button", node.shown ? "node shown" : "node");
    button.type = "button";
    button.dataset.step = node.name;
    if (node.shown) button.setAttribute("aria-current", "true");
    button.setAttribute("aria-label", `${node.symbol.replace("_", "")} ${node.shape}: ${node.meaning}`);
    button.title = node.meaning;
    this.canvases.push(make(button, "canvas", ""));
    const text = make(button, "span", "");
    lowered(make(text, "b", ""), node.symbol);
    text.append(" "); // as a screen reader says them: two words
    make(text, "small", "", node.shape);
    button.addEventListener("click", () => this.tell(node.name));
  }

  paint() {
    const { data } = this;
    if (!data) return;
    const dark = isDark(this.box) ? 1 : 0;
    const tables = data.scales.map((scale) => stepColours(scale[dark], data.masked));
    data.nodes.forEach(({ size, scale }, at) => {
      const canvas = this.canvases[at];
      paint(canvas, this.pixels[at], size, tables[scale]);
      canvas.style.width = `${Math.min(Math.max((size[0] / size[1]) * HIGH, 11), HIGH * 1.25)}px`;
    });
  }

  get buttons() {
    return [...this.box.querySelectorAll("button")];
  }

  /** Which of the buttons has the focus; -1 if none. */
  held() {
    return this.buttons.findIndex((button) => button === this.root.activeElement);
  }

  /** One of the buttons can be reached with Tab; arrow keys move between them. @param {number} at */
  stop(at) {
    this.buttons.forEach((button, i) => (button.tabIndex = i === at ? 0 : -1));
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const { buttons } = this;
    const at = this.held();
    /** @type {Partial<Record<string, number>>} */
    const places = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: buttons.length - 1 };
    const to = places[event.key];
    if (at < 0 || to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    const next = Math.min(Math.max(to, 0), buttons.length - 1);
    this.stop(next);
    buttons[next].focus();
  }

  close() {
    this.stopped.abort();
    this.theme.disconnect();
    this.media.onchange = null;
    this.box.remove();
  }
}

/** A place along an axis, if it is one of its so many. @param {number | null | undefined} place @param {number} size */
const inside = (place, size) => (place !== null && place !== undefined && place < size ? place : null);

/** @param {Component<Uint8Array, { shown: string }, { attnWay?: StepPath }>} component */
export default function ({ parentElement, data, setTriggerValue }) {
  const path = (parentElement.attnWay ??= new StepPath(parentElement));
  path.update(data, (step) => setTriggerValue("shown", step));
  return () => {
    path.close();
    delete parentElement.attnWay;
  };
}
