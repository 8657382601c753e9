// Products, sums and exponentials with the bits that `engine/numerics/exact.py` finds: there stands why they are exact.

const BITS = 20;
const MOST_TERMS = 2 ** 13;
const LEAST_EXPONENT = -400;

const number = new Float64Array(1);
const halves = new Uint32Array(number.buffer);

/**
 * Return 2^k, put together from its bits: how exact `**` is, the language leaves open.
 *
 * @param {number} k -1022 to 1023
 */
function power(k) {
  halves[0] = 0;
  halves[1] = (k + 1023) << 20;
  return number[0];
}

/**
 * Return the least e with x < 2^e, for a normal number x > 0.
 *
 * @param {number} x
 */
function exponentOf(x) {
  number[0] = x;
  return ((halves[1] >>> 20) & 0x7ff) - 1022;
}

/**
 * Return the power of two that the numbers of an array need, 0 if they are all 0; undefined where one is not finite.
 *
 * @param {Float64Array} x
 */
export function exponent(x) {
  let largest = 0;
  for (let i = 0; i < x.length; i++) {
    const size = Math.abs(x[i]);
    if (!(size < Infinity)) return undefined;
    if (size > largest) largest = size;
  }
  return largest ? exponentOf(largest) : 0;
}

/**
 * Return x rounded to whole numbers of at most 20 bits times one power of two; x itself where a number is not finite.
 *
 * @param {Float64Array} x
 * @param {Float64Array} [y] where to, as long as x
 */
export function rounded(x, y = new Float64Array(x.length)) {
  const e = exponent(x);
  if (e === undefined) return x;
  if (e < LEAST_EXPONENT) return y.fill(0);
  const shift = 1.5 * power(52 + e - BITS);
  for (let i = 0; i < x.length; i++) y[i] = x[i] + shift - shift;
  return y;
}

/**
 * A pool of arrays that are free again when the next are asked for: new arrays for each product would keep the
 * garbage collector as busy as the products.
 */
class Room {
  numbers = new Float64Array(0);

  /** @param {number} n */
  of(n) {
    if (this.numbers.length < n) this.numbers = new Float64Array(n);
    return this.numbers.subarray(0, n);
  }
}

const [roomA, roomB] = [new Room(), new Room()];

/**
 * Write rounded numbers as three bytes each: whole numbers of 20 bits, with 2^20 added so that none is negative.
 *
 * @param {Float64Array} x
 * @param {number} e the power of two that they need
 * @param {Uint8Array} bytes
 * @param {number} at
 */
export function pack(x, e, bytes, at) {
  for (const value of x) {
    const whole = value * power(BITS - e) + 2 ** BITS;
    bytes[at++] = whole & 255;
    bytes[at++] = (whole >>> 8) & 255;
    bytes[at++] = whole >>> 16;
  }
}

/**
 * Return A B^T, rounded first, for each matrix of a stack: (stack, m, k), (stack, n, k) -> (stack, m, n). One matrix B
 * may stand for several, in turn.
 *
 * @param {Float64Array} A
 * @param {Float64Array} B
 * @param {number} m
 * @param {number} n
 * @param {number} k
 */
export function product(A, B, m, n, k) {
  const a = rounded(A, roomA.of(A.length));
  const b = rounded(B, roomB.of(B.length));
  const stack = A.length / (m * k);
  const C = new Float64Array(stack * m * n);
  for (let from = 0; from < k; from += MOST_TERMS) {
    const to = Math.min(from + MOST_TERMS, k);
    for (let s = 0; s < stack; s++) addProducts(a, b, C, [s * m * k, (s * n * k) % B.length, s * m * n], [m, n, k], from, to);
  }
  return C;
}

/**
 * Add the products of one pair of matrices, of the terms `from` to `to`; four rows and two columns at a time, as numbers
 * are then loaded less often, and eight sums still have a register each. Beyond the last row or column, the last counts
 * once more, and its sums are dropped.
 *
 * @param {Float64Array} a
 * @param {Float64Array} b
 * @param {Float64Array} C
 * @param {[number, number, number]} starts where each begins
 * @param {[number, number, number]} sizes
 * @param {number} from
 * @param {number} to
 */
function addProducts(a, b, C, [ofA, ofB, ofC], [m, n, k], from, to) {
  for (let i = 0; i < m; i += 4) {
    const one = ofA + i * k;
    const two = ofA + Math.min(i + 1, m - 1) * k;
    const three = ofA + Math.min(i + 2, m - 1) * k;
    const four = ofA + Math.min(i + 3, m - 1) * k;
    for (let j = 0; j < n; j += 2) {
      const left = ofB + j * k;
      const right = j + 1 < n ? left + k : left;
      let [s1, s2, s3, s4, t1, t2, t3, t4] = [0, 0, 0, 0, 0, 0, 0, 0];
      for (let l = from; l < to; l++) {
        const r = b[left + l];
        const s = b[right + l];
        const p1 = a[one + l];
        const p2 = a[two + l];
        const p3 = a[three + l];
        const p4 = a[four + l];
        s1 += p1 * r;
        t1 += p1 * s;
        s2 += p2 * r;
        t2 += p2 * s;
        s3 += p3 * r;
        t3 += p3 * s;
        s4 += p4 * r;
        t4 += p4 * s;
      }
      let at = ofC + i * n + j;
      C[at] += s1;
      if (right > left) C[at + 1] += t1;
      if (i + 1 < m) C[(at += n)] += s2;
      if (i + 1 < m && right > left) C[at + 1] += t2;
      if (i + 2 < m) C[(at += n)] += s3;
      if (i + 2 < m && right > left) C[at + 1] += t3;
      if (i + 3 < m) C[(at += n)] += s4;
      if (i + 3 < m && right > left) C[at + 1] += t4;
    }
  }
}

/**
 * Return how many numbers an array with these axes has.
 *
 * @param {string[]} axes
 * @param {Record<string, number>} sizes
 */
export const size = (axes, sizes) => axes.reduce((n, axis) => n * sizes[axis], 1);

/**
 * Return an array with its axes in another order; along an axis that it lacks it repeats.
 *
 * @param {Float64Array} x
 * @param {string[]} axes
 * @param {string[]} order
 * @param {Record<string, number>} sizes the length of each axis by its name
 */
export function arranged(x, axes, order, sizes) {
  const [from, to] = [axes, order].map((names) => names.filter((axis) => sizes[axis] > 1));
  if (from.join() === to.join()) return x;
  const strides = to.map((axis) => (from.includes(axis) ? size(from.slice(from.indexOf(axis) + 1), sizes) : 0));
  const lengths = to.map((axis) => sizes[axis]);
  const [length, stride] = [lengths.pop() ?? 1, strides.pop() ?? 0];
  const index = lengths.map(() => 0);
  const y = new Float64Array(size(to, sizes));
  for (let at = 0, start = 0; at < y.length; ) {
    for (let i = 0; i < length; i++) y[at++] = x[start + i * stride];
    for (let axis = index.length - 1; axis >= 0; axis--) {
      start += strides[axis];
      if (++index[axis] < lengths[axis]) break;
      start -= strides[axis] * lengths[axis];
      index[axis] = 0;
    }
  }
  return y;
}

/**
 * Return the sum of products over the axes that A and B have and the result has not; each rounded first.
 *
 * @param {Float64Array} A
 * @param {Float64Array} B
 * @param {string[]} a
 * @param {string[]} b
 * @param {string[]} out
 * @param {Record<string, number>} sizes
 */
export function contracted(A, B, a, b, out, sizes) {
  const both = a.filter((axis) => b.includes(axis));
  const [stack, inner] = [both.filter((axis) => out.includes(axis)), both.filter((axis) => !out.includes(axis))];
  const [left, right] = [a.filter((axis) => !b.includes(axis)), b.filter((axis) => !a.includes(axis))];
  const [X, Y] = [arranged(A, a, [...stack, ...left, ...inner], sizes), arranged(B, b, [...stack, ...right, ...inner], sizes)];
  const C = product(X, Y, size(left, sizes), size(right, sizes), size(inner, sizes));
  return arranged(C, [...stack, ...left, ...right], out, sizes);
}

/**
 * Return the transpose of each matrix of a stack: (stack, rows, columns) -> (stack, columns, rows).
 *
 * @param {Float64Array} x
 * @param {number} row
 * @param {number} column
 */
export function transposed(x, row, column) {
  const sizes = { stack: x.length / (row * column), row, column };
  return arranged(x, ["stack", "row", "column"], ["stack", "column", "row"], sizes);
}

/**
 * Return (stack, n, inner) added up over n; the caller rounds first.
 *
 * @param {Float64Array} x rounded
 * @param {number} n
 * @param {number} inner
 */
export function added(x, n, inner) {
  const stack = x.length / (n * inner);
  const y = new Float64Array(stack * inner);
  for (let s = 0; s < stack; s++) {
    for (let i = 0; i < n; i++) for (let j = 0; j < inner; j++) y[s * inner + j] += x[(s * n + i) * inner + j];
  }
  return y;
}

/**
 * Return (stack, n, inner), rounded first, added up over n.
 *
 * @param {Float64Array} x
 * @param {number} n
 * @param {number} [inner]
 */
export const total = (x, n, inner = 1) => added(rounded(x, roomA.of(x.length)), n, inner);

const LOG2_E = 1.442695040888963387;
const LN2_HIGH = 0.69314718036912381649;
const LN2_LOW = 1.90821492927058770002e-10;
const TERMS = 13;
const SHARES = Float64Array.from({ length: TERMS + 1 }, (_, i) => 1 / i);
const REACH = 600;

/**
 * Return e^x for |x| up to 600; further out as if x were there.
 *
 * @param {number} x
 */
export function exp(x) {
  const t = Math.min(Math.max(x, -REACH), REACH);
  const k = Math.floor(t * LOG2_E + 0.5);
  const r = t - k * LN2_HIGH - k * LN2_LOW;
  let p = 1;
  for (let i = TERMS; i > 0; i--) p = p * r * SHARES[i] + 1;
  return p * power(k);
}

/**
 * Return the hyperbolic tangent.
 *
 * @param {number} x
 */
export function tanh(x) {
  const small = exp(-2 * Math.abs(x));
  const y = (1 - small) / (1 + small);
  return x < 0 ? -y : y;
}
