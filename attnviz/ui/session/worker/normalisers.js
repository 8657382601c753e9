// The normalisers that learning knows, and their gradients, as `engine/learning/normalisers.py` has them.

import { exp, total } from "./exact.js";

/**
 * A normaliser on rows of n scores, -Infinity where it is forbidden; backward, the gradient of the scores from that of
 * the weights.
 *
 * @typedef {object} Normaliser
 * @property {(X: Float64Array, n: number, T: number) => Float64Array} forward
 * @property {(G: Float64Array, X: Float64Array, A: Float64Array, n: number, T: number) => Float64Array} backward
 */

/** @param {number} x */
const may = (x) => x !== -Infinity;

/**
 * Return the largest score of each row; 0 where nothing is allowed.
 *
 * @param {Float64Array} X
 * @param {number} n
 */
function largest(X, n) {
  const found = new Float64Array(X.length / n).fill(-Infinity);
  for (let row = 0; row < found.length; row++) {
    for (let i = row * n; i < (row + 1) * n; i++) if (X[i] > found[row] || Number.isNaN(X[i])) found[row] = X[i];
  }
  return found.map((x) => (may(x) ? x : 0));
}

/**
 * @param {Float64Array} X
 * @param {Float64Array} tops
 * @param {number} n
 * @param {number} T
 */
const exponentials = (X, tops, n, T) => X.map((x, i) => (may(x) ? exp((x - tops[Math.floor(i / n)]) / T) : 0));

/**
 * Return each row over a number; 0 counts as 1.
 *
 * @param {Float64Array} W
 * @param {Float64Array} sums
 * @param {number} n
 */
const over = (W, sums, n) => W.map((w, i) => w / divisor(sums[Math.floor(i / n)]));

/** @param {number} sum */
const divisor = (sum) => (sum === 0 ? 1 : sum);

/**
 * Return G less the sum of the products of weights and gradients in its row.
 *
 * @param {Float64Array} G
 * @param {Float64Array} A
 * @param {number} n
 */
function centred(G, A, n) {
  const sums = total(A.map((a, i) => a * G[i]), n);
  return G.map((g, i) => g - sums[Math.floor(i / n)]);
}

/** @type {Normaliser["backward"]} */
const softmaxBack = (G, _X, A, n, T) => centred(G, A, n).map((g, i) => (A[i] * g) / T);

const TIE = 1e-9;
const ROUNDING = 2 ** -44;

/**
 * Return the least score of a row that counts as the largest: equal but for rounding is equal.
 *
 * @param {Float64Array} row
 */
function leastWinner(row) {
  const allowed = row.filter(may);
  const [most, least] = [Math.max(...allowed), Math.min(...allowed)];
  const below = Math.max(TIE * most - TIE * least, ROUNDING * Math.max(Math.abs(most), Math.abs(least)));
  return most - (Number.isFinite(below) ? below : 0);
}

/** @type {Record<string, Normaliser>} */
export const NORMALISERS = {
  softmax: {
    forward(X, n, T) {
      const E = exponentials(X, largest(X, n), n, T);
      return over(E, total(E, n), n);
    },
    backward: softmaxBack,
  },
  quiet_softmax: {
    forward(X, n, T) {
      const tops = largest(X, n).map((x) => Math.max(x, 0));
      const E = exponentials(X, tops, n, T);
      const sums = total(E, n);
      return over(E, sums.map((sum, row) => exp(-tops[row] / T) + sum), n);
    },
    backward: softmaxBack,
  },
  sigmoid: {
    forward: (X, _n, T) =>
      X.map((x) => {
        const small = exp(-Math.abs(x / T));
        return may(x) ? (x >= 0 ? 1 : small) / (1 + small) : 0;
      }),
    backward: (G, _X, A, _n, T) => G.map((g, i) => (A[i] * (1 - A[i]) * g) / T),
  },
  linear: {
    forward(X, n) {
      const P = X.map((x) => Math.max(x, 0));
      return over(P, total(P, n), n);
    },
    backward(G, X, A, n) {
      const sums = total(X.map((x) => Math.max(x, 0)), n);
      return over(centred(G, A, n), sums, n).map((g, i) => (X[i] > 0 ? g : 0));
    },
  },
  hardmax: {
    forward(X, n) {
      const wins = new Float64Array(X.length);
      for (let at = 0; at < X.length; at += n) {
        const least = leastWinner(X.subarray(at, at + n));
        for (let i = at; i < at + n; i++) wins[i] = Number(may(X[i]) && least <= X[i]);
      }
      return over(wins, total(wins, n), n);
    },
    backward: (G) => new Float64Array(G.length), // a step has no slope
  },
};
