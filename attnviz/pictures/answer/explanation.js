// The answer to a cell, to a row or to an entry of an output, from the arrays of a stage: what `explanation.py` makes.

/** @import { Answer, AnswerLine, Change, ChosenCells, SumOfTerms } from "./types" */
import { Cells } from "./cell_numbers.js";
import { saidOfCell } from "./cell_sentence.js";
import { columnsOf, outputCells, sharesOf, termsOf } from "./explanation_parts.js";
import { Numerals, fill, short, sumOf } from "./numerals.js";

const ONE = 1e-5; // how far the sum of shares may be from one

/**
 * Explain a cell, or, without its key, an entry of the output of its query, or its row; without its query, its column.
 *
 * @param {Cells} cells
 * @param {ChosenCells} chosen
 * @returns {Answer}
 */
export function explanation(cells, { head, query, key, dimension = null }) {
  if (query === null) return ofColumn(cells, head, key ?? 0);
  const { titles } = cells.facts.words;
  const visible = cells.facts.visible;
  const explained = new Explanation(cells, head, query, key ?? mostTelling(cells.weightsOf(head, query)));
  const title = [["query", visible.query[query]]];
  let lines, sentence;
  if (key !== null) {
    lines = explained.ofCell();
    sentence = explained.comes();
    title.push(["soft", titles[cells.may(head, query, key) ? "attends" : "ignores"]], ["key", visible.key[key]]);
  } else if (dimension !== null && dimension < cells.facts.d_v[head] && cells.has("values")) {
    lines = explained.ofOutput(dimension);
    sentence = fill(titles.output, { n: dimension + 1, query: visible.query[query] });
    title.push(["key", fill(titles.entry, { n: dimension + 1 })]);
  } else {
    lines = explained.ofRow();
    sentence = fill(titles.row, { query: visible.query[query] });
  }
  const said = fill(titles.head, { n: head + 1, said: sentence });
  const entry = key === null && dimension !== null && dimension < cells.facts.d_v[head] && cells.has("values") ? dimension : null;
  return { title: /** @type {[string, string][]} */ (title), sentence: said, head, query, key, dimension: entry, lines };
}

/** The weights on a word, the largest first: of each row one, which add up to nothing. @param {Cells} cells @param {number} h @param {number} j @returns {Answer} */
function ofColumn(cells, h, j) {
  const { words, visible: { query: names, key } } = cells.facts, { titles } = words, numerals = new Numerals(words.has_comma, words.percent);
  const values = names.map((_, i) => cells.at("weights", h, i, j)), isShare = names.every((_, i) => cells.areShares(h, i));
  const write = (/** @type {number} */ weight) => (isShare ? numerals.percent(weight) : numerals.number(weight));
  const terms = termsOf({ cells, numerals, h, i: 0 }, { left: null, right: null, values, total: 0 }, "query", {}, names, write);
  for (const fold of terms.folds) {
    fold.shown.sort((one, other) => (values[other] || 0) - (values[one] || 0) || one - other);
    Object.assign(fold, { value: null, rest: "" });
  }
  const sentence = fill(titles.head, { n: h + 1, said: fill(titles.column, { key: key[j] }) });
  const title = /** @type {[string, string][]} */ ([["key", key[j]], ["soft", titles.attended]]);
  return { title, sentence, head: h, query: null, key: j, dimension: null, lines: [lineOf("share", titles.column_weights, "", { terms })] };
}

/** The key that a query takes most from. @param {number[]} weights */
function mostTelling(weights) {
  const finite = weights.map((weight) => (Number.isNaN(weight) ? -1 : Number.isFinite(weight) ? weight : 0));
  return finite.indexOf(Math.max(...finite));
}

/** @param {string} name @param {string} title @param {string} [value] @param {Partial<AnswerLine>} [pictures] @returns {AnswerLine} */
const lineOf = (name, title, value = "", pictures = {}) => ({ name, title, value, note: "", ...pictures });

class Explanation {
  /** @param {Cells} cells @param {number} h @param {number} i @param {number} j */
  constructor(cells, h, i, j) {
    this.cells = cells;
    this.h = h;
    this.i = i;
    this.j = j;
    this.words = cells.facts.words;
    this.numerals = new Numerals(this.words.has_comma, this.words.percent);
    this.at = cells.overKeys ? j : i;
    this.weight = cells.at("weights", h, i, j);
    this.areShares = cells.areShares(h, i);
    this.changes = cells.changes(h, i, j);
  }

  /** A weight as text, in percent where the weights of the row are shares. @param {number} weight */
  amount(weight) {
    return this.areShares ? this.numerals.percent(weight) : this.numerals.number(weight);
  }

  comes() {
    const { cells, words, numerals } = this;
    if (!cells.may(this.h, this.i, this.j) || !this.areShares) return saidOfCell(cells, numerals, this.h, this.i, this.j);
    return fill(words.titles.comes, { amount: numerals.percent(this.weight) });
  }

  /** @returns {AnswerLine[]} */
  ofCell() {
    const { cells, words, h, i, j } = this;
    const terms = cells.terms(h, i, j);
    const lines = terms ? [this.matchLine(terms)] : [];
    lines.push(this.scoreLine(Boolean(terms?.isScore)), this.shareLine());
    if (!cells.may(h, i, j) || !cells.has("values")) return lines;
    const value = cells.values(h, i)[j];
    const added = { left: value.map(() => this.weight), right: value, values: value.map((v) => this.weight * v), total: 0 };
    const title = fill(words.titles.value, { key: cells.facts.visible.key[j] });
    const pictures = { terms: termsOf(this, added, "d_v", { whole: value }), cells: outputCells(this, null) };
    return [...lines, lineOf("value", title, words.titles.adds, pictures)];
  }

  /** @param {SumOfTerms} terms */
  matchLine(terms) {
    const { brief, sign } = this.cells.facts.score.match ?? { brief: "", sign: "" };
    const value = this.numerals.writer(terms.values)(terms.total), note = terms.isScore ? this.byHand() : "";
    return lineOf("match", brief || this.words.typed_match, value, { note, terms: termsOf(this, terms, "d_k", { sign: sign || "×" }) });
  }

  /** What the score would be, where a person has set it; empty where none has. */
  byHand() {
    const computed = this.cells.computedScore(this.h, this.i, this.j);
    return computed === null ? "" : fill(this.words.notes.score_by_hand, { computed: this.numerals.number(computed) });
  }

  /** The way from the sum to what enters the normaliser, and how that stands among the others. @param {boolean} isSaid  whether the sum is the score */
  scoreLine(isSaid) {
    const { cells, words, changes, h, i, j } = this;
    const steps = [this.scoreStep(isSaid), ...changes.map((change) => this.changed(change))].filter(Boolean);
    const byWidth = steps.length === 1 && changes.length === 1 && this.isByWidth(changes[0]);
    const title = byWidth ? fill(words.titles.width, { d: cells.facts.d_k[h] }) : words.titles[this.after()];
    const enters = changes.at(-1)?.made ?? cells.at("scores", h, i, j);
    const columns = columnsOf(this, cells.maskedLine(h, i, j), this.at, cells.overKeys);
    return { ...lineOf("score", title, this.numerals.number(enters)), note: byWidth ? "" : steps.join(" · "), columns };
  }

  /** What a score is called after all that is done to it. */
  after() {
    const names = this.changes.map(({ name }) => name);
    return names.some((name) => name !== "scale") ? "adjusted" : names.length ? "scaled" : "score";
  }

  /** The step from what is added up to the score; empty where it is the same. @param {boolean} isSaid */
  scoreStep(isSaid) {
    const { last, text } = this.cells.facts.score, byHand = this.byHand();
    if (byHand) return isSaid ? "" : byHand;
    const made = this.numerals.number(this.cells.at("scores", this.h, this.i, this.j));
    if (!last) return fill(this.words.notes.formula, { formula: text, made });
    if (!last.brief) return "";
    const { named } = this.cells.scoreLines(this.h, this.i, this.j);
    if (isDividedByZero(last.divisors, named)) return "";
    return fill(last.brief, { made, ...this.written(last.numbers, named) });
  }

  /** Numbers as text, by their names. @param {string[]} names @param {Record<string, unknown>} named */
  written(names, named) {
    return Object.fromEntries(names.map((name) => [name, this.numerals.number(Number(named[name]))]));
  }

  /** @param {Change} change */
  changed(change) {
    const { numerals, words, cells } = this;
    const made = numerals.number(change.made);
    if (this.isByWidth(change)) return fill(words.notes.width, { by: cells.facts.d_k[this.h], made });
    const added = change.by >= 0 ? `+ ${numerals.number(change.by)}` : numerals.number(change.by);
    const by = change.name === "bias" ? added : numerals.localised(short(change.by));
    return fill(words.notes[change.name], { by, made });
  }

  /** Whether the score is divided by the root of the width. @param {Change} change */
  isByWidth({ name }) {
    return name === "scale" && this.cells.facts.by_width;
  }

  shareLine() {
    const { cells, words, numerals, areShares, h, i, j } = this;
    const weights = cells.weightLine(h, i, j);
    const isColumn = !cells.overKeys && Math.abs(sumOf(weights) - 1) < ONE;
    const title = words.titles[areShares ? "share_of_row" : isColumn ? "share_of_column" : "weight"];
    const value = areShares || isColumn ? numerals.percent(this.weight) : numerals.number(this.weight);
    return { ...lineOf("share", title, value, { shares: sharesOf(this, weights, this.at, cells.overKeys) }), note: this.reason() };
  }

  /** Explain the weight by its score, with the numbers of its lines. */
  reason() {
    const { cells, words, numerals, h, i, j } = this;
    const { normaliser } = cells.facts;
    if (!cells.may(h, i, j)) return "";
    const line = words.line[cells.overKeys ? "keys" : "queries"];
    const said = (/** @type {string} */ sentence) => numerals.localised(fill(sentence, { line }));
    if (cells.maskedLine(h, i, j).every((x) => x === -Infinity)) return said(words.weight.emptied);
    const computed = cells.computedWeight(h, i, j);
    if (computed !== null) return fill(words.notes.by_hand, { computed: numerals.number(computed) });
    const found = cells.reason(h, i, j);
    if (!found) return normaliser.text || said(words.weight.weight_of_formula);
    const { above, winners, named } = found;
    if (above) {
      const [u, threshold] = [numerals.number(above.u), numerals.factor(above.threshold)];
      return fill(words.notes[above.isSquared ? "squared" : "above"], { u, threshold });
    }
    if (winners && this.weight > 0) {
      const share = words.notes[cells.overKeys ? "row" : "column"];
      return fill(words.notes.winner, { line: share, n: winners });
    }
    if (winners) return said(normaliser.sentences.loser);
    const { last } = normaliser;
    if (last?.brief && !isDividedByZero(last.divisors, named)) {
      const share = words.notes[cells.overKeys ? "row" : "column"];
      return fill(last.brief, { line: share, exponent: this.exponent(named), ...this.written(last.numbers, named) });
    }
    return normaliser.text || said(last?.zero || normaliser.sentences.weight);
  }

  /** What stands in the exponent of a weight; nothing where no exponential is taken. @param {Record<string, number>} named */
  exponent(named) {
    const { numerals } = this;
    const operands = this.cells.facts.normaliser.exponent;
    if (!operands.length) return "";
    const [s, m, T] = ["s", "m", "T"].map((name) => (operands.includes(name) ? named[name] : 1));
    const apart = `${numerals.number(s)} − ${numerals.factor(m)}`;
    return T === 1 ? apart : `(${apart}) ÷ ${numerals.localised(short(T))}`;
  }

  /** @returns {AnswerLine[]} */
  ofRow() {
    const { cells, words, h, i } = this;
    const hasValues = cells.has("values");
    const scored = lineOf("score", words.titles[`row_${this.after()}`], "", { columns: columnsOf(this, cells.maskedRow(h, i), null, true) });
    if (!hasValues) return cells.overKeys ? [this.rowShares(true)] : [];
    const mixed = lineOf("value", words.titles.row_values, "z", { cells: outputCells(this, null) });
    return [scored, this.rowShares(true), mixed];
  }

  /** The weights of a query: one bar, and the largest of them by name. @param {boolean} isNamed */
  rowShares(isNamed) {
    const { cells, words } = this;
    const weights = cells.weightsOf(this.h, this.i);
    const title = words.titles[this.areShares ? "row_shares" : "row_weights"];
    const line = lineOf("share", title, this.areShares ? fill(words.percent.share, { n: 100 }) : "", { shares: sharesOf(this, weights, null, true) });
    if (!isNamed) return line;
    const write = (/** @type {number} */ weight) => this.amount(weight);
    const terms = termsOf(this, { left: null, right: null, values: weights, total: 0 }, "key", {}, cells.facts.visible.key, write);
    return { ...line, terms };
  }

  /** @param {number} dimension @returns {AnswerLine[]} */
  ofOutput(dimension) {
    const { cells, words, h, i } = this;
    const weights = cells.weightsOf(h, i), v = cells.values(h, i).map((each) => each[dimension]);
    const sum = { left: weights, right: v, values: v.map((x, j) => weights[j] * x), total: cells.output(h, i)[dimension] };
    const title = fill(words.titles.entries, { n: dimension + 1 });
    const terms = termsOf(this, sum, "key", {}, cells.facts.visible.key);
    const total = this.numerals.writer(sum.values)(sum.total);
    const added = lineOf("sum", words.titles.sum, total, { cells: outputCells(this, dimension) });
    return [this.rowShares(false), lineOf("value", title, "", { terms }), added];
  }
}

/** @param {string[]} names @param {Record<string, unknown>} named */
const isDividedByZero = (names, named) => names.length > 0 && names.reduce((product, name) => product * Number(named[name]), 1) === 0;
