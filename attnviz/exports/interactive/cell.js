// The arithmetic of any cell, line by line, as the plan of the layer says it.

/** @import { Tree } from "../../live/types" */
/** @import { Cell, Line, Said, Stage } from "./types" */
import { OF_ENTRIES } from "../../live/entry.js";
import { help } from "../../live/help.js";
import { exact, list, products, range, short, sum, total } from "./formats.js";
import { saidWeight } from "./normalisers.js";
import { at, data, digitsOf, held, isClosed, setting, step, view, words } from "./run.js";
import { saidScore } from "./typed.js";

/** @type {Record<string, string>} */
const STEP_TITLES = { scores: words.score, scaled: words.scaled, capped: words.capped, masked: words.mask, weights: words.weight, heads: words.values };
/** @type {Record<string, string>} */
const SIGNS = { "+": "+", "*": "×", "/": "/" };

/** Whether it is a number of the setting, or of the plan itself. @param {Tree} tree */
const isNumber = (tree) => typeof tree === "number" || tree[0] === "setting";

/** @param {number} value @returns {Said} what is looked up */
const known = (value) => ({ text: short(value), value, size: Math.abs(value), isNew: false });

/** What a step is made of. @param {string} name @returns {Tree | undefined} */
const treeOf = (name) => data.layers[view.layer].plan?.[name];

/** One number of a value, without a word. @param {Tree} tree @param {Cell} cell @returns {number} */
const numberOf = (tree, cell) => (typeof tree === "string" && step(tree) ? at(tree, ...cell) : new Derivation(cell).said(tree).value);

/** The lines of a cell, each step once, with all that comes before it. */
class Derivation {
  /** @type {Line[]} */
  lines = [];
  /** @type {Map<string, number>} */
  told = new Map();

  /** @param {Cell} cell */
  constructor(cell) {
    this.cell = cell;
  }

  /** @param {string} name @returns {number} the number of a step, with its lines where it is met first */
  step(name) {
    const found = this.told.get(name) ?? (name === "allowed" ? Number(!isClosed(this.cell)) : this.derived(name));
    this.told.set(name, found);
    return found;
  }

  /** @param {string} name */
  derived(name) {
    const tree = treeOf(name), recorded = step(name) && at(name, ...this.cell), title = STEP_TITLES[name] ?? name;
    if (recorded !== undefined && tree === undefined) {
      const isPart = step(name)?.form === "rounded" && step("masked"); // of a run, of which only the weights are held
      if (name in STEP_TITLES) this.lines.push([title, `${isPart ? "" : words.given + ": "}${digitsOf(name, recorded)}`]);
      return recorded;
    }
    const { text, value, size, isNew } = this.said(tree ?? NaN);
    const is = recorded ?? value, made = held(value, is, size);
    if (name === "masked" && is === -Infinity) this.lines.push([title, words.forbidden]);
    else if (isNew || made !== exact(is)) this.lines.push([title, isNew && text ? `${text} = ${made}` : made]);
    return is;
  }

  /** @param {Tree} tree @returns {Said} */
  said(tree) {
    if (typeof tree === "number") return known(tree);
    if (typeof tree === "string") return known(this.step(tree));
    const [op, ...args] = tree, [h] = this.cell;
    if (op === "setting") return known(help.each(/** @type {Record<string, number | number[]>} */ (/** @type {unknown} */ (setting))[String(args[0])], h));
    if (op === "score") return this.score(args);
    if (op === "mix") return this.mix(args);
    return op === "normalise" ? this.weight(args[0]) : this.joined(op, args);
  }

  /** @param {Tree[]} read  queries and keys @returns {Said} */
  score([Q, K]) {
    const [h, i, j] = this.cell, widths = range(setting.d_k[h]);
    const q = widths.map((d) => numberOf(Q, [h, i, d])), k = widths.map((d) => numberOf(K, [Math.floor(h / setting.group), j, d]));
    this.lines.push([`${words.Query} ${i + 1}`, `q = ${list(q)}`], [`${words.Key} ${j + 1}`, `k = ${list(k)}`]);
    return saidScore(q, k, this.cell, this.lines);
  }

  /** @param {Tree} S  the scores @returns {Said} */
  weight(S) {
    this.said(S);
    const [h, i, j] = this.cell, over = setting.over === "keys";
    const x = range(over ? data.keys.length : data.queries.length).map((l) => numberOf(S, over ? [h, i, l] : [h, l, j]));
    this.lines.push([over ? words.row : words.column, list(x)]);
    return saidWeight(x, over ? j : i, this.cell, this.lines);
  }

  /** @param {Tree[]} read  weights and values @returns {Said} */
  mix([A, V]) {
    const [h, i, d] = this.cell, group = Math.floor(h / setting.group);
    const open = range(data.keys.length).filter((j) => !isClosed([h, i, j]) || numberOf(A, [h, i, j]));
    const a = open.map((j) => numberOf(A, [h, i, j])), v = open.map((j) => numberOf(V, [group, j, d])), terms = a.map((x, l) => x * v[l]);
    const text = open.length ? `${products(a, v)} = ${total(terms)}` : "0";
    return { text, value: sum(terms), size: sum(terms.map(Math.abs)), title: words.values, isNew: true };
  }

  /** What an operation reads; what takes lines of its own has them first. @param {Tree} tree @returns {Said} */
  part(tree) {
    const found = this.said(tree);
    if (!found.title) return found;
    this.lines.push([found.title, `${found.text} = ${exact(found.value)}`]);
    return { ...known(found.value), size: found.size, isNew: true };
  }

  /** @param {string} op @param {Tree[]} read @returns {Said} */
  joined(op, read) {
    const parts = read.map((each) => this.part(each)), [x, y] = parts, numbers = parts.map((each) => each.value);
    const value = OF_ENTRIES[op](...numbers);
    if (op === "only_where") {
      if (x.isNew) this.lines.push([words.bias, `${x.text} = ${exact(numbers[0])}`]);
      return { ...x, value, isNew: false };
    }
    if (op === "*" && numbers.includes(1)) return numbers[0] === 1 ? y : x;
    if (op === "tanh") return { text: `tanh(${x.text})`, value, size: x.size, isNew: true };
    const texts = (isNumber(read[1]) && op === "*" ? [y, x] : parts).map((each, at) => asPart(each, op, at === 0));
    return { text: texts.join(` ${SIGNS[op]} `), value, size: OF_ENTRIES[op](x.size, y.size), isNew: true, op };
  }
}

/** @param {Said} part @param {string} op @param {boolean} isFirst */
const asPart = ({ text, op: own }, op, isFirst) => ((own && op !== "+") || (!isFirst && text.startsWith("−")) ? `(${text})` : text);

/** @param {Stage} stage @param {Cell} cell @returns {Line[]} */
export function lines(stage, cell) {
  const derivation = new Derivation(cell);
  derivation.step(stage.name);
  return derivation.lines;
}
