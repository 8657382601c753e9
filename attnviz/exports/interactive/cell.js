// The arithmetic of any cell, line by line.

/** @import { Cell, Line, Stage } from "./types" */
import { exact, products, range, sum, total } from "./formats.js";
import { passageLines, scoreLines } from "./scores.js";
import { weightLines } from "./normalisers.js";
import { at, data, held, setting, step, words } from "./run.js";

/** @param {Cell} cell @returns {Line[]} */
function outputLines([h, i, d]) {
  const recorded = at("heads", h, i, d);
  if (!step("values")) return [[words.output, exact(recorded)]];
  const group = Math.floor(h / setting.group);
  const open = range(data.keys.length).filter((j) => !step("masked") || at("masked", h, i, j) !== -Infinity || at("weights", h, i, j));
  const [a, v] = [open.map((j) => at("weights", h, i, j)), open.map((j) => at("values", group, j, d))];
  const terms = a.map((x, l) => x * v[l]);
  const text = open.length ? `${products(a, v)} = ${total(terms)}` : "0";
  return [[words.values, `${text} = ${held(sum(terms), recorded, sum(terms.map(Math.abs)))}`]];
}

/** @param {Stage} stage @param {Cell} cell @returns {Line[]} */
export function lines(stage, cell) {
  if (stage.name === "heads") return outputLines(cell);
  const before = step("scores") ? [...scoreLines(cell), ...passageLines(cell)] : [];
  return step("weights") ? [...before, ...weightLines(cell)] : before;
}
