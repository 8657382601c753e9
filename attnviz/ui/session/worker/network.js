// Attention layers forward and backward, many sentences at once, as `engine/learning/network.py` has them: the plan of
// a layer comes with the job.

/** @import { LearningJob, PlanValue } from "../../types" */
/** @import { Parameters } from "./scores.js" */
import { size, total } from "./exact.js";
import { NORMALISERS } from "./normalisers.js";
import { OPERATIONS, plus, rows } from "./operations.js";
import { SCORES } from "./scores.js";

/**
 * The different rows of what the first layer reads, and which of them each token is.
 *
 * @typedef {{ different: Float64Array, which: Uint32Array }} Repeats
 */

export class Network {
  /** @param {LearningJob} job @param {Record<string, Float64Array>} constants */
  constructor(job, constants) {
    this.job = job;
    this.constants = constants;
    this.score = SCORES[job.score];
    this.normaliser = NORMALISERS[job.normaliser];
  }

  /**
   * Return what the last layer writes, (sentence, query, model), and the steps of each layer.
   *
   * @param {Parameters[]} layers
   * @param {Uint8Array} queries
   * @param {Uint8Array} keys
   * @returns {[Float64Array, Layer[]]}
   */
  forward(layers, queries, keys) {
    const { job } = this;
    /** @type {Map<Float64Array, Repeats>} */
    const repeats = new Map();
    /** @type {Record<string, Float64Array>} */
    const read = { X: this.input(queries, this.constants.positions_q, repeats) };
    if (job.cross) read.X_kv = this.input(keys, this.constants.positions_k, repeats);
    const computed = layers.map((parameters, i) => {
      const fixed = Object.keys(read).filter((name) => !i || name !== "X");
      const layer = new Layer(this, { ...parameters, ...read }, fixed, repeats, queries.length / job.sizes.query);
      read.X = layer.compute(i === layers.length - 1 ? job.written : "");
      return layer;
    });
    return [read.X, computed];
  }

  /**
   * Return the gradient of every parameter, from that of what the last layer writes.
   *
   * @param {Layer[]} computed
   * @param {Float64Array} G
   */
  backward(computed, G) {
    const { plan, written } = this.job;
    /** @type {Parameters[]} */
    const found = [];
    for (let i = computed.length - 1, step = written; i >= 0; i--, step = plan[plan.length - 1].name) {
      found.unshift(computed[i].slopes(step, G));
      G = found[0].X;
    }
    return found;
  }

  /**
   * Return what the first layer reads, and keep which rows of it are equal.
   *
   * @param {Uint8Array} ids
   * @param {Float64Array} positions
   * @param {Map<Float64Array, Repeats>} repeats
   */
  input(ids, positions, repeats) {
    const width = this.job.sizes.model;
    const X = plus(rows(this.constants.embeddings, ids, width), positions);
    const tokens = positions.length / width;
    const known = new Map();
    const which = new Uint32Array(ids.length);
    for (let i = 0; i < ids.length; i++) {
      const pair = ids[i] * tokens + (i % tokens);
      if (!known.has(pair)) known.set(pair, [known.size, i]);
      which[i] = known.get(pair)[0];
    }
    repeats.set(X, { which, different: rows(X, Uint32Array.from(known.values(), ([, first]) => first), width) });
    return X;
  }
}

/** The arrays of one layer; nobody asks for the slopes of inputs that are fixed. */
export class Layer {
  /** @type {Map<PlanValue, Float64Array>} */
  inner = new Map();
  /** @type {Map<PlanValue, Float64Array>} what the slopes of a score need of its value */
  left = new Map();

  /**
   * @param {Network} network
   * @param {Record<string, Float64Array>} known
   * @param {string[]} fixed
   * @param {Map<Float64Array, Repeats>} repeats
   * @param {number} sentence
   */
  constructor({ job, constants, score, normaliser }, known, fixed, repeats, sentence) {
    this.plan = job.plan;
    this.settings = job.settings;
    this.constants = constants;
    this.score = score;
    this.normaliser = normaliser;
    this.known = { ...constants, ...known };
    this.fixed = fixed;
    this.repeats = repeats;
    /** @type {Record<string, number>} */
    this.sizes = { ...job.sizes, sentence };
    const { head, query, key, d_k } = job.sizes;
    this.scoreSizes = { batch: sentence, heads: head, n: query, m: key, d: d_k };
    this.group = head / job.sizes.kv_head;
  }

  /**
   * Compute the steps in their order, and return the last, or the one named by `until`.
   *
   * @param {string} until
   */
  compute(until) {
    const steps = this.plan.filter((value) => value.op === "step");
    const last = until || steps[steps.length - 1].name;
    for (const { name, args } of steps) {
      this.known[name] = this.of(args[0]);
      if (name === last) break;
    }
    return this.known[last];
  }

  /**
   * Return the array of a value; that of a number is of length 1.
   *
   * @param {PlanValue} value
   * @returns {Float64Array}
   */
  of(value) {
    if (value.op === "number") return Float64Array.of(value.number);
    if (value.op === "setting") return Float64Array.of(this.settings[value.name]);
    if (value.name) return this.known[value.name];
    let array = this.inner.get(value);
    if (!array) this.inner.set(value, (array = OPERATIONS[value.op].value(this, value, value.args.map((arg) => this.of(arg)))));
    return array;
  }

  /**
   * Return the slopes of the parameters and of what the layer reads, from those of a step.
   *
   * @param {string} step
   * @param {Float64Array} G
   * @returns {Parameters}
   */
  slopes(step, G) {
    /** @type {Record<string, Float64Array[]>} */
    const found = { [step]: [G] };
    for (let i = this.plan.length - 1; i >= 0; i--) {
      const { op, name, args } = this.plan[i];
      if (op !== "step" || !found[name]) continue;
      this.into(args[0], sum(found[name]), found);
      delete found[name];
    }
    return Object.fromEntries(Object.entries(found).map(([name, parts]) => [name, sum(parts)]));
  }

  /**
   * Carry the slopes of a value back to the names that it is made from.
   *
   * @param {PlanValue} value
   * @param {Float64Array} G
   * @param {Record<string, Float64Array[]>} found
   */
  into(value, G, found) {
    if (value.name) {
      (found[value.name] ??= []).push(G);
      return;
    }
    const slopes = OPERATIONS[value.op].back(this, value, G, this.of(value), value.args.map((arg) => this.of(arg)));
    slopes.forEach((each, i) => each && this.into(value.args[i], each, found));
  }

  /**
   * Return whether learning moves a value, so that its slopes are asked for.
   *
   * @param {PlanValue} value
   * @returns {boolean}
   */
  moves(value) {
    if (["given", "setting", "number"].includes(value.op)) return false;
    return value.name ? !this.fixed.includes(value.name) : value.args.some((arg) => this.moves(arg));
  }

  /**
   * Return keys or values, those of its group for each head of queries.
   *
   * @param {Float64Array} x
   */
  eachHead(x) {
    if (this.group === 1) return x;
    const n = x.length / size(["sentence", "kv_head"], this.sizes);
    const y = new Float64Array(x.length * this.group);
    for (let i = 0; i < y.length / n; i++) {
      const from = Math.floor(i / this.group) * n;
      y.set(x.subarray(from, from + n), i * n);
    }
    return y;
  }

  /**
   * Return slopes added up over the heads that share keys and values.
   *
   * @param {Float64Array} G
   */
  addedUp(G) {
    return this.group === 1 ? G : total(G, this.group, G.length / size(["sentence", "head"], this.sizes));
  }
}

/**
 * Add slopes up in the order in which the page reads what they are of: the bits depend on it.
 *
 * @param {Float64Array[]} parts
 */
const sum = (parts) => parts.reduceRight(plus);
