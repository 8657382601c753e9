// The answer that is shown: at once what the browser makes of the arrays that it has, and then what Python sends.

/** @import { HeldNumbers } from "../../types" */
/** @import { Answer, AnswerData, Chosen, Picked } from "./types" */
import { Cells } from "../../../pictures/answer/cell_numbers.js";
import { explanation } from "../../../pictures/answer/explanation.js";
import { Numerals, fill } from "../../../pictures/answer/numerals.js";
import { followHeld } from "../held_numbers.js";
import { heldStage } from "./held_cells.js";
import { signOf } from "../signs.js";

const CELLS = "attnviz:cells"; // the arrays of another setting have come
const PICK = "attnviz:pick"; // something was picked in the maps or in the sentence
const AREA = ".st-key-stage"; // where a pick is one for the answer
const DECIMALS = 9; // of the length of a bar: what is written is compared as it is

/** What an answer is about. @param {Answer | null} answer */
const subject = (answer) => (answer ? JSON.stringify([answer.title, answer.head, answer.query, answer.key]) : "");

/** The same text for what looks the same: in whatever order it was written, and its sums were added up. @param {unknown} value */
const canonical = (value) =>
  JSON.stringify(value, (_, each) => {
    if (typeof each === "number") return Number(each.toFixed(DECIMALS));
    return isRecord(each) ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1))) : each;
  });

/** @param {unknown} value @returns {value is object} */
const isRecord = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

export class Answers {
  /** @type {AnswerData | undefined} */
  data;
  /** @type {Cells | null} */
  cells = null;
  /** @type {string[]} */
  pending = []; // subjects of answers that were made here and that Python has not sent yet
  /** @type {string | undefined} */
  received; // the subject of what Python sent last
  /** @type {Answer | null} */
  numbered = null; // the one to a number that Python sent last, which it does not send again
  /** @type {Answer | null} */
  before = null; // what was shown before something was held in the maps
  /** @type {number | null | undefined} */
  former; // the head that was chosen before a pick here opened the answer
  isAside = false; // whether it is not true any more, and no line says what is

  /** @param {() => void} changed  called when there is another answer @param {AbortSignal} signal */
  constructor(changed, signal) {
    this.changed = changed;
    window.addEventListener(CELLS, () => this.onCells(), { signal });
    window.addEventListener(PICK, (event) => this.onPick(event), { signal });
    followHeld((held, isConfirmed) => this.onHeld(held, isConfirmed), signal);
    this.know();
  }

  onCells() {
    if (!this.data?.answer?.number) this.numbered = null; // it was of another setting
    this.know();
    this.changed();
  }

  know() {
    const known = window.attnvizCells;
    this.cells = known ? new Cells(known.stage, known.functions) : null;
  }

  /** Adopt what Python sends; the answer in it only if none is on its way that was chosen later. @param {AnswerData} data */
  adopt(data) {
    const sent = subject(data.answer);
    const echo = this.pending.indexOf(sent);
    if (echo >= 0) this.pending.splice(0, echo + 1);
    else if (sent !== this.received) this.pending = [];
    this.received = sent;
    if (data.answer?.number) this.numbered = data.answer;
    this.before = null;
    this.isAside = false;
    const waits = this.pending.length && this.data;
    this.data = waits ? { ...data, answer: waits.answer, chosen: waits.chosen, play: false } : data;
    if (!this.data.answer) this.former = undefined;
  }

  /** The answer follows what is held in the maps, or is set aside. @param {HeldNumbers | null} held @param {boolean} isConfirmed */
  onHeld(held, isConfirmed) {
    const { answer } = this.data ?? {}, known = window.attnvizCells;
    if (held && answer) {
      this.before ??= answer;
      const stage = known && !answer.number ? heldStage(known.stage, held) : null;
      this.isAside = !stage;
      this.cells = known && stage ? new Cells(stage, known.functions) : null;
      if (this.cells) this.explain(answer);
      this.changed();
    } else if (!held && !isConfirmed && this.before) this.putBack(); // one that is confirmed comes with its numbers
  }

  /** Explain what is explained by the numbers as they are now. @param {Answer} answer */
  explain({ head, query, key, dimension, plays, motion }) {
    if (!this.data || !this.cells) return;
    const now = explanation(this.cells, { head, query, key, dimension });
    this.data = { ...this.data, answer: { ...now, plays: Boolean(plays || motion) } };
  }

  /** What was held has been taken back. */
  putBack() {
    const { before, data } = this;
    this.know();
    if (before && data) this.data = { ...data, answer: before };
    Object.assign(this, { before: null, isAside: false });
    this.changed();
  }

  /** The head that is chosen again once the answer is closed. */
  get headBefore() {
    return this.former === undefined ? (this.data?.chosen.head ?? null) : this.former;
  }

  /** What the answer looks like, be it made here or sent: what is played of it may come later. @param {object} setting */
  appearance(setting) {
    if (!this.data?.answer) return "";
    const { words, scales, chips, answer } = this.data;
    const plays = Boolean(answer.motion || answer.plays);
    return canonical([setting, words, scales, chips, this.said, this.heads, { ...answer, motion: null, has_products: null, plays }]);
  }

  /** The answer as a screen reader says it. */
  get spoken() {
    const { title = [], sentence = "", beside = "", lines = [] } = this.data?.answer ?? {};
    const name = title.map(([, text]) => text).join(" ");
    const said = lines.map((line) => [line.title, line.value].filter(Boolean).join(signOf(": ")));
    return [name, [sentence, beside].filter(Boolean).join(signOf(". ")), ...said].join(signOf(". "));
  }

  /** What stands over the columns of the products: whose numbers they are, where they are those of a query and a key. */
  get heads() {
    const { answer, words } = this.data ?? {}, match = this.cells?.facts.score.match;
    const isKnown = match?.left === "q" && match.right === "k" && match.sign === "×";
    if (!answer || !words || answer.query === null || answer.key === null) return null;
    if (!(answer.has_products ?? (isKnown && this.fits(answer)))) return null;
    const [query, key] = ["query", "key"].map((side) => answer.title.find(([name]) => name === side)?.[1]);
    return [`q ${query}`, `k ${key}`, words.product];
  }

  /** Whether the arrays that are here are those of an answer: the ones of a new setting come in a message of their own. @param {Answer} answer */
  fits({ head, query, key, lines }) {
    if (!this.cells || query === null || key === null) return false;
    const { d_k, visible } = this.cells.facts;
    const isThere = head < d_k.length && query < visible.query.length && key < visible.key.length;
    return isThere && canonical(explanation(this.cells, { head, query, key }).lines) === canonical(lines);
  }

  /** The answer in words, a sentence each. @returns {string[]} */
  get said() {
    const { answer, words } = this.data ?? {};
    const terms = answer?.lines.find(({ name }) => name === "match")?.terms;
    if (!this.cells || this.cells.header.is_computed) return []; // those numbers come and go while the answer stands there
    if (!answer || !words || !terms || answer.query === null || answer.key === null || !this.heads) return [];
    const sizes = terms.rows.map(([, , , value]) => Math.abs(value ?? 0));
    const at = sizes.indexOf(Math.max(...sizes));
    const said = [fill(words.largest, { n: at + 1, product: terms.rows[at][4] })];
    const weight = this.cells.weightWithoutWidth(answer.head, answer.query, answer.key);
    if (weight === null || !this.cells.areShares(answer.head, answer.query)) return said;
    const { has_comma, percent } = this.cells.facts.words;
    const share = new Numerals(has_comma, percent).percent(weight);
    return [...said, fill(words.without, { d: this.cells.facts.d_k[answer.head], share })];
  }

  /** Show the answer to what was chosen, or none. @param {Chosen | null} chosen @param {number | null} [head]  that stays chosen */
  choose(chosen, head = null) {
    if (!this.data || (chosen && !this.cells)) return;
    /** @type {Answer | null} */
    const answer = chosen && this.cells ? explanation(this.cells, chosen) : null;
    if (answer) answer.plays = answer.query !== null && answer.key !== null && Boolean(this.cells?.may(answer.head, answer.query, answer.key));
    const said = subject(answer), isThere = !this.pending.length && said === this.received; // with how it comes to be, and no run sends it again
    if (!isThere && this.pending.at(-1) !== said) this.pending.push(said); // one run answers a press and the same again
    this.data = { ...this.data, answer: isThere ? (this.before ?? this.data.answer) : answer, chosen: { ...this.data.chosen, head }, play: false };
    this.before = null;
    this.changed();
  }

  /** A press on another key of the answer chooses its cell. @param {number} key */
  chooseKey(key) {
    const answer = this.data?.answer;
    if (answer) this.choose({ head: answer.head, query: answer.query, key }, answer.head);
  }

  /** @param {Event} event */
  onPick(event) {
    const { target } = event;
    if (!(event instanceof CustomEvent) || !(target instanceof Element) || !target.closest(AREA) || !this.data) return;
    if (!this.data.answer) this.former = this.data.chosen.head;
    if (!this.cells) return;
    /** @type {Picked} */
    const picked = event.detail;
    const { head, focus } = this.data.chosen;
    const among = picked.head === null ? null : (focus ?? picked.head);
    if (picked.stage === null) this.pickWord(picked.row);
    else if (picked.row === null) this.pickColumn(picked);
    else if (picked.axes[1] === "key") this.pickCell(among, picked.row, picked.column);
    else if (picked.stage === "heads") this.pickRow(among ?? head, picked.row, picked.column);
    else this.pickNumber(picked);
  }

  /** The word of a column: in the scores and the weights it is a key. @param {Picked} picked */
  pickColumn({ axes, column }) {
    const head = this.data?.chosen.focus ?? this.cells?.openingHead ?? 0;
    if (axes[1] === "key" && column !== null) this.choose({ head, query: null, key: column }, null);
  }

  /** @param {number | null} head @param {number} query @param {number | null} key */
  pickCell(head, query, key) {
    if (head === null || key === null) this.pickRow(null, query, null);
    else this.choose({ head, query, key }, head);
  }

  /** @param {number | null} head @param {number} query @param {number | null} dimension */
  pickRow(head, query, dimension) {
    const described = this.data?.chosen.focus ?? head ?? this.cells?.openingHead ?? 0;
    this.choose({ head: described, query, key: null, dimension }, head);
  }

  /** A number that Python explains: it is shown at once if it was sent last, and no run sends it again. @param {Picked} picked */
  pickNumber({ stage, head, row, column }) {
    const { numbered, data } = this, at = numbered?.number;
    if (!data || !numbered || !at || at.stage !== stage || at.head !== head || at.row !== row || at.column !== column) return;
    this.pending.push(subject(numbered));
    Object.assign(this, { data: { ...data, answer: numbered, play: false }, before: null });
    this.changed();
  }

  /** A word of the sentence; pressed again, it lets go. @param {number | null} query */
  pickWord(query) {
    const answer = this.data?.answer;
    const head = this.data?.chosen.head ?? null;
    if (query === null) return;
    if (answer && answer.query === query && answer.key === null && !answer.number) this.choose(null, head);
    else this.pickRow(head, query, null);
  }
}
