// The path from the words to the output: small pictures from raw bytes, joined by what happens between them. A press on
// either selects the step that the page shows large. All text enters through textContent.

/** @import { Component, HeldNumbers, Mark, Reported } from "../../types" */
/** @import { PathData, PathStep } from "./types" */
import { isDark, paint } from "../colours.js";
import { followHeld } from "../held_numbers.js";
import { OnceThere } from "../stages_there.js";
import { goToPart } from "./go_to_part.js";
import { otherData, pictureOf } from "./held_path.js";
import { stepColours, unpackedPictures, withSubscripts } from "./small_pictures.js";
import { signOf } from "../signs.js";

const HEIGHT = 26; // pixels of a picture
const NARROW = 640; // pixels below which the page shows one step at a time
const MANY = 10; // nodes from which there is room for less of each
const HIGHLIGHT = "attnviz:highlight"; // detail: the cells that some view points at, or null
const LOGITS = "logits"; // what they are likeliest to say stands below the maps, in a container of this key
const PANELS = "all-lines";
/** @type {Partial<Record<string, Mark["axis"][]>>} */
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
  data; // as it was sent,
  /** @type {PathData | undefined} */
  shown; // or of what the maps show
  /** @type {Mark | null} */
  mark = null;
  /** @type {Uint8Array[]} */
  pixels = []; // as they were sent
  /** @type {Uint8Array[] | null} */
  held = null; // as they follow from what is held in the maps
  /** @type {HTMLCanvasElement[]} */
  canvases = [];
  written = ""; // what stands in the path, but for its pictures
  /** @type {{ pixels: Uint8Array, colours: readonly ArrayLike<number>[] }[]} */
  painted = []; // and what these show
  isDark = false;
  /** @type {(step: string) => void} */
  onSelect = () => {};

  /** @param {ShadowRoot} root */
  constructor(root) {
    this.root = root;
    this.box = make(root, "nav", "path");
    this.box.addEventListener("keydown", (event) => this.onKeydown(event));
    this.box.addEventListener("click", ({ target }) => this.press(target));
    this.resizer = new ResizeObserver(() => this.shown && (this.fill(this.shown), this.paint())); // a narrow page shows fewer maps
    this.resizer.observe(this.box);
    this.theme = new MutationObserver(() => this.retheme());
    this.theme.observe(document.documentElement, { attributes: true, attributeFilter: ["class", "style", "data-theme"] });
    this.media = matchMedia("(prefers-color-scheme: dark)");
    this.media.onchange = () => setTimeout(() => this.retheme(), 100);
    this.stopped = new AbortController();
    const { signal } = this.stopped;
    window.addEventListener(HIGHLIGHT, (event) => event instanceof CustomEvent && this.highlight(event.detail), { signal });
    followHeld((held) => this.onHeld(held), signal);
    this.once = new OnceThere(signal);
  }

  /** Other numbers follow from what is held in the maps, or none do any more. @param {HeldNumbers | null} held */
  onHeld(held) {
    const { data, shown: before } = this;
    if (!data || (!held && !this.held)) return;
    const { path = null, hasSameWords = true } = held?.other ?? {};
    const made = held && !path ? data.nodes.map((node) => pictureOf(node, data, held)) : [];
    this.held = held && (path?.pixels ?? made.map((picture, at) => picture ?? this.pixels[at]));
    this.shown = path ? otherData(data, path) : data;
    if (this.shown !== before) this.fill(this.shown);
    const isUnknown = (/** @type {number} */ at) => Boolean(held) && !path && !made[at] && (Boolean(held?.other) || data.nodes[at].name === LOGITS);
    this.canvases.forEach((canvas, at) => canvas.parentElement?.toggleAttribute("data-unknown", isUnknown(at)));
    this.box.querySelector(".words")?.toggleAttribute("data-unknown", !hasSameWords && !path);
    this.paint();
    this.highlight(this.mark);
  }

  /** Frame the cells of every small picture that are pointed at in some view. @param {Mark | null} mark */
  highlight(mark) {
    this.box.querySelectorAll(".highlight").forEach((frame) => frame.remove());
    this.mark = mark;
    const frames = mark && this.shown?.nodes.map((node, i) => this.frame(mark, node, this.canvases[i])); // before any is put in
    frames?.forEach((style, i) => style && Object.assign(make(/** @type {Node} */ (this.canvases[i].parentNode), "i", "highlight").style, style));
  }

  /** Where the frame stands in a small picture, if there is one. @param {Mark} mark @param {PathStep} node @param {HTMLCanvasElement} canvas */
  frame(mark, { name, shape }, canvas) {
    const sizes = shape.split(" × ").map(Number);
    const [row = null, column = null] = (AXES[name] ?? []).map((axis, i) => inside(mark[axis], sizes[i]));
    if (row === null || !canvas.parentNode) return null;
    const { offsetLeft, offsetTop, offsetWidth, offsetHeight } = canvas;
    const height = offsetHeight / sizes[0];
    const width = column === null ? offsetWidth : offsetWidth / sizes[1];
    return {
      top: `${offsetTop + row * height}px`,
      height: `${Math.max(height, 2)}px`,
      left: `${offsetLeft + (column ?? 0) * width}px`,
      width: `${Math.max(width, 2)}px`,
    };
  }

  /** @param {PathData} data @param {Uint8Array[]} pixels @param {(step: string) => void} onSelect */
  update(data, pixels, onSelect) {
    this.data = this.shown = data;
    this.pixels = pixels;
    this.held = null;
    this.onSelect = onSelect;
    this.box.setAttribute("aria-label", data.strip);
    this.fill(data);
    this.box.querySelectorAll("[data-unknown]").forEach((step) => step.removeAttribute("data-unknown"));
    this.retheme();
  }

  /** Write the path, unless it stands there: most moves change its pictures alone. @param {PathData} data */
  fill({ nodes, words, count, front }) {
    const isNarrow = this.box.clientWidth < NARROW;
    const steps = nodes.map(({ name, symbol, shape, meaning, before, shown }) => [name, symbol, shape, meaning, before, shown]);
    const written = JSON.stringify([steps, words, count, front, isNarrow]);
    if (written === this.written) return;
    this.written = written;
    const focused = this.focusedIndex();
    this.box.replaceChildren();
    this.box.classList.toggle("many", nodes.length > MANY);
    this.canvases = [];
    this.painted = [];
    const first = make(this.box, "div", "node words");
    const text = make(first, "span", "");
    make(text, "b", "", words);
    make(text, "small", "", count);
    for (const node of nodes) {
      this.between(node.before);
      this.node(node);
    }
    for (const { name, shown } of nodes) if (shown && (!front || !isNarrow || name === front)) this.markCurrent(name);
    this.rove(Math.max(focused, 0));
    if (focused >= 0) this.buttons[focused]?.focus();
  }

  /** @param {PathStep["before"]} before */
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
  }

  /** @param {PathStep} node */
  node(node) {
    const button = make(this.box, "button", "node");
    button.type = "button";
    button.dataset.step = node.name;
    button.setAttribute("aria-label", `${node.symbol.replace("_", "")} ${node.shape}${signOf(": ")}${node.meaning}`);
    button.title = node.meaning;
    this.canvases.push(make(button, "canvas", ""));
    const text = make(button, "span", "");
    withSubscripts(make(text, "b", ""), node.symbol);
    text.append(" "); // as a screen reader says them: two words
    make(text, "small", "", node.shape);
  }

  /** Mark a step whose map is on the stage: a press has nothing to show there. @param {string} name */
  markCurrent(name) {
    this.box.querySelector(`.node[data-step="${name}"]`)?.setAttribute("aria-current", "true");
    this.box.querySelectorAll(`[data-step="${name}"]`).forEach((button) => button.setAttribute("aria-disabled", "true"));
  }

  /** @param {EventTarget | null} target */
  press(target) {
    const button = target instanceof Element ? target.closest("[data-step]:not([aria-disabled])") : null;
    if (!(button instanceof HTMLElement) || !button.dataset.step) return;
    this.onSelect(button.dataset.step);
    if (button.dataset.step === LOGITS) goToPart(PANELS);
  }

  /** The page may have become a dark one, or a light one. */
  retheme() {
    this.isDark = isDark(this.box);
    this.paint();
  }

  /** Paint every small picture that is not as it was. */
  paint() {
    const { shown: data } = this;
    if (!data) return;
    const dark = this.isDark ? 1 : 0;
    data.nodes.forEach(({ size, scale }, i) => {
      const canvas = this.canvases[i], pixels = (this.held ?? this.pixels)[i], before = this.painted[i];
      const colours = stepColours(data.scales[scale][dark], data.masked[dark]);
      if (before?.colours === colours && isSame(before.pixels, pixels) && canvas.width === size[0]) return;
      this.painted[i] = { pixels, colours };
      paint(canvas, pixels, size, colours);
      canvas.style.width = `${Math.min(Math.max((size[0] / size[1]) * HEIGHT, 11), HEIGHT * 1.25)}px`;
    });
  }

  get buttons() {
    return [...this.box.querySelectorAll("button")];
  }

  /** Which of the buttons has the focus; -1 if none. */
  focusedIndex() {
    return this.buttons.findIndex((button) => button === this.root.activeElement);
  }

  /** One of the buttons can be reached with Tab; arrow keys move between them. @param {number} index */
  rove(index) {
    this.buttons.forEach((button, i) => (button.tabIndex = i === index ? 0 : -1));
  }

  /** @param {KeyboardEvent} event */
  onKeydown(event) {
    const { buttons } = this;
    const index = this.focusedIndex();
    /** @type {Partial<Record<string, number>>} */
    const targets = { ArrowLeft: index - 1, ArrowRight: index + 1, Home: 0, End: buttons.length - 1 };
    const to = targets[event.key];
    if (index < 0 || to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    const next = Math.min(Math.max(to, 0), buttons.length - 1);
    this.rove(next);
    buttons[next].focus();
  }

  close() {
    this.stopped.abort();
    this.resizer.disconnect();
    this.theme.disconnect();
    this.media.onchange = null;
    this.box.remove();
  }
}

/** Whether two pictures have the same bytes. @param {Uint8Array} one @param {Uint8Array} other */
const isSame = (one, other) => one.length === other.length && one.every((byte, at) => byte === other[at]);

/** A position along an axis of a size; null if there is none. @param {number | null | undefined} position @param {number} size */
const inside = (position, size) => (position !== null && position !== undefined && position < size ? position : null);

/** @param {Component<Uint8Array, Reported, { attnPath?: StepPath }>} component */
export default function ({ parentElement, data, setTriggerValue }) {
  const path = (parentElement.attnPath ??= new StepPath(parentElement));
  const { data: sent, pixels } = unpackedPictures(data, (/** @type {PathData} */ { nodes }) => nodes);
  path.once.draw(sent.there, () => path.update(sent, pixels, (step) => setTriggerValue("event", { kind: "show", stage: step })));
  return () => {
    path.close();
    delete parentElement.attnPath;
  };
}
