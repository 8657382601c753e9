// The operations of a plan on arrays of three axes: heads, rows, columns. Each fills a box of its result.

/** @import { Activation, Fill, FillPairs, FillRow, Made, Operation, Value } from "./types" */
import { help } from "./help.js";

// over a tiny temperature, so that the largest can still be subtracted from it
const LARGEST_SCORE = 1e307;

/** @param {Value} value @returns {[number, number, number]} how far apart its heads, rows and columns lie; 0 is spread */
function strides({ shape: [heads, rows, columns] }) {
  return [heads > 1 ? rows * columns : 0, rows > 1 ? columns : 0, columns > 1 ? 1 : 0];
}

/**
 * Fill a box from two arrays, of which one may be narrower.
 *
 * @param {(a: Float64Array, p: number, pc: number, b: Float64Array, q: number, qc: number, o: number, end: number, out: Float64Array) => void} row
 * @returns {Fill<Made>}
 */
const byRows = (row) => ({ shape: [, rows, columns], args }, [x, y], out, [h0, h1, r0, r1]) => {
  const [xh, xr, xc] = strides(args[0]), [yh, yr, yc] = strides(args[1]);
  for (let h = h0; h < h1; h++)
    for (let r = r0; r < r1; r++) {
      const o = (h * rows + r) * columns;
      row(x, h * xh + r * xr, xc, y, h * yh + r * yr, yc, o, o + columns, out);
    }
};

/**
 * Fill a box from one array of the same shape.
 *
 * @param {(x: number, by: number) => number} of
 * @returns {Fill<Made>}
 */
const byEntry = (of) => ({ shape: [, rows, columns] }, [x, y], out, [h0, h1, r0, r1]) => {
  const by = y ? y[0] : 1;
  for (let h = h0; h < h1; h++)
    for (let o = (h * rows + r0) * columns, end = (h * rows + r1) * columns; o < end; o++) out[o] = of(x[o], by);
};

/** Series and continued fraction: Abramowitz and Stegun 1964, 7.1.5 and 7.1.14. @param {number} x */
function erf(x) {
  const a = Math.abs(x);
  if (a < 2.5) {
    let term = a, total = a;
    for (let n = 1; n < 100 && Math.abs(term) > 1e-17 * total; n++) {
      term *= (-a * a) / n;
      total += term / (2 * n + 1);
    }
    return (Math.sign(x) * total * 2) / Math.sqrt(Math.PI);
  }
  let f = a;
  for (let n = 60; n > 0; n--) f = a + n / 2 / f;
  return Math.sign(x) * (1 - Math.exp(-a * a) / f / Math.sqrt(Math.PI));
}

/** @type {Record<Activation, (x: number) => number>} */
const ACTIVATIONS = {
  relu: (x) => Math.max(x, 0),
  gelu: (x) => x * 0.5 * (1 + erf(x / Math.SQRT2)),
  gelu_tanh: (x) => 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3))),
  silu: (x) => x / (1 + Math.exp(-x)),
  clamped_silu: (x) => ACTIVATIONS.silu(1.702 * Math.min(x, 7)) / 1.702,
  clipped: (x) => 1 + Math.max(-7, Math.min(x, 7)),
};

/** @type {Fill<Operation<"norm">>} */
function norm({ shape: [, rows, columns], centred, epsilon }, [x], out, [h0, h1, r0, r1]) {
  for (let h = h0; h < h1; h++)
    for (let r = r0; r < r1; r++) {
      const first = (h * rows + r) * columns, end = first + columns;
      let mean = 0, square = 0;
      if (centred) for (let o = first; o < end; o++) mean += x[o];
      mean /= columns;
      for (let o = first; o < end; o++) square += (x[o] - mean) ** 2;
      const root = Math.sqrt(square / columns + epsilon);
      for (let o = first; o < end; o++) out[o] = (x[o] - mean) / root;
    }
}

/** The rows of a token in all heads over the root of their mean square. @type {Fill<Operation<"norm_of_heads">>} */
function normOfHeads({ shape: [heads, rows, columns], epsilon }, [x], out, [h0, h1, r0, r1]) {
  const squares = new Float64Array(rows), size = rows * columns;
  /** @param {number} o */
  const row = (o) => Math.floor(o / columns) % rows;
  x.forEach((each, o) => (squares[row(o)] += each * each));
  for (let o = h0 * size, r = 0; o < h1 * size; o++) if ((r = row(o)) >= r0 && r < r1) out[o] = x[o] / Math.sqrt(squares[r] / heads / columns + epsilon);
}

/** The shares of the experts that each row takes: of equal ones the earlier. @type {Fill<Operation<"route">>} */
function route({ shape: [, , n], chosen, addsUp }, [x], out, [, , r0, r1]) {
  for (let o = r0 * n; o < r1 * n; o += n) {
    const R = x.subarray(o, o + n), most = Math.max(...R), e = R.map((each) => Math.exp(each - most));
    const kept = e.map((each, at) => (R.filter((y, k) => y > R[at] || (y === R[at] && k < at)).length < chosen ? each : 0));
    out.set(kept.map((each) => each / (addsUp ? kept : e).reduce((a, b) => a + b)), o);
  }
}

/**
 * Add up some rows of Y, each times its number of x, into one row of the result: four columns at a time.
 *
 * @param {Float64Array} x @param {number} a @param {number} length
 * @param {Float64Array} Y @param {number} b @param {number} columns
 * @param {Float64Array} out @param {number} o
 */
function addUp(x, a, length, Y, b, columns, out, o) {
  let c = 0;
  for (; c + 3 < columns; c += 4) {
    let s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    for (let k = 0, p = b + c; k < length; k++, p += columns) {
      const by = x[a + k];
      s0 += by * Y[p];
      s1 += by * Y[p + 1];
      s2 += by * Y[p + 2];
      s3 += by * Y[p + 3];
    }
    out[o + c] = s0;
    out[o + c + 1] = s1;
    out[o + c + 2] = s2;
    out[o + c + 3] = s3;
  }
  for (; c < columns; c++) {
    let s = 0;
    for (let k = 0, p = b + c; k < length; k++, p += columns) s += x[a + k] * Y[p];
    out[o + c] = s;
  }
}

/** @type {Fill<Operation<"@">>} */
function matrixProduct({ shape: [, rows, columns], args }, [x, y], out, [h0, h1, r0, r1]) {
  const [xh, xr] = strides(args[0]), [yh] = strides(args[1]), length = args[1].shape[1];
  for (let h = h0; h < h1; h++)
    for (let r = r0; r < r1; r++) addUp(x, h * xh + r * xr, length, y, h * yh, columns, out, (h * rows + r) * columns);
}

/** Rotate pairs of neighbours by the powers of a base, or the first columns and those behind them by frequencies. @type {Fill<Operation<"rope">>} */
function rope({ shape: [, rows, columns], widths, frequencies }, [x], out, [h0, h1, r0, r1], { settings }) {
  for (let h = h0; h < h1; h++) {
    const n = frequencies ? frequencies.length : widths[h] >> 1;
    const angles = frequencies ?? Array.from({ length: n }, (_, c) => Number(settings.rope_base) ** ((-2 * c) / widths[h]));
    for (let r = r0; r < r1; r++) {
      const first = (h * rows + r) * columns;
      out.set(x.subarray(first, first + columns), first);
      for (let c = 0; c < n; c++) {
        const p = first + (frequencies ? c : 2 * c), q = p + (frequencies ? n : 1);
        const [cos, sin, left, right] = [Math.cos(r * angles[c]), Math.sin(r * angles[c]), x[p], x[q]];
        out[p] = left * cos - right * sin;
        out[q] = left * sin + right * cos;
      }
    }
  }
}

/** The arrays that a line reads, by its names for them. @param {{ own: string[] }} value @param {Float64Array[]} x */
const byName = ({ own }, x) => Object.fromEntries(own.map((name, at) => [name, x[at]]));

/** A score, or a bias with learned numbers. @type {Fill<Operation<"score">>} */
function score(value, x, out, box, { settings: set, queries, keys, line }) {
  const { shape: [heads, n, m], widths, group } = value;
  const sizes = { n, m, heads, widths, group, D: value.args[0].shape[2], A: value.hidden, set, queries, keys };
  /** @type {FillPairs} */ (line(value.line))(byName(value, x), sizes, out, ...box);
}

/** A mask as the product of its rows, or the line of a bias. @type {Fill<Operation<"mask"> | Operation<"bias">>} */
function table(value, _, out, box, { settings: set, queries, keys, line }) {
  const { shape: [heads, n, m], lines } = value;
  const sizes = { n, m, heads, widths: [], group: 1, D: 0, A: 0, set, queries, keys };
  lines.forEach((name, at) => {
    const its = at ? new Float64Array(out.length) : out;
    /** @type {FillPairs} */ (line(name))({}, sizes, its, ...box);
    if (at) for (let o = 0; o < out.length; o++) out[o] *= its[o];
  });
}

/** How large the numbers are whose sums the scores of a head are. @param {Made} made @param {Float64Array} x @param {number} head */
function lengthOf({ shape: [, rows, columns] }, x, head) {
  const size = rows * columns;
  return Math.sqrt(x.subarray(head * size, (head + 1) * size).reduce((total, each) => total + each * each, 0));
}

/** @type {Fill<Operation<"normalise">>} */
function normalise(value, given, out, [h0, h1, r0, r1], { settings: set, line }) {
  const { shape: [heads, n, m], over, group, args } = value, own = byName(value, given), { x: S, q, k: K } = own;
  const T = Number(set.temperature), byKeys = over === "keys";
  const [rows, cells, step, jump] = byKeys ? [n, m, 1, m] : [m, n, m, 1];
  const open = new Float64Array(cells), made = new Float64Array(cells), places = new Int32Array(cells);
  const inOrder = Int32Array.from(places.keys());
  const fill = /** @type {(size: number) => FillRow} */ (line("normaliser"))(cells);
  for (let h = h0; h < h1; h++) {
    const terms = q ? Math.abs(help.each(/** @type {number[]} */ (set.scale), h)) * lengthOf(args[1], q, h) * lengthOf(args[2], K, Math.floor(h / group)) : 0;
    const cell = { i: 0, h: h + 1, n_query: rows, n_key: cells, n_heads: heads, places, set, own, size: Number.isFinite(terms) ? terms / T : 0 };
    for (let r = byKeys ? r0 : 0; r < (byKeys ? r1 : rows); r++) {
      const first = h * n * m + r * jump, end = first + cells * step;
      let count = 0, o = first;
      for (; o < end && S[o] !== -Infinity; o += step) open[count++] = bounded(S[o] / T, S[o]);
      const run = count;
      for (; o < end; o += step)
        if (S[o] !== -Infinity) {
          if (count === run) places.set(inOrder.subarray(0, run));
          places[count] = (o - first) / step;
          open[count++] = bounded(S[o] / T, S[o]);
        }
      cell.i = r;
      cell.places = count === run ? inOrder : places;
      if (byKeys && count === run) {
        if (count) fill(open, out.subarray(first, first + count), count, cell);
        out.fill(0, first + count, end);
        continue;
      }
      if (count) fill(open, made, count, cell);
      for (let l = 0, k = 0, to = first; l < cells; l++, to += step) out[to] = k < count && cell.places[k] === l ? made[k++] : 0;
    }
  }
}

/** @param {number} z @param {number} s what z is over a temperature */
const bounded = (z, s) => Math.max(-LARGEST_SCORE, s < Infinity ? Math.min(z, LARGEST_SCORE) : z);

/** The values, weighed and added up; a forbidden one that is infinite takes no part. @type {Fill<Operation<"mix">>} */
function mix({ shape: [, rows, columns], args, group }, [A, V, allowed], out, [h0, h1, r0, r1]) {
  const keys = args[1].shape[1], finite = V.every(Number.isFinite);
  for (let h = h0; h < h1; h++)
    for (let r = r0; r < r1; r++) {
      const a = (h * rows + r) * keys, v = Math.floor(h / group) * keys * columns, o = (h * rows + r) * columns;
      if (finite) {
        let from = 0, to = keys;
        while (from < to && A[a + from] === 0) from++;
        while (to > from && A[a + to - 1] === 0) to--;
        addUp(A, a + from, to - from, V, v + from * columns, columns, out, o);
      } else
        for (let c = 0; c < columns; c++) {
          out[o + c] = 0;
          for (let j = 0; j < keys; j++) {
            const x = V[v + j * columns + c];
            if (Number.isFinite(x) || !allowed || allowed[(a % allowed.length) + j]) out[o + c] += A[a + j] * x;
          }
        }
    }
}

/** @type {Fill<Operation<"side_by_side">>} */
function sideBySide({ shape: [, , columns], args, widths }, [x], out, [, , r0, r1]) {
  const [xh, xr] = strides(args[0]);
  let first = 0;
  widths.forEach((width, h) => {
    for (let r = r0; r < r1; r++)
      for (let c = 0; c < width; c++) out[r * columns + first + c] = x[h * xh + r * xr + c];
    first += width;
  });
}

/** The matrix of the first head of each group. @type {Fill<Operation<"tied">>} */
function tied({ shape: [heads, rows, columns], group }, [x], out) {
  const size = rows * columns;
  for (let g = 0; g < heads; g++) out.set(x.subarray(g * group * size, (g * group + 1) * size), g * size);
}

/** @type {{ [Name in Value["op"]]?: Fill<Operation<Name>> }} */
export const FILLS = {
  "+": byRows((a, p, pc, b, q, qc, o, end, out) => {
    for (; o < end; o++, p += pc, q += qc) out[o] = a[p] + b[q];
  }),
  "*": byRows((a, p, pc, b, q, qc, o, end, out) => {
    // most of all: the scale
    if (pc === 1 && qc === 0) for (const by = b[q]; o < end; o++, p++) out[o] = a[p] * by;
    else for (; o < end; o++, p += pc, q += qc) out[o] = a[p] * b[q];
  }),
  only_where: byRows((a, p, pc, b, q, qc, o, end, out) => {
    for (; o < end; o++, p += pc, q += qc) out[o] = b[q] ? a[p] : -Infinity;
  }),
  "/": byEntry((x, by) => x / by),
  tanh: byEntry(Math.tanh),
  activation: (value, ...rest) => byEntry(ACTIVATIONS[value.activation])(value, ...rest),
  "@": matrixProduct,
  norm,
  norm_of_heads: normOfHeads,
  route,
  each_unit: ({ shape: [, , columns], units }, [x], out, [, , r0, r1]) => {
    for (let o = r0 * columns; o < r1 * columns; o++) out[o] = x[Math.floor(o / units)];
  },
  rope,
  score,
  mask: table,
  bias: table,
  normalise,
  mix,
  side_by_side: sideBySide,
  tied,
};
