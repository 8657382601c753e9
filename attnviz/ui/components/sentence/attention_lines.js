// The sentence as queries, below it the words that are looked at, and lines from the word under the pointer to those
// that it reads from. Every sentence comes ready made from Python; words of a visitor are only ever set as text.

const ROW = "attnviz:row"; // detail {row, head}: a query has been pointed at in some view, or none (row null)
const DARK = "#000000"; // pure, so that one of the two always reads at 4.5 to 1 or more
const THICKEST = 9; // pixels, for a weight of 1

function bytes(base64) {
  return Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
}

function rgb(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

/** The colour at a place of a scale of equal steps from 0 to 1, and the ink that reads best on it. */
function shade(share, scale) {
  const at = share * (scale.length - 1);
  const [low, high] = [rgb(scale[Math.floor(at)]), rgb(scale[Math.ceil(at)])];
  const mixed = low.map((part, i) => Math.round(part + (high[i] - part) * (at % 1)));
  const [r, g, b] = mixed.map((part) => (part / 255) ** 2.2);
  return { ground: `rgb(${mixed})`, ink: 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? DARK : "#fff" };
}

/** How a weight tints a word; on a dark page the page itself stands for the near-white half of the scale. */
function tint(weight, scale) {
  const share = Math.min(Math.max(weight, 0), 1);
  const light = shade(share, scale);
  if (share >= 0.5) return light;
  const veil = `color-mix(in srgb, ${shade(0.5, scale).ground} ${Math.round(200 * share)}%, var(--st-background-color))`;
  const ink = share < 0.34 ? "var(--st-text-color)" : DARK;
  return { ground: `light-dark(${light.ground}, ${veil})`, ink: `light-dark(${light.ink}, ${ink})` };
}

function make(parent, tag, name, text) {
  const element = parent.appendChild(document.createElement(tag));
  if (name) element.className = name;
  if (text !== undefined) element.textContent = text;
  return element;
}

/** Bends only between the two texts; inside the second it runs straight down behind the words, to the one it means. */
function bent(x, top, toX, bottom, toY) {
  const bend = (bottom - top) / 2;
  return `M${x},${top}C${x},${top + bend} ${toX},${bottom - bend} ${toX},${bottom}V${toY}`;
}

function draw(d, width, opacity) {
  const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
  line.setAttribute("d", d);
  line.setAttribute("stroke-width", width.toFixed(2));
  line.setAttribute("stroke-opacity", opacity.toFixed(2));
  return line;
}

/** One of several elements can be reached with Tab; arrow keys move between them. */
function rove(elements, at) {
  elements.forEach((element, i) => (element.tabIndex = i === at ? 0 : -1));
}

class Reading {
  constructor(root) {
    this.sent = [];
    this.box = make(root, "div", "attn-reading");
    this.heads = make(this.box, "div", "aw-heads");
    this.heads.setAttribute("role", "radiogroup");
    this.field = make(this.box, "div", "aw-field");
    this.lines = this.field.appendChild(document.createElementNS("http://www.w3.org/2000/svg", "svg"));
    this.lines.setAttribute("aria-hidden", "true");
    [this.asks, this.read] = ["queries", "keys"].map((name) => this.row(name));
    this.said = make(this.box, "p", "aw-said");
    this.live = make(this.box, "div", "aw-live");
    this.live.setAttribute("aria-live", "polite");
    this.listen();
  }

  row(name) {
    const row = make(this.field, "div", "aw-row aw-" + name);
    const label = make(row, "span", "aw-label");
    const words = make(row, "div", "aw-words");
    words.setAttribute("role", name === "queries" ? "group" : "list");
    return { label, words };
  }

  listen() {
    this.stop = new AbortController();
    const { signal } = this.stop;
    const asks = this.asks.words;
    const at = (event) => this.queries.indexOf(event.target.closest("button"));
    asks.addEventListener("pointerover", (event) => at(event) >= 0 && this.point(at(event)));
    asks.addEventListener("pointerleave", () => this.point(null));
    asks.addEventListener("click", (event) => at(event) >= 0 && this.choose(at(event)));
    asks.addEventListener("focusin", (event) => event.target.matches(":focus-visible") && this.visit(at(event)));
    asks.addEventListener("focusout", () => this.point(null));
    asks.addEventListener("keydown", (event) => this.key(event, at(event)));
    this.heads.addEventListener("click", (event) => this.take(this.choices.indexOf(event.target.closest("button"))));
    this.heads.addEventListener("keydown", (event) => this.keyHead(event));
    window.addEventListener(ROW, ({ detail }) => this.hear(detail), { signal });
    this.resizer = new ResizeObserver(() => this.draw());
    this.resizer.observe(this.field);
    document.fonts.ready.then(() => this.draw());
  }

  close() {
    this.stop.abort();
    this.resizer.disconnect();
    this.box.remove();
  }

  update(data, setTriggerValue) {
    const first = !this.data;
    Object.assign(this, { data, setTriggerValue });
    this.weights = new Float32Array(bytes(data.weights).buffer);
    this.bits = bytes(data.masked);
    this.adopt(data.chosen, first);
    this.fillHeads();
    this.fillWords();
    this.draw();
  }

  /** Take the page's choice, unless it is an echo of one that has been made here and may be outdated. */
  adopt(chosen, first) {
    const echo = this.sent.indexOf(chosen);
    if (echo >= 0) this.sent.splice(0, echo + 1);
    else if (first || chosen !== this.given) [this.chosen, this.sent] = [chosen, []];
    this.given = chosen;
    const n = this.data.queries.length;
    if (this.chosen >= n) this.chosen = null;
    if (this.pointed >= n) this.pointed = null;
  }

  masked(query, key) {
    const bit = query * this.data.keys.length + key;
    return Boolean((this.bits[bit >> 3] >> (7 - (bit & 7))) & 1);
  }

  /** The choice of a head, if there is one; its last button is the mean. */
  fillHeads() {
    const { n_heads, head, words } = this.data;
    this.heads.style.display = n_heads < 2 ? "none" : "";
    if (this.choices?.length !== n_heads + 1) {
      this.heads.replaceChildren();
      make(this.heads, "span", "", words.head);
      const names = [...Array(n_heads).keys()].map((h) => String(h + 1)).concat(words.mean);
      this.choices = names.map((name) => make(this.heads, "button", "", name));
      this.choices.forEach((choice, h) => {
        choice.setAttribute("role", "radio");
        if (h < n_heads) choice.setAttribute("aria-label", `${words.head} ${h + 1}`);
      });
      this.choices[n_heads].dataset.mean = "";
      this.heads.setAttribute("aria-label", words.head);
    }
    this.choices.forEach((choice, h) => choice.setAttribute("aria-checked", h === (head ?? n_heads)));
    rove(this.choices, head ?? n_heads);
  }

  fillWords() {
    const { queries, keys, words } = this.data;
    const shown = JSON.stringify([queries, keys]);
    if (this.shown === shown) return;
    this.shown = shown;
    const most = Math.max(queries.length, keys.length);
    this.box.dataset.size = most <= 10 ? "large" : most <= 24 ? "middle" : "small";
    this.fillRow(this.asks, queries, "button", words.asks);
    this.fillRow(this.read, keys, "span", words.read);
    this.queries = [...this.asks.words.children];
    this.keys = [...this.read.words.children];
    this.keys.forEach((key) => key.setAttribute("role", "listitem"));
    rove(this.queries, this.chosen ?? 0);
  }

  fillRow({ label, words }, tokens, tag, name) {
    label.textContent = name;
    words.setAttribute("aria-label", name);
    words.replaceChildren();
    tokens.forEach((token, i) => {
      const word = make(words, tag, "aw-word");
      make(word, "bdi", "", token);
      if (tokens.indexOf(token) !== tokens.lastIndexOf(token)) make(word, "small", "", String(i + 1));
      word.title = token.length > 12 ? token : "";
    });
  }

  /** The query whose lines are drawn: the one under the pointer, else the chosen one. */
  get lit() {
    return this.pointed ?? this.chosen ?? null;
  }

  draw() {
    if (!this.queries) return;
    const { lit } = this;
    this.queries.forEach((word, i) => {
      word.setAttribute("aria-pressed", i === this.chosen);
      word.toggleAttribute("data-lit", i === lit);
    });
    this.keys.forEach((word, j) => this.drawKey(word, lit, j));
    this.lines.replaceChildren(...(lit === null ? [] : this.paths(lit)));
    this.say(lit);
  }

  drawKey(word, query, key) {
    const weight = query === null ? NaN : this.weights[query * this.keys.length + key];
    const masked = query !== null && this.masked(query, key);
    const colour = masked || !Number.isFinite(weight) ? null : tint(weight, this.data.scale);
    word.toggleAttribute("data-masked", masked);
    masked ? word.setAttribute("aria-description", this.data.words.masked) : word.removeAttribute("aria-description");
    word.style.backgroundColor = colour?.ground ?? "";
    word.style.color = colour?.ink ?? "";
  }

  /** Lines from a query to its keys, the faintest first so that it never lies over a stronger one. */
  paths(query) {
    const outer = this.field.getBoundingClientRect();
    const [asks, read] = [this.asks, this.read].map(({ words }) => words.getBoundingClientRect());
    const [top, bottom] = [asks.bottom - outer.top, read.top - outer.top];
    const from = this.queries[query].getBoundingClientRect();
    const x = from.left + from.width / 2 - outer.left;
    const row = this.weights.subarray(query * this.keys.length, (query + 1) * this.keys.length);
    const keys = [...row.keys()].filter((key) => row[key] > 0 && Number.isFinite(row[key]));
    const lines = keys.sort((a, b) => row[a] - row[b]).map((key) => {
      const to = this.keys[key].getBoundingClientRect();
      return this.path(bent(x, top, to.left + to.width / 2 - outer.left, bottom, to.top - outer.top), Math.min(row[key], 1), key);
    });
    if (lines.length && top - from.bottom + outer.top > 2) lines.push(this.stem(x, from.bottom - outer.top, top));
    return lines;
  }

  path(d, weight, key) {
    const line = draw(d, 0.5 + (THICKEST - 0.5) * weight, 0.2 + 0.7 * weight ** 0.6);
    line.dataset.key = key;
    return line;
  }

  /** From a word in an upper line straight down to where the lines part. */
  stem(x, top, bottom) {
    return draw(`M${x},${top}V${bottom}`, 1.5, 0.85);
  }

  /** The sentence of a query; with none, what can be done here. */
  say(query) {
    this.said.toggleAttribute("data-hint", query === null);
    const parts = query === null ? [this.data.words.hint] : this.data.sentences[query];
    this.said.replaceChildren(
      ...parts.map((part) => {
        if (typeof part === "string") return part;
        const word = document.createElement("em");
        make(word, "bdi", "", part[0]);
        return word;
      }),
    );
  }

  /** A query is pointed at here, or none any more; other views hear of it. */
  point(query) {
    if (query === (this.pointed ?? null)) return;
    this.pointed = query;
    this.draw();
    window.dispatchEvent(new CustomEvent(ROW, { detail: { row: query, head: this.data.head } }));
  }

  /** A query is pointed at in another view; what was told from here is known already. */
  hear(detail) {
    const row = detail?.row ?? null;
    const known = row === null || (Number.isInteger(row) && this.queries?.[row]);
    if (!known || row === (this.pointed ?? null)) return;
    this.pointed = row;
    this.draw();
  }

  visit(query) {
    rove(this.queries, query);
    this.point(query);
    this.live.textContent = this.said.textContent;
  }

  choose(query) {
    this.chosen = query === this.chosen ? null : query;
    this.sent.push(this.chosen);
    rove(this.queries, query);
    this.draw();
    this.ask(this.data.head);
  }

  take(choice) {
    if (choice < 0) return;
    const head = choice < this.data.n_heads ? choice : null;
    if (head !== this.data.head) this.ask(head);
  }

  ask(head) {
    this.setTriggerValue("asked", { query: this.chosen ?? null, head });
  }

  key(event, query) {
    const last = this.queries.length - 1;
    const moves = {
      ArrowLeft: () => Math.max(query - 1, 0),
      ArrowRight: () => Math.min(query + 1, last),
      ArrowUp: () => this.beside(query, -1),
      ArrowDown: () => this.beside(query, 1),
      Home: () => 0,
      End: () => last,
    };
    if (event.key === "Escape") return this.point(null);
    if (!moves[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    this.queries[moves[event.key]()].focus();
  }

  /** The nearest word on the line above (-1) or below (1); the word itself if there is no such line. */
  beside(query, way) {
    const place = (word) => [word.offsetLeft + word.offsetWidth / 2, word.offsetTop];
    const [x, y] = place(this.queries[query]);
    const tops = this.queries.map((word) => place(word)[1]).filter((top) => (top - y) * way > 8);
    const line = way > 0 ? Math.min(...tops) : Math.max(...tops);
    const far = (word) => (Math.abs(place(word)[1] - line) < 8 ? Math.abs(place(word)[0] - x) : Infinity);
    const distances = this.queries.map(far);
    return tops.length ? distances.indexOf(Math.min(...distances)) : query;
  }

  keyHead(event) {
    const step = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
    if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const at = this.choices.indexOf(event.target.closest("button"));
    const to = (at + step + this.choices.length) % this.choices.length;
    rove(this.choices, to);
    this.choices[to].focus();
    this.take(to);
  }
}

export default function ({ parentElement, data, setTriggerValue }) {
  const view = (parentElement.attnReading ??= new Reading(parentElement));
  view.update(data, setTriggerValue);
  return () => {
    view.close();
    delete parentElement.attnReading;
  };
}
