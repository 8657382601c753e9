// The arithmetic of a score, and from it to what enters the normaliser.

/** @import { Cell, Computed, Factors, Line, Passage } from "./types" */
import { exact, factor, list, products, range, short, sum, total } from "./formats.js";
import { at, held, setting, step, vector, words } from "./run.js";
import { hasTyped, typedScore } from "./typed.js";

/**
 * Multiply a row with a matrix of the score function.
 *
 * @param {number[]} xs
 * @param {number} head
 * @param {string} name
 * @param {number} width
 */
const times = (xs, head, name, width) => range(width).map((b) => sum(xs.map((x, a) => x * at(name, head, a, b))));
/** @param {number[]} xs */
const length = (xs) => Math.hypot(...xs);
/** @param {number[]} left @param {number[]} right @param {string} names @returns {Factors} */
const pair = (left, right, names) => ({ left, right, names });

/**
 * The two rows whose products add up to the score.
 *
 * @type {Partial<Record<string, (q: number[], k: number[], head: number, key: number) => Factors>>}
 */
const FACTORS = {
  scaled_dot: (q, k) => pair(q, k, "q · k"),
  dot: (q, k) => pair(q, k, "q · k"),
  general: (q, k, h) => pair(times(q, h, "score_w", k.length), k, "(q W) · k"),
  location: (q, _, h, j) => pair(q, q.map((_, a) => at("score_w", h, a, j)), `q · W[:, ${j + 1}]`),
  additive(q, k, h) {
    const width = step("score_v")?.shape[1] ?? 0;
    const [left, right] = [times(q, h, "score_w_q", width), times(k, h, "score_w_k", width)];
    const b = step("score_b") ? range(width).map((d) => at("score_b", h, d)) : range(width).fill(0);
    const inside = left.map((x, d) => x + right[d] + b[d]);
    return pair(range(width).map((d) => at("score_v", h, d)), inside.map(Math.tanh), "v · tanh(q W_q + k W_k + b)");
  },
};
/**
 * Scores that are no sum of products.
 *
 * @type {Partial<Record<string, (q: number[], k: number[]) => Computed>>}
 */
const OTHERS = {
  cosine(q, k) {
    const lengths = length(q) * length(k);
    const dot = sum(q.map((x, d) => x * k[d]));
    return [`q · k / (|q| |k|) = ${short(dot)} / (${short(length(q))} × ${short(length(k))})`, lengths ? dot / lengths : 0, 1];
  },
  gaussian(q, k) {
    const squared = sum(q.map((x, d) => (x - k[d]) ** 2));
    return [`−½ |q − k|² = −½ × ${short(squared)}`, -0.5 * squared];
  },
  negative_distance(q, k) {
    const apart = q.map((x, d) => x - k[d]);
    return [`−|q − k| = −√${short(sum(apart.map((x) => x * x)))}`, -length(apart)];
  },
};

/** @param {Cell} cell @returns {Line[]} */
export function scoreLines([h, i, j]) {
  const recorded = at("scores", h, i, j);
  if (!step("queries")) return [[words.score, `${words.given}: ${exact(recorded)}`]];
  const width = setting.d_k[h];
  const [q, k] = [vector("queries", h, i, width), vector("keys", Math.floor(h / setting.group), j, width)];
  /** @type {Line[]} */
  const lines = [[`${words.Query} ${i + 1}`, `q = ${list(q)}`], [`${words.Key} ${j + 1}`, `k = ${list(k)}`]];
  if (hasTyped.score) return [...lines, ...typedScore(q, k, [h, i, j], recorded)];
  const [factors, other] = [FACTORS[setting.score], OTHERS[setting.score]];
  if (factors) {
    const { left, right, names } = factors(q, k, h, j);
    const terms = left.map((x, d) => x * right[d]);
    const own = names === "q · k" ? "" : `${list(left)} · ${list(right)} = `;
    const size = sum(left.map((x, d) => Math.abs(x) * (1 + Math.abs(right[d])))) + sum(q.map(Math.abs)) * sum(k.map(Math.abs));
    lines.push([words.products, `${names} = ${own}${products(left, right)}`]);
    lines.push([words.score, `${total(terms)} = ${held(sum(terms), recorded, size)}`]);
  } else if (other) {
    const [text, made, size] = other(q, k);
    lines.push([words.score, `${text} = ${held(made, recorded, size)}`]);
  } else lines.push([words.score, exact(recorded)]);
  return lines;
}

/** @param {Cell} cell @returns {Line[]} from the score to what enters the normaliser */
export function passageLines([h, i, j]) {
  let s = at("scores", h, i, j);
  /** @type {Line[]} */
  const lines = [];
  /** @param {Passage} name @param {string} text @param {number} made */
  const next = (name, text, made) => {
    const recorded = step(name) ? at(name, h, i, j) : made;
    lines.push([words[name], `${text} = ${held(made, recorded)}`]);
    s = recorded;
  };
  const c = setting.scale[h];
  if (c !== 1 || step("scaled")) next("scaled", `${short(c)} × ${factor(s)}`, c * s);
  const cap = setting.softcap;
  if (cap || step("capped")) next("capped", `${short(cap)} × tanh(${short(s)} / ${short(cap)})`, cap ? cap * Math.tanh(s / cap) : s);
  const size = Math.abs(s) + (step("bias") ? Math.abs(at("bias", h, i, j)) : 0);
  if (step("bias")) {
    const b = at("bias", h, i, j);
    lines.push([words.bias, `${short(s)} + ${factor(b)} = ${exact(s + b)}`]);
    s += b;
  }
  const masked = at("masked", h, i, j);
  if (masked === -Infinity) lines.push([words.mask, words.forbidden]);
  else if (held(s, masked, size) !== exact(masked)) lines.push([words.mask, held(s, masked, size)]);
  return lines;
}
