// Attention layers forward and backward, many sentences at once, as `engine/learning/network.py` has them.

/** @import { LearningJob } from "../../types" */
/** @import { Parameters, Sizes } from "./scores.js" */
import { added, product, rounded, swapped, tanh, total, transposed } from "./exact.js";
import { NORMALISERS } from "./normalisers.js";
import { SCORES } from "./scores.js";

/**
 * What one layer computes: (batch, token, width) for X, X_kv and C, (batch, head, ...) for the others.
 *
 * @typedef {Record<"X" | "X_kv" | "Q" | "K" | "V" | "S" | "A" | "C" | "kept" | "capped", Float64Array>} Steps
 */

/**
 * Return the rows of a table with these ids.
 *
 * @param {Float64Array} table
 * @param {Uint8Array | Uint32Array} ids
 * @param {number} width
 */
export function rows(table, ids, width) {
  const found = new Float64Array(ids.length * width);
  for (let i = 0, at = 0; i < ids.length; i++) {
    for (let from = ids[i] * width; from < (ids[i] + 1) * width; from++) found[at++] = table[from];
  }
  return found;
}

/**
 * What the first layer reads: the vectors of all tokens; the different ones among them, for sentences share most of
 * theirs; and which of these each token is.
 *
 * @typedef {{ X: Float64Array, different: Float64Array, which: Uint32Array }} Input
 */

/**
 * @param {Float64Array} table
 * @param {Uint8Array} ids
 * @param {Float64Array} positions
 * @param {number} width
 * @returns {Input}
 */
function input(table, ids, positions, width) {
  const X = plus(rows(table, ids, width), positions);
  const tokens = positions.length / width;
  const known = new Map();
  const which = new Uint32Array(ids.length);
  for (let i = 0; i < ids.length; i++) {
    const pair = ids[i] * tokens + (i % tokens);
    if (!known.has(pair)) known.set(pair, [known.size, i]);
    which[i] = known.get(pair)[0];
  }
  return { X, which, different: rows(X, Uint32Array.from(known.values(), ([, first]) => first), width) };
}

/**
 * Return x + y, y again and again where it is shorter.
 *
 * @param {Float64Array} x
 * @param {Float64Array} y
 */
function plus(x, y) {
  const sum = new Float64Array(x.length);
  for (let at = 0; at < x.length; at += y.length) for (let i = 0; i < y.length; i++) sum[at + i] = x[at + i] + y[i];
  return sum;
}

/**
 * Return x with each pair of columns rotated by the angle of its token; `sign` -1 rotates it back.
 *
 * @param {Float64Array} x
 * @param {number} width
 * @param {[Float64Array, Float64Array]} rotation cosines and sines, (tokens, pairs)
 * @param {number} sign
 */
function rotated(x, width, [cos, sin], sign) {
  const pairs = Math.floor(width / 2);
  const y = x.slice();
  for (let at = 0, row = 0; at < x.length; at += width, row++) {
    for (let pair = 0; pair < pairs; pair++) {
      const i = at + 2 * pair;
      const angle = (row * pairs + pair) % cos.length;
      const s = sign * sin[angle];
      y[i] = x[i] * cos[angle] - x[i + 1] * s;
      y[i + 1] = x[i] * s + x[i + 1] * cos[angle];
    }
  }
  return y;
}

/**
 * Return (stack, n) with each part of n numbers repeated.
 *
 * @param {Float64Array} x
 * @param {number} n
 * @param {number} times
 */
function repeated(x, n, times) {
  if (times === 1) return x;
  const y = new Float64Array(x.length * times);
  for (let i = 0; i < y.length / n; i++) {
    const from = Math.floor(i / times) * n;
    y.set(x.subarray(from, from + n), i * n);
  }
  return y;
}

export class Network {
  /** @param {LearningJob} job @param {Record<string, Float64Array>} constants */
  constructor(job, constants) {
    this.job = job;
    this.constants = constants;
    this.score = SCORES[job.score];
    this.normaliser = NORMALISERS[job.normaliser];
    this.groupSize = job.n_heads / job.kv_heads;
    /** @type {[Float64Array, Float64Array][] | undefined} */
    this.rotations = constants.cos_q && [
      [constants.cos_q, constants.sin_q],
      [constants.cos_k, constants.sin_k],
    ];
  }

  /** @param {number} batch @returns {Sizes} */
  sizes(batch) {
    const { n_heads, n, m, d_k } = this.job;
    return { batch, heads: n_heads, n, m, d: d_k };
  }

  /**
   * Return what the last layer writes, (batch, n, d_model), and the steps of each layer.
   *
   * @param {Parameters[]} layers
   * @param {Uint8Array} queries
   * @param {Uint8Array} keys
   * @returns {[Float64Array, Steps[]]}
   */
  forward(layers, queries, keys) {
    const { job, constants } = this;
    const batch = queries.length / job.n;
    const first = input(constants.embeddings, queries, constants.positions_q, job.d_model);
    const second = job.cross ? input(constants.embeddings, keys, constants.positions_k, job.d_model) : undefined;
    let { X } = first;
    let Y = X;
    const kept = layers.map((p, i) => {
      const attended = i ? { X } : first;
      const [written, steps] = this.layer(p, attended, second ?? attended, batch);
      Y = written;
      X = job.residual ? plus(X, Y) : Y;
      return steps;
    });
    return [Y, kept];
  }

  /**
   * @param {Parameters} p
   * @param {Pick<Input, "X"> & Partial<Input>} queried
   * @param {Pick<Input, "X"> & Partial<Input>} attended
   * @param {number} batch
   * @returns {[Float64Array, Steps]}
   */
  layer(p, queried, attended, batch) {
    const { n, m, d_model, d_k, d_v, n_heads, kv_heads, scale, softcap } = this.job;
    let Q = this.projected(queried, p, "q", n, n_heads, d_k);
    let K = this.projected(attended, p, "k", m, kv_heads, d_k);
    const { rotations } = this;
    if (rotations) [Q, K] = [rotated(Q, d_k, rotations[0], 1), rotated(K, d_k, rotations[1], 1)];
    K = repeated(K, m * d_k, this.groupSize);
    const V = repeated(this.projected(attended, p, "v", m, kv_heads, d_v), m * d_v, this.groupSize);
    const [raw, kept] = this.score.forward(Q, K, p, this.sizes(batch));
    const capped = softcap ? raw.map((x) => tanh((x * scale) / softcap)) : new Float64Array(0);
    const S = softcap ? capped.map((x) => softcap * x) : raw.map((x) => x * scale);
    const { allowed, bias } = this.constants;
    for (let i = 0; i < S.length; i++) {
      if (!allowed[i % allowed.length]) S[i] = -Infinity;
      else if (bias) S[i] += bias[i % bias.length];
    }
    const A = this.normaliser.forward(S, m, this.job.temperature);
    const C = swapped(product(A, transposed(V, m, d_v), n, d_v, m), n_heads, n, d_v);
    const width = n_heads * d_v;
    const Y = product(C, transposed(p.w_o, width, d_model), batch * n, d_model, width);
    return [p.b_o ? plus(Y, p.b_o) : Y, { X: queried.X, X_kv: attended.X, Q, K, V, S, A, C, kept, capped }];
  }

  /**
   * Return the queries, keys or values of every head, (batch, head, tokens, width).
   *
   * @param {Pick<Input, "X"> & Partial<Input>} input
   * @param {Parameters} p
   * @param {string} letter
   * @param {number} tokens
   * @param {number} heads
   * @param {number} width
   */
  projected({ X, different = X, which }, p, letter, tokens, heads, width) {
    const { d_model } = this.job;
    const W = transposed(p[`w_${letter}`], d_model, width);
    const each = product(different, W, different.length / d_model, heads * width, d_model);
    const Y = which ? rows(each, which, heads * width) : each;
    const b = p[`b_${letter}`];
    return swapped(b ? plus(Y, b) : Y, tokens, heads, width);
  }

  /**
   * Return the gradient of every parameter, from that of what the last layer writes.
   *
   * @param {Parameters[]} layers
   * @param {Steps[]} kept
   * @param {Float64Array} G
   */
  backward(layers, kept, G) {
    /** @type {Parameters[]} */
    const found = [];
    /** @type {Float64Array | undefined} */
    let stream;
    for (let i = layers.length - 1; i >= 0; i--) {
      const [ofLayer, ofInput] = this.layerBack(layers[i], kept[i], G, i === 0);
      found.unshift(ofLayer);
      stream = this.job.residual && stream ? plus(stream, ofInput) : ofInput;
      G = stream;
    }
    return found;
  }

  /**
   * Return the gradients of the parameters and, but for the first layer, that of what the layer attends to.
   *
   * @param {Parameters} p
   * @param {Steps} t
   * @param {Float64Array} G
   * @param {boolean} first
   * @returns {[Parameters, Float64Array]}
   */
  layerBack(p, t, G, first) {
    const { n, m, d_model, d_k, d_v, n_heads, kv_heads } = this.job;
    const all = G.length / d_model;
    const width = n_heads * d_v;
    /** @type {Parameters} */
    const found = { w_o: product(transposed(t.C, all, width), transposed(G, all, d_model), width, d_model, all) };
    if (p.b_o) found.b_o = total(G, all, d_model);
    const ofHeads = swapped(product(G, p.w_o, all, width, d_model), n, n_heads, d_v);
    const sizes = this.sizes(all / n);
    const ofScores = this.scoresBack(t, product(ofHeads, t.V, n, m, d_v));
    const [ofQ, ofEachK, ofScore] = this.score.backward(ofScores, t.Q, t.K, p, sizes, t.kept);
    const ofEachV = product(transposed(t.A, n, m), transposed(ofHeads, n, d_v), m, d_v, n);
    const ofK = this.ofGroups(ofEachK, m * d_k);
    const gradients = {
      q: { G: this.rotations ? rotated(ofQ, d_k, this.rotations[0], -1) : ofQ, X: t.X, tokens: n, heads: n_heads, width: d_k },
      k: { G: this.rotations ? rotated(ofK, d_k, this.rotations[1], -1) : ofK, X: t.X_kv, tokens: m, heads: kv_heads, width: d_k },
      v: { G: this.ofGroups(ofEachV, m * d_v), X: t.X_kv, tokens: m, heads: kv_heads, width: d_v },
    };
    /** @type {Float64Array} */
    let ofInput = new Float64Array(t.X.length);
    for (const [letter, { G: ofSide, X, tokens, heads: k, width: w }] of Object.entries(gradients)) {
      const side = swapped(ofSide, k, tokens, w);
      const count = X.length / d_model;
      const W = product(transposed(side, count, k * w), transposed(X, count, d_model), k * w, d_model, count);
      found[`w_${letter}`] = transposed(W, w, d_model);
      if (p[`b_${letter}`]) found[`b_${letter}`] = added(added(rounded(ofSide), tokens, w), count / tokens, k * w);
      if (first || (letter !== "q" && this.job.cross)) continue;
      ofInput = plus(ofInput, product(side, swapped(p[`w_${letter}`], k, d_model, w), count, d_model, k * w));
    }
    return [{ ...found, ...ofScore }, ofInput];
  }

  /**
   * Return the gradient of the scores before their scale.
   *
   * @param {Steps} t
   * @param {Float64Array} ofWeights
   */
  scoresBack(t, ofWeights) {
    const { m, temperature, scale, softcap } = this.job;
    const { allowed } = this.constants;
    const G = this.normaliser.backward(ofWeights, t.S, t.A, m, temperature);
    return G.map((g, i) => {
      const masked = allowed[i % allowed.length] ? g : 0;
      return (softcap ? masked * (1 - t.capped[i] * t.capped[i]) : masked) * scale;
    });
  }

  /**
   * Return the gradient of what heads share, added up over those that share it.
   *
   * @param {Float64Array} G
   * @param {number} size
   */
  ofGroups(G, size) {
    return this.groupSize === 1 ? G : total(G, this.groupSize, size);
  }
}
