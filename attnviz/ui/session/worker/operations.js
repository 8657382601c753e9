// The operations of a plan, each with its value and with its slopes, as `engine/learning/operations.py` has them.

/** @import { PlanValue } from "../../types" */
/** @import { Layer } from "./network.js" */
import { arranged, contracted, product, size, tanh, total, transposed } from "./exact.js";

/**
 * An operation on arrays; a number of the setting is an array of one.
 *
 * @typedef {object} Operation
 * @property {(at: Layer, v: PlanValue, x: Float64Array[]) => Float64Array} value
 * @property {(at: Layer, v: PlanValue, G: Float64Array, y: Float64Array, x: Float64Array[]) => (Float64Array | undefined)[]} back
 *   the slopes of each thing read, from those of the result y
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
 * Return x + y, y again and again where it is shorter.
 *
 * @param {Float64Array} x
 * @param {Float64Array} y
 */
export function plus(x, y) {
  const sum = new Float64Array(x.length);
  for (let at = 0; at < x.length; at += y.length) for (let i = 0; i < y.length; i++) sum[at + i] = x[at + i] + y[i];
  return sum;
}

/**
 * Return x * y, the shorter again and again.
 *
 * @param {Float64Array} x
 * @param {Float64Array} y
 */
function times(x, y) {
  const [long, short] = x.length < y.length ? [y, x] : [x, y];
  if (short.length > 1) return long.map((each, i) => each * short[i % short.length]);
  const [number] = short;
  return number === 1 ? long : long.map((each) => each * number);
}

/**
 * Return the array of an argument, with the axes that it lacks; that of sentences it may lack: then it repeats.
 *
 * @param {Layer} at
 * @param {PlanValue} v
 * @param {PlanValue} arg
 * @param {Float64Array} x
 */
function spread(at, v, arg, x) {
  if (x.length === 1 || arg.axes.length === v.axes.length) return x;
  const order = arg.axes[0] === "sentence" ? v.axes : v.axes.slice(1);
  return arranged(x, arg.axes, order, at.sizes);
}

/**
 * Return slopes of v with axes summed over those that a narrower value lacks.
 *
 * @param {Layer} at
 * @param {Float64Array} G
 * @param {PlanValue} v
 * @param {PlanValue} arg
 */
function gathered(at, G, v, arg) {
  if (arg.axes.length === v.axes.length) return G;
  const gone = v.axes.filter((axis) => !arg.axes.includes(axis));
  return total(arranged(G, v.axes, [...arg.axes, ...gone], at.sizes), size(gone, at.sizes));
}

/**
 * Return the axes of both factors and of the product; the one that is summed over has one name in both.
 *
 * @param {PlanValue} v
 */
function factors(v) {
  const [x, w] = v.args.map((arg) => arg.axes);
  return [x, [...w.slice(0, -2), x[x.length - 1], w[w.length - 1]], v.axes];
}

/**
 * Return the product of what the first layer reads with a matrix: each different row once, for sentences share most.
 *
 * @param {Layer} at
 * @param {PlanValue} v
 * @param {import("./network.js").Repeats} repeats
 * @param {Float64Array} W
 */
function productOnce(at, v, { different, which }, W) {
  const [x, w, y] = factors(v);
  const own = y.filter((axis) => !x.includes(axis));
  const row = different.length / at.sizes[x[2]];
  const each = contracted(different, W, ["row", x[2]], w, ["row", ...own], { ...at.sizes, row });
  return arranged(rows(each, which, size(own, at.sizes)), [x[0], x[1], ...own], y, at.sizes);
}

/**
 * Return x with each pair of columns rotated by the angle of its token; `sign` -1 rotates it back.
 *
 * @param {Layer} at
 * @param {PlanValue} v
 * @param {Float64Array} x
 * @param {number} sign
 */
function rotated(at, v, x, sign) {
  const letter = v.axes.includes("key") ? "k" : "q";
  const [cos, sin] = [at.constants[`cos_${letter}`], at.constants[`sin_${letter}`]];
  const width = at.sizes.d_k;
  const pairs = Math.floor(width / 2);
  const y = x.slice();
  for (let start = 0, row = 0; start < x.length; start += width, row++) {
    for (let pair = 0; pair < pairs; pair++) {
      const i = start + 2 * pair;
      const angle = (row * pairs + pair) % cos.length;
      const s = sign * sin[angle];
      y[i] = x[i] * cos[angle] - x[i + 1] * s;
      y[i + 1] = x[i] * s + x[i + 1] * cos[angle];
    }
  }
  return y;
}

/**
 * Return the score's own parameters by name.
 *
 * @param {PlanValue} v
 * @param {Float64Array[]} own
 */
const named = (v, own) => Object.fromEntries(own.map((x, i) => [v.args[i + 2].name, x]));

/** @param {PlanValue} v */
const heads = (v) => ["sentence", "query", "head", v.axes[v.axes.length - 1]];

/** @type {Record<string, Operation>} */
export const OPERATIONS = {
  "+": {
    value: (at, v, [x, y]) => plus(spread(at, v, v.args[0], x), spread(at, v, v.args[1], y)),
    back: (at, v, G) => v.args.map((arg) => (at.moves(arg) ? gathered(at, G, v, arg) : undefined)),
  },
  "*": {
    value: (at, v, [x, y]) => times(spread(at, v, v.args[0], x), spread(at, v, v.args[1], y)),
    back: (at, v, G, _y, x) =>
      v.args.map((arg, i) => {
        const other = v.args[1 - i];
        return at.moves(arg) ? gathered(at, times(G, spread(at, v, other, x[1 - i])), v, arg) : undefined;
      }),
  },
  "/": {
    value: (_at, _v, [x, [y]]) => x.map((each) => each / y),
    back: (_at, _v, G, _y, [, [y]]) => [G.map((g) => g / y), undefined],
  },
  "@": {
    value(at, v, [X, W]) {
      const repeats = at.repeats.get(X);
      const [x, w, y] = factors(v);
      return repeats ? productOnce(at, v, repeats, W) : contracted(X, W, x, w, y, at.sizes);
    },
    back(at, v, G, _y, [X, W]) {
      const [x, w, y] = factors(v);
      return [at.moves(v.args[0]) ? contracted(G, W, y, w, x, at.sizes) : undefined, contracted(X, G, x, y, w, at.sizes)];
    },
  },
  tanh: {
    value: (_at, _v, [x]) => x.map(tanh),
    back: (_at, _v, G, y) => [G.map((g, i) => g * (1 - y[i] * y[i]))],
  },
  rope: {
    value: (at, v, [X]) => rotated(at, v, X, 1),
    back: (at, v, G) => [rotated(at, v, G, -1)],
  },
  as_keys: { value: (_at, _v, [X]) => X, back: (_at, _v, G) => [G] },
  score: {
    value(at, v, [Q, K, ...own]) {
      const [S, left] = at.score.forward(Q, at.eachHead(K), named(v, own), at.scoreSizes);
      at.left.set(v, left);
      return S;
    },
    back(at, v, G, _S, [Q, K, ...own]) {
      const left = at.left.get(v) ?? new Float64Array(0);
      const [ofQ, ofK, ofOwn] = at.score.backward(G, Q, at.eachHead(K), named(v, own), at.scoreSizes, left);
      return [ofQ, at.addedUp(ofK), ...v.args.slice(2).map((arg) => ofOwn[arg.name])];
    },
  },
  only_where: {
    value: (_at, _v, [S, allowed]) =>
      S.map((x, i) => (allowed[i % allowed.length] ? x : -Infinity)),
    back: (_at, _v, G, _S, [, allowed]) => [G.map((g, i) => (allowed[i % allowed.length] ? g : 0)), undefined],
  },
  normalise: {
    value: (at, _v, [S]) => at.normaliser.forward(S, at.sizes.key, at.settings.temperature),
    back: (at, _v, G, A, [S]) => [at.normaliser.backward(G, S, A, at.sizes.key, at.settings.temperature)],
  },
  mix: {
    value(at, _v, [A, V]) {
      const { query, key, d_v } = at.sizes;
      return product(A, transposed(at.eachHead(V), key, d_v), query, d_v, key);
    },
    back(at, _v, G, _Z, [A, V]) {
      const { query, key, d_v } = at.sizes;
      const ofV = product(transposed(A, query, key), transposed(G, query, d_v), key, d_v, query);
      return [product(G, at.eachHead(V), query, key, d_v), at.addedUp(ofV)];
    },
  },
  side_by_side: {
    value: (at, v, [Z]) => arranged(Z, v.args[0].axes, heads(v.args[0]), at.sizes),
    back: (at, v, G) => [arranged(G, heads(v.args[0]), v.args[0].axes, at.sizes)],
  },
};
