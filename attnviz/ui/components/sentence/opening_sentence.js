// The sentence, and arcs from the word that is pointed at, or else the most telling one, to those that it attends to.
// Words of a visitor are only ever set as text.

/** @import { Component, HeldNumbers, Reported, Row } from "../../types" */
/** @import { Rows } from "./weight_rows.js" */
/** @import { OpeningData } from "./types" */
import { followHeld } from "../held_numbers.js";
import { percent } from "../percent.js";
import { OnceThere } from "../stages_there.js";
import { LEAST, arcsOf, areSame } from "./arcs.js";
import { WordHand } from "./hand/word_hand.js";
import { piecesOf, written } from "./reading.js";
import { heldRows, ranked } from "./weight_rows.js";
import { WordLine, fitWords } from "./word_line.js";
import { alongReading, isFocusSeen, make, readingDirection, rove, within } from "./words.js";

/** @typedef {{ query: number, head: number | null | undefined, row: (number | null)[] }} Highlighted  a word, a head, and its weights there */

const ROW = "attnviz:row"; // detail: a `Row`
const SECOND = 220; // milliseconds in which a second press follows the first of two
const MANY = 14; // words from which they stand closer
const NAMED = 0.05; // a weaker weight has no number
const MOST_NAMED = 4;

class OpeningSentence {
  /** @type {HTMLElement[]} */
  keys = [];
  /** @type {HTMLButtonElement[]} */
  queries = [];
  /** @type {Rows} */
  sent = { weights: new Float64Array(), kinds: [], roles: [] };
  rows = this.sent; // or what follows from what is held in the maps
  isUnknown = false; // whether nothing that is said here is of what is drawn in the maps
  /** @type {(query: number) => void} */
  onSelect = () => {};
  /** @type {(text: string) => void} */
  onEdit = () => {};
  /** @type {number | null} */
  pointed = null;
  /** @type {Row | null} */
  received = null; // what another view points at
  shown = ""; // the words in the line
  said = ""; // and what stands beside it
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  clicked;
  isSendingRow = false;
  /** @type {number | undefined} */
  frame; // at which it is drawn, once the page has its new layout

  /** @param {HTMLElement} root @param {OpeningData} data */
  constructor(root, data) {
    this.data = data;
    this.box = make(root, "div", "attn-opening");
    const line = make(this.box, "div", "at-line");
    this.words = make(line, "div", "at-words");
    this.line = new WordLine(line, this.words);
    this.words.setAttribute("role", "group");
    this.arcs = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    this.arcs.setAttribute("aria-hidden", "true");
    const text = make(this.box, "div", "at-text");
    this.shows = make(text, "h1");
    this.reading = make(text, "p");
    this.reading.setAttribute("aria-live", "polite");
    this.from = make(text, "small");
    this.stop = new AbortController();
    this.hand = new WordHand(this, this.stop.signal);
    this.once = new OnceThere(this.stop.signal);
    this.resizer = new ResizeObserver(() => {
      this.line.loosen();
      this.redraw();
    });
    this.listen();
  }

  listen() {
    const { signal } = this.stop;
    const at = (/** @type {Event} */ event) => within(this.queries, event);
    this.words.addEventListener("pointerover", (event) => at(event) >= 0 && this.point(at(event)));
    this.words.addEventListener("pointerleave", () => this.point(null));
    this.words.addEventListener("focusin", (event) => isFocusSeen(event) && this.point(at(event)));
    this.words.addEventListener("focusout", () => this.point(null));
    this.words.addEventListener("click", (event) => at(event) >= 0 && this.click(at(event), event));
    this.words.addEventListener("keydown", (event) => this.onKeydown(event, at(event)));
    window.addEventListener(ROW, (event) => event instanceof CustomEvent && this.onRow(event.detail), { signal });
    followHeld((held) => this.onHeld(held), signal);
    this.resizer.observe(this.line.box);
    document.fonts.ready.then(() => this.redraw());
  }

  /** @param {OpeningData} data @param {Float64Array<ArrayBuffer>} weights @param {Pick<OpeningSentence, "onSelect" | "onEdit">} page */
  update(data, weights, page) {
    Object.assign(this, page, { data });
    this.rows = this.sent = { weights, kinds: data.kinds, roles: data.roles };
    this.isUnknown = false;
    this.pointed = null;
    this.received = null;
    this.words.setAttribute("aria-label", this.data.words.sentence);
    if (this.fill()) this.frame ??= requestAnimationFrame(() => this.settle()); // once their places are known
    else if (this.frame === undefined) this.settle();
  }

  settle() {
    this.frame = undefined;
    this.draw();
    this.line.centre(this.queries[this.data.query]);
  }

  /** Put the words into the line; whether they are others than before. */
  fill() {
    const { queries, keys, query } = this.data;
    const shown = JSON.stringify([queries, keys]), isNew = shown !== this.shown;
    if (isNew) {
      this.shown = shown;
      this.words.replaceChildren(this.arcs);
      this.words.classList.toggle("at-many", queries.length > MANY);
      this.line.loosen();
      this.line.box.dir = readingDirection(queries);
      const word = (/** @type {string} */ text) => {
        const element = make(this.words, "button");
        make(element, "bdi", "", text).dataset.word = text;
        element.title = [text.length > 14 ? text : "", this.data.edit?.said.hint].filter(Boolean).join("\n");
        return element;
      };
      this.queries = queries.map(word);
      this.queries.forEach((button) => (button.type = "button"));
      if (keys) make(this.words, "span", "at-gap", this.line.box.dir === "rtl" ? "→" : "←");
      const others = keys?.map(word);
      others?.forEach((button) => Object.assign(button, { disabled: true, tabIndex: -1 }));
      this.keys = others ?? this.queries;
    }
    rove(this.queries, query);
    this.hand.take(this.data.edit, queries, isNew);
    return isNew;
  }

  /** The word whose arcs are drawn, the head that they are of, and what it takes there. @returns {Highlighted} */
  get highlighted() {
    const [head, query] = this.rows.opening ?? [this.data.head, this.data.query];
    const { row = null, head: otherHead, shares } = this.received ?? {};
    const other = this.index(row);
    if (other !== null && shares?.length === this.keys.length) return { query: other, head: otherHead, row: shares };
    const at = this.pointed ?? other ?? query;
    return { query: at, head, row: [...this.rows.weights.subarray(at * this.keys.length, (at + 1) * this.keys.length)] };
  }

  /** Other weights follow from what is held in the maps, or none do any more. @param {HeldNumbers | null} held */
  onHeld(held) {
    if (!held && this.rows === this.sent && !this.isUnknown) return;
    const rows = held && heldRows(held, this.data);
    this.rows = rows ?? this.sent;
    this.isUnknown = !rows && held?.other !== undefined;
    this.draw();
  }

  draw() {
    if (!this.queries.length) return;
    const { highlighted } = this;
    this.box.toggleAttribute("data-unknown", this.isUnknown);
    this.queries.forEach((button, at) => {
      button.toggleAttribute("data-highlighted", at === highlighted.query);
      button.setAttribute("aria-pressed", String(this.data.chosen && at === this.data.query));
    });
    const strong = ranked(highlighted.row).filter(([weight]) => weight >= NAMED);
    const named = new Set(strong.slice(0, MOST_NAMED).map(([, key]) => key));
    const areShares = this.rows.kinds[highlighted.query] === "shares";
    this.keys.forEach((word, key) => this.tint(word, highlighted.row[key] ?? NaN, areShares && named.has(key)));
    this.line.fit();
    const arcs = arcsOf(this.queries[highlighted.query], this.keys, highlighted.row, this.words);
    if (!areSame(arcs, this.arcs.childNodes)) this.arcs.replaceChildren(...arcs); // a run brings most of them again
    this.describe(highlighted);
  }

  /** Draw it anew in other room, or in other letters. */
  redraw() {
    this.said = "";
    this.draw();
  }

  /** @param {HTMLElement} word @param {number} weight @param {boolean} named */
  tint(word, weight, named) {
    const shown = named ? percent(weight) : undefined;
    if (shown === undefined) delete word.dataset.share;
    else if (shown !== word.dataset.share) word.dataset.share = shown;
    const share = Number.isFinite(weight) ? Math.min(Math.max(weight, 0), 1) : 0;
    word.style.background = share >= LEAST ? `color-mix(in srgb, var(--accent) ${Math.round(4 + 32 * share)}%, transparent)` : "";
  }

  /** What the word takes most from, in one line. @param {Highlighted} highlighted */
  describe(highlighted) {
    const { heads, made, shows, edit } = this.data, { roles } = this.rows, head = highlighted.head ?? 0, { isHeld } = this.hand;
    const name = isHeld && edit ? edit.said.keeps : shows, from = [heads[head], roles?.[head], made].filter(Boolean).join(" · ");
    const pieces = isHeld ? this.hand.said() : piecesOf(this.data, this.rows.kinds, highlighted);
    const said = JSON.stringify([name, pieces, from]);
    if (said === this.said) return;
    this.said = said;
    this.shows.textContent = name;
    if (typeof pieces === "string") return this.reading.replaceChildren(pieces);
    fitWords(this.reading, written(this.reading, pieces));
    this.from.textContent = from;
  }

  /** @param {number | null} query */
  point(query) {
    if (query === this.pointed) return;
    this.pointed = query;
    this.received = null;
    this.draw();
    this.isSendingRow = true;
    window.dispatchEvent(new CustomEvent(ROW, { detail: { row: this.position(query), head: this.data.head } }));
    this.isSendingRow = false;
  }

  /** @param {Row | null} detail */
  onRow(detail) {
    if (this.isSendingRow) return;
    const at = this.index(detail?.row ?? null);
    this.received = at !== null && this.queries[at] ? detail : null;
    this.pointed = null;
    this.draw();
    this.line.follow(this.received && this.queries[this.highlighted.query]);
  }

  /** A press chooses a word; one of a mouse on a word that a second press would replace waits for that. @param {number} query @param {MouseEvent} event */
  click(query, event) {
    clearTimeout(this.clicked);
    if (event instanceof PointerEvent && event.pointerType === "mouse" && this.data.edit) this.clicked = setTimeout(() => this.hand.isHeld || this.choose(query), SECOND);
    else this.choose(query);
  }

  /** @param {number} query */
  choose(query) {
    const row = this.position(query) ?? query;
    const detail = { stage: null, axes: [], head: null, row, column: null };
    this.box.dispatchEvent(new CustomEvent("attnviz:pick", { detail, bubbles: true }));
    this.onSelect(row);
  }

  /** The position of a query among all, of which only some may be shown. @param {number | null} query */
  position(query) {
    return query === null ? null : (this.data.positions?.[0][query] ?? query);
  }

  /** The index among the queries that are shown of a position among all; null if it is not shown. @param {number | null} row */
  index(row) {
    if (row === null || !Number.isInteger(row)) return null;
    const at = this.data.positions ? this.data.positions[0].indexOf(row) : row;
    return at < 0 ? null : at;
  }

  /** @param {KeyboardEvent} event @param {number} at */
  onKeydown(event, at) {
    if (this.hand.onKeydown(event, at)) return;
    /** @type {Partial<Record<string, number>>} */
    const targets = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: this.queries.length - 1 };
    const to = targets[alongReading(event.key, this.line.box.dir)];
    if (at < 0 || to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    const next = Math.min(Math.max(to, 0), this.queries.length - 1);
    rove(this.queries, next);
    this.queries[next].focus();
  }

  close() {
    this.stop.abort();
    clearTimeout(this.clicked);
    this.resizer.disconnect();
    if (this.frame !== undefined) cancelAnimationFrame(this.frame);
    this.box.remove();
  }
}

/** @param {Component<Uint8Array, Reported & { edited: string }, { attnSentence?: OpeningSentence }, HTMLElement>} component */
export default function ({ parentElement, data, setTriggerValue }) {
  const end = data.indexOf(0);
  /** @type {OpeningData} */
  const message = JSON.parse(new TextDecoder().decode(data.subarray(0, end)));
  const weights = new Float64Array(data.slice(end + 1).buffer);
  const sentence = (parentElement.attnSentence ??= new OpeningSentence(parentElement, message));
  /** @type {Pick<OpeningSentence, "onSelect" | "onEdit">} */
  const page = { onSelect: (query) => setTriggerValue("event", { kind: "word", query }), onEdit: (text) => setTriggerValue("edited", text) };
  sentence.once.draw(message.there, () => sentence.update(message, weights, page));
  return () => {
    sentence.close();
    delete parentElement.attnSentence;
  };
}
