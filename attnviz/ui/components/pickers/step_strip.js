// A row of small pictures from raw bytes; a click or a key chooses one. All text enters through textContent.

/** @import { Component } from "../../types" */
/** @import { StripData, FlowStep } from "./types" */
import { paint } from "../colours.js";
import { stepColours, unpackedPictures, withSubscripts } from "./small_pictures.js";
import { signOf } from "../signs.js";

/** @typedef {(name: "chosen", value: string) => void} SetTrigger */
/**
 * The elements of a step.
 *
 * @typedef {object} Item
 * @property {HTMLElement} item
 * @property {HTMLButtonElement} button
 * @property {HTMLCanvasElement} canvas
 * @property {HTMLElement} symbol
 * @property {HTMLElement} label
 * @property {HTMLElement} shape
 */

const BOX = [58, 38]; // pixels that a picture may take
const LARGEST_CELL = 8;
/** @type {Partial<Record<string, number>>} */
const LINES = { ArrowUp: -1, ArrowDown: 1 };

/**
 * As large as its cells fit into the box, in whole pixels of the screen.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {FlowStep["size"]} size
 */
function fit(canvas, [width, height]) {
  const dots = window.devicePixelRatio || 1;
  const cell = Math.max(1, Math.floor(Math.min(BOX[0] / width, BOX[1] / height, LARGEST_CELL) * dots)) / dots;
  [canvas.style.width, canvas.style.height] = [width * cell + "px", height * cell + "px"];
}

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {string} name
 * @param {Node} parent
 */
function make(tag, name, parent) {
  const node = document.createElement(tag);
  node.className = name;
  return parent.appendChild(node);
}

class StepStrip {
  /** @type {Map<string, Item>} */
  items = new Map();
  /** @type {Uint8Array[]} */
  pixels = [];
  /** @type {string[]} */
  pending = []; // choices that Python has not sent back yet
  /** @type {string | null | undefined} */
  received; // the choice that Python sent last
  /** @type {string | null} */
  chosen = null;
  /** @type {string | null} */
  pointed = null; // the step under the pointer or in focus
  open = false;

  /** @param {ShadowRoot} root @param {StripData} data */
  constructor(root, data) {
    this.root = root;
    this.data = data;
    /** @type {(name: string) => void} */
    this.choose = () => {};
    this.strip = make("div", "strip", root);
    this.steps = make("div", "steps", this.strip);
    this.steps.setAttribute("role", "toolbar");
    this.below = make("div", "below", this.strip);
    this.caption = make("div", "caption", this.below);
    this.more = make("button", "", this.below);
    this.more.type = "button";
    this.more.addEventListener("click", () => this.unfold(!this.open));
    this.steps.addEventListener("keydown", (event) => this.onKeydown(event));
    this.steps.addEventListener("pointerleave", () => this.describe(null));
    this.steps.addEventListener("focusout", () => this.describe(null));
  }

  /** @param {StripData} data @param {Uint8Array[]} pixels @param {SetTrigger} setTrigger */
  update(data, pixels, setTrigger) {
    this.data = data;
    this.pixels = pixels;
    this.choose = (name) => setTrigger("chosen", name);
    this.adopt(data.chosen);
    this.steps.setAttribute("aria-label", data.words.strip);
    this.draw();
  }

  /**
   * Adopt the choice that Python sends, unless it echoes one that was made here and may be outdated.
   *
   * @param {string | null} chosen
   */
  adopt(chosen) {
    const echo = this.pending.findIndex((each) => each === chosen);
    if (echo >= 0) this.pending.splice(0, echo + 1);
    else if (chosen !== this.received) [this.chosen, this.pending] = [chosen, []];
    this.received = chosen;
  }

  draw() {
    const { steps, scales, masked, words } = this.data;
    const tables = scales.map((scale) => stepColours(scale, masked));
    const shown = steps.filter((step) => this.open || !step.folded || step.name === this.chosen);
    const items = shown.map((step) => this.item(step, this.pixels[steps.indexOf(step)], tables[step.scale]));
    shown.forEach((step, i) => items[i].classList.toggle("next", i > 0 && step.stage !== shown[i - 1].stage));
    const focused = this.buttons().find((button) => button === this.root.activeElement);
    if (items.length !== this.steps.children.length || items.some((item, i) => item !== this.steps.children[i]))
      this.steps.replaceChildren(...items);
    if (focused?.isConnected) focused.focus();
    this.more.hidden = shown.length === steps.length && !this.open;
    this.more.textContent = this.open ? words.fewer : words.all;
    this.more.setAttribute("aria-expanded", String(this.open));
    this.mark();
  }

  /** @param {FlowStep} step @param {Uint8Array} pixels @param {number[][]} colours */
  item(step, pixels, colours) {
    const node = this.items.get(step.name) ?? this.build(step.name);
    paint(node.canvas, pixels, step.size, colours);
    fit(node.canvas, step.size);
    node.symbol.replaceChildren();
    withSubscripts(node.symbol, step.symbol);
    node.label.textContent = step.label;
    node.shape.textContent = step.shape;
    node.item.classList.toggle("same", !step.changes);
    const label = [step.label, step.symbol.replace("_", " "), step.words, step.meaning, step.changes ? "" : this.data.words.same];
    node.button.setAttribute("aria-label", label.filter(Boolean).join(signOf(", ")));
    return node.item;
  }

  /** @param {string} name */
  build(name) {
    const item = document.createElement("div");
    item.className = "step";
    const button = make("button", "", item);
    button.type = "button";
    button.dataset.step = name;
    const canvas = make("canvas", "", make("span", "frame", button));
    const [symbol, label, shape] = ["symbol", "label", "shape"].map((part) => make("span", part, button));
    button.addEventListener("click", () => this.pick(name));
    button.addEventListener("pointerenter", () => this.describe(name));
    button.addEventListener("focus", () => this.describe(name));
    const node = { item, button, canvas, symbol, label, shape };
    this.items.set(name, node);
    return node;
  }

  buttons() {
    return [...this.steps.querySelectorAll("button")];
  }

  /** @param {string} name */
  pick(name) {
    this.chosen = name;
    this.pending.push(name);
    this.mark();
    this.choose(name);
  }

  /** @param {boolean} open */
  unfold(open) {
    this.open = open;
    this.draw();
  }

  /** Mark the chosen step; of all steps one can be reached by Tab, the others by arrows. */
  mark() {
    const buttons = this.buttons();
    const stop = buttons.find((button) => button === this.root.activeElement) ?? buttons.find((button) => button.dataset.step === this.chosen) ?? buttons[0];
    for (const button of buttons) {
      const chosen = button.dataset.step === this.chosen;
      button.classList.toggle("chosen", chosen);
      if (chosen) button.setAttribute("aria-current", "step");
      else button.removeAttribute("aria-current");
      button.tabIndex = button === stop ? 0 : -1;
    }
    this.describe(this.pointed);
  }

  /** Describe the step under the pointer in the line below, or else the chosen one. @param {string | null} name */
  describe(name) {
    this.pointed = name;
    const step = this.data.steps.find((each) => each.name === (name ?? this.chosen));
    this.caption.replaceChildren();
    if (!step) return;
    make("span", "meaning", this.caption).textContent = step.meaning;
    if (step.formula && step.formula !== step.symbol) withSubscripts(make("span", "formula", this.caption), step.formula);
    make("span", "words", this.caption).textContent = step.words;
    if (!step.changes) make("span", "words", this.caption).textContent = this.data.words.same;
  }

  /** @param {KeyboardEvent} event */
  onKeydown(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const buttons = this.buttons();
    const index = buttons.findIndex((button) => button === this.root.activeElement);
    /** @type {Partial<Record<string, number>>} */
    const targets = { ArrowLeft: index - 1, ArrowRight: index + 1, Home: 0, End: buttons.length - 1 };
    const to = targets[event.key] ?? this.across(buttons, index, event.key);
    if (to === undefined) return;
    event.preventDefault();
    buttons[to]?.focus();
    this.mark();
  }

  /**
   * The step above or below, where the strip is wrapped.
   *
   * @param {HTMLElement[]} buttons
   * @param {number} index
   * @param {string} key
   */
  across(buttons, index, key) {
    const direction = LINES[key];
    if (!direction) return undefined;
    const boxes = buttons.map((button) => button.getBoundingClientRect());
    const { left, top } = boxes[index];
    const rows = boxes.map((box) => box.top).filter((y) => (y - top) * direction > 1);
    const row = direction > 0 ? Math.min(...rows) : Math.max(...rows);
    const distances = boxes.map((box) => (box.top === row ? Math.abs(box.left - left) : Infinity));
    return rows.length ? distances.indexOf(Math.min(...distances)) : index;
  }
}

/** @param {Component<Uint8Array, { chosen: string }, { attnStrip?: StepStrip }>} component */
export default function ({ parentElement, data: bytes, setTriggerValue }) {
  const { data, pixels } = unpackedPictures(bytes, (/** @type {StripData} */ { steps }) => steps);
  const strip = (parentElement.attnStrip ??= new StepStrip(parentElement, data));
  strip.update(data, pixels, setTriggerValue);
  return () => {
    strip.strip.remove();
    delete parentElement.attnStrip;
  };
}
