// What the lines of rows call when they are computed: matrix products, and the normalisers that no line says.

/** @import { Help } from "./types" */

// e^x = 2^(k / 1024) e^r, k whole: both powers are looked up, r is below 0.0004
const PART_BITS = 10, PARTS = 2 ** PART_BITS;
const PER = PARTS / Math.LN2;
const ROOTS = Float64Array.from({ length: PARTS }, (_, part) => 2 ** (part / PARTS));
const LEAST_POWER = -1022, POWERS = Float64Array.from({ length: 2046 }, (_, n) => 2 ** (n + LEAST_POWER));
// of log 2, as fdlibm has it
const [HIGH, LOW] = [6.93147180369123816490e-1 / PARTS, 1.90821492927058770002e-10 / PARTS];

/** @type {Help} */
export const help = {
  /** The exponential to the last digit or two, in a quarter of the time that Math.exp takes. */
  exp(x) {
    if (!(x > -700 && x < 700)) return Math.exp(x);
    const whole = Math.floor(x * PER + 0.5), k = whole | 0, r = x - whole * HIGH - whole * LOW;
    const rest = 1 + r * (1 + r * (1 / 2 + r * (1 / 6 + r * (1 / 24))));
    return POWERS[(k >> PART_BITS) - LEAST_POWER] * (ROOTS[k & (PARTS - 1)] * rest);
  },

  /** The number of a head; the last one repeats. */
  each: (value, head) => (typeof value === "number" ? value : value[Math.min(head, value.length - 1)]),

  square: (x) => x * x,

  /** The products of some rows with all of others: of two rows with four at a time, so that what is read serves both. */
  products(left, leftFirst, leftStride, right, rightFirst, rightStride, from, to, keys, width, out, first) {
    for (let i = from; i < to; i += 2) {
      const a = leftFirst + i * leftStride, b = i + 1 < to ? a + leftStride : a; // the last row may be alone
      let o = first + i * keys, p = i + 1 < to ? o + keys : o, j = 0;
      for (; j + 3 < keys; j += 4, o += 4, p += 4) {
        let c0 = rightFirst + j * rightStride, c1 = c0 + rightStride, c2 = c1 + rightStride, c3 = c2 + rightStride;
        let s0 = 0, s1 = 0, s2 = 0, s3 = 0, t0 = 0, t1 = 0, t2 = 0, t3 = 0;
        for (let d = 0; d < width; d++) {
          const x = left[a + d], y = left[b + d], k0 = right[c0++], k1 = right[c1++], k2 = right[c2++], k3 = right[c3++];
          s0 += x * k0;
          t0 += y * k0;
          s1 += x * k1;
          t1 += y * k1;
          s2 += x * k2;
          t2 += y * k2;
          s3 += x * k3;
          t3 += y * k3;
        }
        out[o] = s0;
        out[o + 1] = s1;
        out[o + 2] = s2;
        out[o + 3] = s3;
        out[p] = t0;
        out[p + 1] = t1;
        out[p + 2] = t2;
        out[p + 3] = t3;
      }
      for (; j < keys; j++, o++, p++) {
        const c = rightFirst + j * rightStride;
        let s = 0, t = 0;
        for (let d = 0; d < width; d++) {
          s += left[a + d] * right[c + d];
          t += left[b + d] * right[c + d];
        }
        out[o] = s;
        out[p] = t;
      }
    }
  },

  /** What lies above the threshold that makes a row add to 1, to a power: 1 is sparsemax, 2 takes halves, entmax 1.5. */
  above(x, w, n, power) {
    let top = -Infinity, tau = 0, total = 0, squares = 0;
    for (let l = 0; l < n; l++) top = Math.max(top, x[l]);
    for (let l = 0; l < n; l++) w[l] = (x[l] - top) / power;
    const rising = w.slice(0, n).sort();
    for (let k = 1; k <= n; k++) {
      const v = rising[n - k];
      if (power === 2 && v < -1) break; // what lies 1 below the largest never gets anything
      total += v;
      squares += v * v;
      const spread = squares - (total * total) / k;
      const made = power === 1 ? (total - 1) / k : total / k - Math.sqrt(Math.max((1 - spread) / k, 0));
      if (power === 1 ? 1 + k * v > total : made <= v) tau = made;
    }
    for (let l = 0; l < n; l++) w[l] = Math.max(w[l] - tau, 0) ** power;
  },

  /** Equal shares of the largest: equal but for rounding is equal. */
  winners(x, w, n, size) {
    let top = -Infinity, low = Infinity, count = 0;
    for (let l = 0; l < n; l++) {
      top = Math.max(top, x[l]);
      if (x[l] !== -Infinity) low = Math.min(low, x[l]);
    }
    const below = Math.max(1e-9 * top - 1e-9 * low, 2 ** -44 * Math.max(Math.abs(top), Math.abs(low), size));
    const least = top - (Number.isFinite(below) ? below : 0);
    for (let l = 0; l < n; l++) count += x[l] >= least ? 1 : 0;
    for (let l = 0; l < n; l++) w[l] = Number.isNaN(least) ? NaN : x[l] >= least ? 1 / count : 0;
  },
};
