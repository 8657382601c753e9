// A row of small pictures from raw bytes; a click or a key chooses one. All text enters through textContent.

const BOX = [58, 38]; // pixels that a picture may take
const LARGEST_CELL = 8;
const [MASKED, ODD, LOWEST, HIGHEST] = [1, 2, 3, 255]; // what a byte of a picture may be, as pictures/thumbnails.py says
const AMBER = [245, 197, 24, 255]; // not a number: on neither colour scale

function unpack(bytes) {
  const end = bytes.indexOf(0);
  const data = JSON.parse(new TextDecoder().decode(bytes.subarray(0, end)));
  let at = end + 1;
  for (const step of data.steps) step.pixels = bytes.subarray(at, (at += step.size[0] * step.size[1]));
  return data;
}

function hex(colour) {
  return [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
}

/** The colour of every byte: between LOWEST and HIGHEST along the scale. */
function table(colours, masked) {
  const stops = colours.map(hex);
  const rgba = new Uint8ClampedArray(4 * 256);
  for (let byte = LOWEST; byte <= HIGHEST; byte++) {
    const at = ((byte - LOWEST) / (HIGHEST - LOWEST)) * (stops.length - 1);
    const [low, high] = [stops[Math.floor(at)], stops[Math.ceil(at)]];
    rgba.set([...low.map((part, i) => part + (high[i] - part) * (at % 1)), 255], 4 * byte);
  }
  const [r, g, b, share] = masked.match(/[\d.]+/g).map(Number);
  rgba.set([r, g, b, 255 * share], 4 * MASKED);
  rgba.set(AMBER, 4 * ODD);
  return rgba;
}

function paint(canvas, { pixels, size: [width, height] }, colours) {
  const dots = window.devicePixelRatio || 1;
  const cell = Math.max(1, Math.floor(Math.min(BOX[0] / width, BOX[1] / height, LARGEST_CELL) * dots)) / dots;
  [canvas.width, canvas.height] = [width, height];
  [canvas.style.width, canvas.style.height] = [width * cell + "px", height * cell + "px"];
  const pen = canvas.getContext("2d");
  const image = pen.createImageData(width, height);
  pixels.forEach((byte, i) => image.data.set(colours.subarray(4 * byte, 4 * byte + 4), 4 * i));
  pen.putImageData(image, 0, 0);
}

function make(tag, name, parent) {
  const node = document.createElement(tag);
  node.className = name;
  return parent.appendChild(node);
}

/** Text in which an underscore lowers the letters after it. */
function lowered(node, text) {
  node.replaceChildren();
  text.split(/_(\p{L}+)/u).forEach((part, i) => (i % 2 ? make("sub", "", node) : node).append(part));
}

class Strip {
  constructor(root) {
    this.root = root;
    this.nodes = new Map();
    this.sent = [];
    this.strip = make("div", "strip", root);
    this.steps = make("div", "steps", this.strip);
    this.steps.setAttribute("role", "toolbar");
    this.below = make("div", "below", this.strip);
    this.caption = make("div", "caption", this.below);
    this.more = make("button", "", this.below);
    this.more.type = "button";
    this.more.addEventListener("click", () => this.unfold(!this.open));
    this.steps.addEventListener("keydown", (event) => this.key(event));
    this.steps.addEventListener("pointerleave", () => this.tell(null));
    this.steps.addEventListener("focusout", () => this.tell(null));
  }

  update(bytes, setTriggerValue) {
    this.data = unpack(bytes);
    this.choose = (name) => setTriggerValue("chosen", name);
    this.adopt(this.data.chosen);
    this.steps.setAttribute("aria-label", this.data.words.strip);
    this.draw();
  }

  /** Take the page's choice, unless it is the echo of one that was made here and may be outdated. */
  adopt(chosen) {
    const echo = this.sent.indexOf(chosen);
    if (echo >= 0) this.sent.splice(0, echo + 1);
    else if (chosen !== this.given) [this.chosen, this.sent] = [chosen, []];
    this.given = chosen;
  }

  draw() {
    const { steps, scales, masked, words } = this.data;
    const tables = scales.map((colours) => table(colours, masked));
    const shown = steps.filter((step) => this.open || !step.folded || step.name === this.chosen);
    const items = shown.map((step) => this.item(step, tables[step.scale]));
    shown.forEach((step, i) => items[i].classList.toggle("next", i > 0 && step.stage !== shown[i - 1].stage));
    const focused = this.buttons().indexOf(this.root.activeElement) >= 0 && this.root.activeElement;
    if (items.length !== this.steps.children.length || items.some((item, i) => item !== this.steps.children[i]))
      this.steps.replaceChildren(...items);
    if (focused?.isConnected) focused.focus();
    this.more.hidden = shown.length === steps.length && !this.open;
    this.more.textContent = this.open ? words.fewer : words.all;
    this.more.setAttribute("aria-expanded", String(!!this.open));
    this.mark();
  }

  item(step, colours) {
    const node = this.nodes.get(step.name) ?? this.build(step.name);
    paint(node.canvas, step, colours);
    lowered(node.symbol, step.symbol);
    node.label.textContent = step.label;
    node.shape.textContent = step.shape;
    node.item.classList.toggle("same", !step.changes);
    const said = [step.label, step.symbol.replace("_", " "), step.words, step.meaning, step.changes ? "" : this.data.words.same];
    node.button.setAttribute("aria-label", said.filter(Boolean).join(", "));
    return node.item;
  }

  build(name) {
    const item = document.createElement("div");
    item.className = "step";
    const button = make("button", "", item);
    button.type = "button";
    button.dataset.step = name;
    const canvas = make("canvas", "", make("span", "frame", button));
    const [symbol, label, shape] = ["symbol", "label", "shape"].map((part) => make("span", part, button));
    button.addEventListener("click", () => this.pick(name));
    button.addEventListener("pointerenter", () => this.tell(name));
    button.addEventListener("focus", () => this.tell(name));
    const node = { item, button, canvas, symbol, label, shape };
    this.nodes.set(name, node);
    return node;
  }

  buttons() {
    return [...this.steps.querySelectorAll("button")];
  }

  pick(name) {
    this.chosen = name;
    this.sent.push(name);
    this.mark();
    this.choose(name);
  }

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
      chosen ? button.setAttribute("aria-current", "step") : button.removeAttribute("aria-current");
      button.tabIndex = button === stop ? 0 : -1;
    }
    this.tell(this.told);
  }

  /** One line below: what the step under the pointer is, or else the chosen one. */
  tell(name) {
    this.told = name;
    const step = this.data.steps.find((each) => each.name === (name ?? this.chosen));
    this.caption.replaceChildren();
    if (!step) return;
    make("span", "meaning", this.caption).textContent = step.meaning;
    if (step.formula && step.formula !== step.symbol) lowered(make("span", "formula", this.caption), step.formula);
    make("span", "words", this.caption).textContent = step.words;
    if (!step.changes) make("span", "words", this.caption).textContent = this.data.words.same;
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const buttons = this.buttons();
    const at = buttons.indexOf(this.root.activeElement);
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: buttons.length - 1 }[event.key] ?? this.across(buttons, at, event.key);
    if (to === undefined) return;
    event.preventDefault();
    buttons[to]?.focus();
    this.mark();
  }

  /** The step above or below, where the strip is wrapped. */
  across(buttons, at, key) {
    const way = { ArrowUp: -1, ArrowDown: 1 }[key];
    if (!way) return undefined;
    const boxes = buttons.map((button) => button.getBoundingClientRect());
    const { left, top } = boxes[at];
    const rows = boxes.map((box) => box.top).filter((y) => (y - top) * way > 1);
    const row = way > 0 ? Math.min(...rows) : Math.max(...rows);
    const far = boxes.map((box) => (box.top === row ? Math.abs(box.left - left) : Infinity));
    return rows.length ? far.indexOf(Math.min(...far)) : at;
  }
}

export default function ({ parentElement, data, setTriggerValue }) {
  const strip = (parentElement.attnStrip ??= new Strip(parentElement));
  strip.update(data, setTriggerValue);
  return () => {
    strip.strip.remove();
    delete parentElement.attnStrip;
  };
}
