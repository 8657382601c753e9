// Learning itself, as `engine/learning/trainer.py` has it: gradients of a batch, Adam's step, and what a frame can do.

/** @import { LearningJob } from "../../types" */
/** @import { Parameters } from "./scores.js" */
import { added, product, rounded, total } from "./exact.js";
import { Network } from "./network.js";
import { rows } from "./operations.js";

const [FIRST_DECAY, SECOND_DECAY, LEAST] = [0.9, 0.99, 1e-8];
const HALF_LIFE = 150;

/**
 * Sentences: the token ids of their queries, of their keys and of the right words, and which rows count.
 *
 * @typedef {Record<"queries" | "keys" | "words" | "counts", Uint8Array>} Sentences
 */

/**
 * The learning rate at a step: flat at first, then falling as 1/t^2.
 *
 * @param {number} start
 * @param {number} step
 */
function rate(start, step) {
  const t = step / HALF_LIFE;
  return start / Math.sqrt(1 + t * t * t * t);
}

export class Trainer {
  step = 0;
  loss = NaN; // of the last batch

  /**
   * @param {LearningJob} job
   * @param {Record<string, Float64Array>} constants
   * @param {Record<string, Uint8Array>} ids
   */
  constructor(job, constants, ids) {
    this.job = job;
    this.network = new Network(job, constants);
    this.embeddings = constants.embeddings;
    this.ids = ids;
    this.vector = constants.start.slice();
    this.first = new Float64Array(this.vector.length);
    this.second = new Float64Array(this.vector.length);
    this.powers = [1, 1];
  }

  /**
   * Return the parameters of each layer by name, as views into a vector.
   *
   * @param {Float64Array} vector
   * @returns {Parameters[]}
   */
  layers(vector) {
    let at = 0;
    return this.job.parameters.map((layer) =>
      Object.fromEntries(layer.map(([name, size]) => [name, vector.subarray(at, (at += size))])),
    );
  }

  /**
   * Return some of the sentences that were sent.
   *
   * @param {string} kind
   * @param {number} from
   * @param {number} count
   * @returns {Sentences}
   */
  sentences(kind, from, count) {
    const { cross, sizes } = this.job;
    const [n, m] = [sizes.query, sizes.key];
    /** @param {string} name @param {number} length */
    const some = (name, length) => this.ids[`${kind}_${name}`].subarray(from * length, (from + count) * length);
    const queries = some("queries", n);
    return { queries, keys: cross ? some("keys", m) : queries, words: some("words", n), counts: some("counts", n) };
  }

  /** Learn from one batch; false, and all stays as it is, where a number is no longer finite. */
  advance() {
    const moved = this.moved(this.gradient());
    if (!moved.every(Number.isFinite)) return false;
    this.vector = moved;
    this.step++;
    return true;
  }

  gradient() {
    const { batch, sizes } = this.job;
    const { queries, keys, words, counts } = this.sentences("batch", this.step * batch, batch);
    const layers = this.layers(this.vector);
    const [Y, computed] = this.network.forward(layers, queries, keys);
    const n = counts.reduce((sum, each) => sum + each, 0);
    const wanted = rows(this.embeddings, words, sizes.model);
    let loss = 0;
    const G = Y.map((y, i) => {
      const away = (y - wanted[i]) * counts[Math.floor(i / sizes.model)];
      loss += away * away;
      return away * (2 / n);
    });
    this.loss = loss / n;
    const found = this.network.backward(computed, G);
    const g = new Float64Array(this.vector.length);
    this.layers(g).forEach((layer, i) => Object.keys(layer).forEach((name) => layer[name].set(found[i][name])));
    return g;
  }

  /**
   * Return the parameters after one step of Adam (Kingma and Ba 2014, arXiv:1412.6980, algorithm 1).
   *
   * @param {Float64Array} g
   */
  moved(g) {
    const { first, second } = this;
    const [one, two] = (this.powers = [this.powers[0] * FIRST_DECAY, this.powers[1] * SECOND_DECAY]);
    const now = rate(this.job.rate, this.step);
    const moved = this.vector.slice();
    for (let i = 0; i < g.length; i++) {
      first[i] += (1 - FIRST_DECAY) * (g[i] - first[i]);
      second[i] += (1 - SECOND_DECAY) * (g[i] * g[i] - second[i]);
      moved[i] -= now * (first[i] / (1 - one) / (Math.sqrt(second[i] / (1 - two)) + LEAST));
    }
    return moved;
  }

  /** The parameters to keep: those of the start as they are, later ones rounded to what products use. */
  frame() {
    const vector = this.vector.slice();
    if (this.step) this.layers(vector).forEach((layer) => Object.values(layer).forEach((W) => W.set(rounded(W))));
    return vector;
  }

  /**
   * Measure parameters on sentences that are not learned from: loss, right and crisp.
   *
   * @param {Float64Array} vector
   */
  evaluate(vector) {
    const { sizes, held_out, at_once } = this.job;
    const layers = this.layers(vector);
    let [loss, right, count] = [0, 0, 0];
    const size = sizes.query * sizes.key;
    const attended = new Float64Array(sizes.head);
    for (let from = 0; from < held_out; from += at_once) {
      const some = Math.min(at_once, held_out - from);
      const { queries, keys, words, counts } = this.sentences("held", from, some);
      const where = this.ids.held_where.subarray(from * size, (from + some) * size);
      const [Y, computed] = this.network.forward(layers, queries, keys);
      const wanted = rows(this.embeddings, words, sizes.model);
      const away = Y.map((y, i) => (y - wanted[i]) * counts[Math.floor(i / sizes.model)]);
      loss += total(away.map((x) => x * x), away.length)[0];
      this.nearest(Y).forEach((word, row) => (right += Number(word === words[row] && counts[row])));
      count += counts.reduce((sum, each) => sum + each, 0);
      const there = computed[computed.length - 1].known.weights.map((a, i) => {
        const sentence = Math.floor(i / (size * sizes.head));
        return where[sentence * size + (i % size)] ? a : 0;
      });
      added(added(rounded(there), size, 1), some, sizes.head).forEach((sum, head) => (attended[head] += sum));
    }
    return [loss / count, right / count, Math.max(...attended) / count];
  }

  /**
   * Return the id of the word whose vector lies nearest to each row.
   *
   * @param {Float64Array} Y
   */
  nearest(Y) {
    const { model } = this.job.sizes;
    const E = this.embeddings;
    const words = E.length / model;
    const lengths = total(E.map((x) => x * x), model);
    const closeness = product(Y, E, Y.length / model, words, model).map((x, i) => 2 * x - lengths[i % words]);
    return Uint8Array.from({ length: closeness.length / words }, (_, row) => {
      let best = 0;
      for (let word = 1; word < words; word++) if (closeness[row * words + word] > closeness[row * words + best]) best = word;
      return best;
    });
  }
}
