// The numbers of a cell that tell how it came to be, from the arrays of a stage: what `short_derivation.py` takes from
// the full arithmetic. What the run holds is read, and only what lies between is computed.

/** @import { Tree } from "../../live/types" */
/** @import { AnswerFacts, Change, Functions, Reason, StageOfCells, SumOfTerms } from "./types" */
import { OF_ENTRIES } from "../../live/entry.js";
import { help } from "../../live/help.js";
import { largest, sumOf } from "./numerals.js";
import { rowArguments, scoreArguments, sizeOfTerms, thresholdOf, winnersOf } from "./rows.js";

const COMPUTED_NEAR = 1e-6; // how far a weight may be from what its line makes of numbers that were sent, also in single precision
const ADDED_NEAR = 1e-9; // the part of all that is added up by which two orders of adding it may differ

/** @param {number} n */
const upTo = (n) => Array.from({ length: n }, (_, at) => at);

/** What a query sees of a key that it may attend to. @param {Tree} masked @returns {Tree} */
const openly = (masked) => (typeof masked === "object" && masked[0] === "only_where" ? masked[1] : masked);

export class Cells {
  /** @param {StageOfCells} stage @param {Functions} functions */
  constructor({ header, arrays }, functions) {
    this.header = header;
    this.arrays = arrays;
    this.functions = functions;
    this.facts = header.answer;
    this.openingHead = header.head ?? 0; // that is spoken of while none is chosen
    this.n = this.facts.visible.query.length;
    this.m = this.facts.visible.key.length;
    this.overKeys = this.facts.over === "keys";
    this.end = arrays.heads ? largest(arrays.heads.values) : 0;
    this.read = { has: this.has.bind(this), at: this.at.bind(this) };
  }

  /** @param {string} name */
  has(name) {
    return name in this.arrays;
  }

  /** One number of a step. @param {string} name @param {number[]} place */
  at(name, ...place) {
    const { shape, values } = this.arrays[name];
    return values[place.reduce((where, position, axis) => where * shape[axis] + position, 0)];
  }

  /** @param {string} name @param {number} h @param {number} row @param {number} width */
  vector(name, h, row, width) {
    return upTo(width).map((d) => this.at(name, h, row, d));
  }

  /** The head of keys and values that a head uses. @param {number} h */
  group(h) {
    return Math.floor(h / this.facts.group);
  }

  /** A number of a mask, which is one for all heads, or each has its own. @param {string} name @param {number} h @param {number} i @param {number} j */
  ofMask(name, h, i, j) {
    return this.arrays[name].shape.length > 2 ? this.at(name, h, i, j) : this.at(name, i, j);
  }

  /** Whether a query may attend to a key. @param {number} h @param {number} i @param {number} j */
  may(h, i, j) {
    return !this.has("allowed") || Boolean(this.ofMask("allowed", h, i, j));
  }

  /** A score as it is after the bias and the mask. @param {number} h @param {number} i @param {number} j */
  masked(h, i, j) {
    return this.entry("masked", [h, i, j]);
  }

  /**
   * A number of a step from the scores to the normaliser, as the plan of the layer makes it.
   *
   * @param {Tree} tree
   * @param {[head: number, query: number, key: number]} cell
   * @param {Partial<AnswerFacts>} [others]  numbers of the setting in the place of its own
   * @returns {number}
   */
  entry(tree, cell, others = {}) {
    if (typeof tree === "number") return tree;
    if (typeof tree === "string") return this.entryOfStep(tree, cell, others);
    const [operation, ...read] = tree, name = String(read[0]);
    if (operation !== "setting") return OF_ENTRIES[operation](...read.map((each) => this.entry(each, cell, others)));
    const numbers = /** @type {Record<string, number | number[]>} */ (/** @type {unknown} */ (name in others ? others : this.facts));
    return help.each(numbers[name], cell[0]);
  }

  /** @param {string} name @param {[head: number, query: number, key: number]} cell @param {Partial<AnswerFacts>} others @returns {number} */
  entryOfStep(name, cell, others) {
    if (name === "allowed") return Number(this.may(...cell));
    return name in this.facts.plan ? this.entry(this.facts.plan[name], cell, others) : this.at(name, ...cell);
  }

  /** @param {number} h @param {number} i */
  maskedRow(h, i) {
    return upTo(this.m).map((j) => this.masked(h, i, j));
  }

  /** What is normalised together with a cell. @param {number} h @param {number} i @param {number} j */
  maskedLine(h, i, j) {
    return this.overKeys ? this.maskedRow(h, i) : upTo(this.n).map((l) => this.masked(h, l, j));
  }

  /** The weights of a query. @param {number} h @param {number} i */
  weightsOf(h, i) {
    return upTo(this.m).map((j) => this.at("weights", h, i, j));
  }

  /** The weights that were normalised together. @param {number} h @param {number} i @param {number} j */
  weightLine(h, i, j) {
    return this.overKeys ? this.weightsOf(h, i) : upTo(this.n).map((l) => this.at("weights", h, l, j));
  }

  /** Whether the weights of a query are shares of one, as the normaliser promises. @param {number} h @param {number} i */
  areShares(h, i) {
    const row = this.weightsOf(h, i);
    return this.facts.sums_to_one && this.overKeys && Math.abs(sumOf(row) - 1) < ADDED_NEAR && row.every((weight) => weight >= 0);
  }

  /** The values of a head, a row for each key; what is forbidden and no number takes no part. @param {number} h @param {number} i */
  values(h, i) {
    const width = this.facts.d_v[h];
    const taken = (/** @type {number} */ j) => (/** @type {number} */ v) => (this.may(h, i, j) || Number.isFinite(v) ? v : 0);
    return upTo(this.m).map((j) => this.vector("values", this.group(h), j, width).map(taken(j)));
  }

  /** @param {number} h @param {number} i */
  output(h, i) {
    return this.vector("heads", h, i, this.facts.d_v[h]);
  }

  /** The lines of the score: all that has a name in them, and what comes out. @param {number} h @param {number} i @param {number} j */
  scoreLines(h, i, j) {
    const { d_k, d_a, score } = this.facts;
    const [q, k] = [this.vector("queries", h, i, d_k[h]), this.vector("keys", this.group(h), j, d_k[h])];
    const shape = { n: this.n, m: this.m, heads: d_k.length, hidden: d_a };
    const given = scoreArguments(score, q, k, [h, i, j], shape, this.read);
    const { lines, value } = this.functions.score(given);
    return { named: { ...given, ...Object.fromEntries(lines) }, value: Number(value) };
  }

  /** What is added up to the score, or joined in another way. @param {number} h @param {number} i @param {number} j @returns {SumOfTerms | null} */
  terms(h, i, j) {
    const { match } = this.facts.score;
    if (!match) return null;
    const { named, value } = this.scoreLines(h, i, j);
    /** @param {string | null} name */
    const numbers = (name) => (name === null ? null : /** @type {number[]} */ (named[name]).map(Number));
    const values = numbers(match.name) ?? [];
    const added = sumOf(values), rounding = ADDED_NEAR * sumOf(values.map(Math.abs));
    const isScore = match.total === "";
    const after = isScore ? this.at("scores", h, i, j) : Number(named[match.total]);
    const doesMore = isScore && Math.abs(added - value) > rounding;
    const total = doesMore ? added : after;
    return { left: numbers(match.left), right: numbers(match.right), values, total, isScore: total === this.at("scores", h, i, j) };
  }

  /** What a score would be that was set by hand; null where it is what its lines make of query and key. @param {number} h @param {number} i @param {number} j */
  computedScore(h, i, j) {
    const { named, value: computed } = this.scoreLines(h, i, j), { match } = this.facts.score, score = this.at("scores", h, i, j);
    const terms = match ? /** @type {number[]} */ (named[match.name]).map((each) => Math.abs(Number(each))) : [];
    const near = COMPUTED_NEAR * Math.max(1, Math.abs(computed), sumOf(terms)); // large terms that cancel are rounded by their size
    return Number.isFinite(computed) && !(Math.abs(score - computed) <= near) ? computed : null;
  }

  /** What happens to a score on its way to the normaliser. @param {number} h @param {number} i @param {number} j @returns {Change[]} */
  changes(h, i, j) {
    const { scale, softcap, temperature, is_indifferent, is_masked } = this.facts;
    const [scaled, capped, masked] = ["scaled", "capped", "masked"].map((name) => this.entry(name, [h, i, j]));
    const biased = this.entry(openly(this.facts.plan.masked), [h, i, j]), closed = masked === -Infinity;
    const masks = is_masked || closed || this.maskedLine(h, i, j).includes(-Infinity);
    /** @type {[boolean, Change][]} */
    const all = [
      [scale[h] !== 1, { name: "scale", by: scale[h], made: scaled }],
      [softcap !== 0, { name: "softcap", by: softcap, made: capped }],
      [this.has("bias"), { name: "bias", by: this.has("bias") ? this.at("bias", h, i, j) : 0, made: biased }],
      [masks && !Number.isFinite(masked), { name: "mask", by: Number(this.may(h, i, j)), made: masked }],
      [temperature !== 1 && !is_indifferent, { name: "temperature", by: temperature, made: masked / temperature }],
    ];
    return all.filter(([happens]) => happens).map(([, change]) => change);
  }

  /** The weight if scores were not divided by the root of the width; null where they are not, or where no line says it. @param {number} h @param {number} i @param {number} j */
  weightWithoutWidth(h, i, j) {
    const { normaliser } = this.functions;
    if (!normaliser || !this.facts.by_width || !this.may(h, i, j)) return null;
    const raw = (/** @type {number} */ at) => this.entry("masked", this.overKeys ? [h, i, at] : [h, at, j], { scale: [1] });
    const x = upTo(this.overKeys ? this.m : this.n).map(raw);
    return Number(normaliser(this.arguments(x, h, i, j)).value);
  }

  /** What the function of the normaliser takes in a cell. @param {number[]} x @param {number} h @param {number} i @param {number} j */
  arguments(x, h, i, j) {
    const [along, n] = this.overKeys ? [i, this.n] : [j, this.m];
    const setting = { temperature: this.facts.temperature, n, heads: this.facts.d_k.length };
    return rowArguments(x, this.overKeys ? j : i, [h, along], setting);
  }

  /** The numbers that lead from the scores to a weight; null where the scores are none. @param {number} h @param {number} i @param {number} j @returns {Reason | null} */
  reason(h, i, j) {
    const x = this.maskedLine(h, i, j), place = this.overKeys ? j : i;
    if (x.some((each) => Number.isNaN(each) || each === Infinity)) return null;
    const { normaliser, written } = this.functions;
    if (written) return { named: {}, ...this.sorted(written, x, place, h) };
    if (!normaliser) return { named: {} };
    const given = this.arguments(x, h, i, j);
    const { lines } = normaliser(given);
    /** @type {Record<string, number>} */
    const named = {};
    for (const [name, made] of [...Object.entries(given), ...lines]) named[name] = Number(Array.isArray(made) ? made[given.j] : made);
    return { named };
  }

  /** What a weight would be that was set by hand; null where it is what its line makes of the scores, or none says. @param {number} h @param {number} i @param {number} j */
  computedWeight(h, i, j) {
    const found = this.reason(h, i, j), x = this.maskedLine(h, i, j), weight = this.at("weights", h, i, j);
    if (!found) return null;
    const { above, winners } = found, { normaliser } = this.functions, place = this.overKeys ? j : i;
    let computed = weight;
    if (above) computed = Math.max(above.u - above.threshold, 0) ** (above.isSquared ? 2 : 1);
    else if (winners) computed = x[place] === Math.max(...x) || weight === 1 / winners ? 1 / winners : 0;
    else if (normaliser) computed = Number(normaliser(this.arguments(x, h, i, j)).value);
    return Number.isFinite(computed) && !(Math.abs(weight - computed) <= COMPUTED_NEAR * Math.max(1, Math.abs(computed))) ? computed : null;
  }

  /** What a normaliser that sorts finds. @param {NonNullable<Functions["written"]>} written @param {number[]} x @param {number} place @param {number} h */
  sorted(written, x, place, h) {
    const { temperature, d_k, group, scale } = this.facts;
    /** @type {(row: number[], at: number, half: 1 | 2) => Partial<Reason>} */
    const above = (row, at, half) => {
      const { z, tau } = thresholdOf(row, half, temperature);
      return { above: { u: z[at], threshold: tau, isSquared: half === 2 } };
    };
    const shape = { n: this.n, m: this.m, width: d_k[h], group, scale: scale[h] };
    /** @type {(row: number[]) => Partial<Reason>} */
    const winners = (row) => ({ winners: winnersOf(row, sizeOfTerms(h, shape, this.read)).n });
    return written(above, winners)(x, place, h);
  }
}
