// The sentence as queries, the keys below it, and lines from the query under the pointer to the keys it attends to.
// Every sentence comes ready made from Python; words of a visitor are only ever set as text.

/** @import { Component, Row } from "../../types" */
/** @import { LinesData } from "./types" */
import { unpacked } from "../colours.js";
import { HeadChoice } from "./head_choice.js";
import { curve, lineTo, stem, tint } from "./lines.js";
import { alongReading, beside, isFocusSeen, make, readingDirection, rove, within } from "./words.js";

/** @typedef {(name: "choice", value: { query: number | null, head: number | null }) => void} SetTrigger */
/** @typedef {{ label: HTMLElement, words: HTMLElement }} WordRow */

const ROW = "attnviz:row"; // detail: a `Row`

class AttentionLines {
  /** @type {(number | null)[]} */
  pending = []; // choices that Python has not sent back yet
  /** @type {number | null | undefined} */
  received; // the choice that Python sent last
  /** @type {number | null} */
  chosen = null;
  /** @type {number | null} */
  pointed = null;
  /** @type {HTMLElement[]} */
  queries = [];
  /** @type {HTMLElement[]} */
  keys = [];
  weights = new Float32Array();
  bits = new Uint8Array();
  shown = "";
  stop = new AbortController();

  /** @param {HTMLElement} root @param {LinesData} data @param {SetTrigger} setTrigger */
  constructor(root, data, setTrigger) {
    this.data = data;
    this.setTrigger = setTrigger;
    this.box = make(root, "div", "attn-lines");
    this.heads = new HeadChoice(this.box, (choice) => this.chooseHead(choice));
    this.field = make(this.box, "div", "aw-field");
    this.lines = this.field.appendChild(document.createElementNS("http://www.w3.org/2000/svg", "svg"));
    this.lines.setAttribute("aria-hidden", "true");
    this.queryRow = this.addRow("queries");
    this.keyRow = this.addRow("keys");
    this.sentence = make(this.box, "p", "aw-sentence");
    this.live = make(this.box, "div", "aw-live");
    this.live.setAttribute("aria-live", "polite");
    this.resizer = new ResizeObserver(() => this.draw());
    this.listen();
  }

  /** @param {"queries" | "keys"} name @returns {WordRow} */
  addRow(name) {
    const row = make(this.field, "div", "aw-row aw-" + name);
    const label = make(row, "span", "aw-label");
    const words = make(row, "div", "aw-words");
    words.setAttribute("role", name === "queries" ? "group" : "list");
    return { label, words };
  }

  listen() {
    const { signal } = this.stop;
    const row = this.queryRow.words;
    const at = (/** @type {Event} */ event) => within(this.queries, event);
    row.addEventListener("pointerover", (event) => at(event) >= 0 && this.point(at(event)));
    row.addEventListener("pointerleave", () => this.point(null));
    row.addEventListener("click", (event) => at(event) >= 0 && this.choose(at(event)));
    row.addEventListener("focusin", (event) => isFocusSeen(event) && this.onFocus(at(event)));
    row.addEventListener("focusout", () => this.point(null));
    row.addEventListener("keydown", (event) => this.onKeydown(event, at(event)));
    window.addEventListener(ROW, (event) => event instanceof CustomEvent && this.onRow(event.detail), { signal });
    this.resizer.observe(this.field);
    document.fonts.ready.then(() => this.draw());
  }

  close() {
    this.stop.abort();
    this.resizer.disconnect();
    this.box.remove();
  }

  /** @param {LinesData} data @param {SetTrigger} setTrigger */
  update(data, setTrigger) {
    this.data = data;
    this.setTrigger = setTrigger;
    this.weights = new Float32Array(unpacked(data.weights).buffer);
    this.bits = unpacked(data.masked);
    this.adopt(data.chosen);
    this.heads.update(data);
    this.fillWords();
    this.draw();
  }

  /**
   * Adopt the choice that Python sends, unless it echoes one that was made here and may be outdated.
   *
   * @param {number | null} chosen
   */
  adopt(chosen) {
    const echo = this.pending.indexOf(chosen);
    if (echo >= 0) this.pending.splice(0, echo + 1);
    else if (chosen !== this.received) [this.chosen, this.pending] = [chosen, []];
    this.received = chosen;
    const n = this.data.queries.length;
    if (this.chosen !== null && this.chosen >= n) this.chosen = null;
    if (this.pointed !== null && this.pointed >= n) this.pointed = null;
  }

  /** @param {number} query @param {number} key */
  masked(query, key) {
    const bit = query * this.data.keys.length + key;
    return Boolean((this.bits[bit >> 3] >> (7 - (bit & 7))) & 1);
  }

  fillWords() {
    const { queries, keys, words } = this.data;
    const shown = JSON.stringify([queries, keys]);
    if (this.shown === shown) return;
    this.shown = shown;
    const most = Math.max(queries.length, keys.length);
    this.box.dataset.size = most <= 10 ? "large" : most <= 24 ? "middle" : "small";
    this.queries = this.fillRow(this.queryRow, queries, "button", words.queries);
    this.keys = this.fillRow(this.keyRow, keys, "span", words.keys);
    this.keys.forEach((key) => key.setAttribute("role", "listitem"));
    rove(this.queries, this.chosen ?? 0);
  }

  /**
   * @param {WordRow} row
   * @param {string[]} tokens
   * @param {"button" | "span"} tag
   * @param {string} name
   * @returns {HTMLElement[]}
   */
  fillRow({ label, words }, tokens, tag, name) {
    label.textContent = name;
    words.setAttribute("aria-label", name);
    words.dir = readingDirection(tokens);
    words.replaceChildren();
    return tokens.map((token, i) => {
      const word = make(words, tag, "aw-word");
      make(word, "bdi", "", token);
      if (tokens.indexOf(token) !== tokens.lastIndexOf(token)) make(word, "small", "", String(i + 1));
      word.title = token.length > 12 ? token : "";
      return word;
    });
  }

  /** The query whose lines are drawn: the one under the pointer, else the chosen one. */
  get highlighted() {
    return this.pointed ?? this.chosen;
  }

  draw() {
    if (!this.queries.length) return;
    const { highlighted } = this;
    this.queries.forEach((word, i) => {
      word.setAttribute("aria-pressed", String(i === this.chosen));
      word.toggleAttribute("data-highlighted", i === highlighted);
    });
    this.keys.forEach((word, j) => this.drawKey(word, highlighted, j));
    this.lines.replaceChildren(...(highlighted === null ? [] : this.paths(highlighted)));
    this.describe(highlighted);
  }

  /** @param {HTMLElement} word @param {number | null} query @param {number} key */
  drawKey(word, query, key) {
    const weight = query === null ? NaN : this.weights[query * this.keys.length + key];
    const masked = query !== null && this.masked(query, key);
    const colour = masked || !Number.isFinite(weight) ? null : tint(weight, this.data.scale);
    word.toggleAttribute("data-masked", masked);
    if (masked) word.setAttribute("aria-description", this.data.words.masked);
    else word.removeAttribute("aria-description");
    word.style.backgroundColor = colour?.ground ?? "";
    word.style.color = colour?.ink ?? "";
  }

  /**
   * Lines from a query to its keys, the faintest first so that it never lies over a stronger one.
   *
   * @param {number} query
   */
  paths(query) {
    const outer = this.field.getBoundingClientRect();
    const [upper, lower] = [this.queryRow, this.keyRow].map(({ words }) => words.getBoundingClientRect());
    const [top, bottom] = [upper.bottom - outer.top, lower.top - outer.top];
    const from = this.queries[query].getBoundingClientRect();
    const x = from.left + from.width / 2 - outer.left;
    const row = this.weights.subarray(query * this.keys.length, (query + 1) * this.keys.length);
    const keys = [...row.keys()].filter((key) => row[key] > 0 && Number.isFinite(row[key]));
    const lines = keys.sort((a, b) => row[a] - row[b]).map((key) => {
      const to = this.keys[key].getBoundingClientRect();
      return lineTo(curve(x, top, to.left + to.width / 2 - outer.left, bottom, to.top - outer.top), Math.min(row[key], 1), key);
    });
    if (lines.length && top - from.bottom + outer.top > 2) lines.push(stem(x, from.bottom - outer.top, top));
    return lines;
  }

  /** Show the sentence of a query; without one, a hint. @param {number | null} query */
  describe(query) {
    this.sentence.toggleAttribute("data-hint", query === null);
    const parts = query === null ? [this.data.words.hint] : this.data.sentences[query];
    this.sentence.replaceChildren(
      ...parts.map((part) => {
        if (typeof part === "string") return part;
        const word = document.createElement("em");
        make(word, "bdi", "", part[0]);
        return word;
      }),
    );
  }

  /** Point at a query, or at none, and notify other views. @param {number | null} query */
  point(query) {
    if (query === this.pointed) return;
    this.pointed = query;
    this.draw();
    window.dispatchEvent(new CustomEvent(ROW, { detail: { row: query, head: this.data.head } }));
  }

  /** Follow the query that another view points at; an event of its own changes nothing. @param {Row | null} detail */
  onRow(detail) {
    const row = detail?.row ?? null;
    const isShown = row === null || (Number.isInteger(row) && this.queries[row]);
    if (!isShown || row === this.pointed) return;
    this.pointed = row;
    this.draw();
  }

  /** @param {number} query */
  onFocus(query) {
    rove(this.queries, query);
    this.point(query);
    this.live.textContent = this.sentence.textContent;
  }

  /** @param {number} query */
  choose(query) {
    this.chosen = query === this.chosen ? null : query;
    this.pending.push(this.chosen);
    rove(this.queries, query);
    this.draw();
    this.reportChoice(this.data.head);
  }

  /** @param {number} choice */
  chooseHead(choice) {
    if (choice < 0) return;
    const head = choice < this.data.n_heads ? choice : null;
    if (head !== this.data.head) this.reportChoice(head);
  }

  /** @param {number | null} head */
  reportChoice(head) {
    this.setTrigger("choice", { query: this.chosen, head });
  }

  /** @param {KeyboardEvent} event @param {number} query */
  onKeydown(event, query) {
    const last = this.queries.length - 1;
    /** @type {Partial<Record<string, () => number>>} */
    const moves = {
      ArrowLeft: () => Math.max(query - 1, 0),
      ArrowRight: () => Math.min(query + 1, last),
      ArrowUp: () => beside(this.queries, query, -1),
      ArrowDown: () => beside(this.queries, query, 1),
      Home: () => 0,
      End: () => last,
    };
    if (event.key === "Escape") return this.point(null);
    const to = moves[alongReading(event.key, this.queryRow.words.dir)]?.();
    if (to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    this.queries[to].focus();
  }
}

/**
 * @param {Component<LinesData, { choice: { query: number | null, head: number | null } }, { attnLines?: AttentionLines }, HTMLElement>} component
 */
export default function ({ parentElement, data, setTriggerValue }) {
  const lines = (parentElement.attnLines ??= new AttentionLines(parentElement, data, setTriggerValue));
  lines.update(data, setTriggerValue);
  return () => {
    lines.close();
    delete parentElement.attnLines;
  };
}
