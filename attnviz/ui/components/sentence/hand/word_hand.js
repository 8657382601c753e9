// A word of the sentence under the hand: dragged to another place or off its line, replaced where it stands, left out.
// The maps follow what the sentence would be as they follow the field in which it is typed.

/** @import { EditedWord, Editable, EditableSent, SentenceLine } from "../types" */
/** @import { Middle } from "./positions.js" */
import { alongReading, make, within } from "../words.js";
import { moved, replaced, saidOf, textOf, wordsOf } from "./edited_words.js";
import { middlesOf, positionOf } from "./positions.js";
import { WordField } from "./word_field.js";

const FIELD_EVENT = "attnviz:field"; // detail: the key of a field, what it would say, and whether that is held
const DRAGGED_FROM = 5; // pixels from which a press is a drag
const LONG = 350; // milliseconds until a finger holds what it presses
const SHAKES = 8; // pixels that it may move meanwhile
const OFF = 22; // pixels above or below the line from which a word is left out
const EDGE = 28; // pixels at either end of the line in which it is scrolled
const SCROLLS = 12;

export class WordHand {
  /** @type {Editable | null} */
  data = null;
  /** @type {number | null} */
  held = null; // the word, among those of the sentence
  /** @type {EditedWord[]} */
  now = []; // the sentence as it would be
  isOff = false; // whether the word is off the line
  isByKeys = false;
  /** @type {{ word: number, x: number, y: number, id: number, middles: Middle[], hasMoved: boolean } | null} */
  pressed = null;
  /** @type {HTMLElement | null} */
  ghost = null;
  /** @type {WordField | null} */
  field = null; // in which it is replaced
  swallows = false; // whether the click that comes next is that of letting go
  /** @type {number | null} */
  awaits = null; // the word that is to have the focus once the sentence is the new one
  timer = 0;

  /** @param {SentenceLine} owner @param {AbortSignal} signal */
  constructor(owner, signal) {
    this.owner = owner;
    const { words } = owner;
    words.addEventListener("pointerdown", (event) => this.press(event));
    words.addEventListener("dblclick", (event) => this.open(this.wordAt(event)));
    words.addEventListener("touchmove", (event) => this.held !== null && event.preventDefault(), { passive: false });
    words.addEventListener("contextmenu", (event) => (this.pressed || this.held !== null) && event.preventDefault());
    words.addEventListener("click", (event) => this.swallow(event), { capture: true });
    words.addEventListener("focusout", () => this.isByKeys && this.keep());
    document.addEventListener("selectstart", (event) => this.pressed && event.preventDefault(), { signal });
    window.addEventListener("pointermove", (event) => this.move(event), { signal });
    window.addEventListener("pointerup", () => this.release(), { signal });
    window.addEventListener("pointercancel", () => this.pressed && this.leave(), { signal });
    window.addEventListener("keydown", (event) => this.escape(event), { signal, capture: true });
  }

  get isHeld() {
    return this.held !== null;
  }

  /** The words of a sentence have come, which are other buttons where `isNew`. @param {EditableSent | null} sent @param {string[]} tokens @param {boolean} isNew */
  take(sent, tokens, isNew) {
    if (isNew && this.isHeld) this.end();
    const data = sent && wordsOf(sent, tokens);
    if (!this.isHeld) this.data = data;
    const { queries, words } = this.owner, at = this.awaits;
    if (!this.isHeld) this.arrange();
    queries.forEach((button, query) => button.toggleAttribute("data-holds", this.wordOf(query) !== null));
    if (!isNew) return;
    this.awaits = null;
    if (at === null || !data) return;
    const first = data.of.findIndex((word) => word === Math.min(at, data.words.length - 1));
    if (first >= 0 && (document.activeElement === document.body || words.contains(document.activeElement))) queries[first].focus({ preventScroll: true });
  }

  /** The word of a query; null where it is of none. @param {number} query */
  wordOf(query) {
    return this.data?.of[query] ?? null;
  }

  /** @param {Event} event */
  wordAt(event) {
    return this.wordOf(within(this.owner.queries, event));
  }

  /** @param {PointerEvent} event */
  press(event) {
    const word = event.button === 0 && event.isPrimary ? this.wordAt(event) : null;
    this.swallows = false;
    if (word === null || !this.data || this.field) return;
    const { clientX: x, clientY: y, pointerId: id } = event, middles = middlesOf(this.owner.words, this.owner.queries, this.data.of, word);
    this.pressed = { word, x, y, id, middles, hasMoved: false };
    if (event.pointerType === "touch") this.timer = window.setTimeout(() => this.hold(), LONG);
  }

  /** @param {PointerEvent} event */
  move(event) {
    const { pressed } = this;
    if (!pressed || event.pointerId !== pressed.id) return;
    const far = Math.hypot(event.clientX - pressed.x, event.clientY - pressed.y);
    if (!this.isHeld && event.pointerType === "touch") {
      if (far > SHAKES) this.end(); // the line is moved
      return;
    }
    if (!this.isHeld && far >= DRAGGED_FROM) this.hold();
    pressed.hasMoved ||= far > SHAKES || event.pointerType !== "touch";
    if (this.isHeld) this.drag(event.clientX, event.clientY);
  }

  /** The word that is pressed is held from now on. */
  hold() {
    if (!this.pressed || !this.data) return;
    const { word, x, y, id } = this.pressed;
    this.owner.words.setPointerCapture(id); // nothing else is pointed at
    this.begin(word);
    this.ghost = make(this.owner.box, "div", "at-ghost", this.data.words[word].text);
    this.float(x, y);
  }

  /** @param {number} word */
  begin(word) {
    Object.assign(this, { held: word, now: this.data?.words ?? [], isOff: false });
    this.owner.box.toggleAttribute("data-held", true);
    this.arrange();
    this.owner.draw();
  }

  /** @param {number} x @param {number} y */
  drag(x, y) {
    const { pressed, data, held } = this, { line, words } = this.owner;
    if (!pressed || !data || held === null) return;
    this.float(x, y);
    const box = line.box.getBoundingClientRect();
    line.box.scrollLeft += x < box.left + EDGE ? -SCROLLS : x > box.right - EDGE ? SCROLLS : 0;
    const isOff = data.words.length > 1 && (y < box.top - OFF || y > box.bottom + OFF);
    if (isOff) return this.set(data.words.filter((_, at) => at !== held), true);
    const to = positionOf(pressed.middles, held, x - words.getBoundingClientRect().left, line.box.dir === "rtl");
    this.set(moved(data.words, held, to), false);
  }

  /** The sentence would be another one. @param {EditedWord[]} now @param {boolean} isOff */
  set(now, isOff) {
    if (isOff === this.isOff && now.length === this.now.length && now.every((word, at) => word === this.now[at])) return;
    Object.assign(this, { now, isOff });
    this.arrange();
    this.report(this.text, true);
    this.owner.draw();
  }

  get text() {
    return textOf(this.now, this.data?.words ?? []);
  }

  /** Tell the maps what the sentence would be; null: what it is. @param {string | null} text @param {boolean} isHeld */
  report(text, isHeld) {
    window.dispatchEvent(new CustomEvent(FIELD_EVENT, { detail: { key: "sentence", text, isHeld } }));
  }

  /** Set the buttons in the order of the words. */
  arrange() {
    const { now, data, held, isOff, owner } = this, first = data?.of.findIndex((word) => word !== null) ?? 0;
    owner.queries.forEach((button, query) => {
      const word = this.wordOf(query);
      const order = held === null || isOff || !data ? 0 : word === null ? (query < first ? -1 : now.length) : now.indexOf(data.words[word]);
      button.style.order = this.field ? "" : String(order || "");
      button.toggleAttribute("data-moves", held !== null && word === held);
      button.toggleAttribute("data-off", held !== null && word === held && isOff);
    });
  }

  /** The word goes along with the pointer. @param {number} x @param {number} y */
  float(x, y) {
    const { ghost, owner } = this, { left, top } = owner.box.getBoundingClientRect();
    if (ghost) Object.assign(ghost.style, { left: `${x - left}px`, top: `${y - top}px` });
    ghost?.toggleAttribute("data-off", this.isOff);
  }

  release() {
    clearTimeout(this.timer);
    const { pressed, held } = this;
    this.pressed = null;
    if (!pressed || held === null) return;
    this.swallows = true;
    if (pressed.hasMoved) return this.keep();
    this.leave(); // a long press
    this.open(held);
  }

  keep() {
    const { held, data, text, now } = this;
    if (held === null || !data) return;
    if (!text.trim() || text === textOf(data.words, data.words)) return this.leave();
    const at = this.field ? -1 : now.indexOf(data.words[held]);
    this.awaits = this.isByKeys || this.field ? (at < 0 ? held : at) : null;
    this.end();
    this.report(text, false);
    this.owner.onEdit(text);
  }

  /** Take it back. */
  leave() {
    const { held, field } = this;
    this.swallows = held !== null && this.pressed !== null;
    this.end();
    if (held === null) return;
    this.report(null, false);
    this.arrange();
    this.owner.draw();
    const query = this.data?.of.indexOf(held) ?? -1;
    if (field && query >= 0) this.owner.queries[query].focus({ preventScroll: true });
  }

  end() {
    clearTimeout(this.timer);
    const { field } = this;
    Object.assign(this, { held: null, pressed: null, field: null, isByKeys: false, isOff: false });
    this.owner.box.removeAttribute("data-held");
    this.ghost?.remove();
    field?.close();
  }

  /** Escape takes back what is held. @param {KeyboardEvent} event */
  escape(event) {
    if (event.key !== "Escape" || !this.isHeld) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    this.leave();
  }

  /** No click follows a drag, and the second click of two is for the field. @param {MouseEvent} event */
  swallow(event) {
    if (!this.swallows && !(event.detail > 1 && this.wordAt(event) !== null)) return;
    this.swallows = false;
    event.stopImmediatePropagation();
  }

  /** A key that is pressed on a word; return whether it was for the hand. @param {KeyboardEvent} event @param {number} query */
  onKeydown(event, query) {
    const word = this.wordOf(query), { data } = this;
    if (word === null || !data || event.ctrlKey || event.metaKey) return false;
    const by = { ArrowLeft: -1, ArrowRight: 1 }[alongReading(event.key, this.owner.line.box.dir)] ?? 0;
    if (event.altKey && by) this.shift(word, by);
    else if (event.altKey) return false;
    else if (event.key === "Enter" && this.isHeld) this.keep();
    else if (event.key === "F2") this.open(word);
    else if (event.key === "Delete" || event.key === "Backspace") this.drop(word);
    else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  }

  /** @param {number} word @param {number} by */
  shift(word, by) {
    const { data } = this;
    if (!data) return;
    if (!this.isHeld) this.begin(word);
    this.isByKeys = true;
    const at = this.now.indexOf(data.words[word]), to = Math.min(Math.max(at + by, 0), data.words.length - 1);
    this.set(moved(data.words, word, to), false);
  }

  /** @param {number} word */
  drop(word) {
    const { data } = this;
    if (!data || data.words.length < 2) return;
    this.begin(word);
    this.isByKeys = true;
    this.set(data.words.filter((_, at) => at !== word), true);
    this.keep();
  }

  /** Open a field on a word, in which it is replaced. @param {number | null} word */
  open(word) {
    const { data, owner } = this;
    if (word === null || !data || this.field) return;
    if (this.isHeld) this.leave();
    const button = owner.queries[data.of.indexOf(word)], { text } = data.words[word];
    const field = (this.field = new WordField(owner.box, button, text));
    field.listen({ typed: (typed) => this.type(word, typed), kept: () => this.field === field && this.keep() });
    this.begin(word);
    field.open(saidOf(data, word, "…", 0));
  }

  /** @param {number} word @param {string} text */
  type(word, text) {
    const { data } = this;
    if (!data) return;
    const other = replaced(data.words[word], text);
    this.set(text ? data.words.map((each, at) => (at === word ? other : each)) : data.words.filter((_, at) => at !== word), !text);
  }

  /** What is held, in words. */
  said() {
    const { data, held, now, isOff, field } = this;
    if (!data || held === null) return "";
    return saidOf(data, held, isOff ? null : field ? field.text : now.indexOf(data.words[held]) + 1, now.length);
  }
}
