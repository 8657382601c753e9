// The sentence, and arcs from the word that is pointed at, or else the most telling one, to those that it takes from.
// Words of a visitor are only ever set as text.

const ROW = "attnviz:row"; // detail {row, head, shares}: a query is pointed at in some view, or none (row null)
const MANY = 14; // words from which they stand closer
const THICKEST = 8; // pixels, for a weight of 1
const LEAST = 0.03; // a weaker weight has no arc
const NAMED = 0.05; // and one weaker than this no number
const MOST_NAMED = 4;

function make(parent, tag, name, text) {
  const element = parent.appendChild(document.createElement(tag));
  if (name) element.className = name;
  if (text !== undefined) element.textContent = text;
  return element;
}

function parts(colour) {
  return [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
}

/** A share in whole percent; what is not nothing never reads 0 %, what is not all never 100 %. */
function percent(share) {
  const whole = Math.round(100 * share);
  if (whole === 0 && share > 0) return "< 1 %";
  return whole === 100 && share < 0.99999 ? "> 99 %" : `${whole} %`;
}

class Telling {
  constructor(root) {
    this.box = make(root, "div", "attn-telling");
    this.line = make(this.box, "div", "at-line");
    this.words = make(this.line, "div", "at-words");
    this.words.setAttribute("role", "group");
    this.arcs = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    this.arcs.setAttribute("aria-hidden", "true");
    const said = make(this.box, "div", "at-said");
    this.shows = make(said, "h1");
    this.said = make(said, "p");
    this.said.setAttribute("aria-live", "polite");
    this.from = make(said, "small");
    this.stop = new AbortController();
    this.listen();
  }

  listen() {
    const { signal } = this.stop;
    const at = (event) => this.queries?.indexOf(event.target.closest("button")) ?? -1;
    this.words.addEventListener("pointerover", (event) => at(event) >= 0 && this.point(at(event)));
    this.words.addEventListener("pointerleave", () => this.point(null));
    this.words.addEventListener("focusin", (event) => event.target.matches(":focus-visible") && this.point(at(event)));
    this.words.addEventListener("focusout", () => this.point(null));
    this.words.addEventListener("click", (event) => at(event) >= 0 && this.choose(at(event)));
    this.words.addEventListener("keydown", (event) => this.key(event, at(event)));
    window.addEventListener(ROW, ({ detail }) => this.hear(detail), { signal });
    this.resizer = new ResizeObserver(() => {
      this.fit();
      this.draw();
    });
    this.resizer.observe(this.line);
    document.fonts.ready.then(() => this.draw());
  }

  update(bytes, tell) {
    const end = bytes.indexOf(0);
    this.data = JSON.parse(new TextDecoder().decode(bytes.subarray(0, end)));
    this.weights = new Float32Array(bytes.slice(end + 1).buffer);
    this.tell = tell;
    this.pointed = null;
    this.heard = null;
    this.shows.textContent = this.data.shows;
    this.words.setAttribute("aria-label", this.data.words.sentence);
    this.fill();
    this.fit();
    this.draw();
    this.centre();
  }

  /** Move the words closer together where a sentence would be cut. */
  fit() {
    this.words.classList.remove("at-tight");
    this.words.classList.toggle("at-tight", this.line.scrollWidth > this.line.clientWidth + 1);
  }

  fill() {
    const { queries, keys, query } = this.data;
    const shown = JSON.stringify([queries, keys]);
    if (shown !== this.shown) {
      this.shown = shown;
      this.words.replaceChildren(this.arcs);
      this.words.classList.toggle("at-many", queries.length > MANY);
      const word = (text, tag) => {
        const element = make(this.words, tag);
        make(element, "bdi", "", text);
        element.title = text.length > 14 ? text : "";
        return element;
      };
      this.queries = queries.map((text) => word(text, "button"));
      this.queries.forEach((button) => (button.type = "button"));
      if (keys) make(this.words, "span", "at-gap", "←");
      this.keys = keys ? keys.map((text) => word(text, "button")) : this.queries;
      if (keys) this.keys.forEach((button) => ((button.disabled = true), (button.tabIndex = -1)));
    }
    this.queries.forEach((button, at) => (button.tabIndex = at === query ? 0 : -1));
  }

  /** The word whose arcs are drawn, the head that they are of, and what it takes there. */
  get lit() {
    const { query, head } = this.data;
    const known = this.heard && this.heard.shares?.length === this.keys.length;
    if (known) return { query: this.index(this.heard.row), head: this.heard.head, row: this.heard.shares };
    const at = this.pointed ?? this.index(this.heard?.row) ?? query;
    return { query: at, head, row: [...this.weights.subarray(at * this.keys.length, (at + 1) * this.keys.length)] };
  }

  draw() {
    if (!this.queries) return;
    const lit = this.lit;
    this.queries.forEach((button, at) => {
      button.toggleAttribute("data-lit", at === lit.query);
      button.setAttribute("aria-pressed", this.data.chosen && at === this.data.query);
    });
    const strong = lit.row.map((weight, key) => [weight, key]).filter(([weight]) => weight >= NAMED);
    const named = new Set(strong.sort(([a], [b]) => b - a).slice(0, MOST_NAMED).map(([, key]) => key));
    this.keys.forEach((word, key) => this.tint(word, lit.row[key], named.has(key)));
    this.drawArcs(lit);
    this.say(lit);
  }

  tint(word, weight, named) {
    const shows = named && this.data.shares;
    if (shows) word.dataset.share = percent(weight);
    else delete word.dataset.share;
    const share = Number.isFinite(weight) ? Math.min(Math.max(weight, 0), 1) : 0;
    word.style.background = share >= LEAST ? `color-mix(in srgb, var(--accent) ${Math.round(4 + 32 * share)}%, transparent)` : "";
  }

  /** Arcs over the words, the faintest first. */
  drawArcs({ query, row }) {
    const box = this.words.getBoundingClientRect();
    const middle = (word) => {
      const { left, width } = word.getBoundingClientRect();
      return left + width / 2 - box.left;
    };
    this.arcs.setAttribute("width", box.width);
    const from = this.queries[query];
    if (!from || !box.width) return;
    const top = from.offsetTop - 1;
    const strong = row.map((weight, key) => [weight, key]).filter(([weight, key]) => weight >= LEAST && this.keys[key] !== from);
    const paths = strong.sort(([a], [b]) => a - b).map(([weight, key]) => {
      const [x, to] = [middle(from), middle(this.keys[key])];
      const thick = 0.8 + (THICKEST - 0.8) * Math.min(weight, 1);
      const high = Math.min(top - thick / 2, 9 + Math.abs(to - x) / 9);
      const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
      path.setAttribute("d", `M${x},${top}C${x},${top - high * 1.3} ${to},${top - high * 1.3} ${to},${top}`);
      path.setAttribute("stroke-width", thick.toFixed(2));
      path.setAttribute("stroke-opacity", (0.25 + 0.6 * Math.min(weight, 1)).toFixed(2));
      return path;
    });
    this.arcs.replaceChildren(...paths);
  }

  /** What the word takes most from, in one line. */
  say({ query, head, row }) {
    const { words, shares, heads, made, queries } = this.data;
    const known = row.map((weight, key) => [weight, key]).filter(([weight]) => weight > 0 && Number.isFinite(weight));
    const [weight, key] = known.sort(([a], [b]) => b - a)[0] ?? [];
    const { places, same } = this.data;
    const own = same && (places ? places[0][query] === places[1][key] : query === key);
    const slots = {
      "{query}": ["em", queries[query]],
      "{key}": ["strong", own ? words.itself : (this.data.keys ?? queries)[key]],
      "{amount}": ["", shares ? percent(weight) : String(Number((weight ?? 0).toPrecision(3)))],
    };
    const pieces = (key === undefined ? words.nothing : shares ? words.takes : words.weighs).split(/(\{\w+\})/);
    this.said.replaceChildren(
      ...pieces.map((piece) => {
        const [tag, text] = slots[piece] ?? ["", piece];
        if (!tag) return document.createTextNode(text);
        const element = document.createElement(tag);
        make(element, "bdi", "", text);
        return element;
      }),
    );
    this.from.textContent = [heads[head ?? 0], made].filter(Boolean).join(" · ");
  }

  /** Scroll a long sentence to the word that it opens on. */
  centre() {
    const word = this.queries[this.data.query];
    if (word) this.line.scrollLeft = word.offsetLeft - this.line.clientWidth / 2 + word.offsetWidth / 2;
  }

  point(query) {
    if (query === this.pointed) return;
    this.pointed = query;
    this.heard = null;
    this.draw();
    this.telling = true;
    window.dispatchEvent(new CustomEvent(ROW, { detail: { row: this.place(query), head: this.data.head } }));
    this.telling = false;
  }

  hear(detail) {
    if (this.telling) return;
    this.heard = this.queries?.[this.index(detail?.row)] ? detail : null;
    this.pointed = null;
    this.draw();
  }

  choose(query) {
    this.tell(this.place(query));
  }

  /** The place of a query among all, of which only some may be shown; and the other way round. */
  place(query) {
    return query === null ? null : (this.data.places?.[0][query] ?? query);
  }

  index(row) {
    if (!Number.isInteger(row)) return null;
    const at = this.data.places ? this.data.places[0].indexOf(row) : row;
    return at < 0 ? null : at;
  }

  key(event, at) {
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: this.queries.length - 1 }[event.key];
    if (at < 0 || to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    const next = Math.min(Math.max(to, 0), this.queries.length - 1);
    this.queries.forEach((button, i) => (button.tabIndex = i === next ? 0 : -1));
    this.queries[next].focus();
  }

  close() {
    this.stop.abort();
    this.resizer.disconnect();
    this.box.remove();
  }
}

export default function ({ parentElement, data, setTriggerValue }) {
  const view = (parentElement.attnTelling ??= new Telling(parentElement));
  view.update(data, (query) => setTriggerValue("query", query));
  return () => {
    view.close();
    delete parentElement.attnTelling;
  };
}
