// The score functions that learning knows, and their gradients, as `engine/learning/scores.py` has them.

import { added, contracted, exp, product, rounded, total, transposed } from "./exact.js";

/** @typedef {Record<string, Float64Array>} Parameters the parameters of one layer by name, heads first */

/**
 * The sizes of what is computed: sentences, heads, queries, keys, and the width of a query.
 *
 * @typedef {{ batch: number, heads: number, n: number, m: number, d: number }} Sizes
 */

/**
 * A score function of Q (batch, head, n, d) and K (batch, head, m, d): the scores, and what `backward` needs again;
 * that takes the gradient of the scores to those of Q, of K and of the parameters.
 *
 * @typedef {object} Score
 * @property {(Q: Float64Array, K: Float64Array, p: Parameters, s: Sizes) => [Float64Array, Float64Array]} forward
 * @property {(G: Float64Array, Q: Float64Array, K: Float64Array, p: Parameters, s: Sizes, kept: Float64Array) =>
 *   [Float64Array, Float64Array, Parameters]} backward
 */

const NOTHING = new Float64Array(0);
const LIMIT = 150; // sizes up to which e^2x, and sums and products of two such numbers, are far from overflow

/**
 * Return A^T B for each head, added up over the batch: (batch, head, n, a), (batch, head, n, b) -> (head, a, b).
 *
 * @param {Float64Array} A
 * @param {Float64Array} B
 * @param {number} n
 * @param {Sizes} s
 */
function summed(A, B, n, { batch, heads }) {
  const [a, b] = [A, B].map((x) => x.length / (batch * heads * n));
  const axes = ["batch", "head", "n"];
  return contracted(A, B, [...axes, "a"], [...axes, "b"], ["head", "a", "b"], { batch, head: heads, n, a, b });
}

/** @param {Float64Array} G @param {Float64Array} K @param {Sizes} s */
const alongKeys = (G, K, { n, m, d }) => product(G, transposed(K, m, d), n, d, m);

/** @param {Float64Array} G @param {Float64Array} Q @param {Sizes} s */
const alongQueries = (G, Q, { n, m, d }) => product(transposed(G, n, m), transposed(Q, n, d), m, d, n);

/** @type {Score} */
const DOT = {
  forward: (Q, K, _p, { n, m, d }) => [product(Q, K, n, m, d), NOTHING],
  backward: (G, Q, K, _p, s) => [alongKeys(G, K, s), alongQueries(G, Q, s), {}],
};

/** @type {Score} */
const GENERAL = {
  forward(Q, K, p, { n, m, d }) {
    const left = product(Q, transposed(p.score_w, d, d), n, d, d);
    return [product(left, K, n, m, d), left];
  },
  backward(G, Q, K, p, s, left) {
    const ofLeft = alongKeys(G, K, s);
    const gradients = { score_w: summed(Q, ofLeft, s.n, s) };
    return [product(ofLeft, p.score_w, s.n, s.d, s.d), alongQueries(G, left, s), gradients];
  },
};

/** @param {number} x */
const clamp = (x) => Math.min(Math.max(x, -LIMIT), LIMIT);

/** @type {Score} */
const ADDITIVE = {
  forward(Q, K, p, { batch, heads, n, m, d }) {
    const a = p.score_v.length / heads;
    const left = product(Q, transposed(p.score_w_q, d, a), n, a, d);
    const right = product(K, transposed(p.score_w_k, d, a), m, a, d);
    if (p.score_b) left.forEach((x, i) => (left[i] = x + p.score_b[(Math.floor(i / (n * a)) % heads) * a + (i % a)]));
    const falling = left.map((x) => exp(-2 * clamp(x)));
    const rising = right.map((x) => exp(2 * clamp(x)));
    const hidden = new Float64Array(batch * heads * n * m * a);
    let at = 0;
    for (let s = 0; s < batch * heads; s++) {
      for (let i = 0; i < n; i++) {
        for (let j = 0; j < m; j++) {
          for (let c = 0; c < a; c++) {
            const f = falling[(s * n + i) * a + c];
            const r = rising[(s * m + j) * a + c];
            hidden[at++] = (r - f) / (r + f);
          }
        }
      }
    }
    return [product(hidden, p.score_v, n * m, 1, a), hidden];
  },
  backward(G, Q, K, p, s, hidden) {
    const { batch, heads, n, m, d } = s;
    const a = p.score_v.length / heads;
    const D = new Float64Array(hidden.length);
    for (let at = 0, cell = 0; cell < G.length; cell++) {
      const head = (Math.floor(cell / (n * m)) % heads) * a;
      for (let c = 0; c < a; c++, at++) D[at] = G[cell] * p.score_v[head + c] * (1 - hidden[at] * hidden[at]);
    }
    const slopes = rounded(D);
    const ofLeft = added(slopes, m, a);
    const ofRight = added(slopes, n, m * a);
    /** @type {Parameters} */
    const gradients = {
      score_w_q: summed(Q, ofLeft, n, s),
      score_w_k: summed(K, ofRight, m, s),
      score_v: summed(G, hidden, n * m, s),
    };
    if (p.score_b) gradients.score_b = added(added(rounded(ofLeft), n, a), batch, heads * a);
    return [product(ofLeft, p.score_w_q, n, d, a), product(ofRight, p.score_w_k, m, d, a), gradients];
  },
};

/** @type {Score} */
const GAUSSIAN = {
  forward(Q, K, _p, { n, m, d }) {
    const S = product(Q, K, n, m, d);
    const [ofQ, ofK] = [Q, K].map((x) => total(x.map((y) => y * y), d));
    const lengths = (/** @type {number} */ i) => ofQ[Math.floor(i / m)] + ofK[Math.floor(i / (n * m)) * m + (i % m)];
    return [S.map((x, i) => x - 0.5 * lengths(i)), NOTHING];
  },
  backward(G, Q, K, _p, s) {
    const [rows, columns] = [total(G, s.m), total(G, s.n, s.m)];
    const ofQ = alongKeys(G, K, s).map((x, i) => x - rows[Math.floor(i / s.d)] * Q[i]);
    const ofK = alongQueries(G, Q, s).map((x, i) => x - columns[Math.floor(i / s.d)] * K[i]);
    return [ofQ, ofK, {}];
  },
};

/** @type {Score} */
const LOCATION = {
  forward: (Q, _K, p, { n, m, d }) => [product(Q, transposed(p.score_w, d, m), n, m, d), NOTHING],
  backward(G, Q, K, p, s) {
    const ofQ = product(G, p.score_w, s.n, s.d, s.m);
    return [ofQ, new Float64Array(K.length), { score_w: summed(Q, G, s.n, s) }];
  },
};

/** @type {Record<string, Score>} */
export const SCORES = {
  scaled_dot: DOT,
  dot: DOT,
  general: GENERAL,
  additive: ADDITIVE,
  gaussian: GAUSSIAN,
  location: LOCATION,
};
