// The way from the words to the output: small pictures from raw bytes, joined by what happens between them. A press on
// one of either tells the page what to show large. All text enters through textContent.

const [NOTHING, MASKED, ODD, LOWEST, HIGHEST] = [0, 1, 2, 3, 255]; // bytes of a picture, as pictures/thumbnails.py says
const AMBER = [245, 197, 24, 255]; // not a number: on neither colour scale
const HIGH = 26; // pixels
const LIT = "attnviz:lit"; // detail: the cells that are pointed at in some view, or null
const AXES = { embedded: ["query"], embedded_kv: ["key"], queries: ["query", "d_k"], keys: ["key", "d_k"], scores: ["query", "key"] };
Object.assign(AXES, { weights: ["query", "key"], values: ["key", "d_v"], heads: ["query", "d_v"], output: ["query"] });

function unpack(bytes) {
  const end = bytes.indexOf(0);
  const data = JSON.parse(new TextDecoder().decode(bytes.subarray(0, end)));
  let at = end + 1;
  for (const node of data.nodes) node.pixels = bytes.subarray(at, (at += node.size[0] * node.size[1]));
  return data;
}

function parts(colour) {
  return [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
}

/** The colour of every byte: between LOWEST and HIGHEST along the scale. */
function table(colours) {
  const stops = colours.map(parts);
  return Array.from({ length: 256 }, (_, byte) => {
    if (byte === NOTHING) return [0, 0, 0, 0];
    if (byte === MASKED) return [128, 128, 128, 97];
    if (byte === ODD) return AMBER;
    const at = ((byte - LOWEST) / (HIGHEST - LOWEST)) * (stops.length - 1);
    const [low, high] = [stops[Math.floor(at)], stops[Math.ceil(at)]];
    return [...low.map((part, i) => part + (high[i] - part) * (at % 1)), 255];
  });
}

function paint(canvas, { pixels, size }, colours) {
  const [width, height] = size;
  Object.assign(canvas, { width, height });
  const image = new ImageData(width, height);
  pixels.forEach((byte, at) => image.data.set(colours[byte], 4 * at));
  canvas.getContext("2d").putImageData(image, 0, 0);
  const wide = (width / height) * HIGH;
  canvas.style.width = `${Math.min(Math.max(wide, 11), HIGH * 1.25)}px`;
}

/** A symbol in which an underscore lowers what follows. */
function lowered(parent, symbol) {
  symbol.split(/_(\w+)/).forEach((part, at) => {
    if (at % 2) parent.appendChild(document.createElement("sub")).textContent = part;
    else parent.append(part);
  });
}

function make(parent, tag, name, text) {
  const element = parent.appendChild(document.createElement(tag));
  element.className = name;
  if (text !== undefined) element.textContent = text;
  return element;
}

class Way {
  constructor(root) {
    this.box = make(root, "nav", "way");
    this.box.addEventListener("keydown", (event) => this.key(event));
    this.theme = new MutationObserver(() => this.paint());
    this.theme.observe(document.documentElement, { attributes: true, attributeFilter: ["class", "style", "data-theme"] });
    this.media = matchMedia("(prefers-color-scheme: dark)");
    this.media.onchange = () => setTimeout(() => this.paint(), 100);
    this.stopped = new AbortController();
    window.addEventListener(LIT, ({ detail }) => this.light(detail), { signal: this.stopped.signal });
  }

  /** Frame the cells of every small picture that are pointed at in some view. */
  light(mark) {
    this.box.querySelectorAll(".lit").forEach((frame) => frame.remove());
    if (mark) this.data?.nodes.forEach((node, at) => this.frame(mark, node, this.canvases[at]));
  }

  frame(mark, { name, shape }, canvas) {
    const sizes = shape.split(" × ").map(Number);
    const [row, column] = (AXES[name] ?? []).map((axis, i) => (mark[axis] < sizes[i] ? mark[axis] : null));
    if (row === null || row === undefined) return;
    const { offsetLeft, offsetTop, offsetWidth, offsetHeight } = canvas;
    const whole = column === null || column === undefined;
    const [high, wide] = [offsetHeight / sizes[0], whole ? offsetWidth : offsetWidth / sizes[1]];
    const frame = make(canvas.parentNode, "i", "lit");
    const place = { top: offsetTop + row * high, height: Math.max(high, 2), left: offsetLeft + (whole ? 0 : column * wide), width: Math.max(wide, 2) };
    for (const side in place) frame.style[side] = `${place[side]}px`;
  }

  update(bytes, tell) {
    this.data = unpack(bytes);
    const held = this.buttons.indexOf(this.box.getRootNode().activeElement);
    this.tell = tell;
    this.box.setAttribute("aria-label", this.data.strip);
    this.box.replaceChildren();
    this.canvases = [];
    this.fill();
    this.paint();
    this.stop(Math.max(0, held >= 0 ? held : 0));
    if (held >= 0) this.buttons[held]?.focus();
  }

  fill() {
    const { nodes, words, count } = this.data;
    const first = make(this.box, "div", "node words");
    const text = make(first, "span", "");
    make(text, "b", "", words);
    make(text, "small", "", count);
    for (const node of nodes) {
      this.between(node.before);
      this.node(node);
    }
  }

  between([word, step]) {
    const sign = word.length === 1;
    const arrow = make(this.box, step ? "button" : "span", sign ? "step sign" : "step");
    make(arrow, "span", "", word);
    if (!step) return;
    arrow.type = "button";
    arrow.dataset.step = step;
    arrow.setAttribute("aria-label", word); // also where there is no room for it
    arrow.addEventListener("click", () => this.tell(step));
  }

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
    if (!this.canvases) return;
    const pen = document.createElement("canvas").getContext("2d");
    pen.fillStyle = getComputedStyle(this.box).getPropertyValue("--st-background-color").trim() || "#fff";
    const dark = parts(pen.fillStyle).reduce((sum, part) => sum + part, 0) < 384 ? 1 : 0;
    const tables = this.data.scales.map((scale) => table(scale[dark]));
    this.data.nodes.forEach((node, at) => paint(this.canvases[at], node, tables[node.scale]));
  }

  get buttons() {
    return [...this.box.querySelectorAll("button")];
  }

  /** One of the buttons can be reached with Tab; arrow keys move between them. */
  stop(at) {
    this.buttons.forEach((button, i) => (button.tabIndex = i === at ? 0 : -1));
  }

  key(event) {
    const { buttons } = this;
    const at = buttons.indexOf(this.box.getRootNode().activeElement);
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: buttons.length - 1 }[event.key];
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

export default function ({ parentElement, data, setTriggerValue }) {
  const way = (parentElement.attnWay ??= new Way(parentElement));
  way.update(data, (step) => setTriggerValue("shown", step));
  return () => {
    way.close();
    delete parentElement.attnWay;
  };
}
