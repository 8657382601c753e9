// The arithmetic of a score, and from it to what enters the normaliser.

/** @import { Cell, Line, Passage } from "./types" */
import { exact, factor, list, short } from "./formats.js";
import { at, held, setting, step, vector, words } from "./run.js";
import { typedScore } from "./typed.js";

/** @param {Cell} cell @returns {Line[]} */
export function scoreLines([h, i, j]) {
  const recorded = at("scores", h, i, j);
  if (!step("queries")) return [[words.score, `${words.given}: ${exact(recorded)}`]];
  const width = setting.d_k[h];
  const [q, k] = [vector("queries", h, i, width), vector("keys", Math.floor(h / setting.group), j, width)];
  /** @type {Line[]} */
  const lines = [[`${words.Query} ${i + 1}`, `q = ${list(q)}`], [`${words.Key} ${j + 1}`, `k = ${list(k)}`]];
  return [...lines, ...typedScore(q, k, [h, i, j], recorded)];
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
