// What follows from a changed number of a run, computed where the hand is: the program that Python writes, carried out.

/** @import { Arrays, Box, Change, Entry, Fill, Live, Program, Region, Settings, Source, Step, Value } from "./types" */
import { help } from "./help.js";
import { FILLS } from "./operations.js";

const IN_PLACE = new Set(["+", "*", "/", "tanh", "only_where", "activation", "norm"]);
const TRACKED = new Set(["head", "kv_head", "query", "key"]);

/** @type {Map<Source, unknown>} */
const compiledLines = new Map();

/** @param {Source} source @returns {unknown} the function of a line, compiled once */
function compiledLine(source) {
  if (!compiledLines.has(source)) {
    // A formula that is typed is another one with every key.
    if (compiledLines.size > 200) compiledLines.clear();
    const made = typeof source === "string" ? Function(`"use strict"; return ${source}`)() : source;
    compiledLines.set(source, made(help));
  }
  return compiledLines.get(source);
}

/** @param {number[]} shape */
const countOf = (shape) => shape.reduce((a, b) => a * b, 1);

/** @param {Region | undefined} one @param {Region | undefined} other @returns {Region | undefined} what holds both */
function union(one, other) {
  if (!one || !other) return one ?? other;
  /** @type {Region} */
  const both = {};
  for (const [axis, range] of Object.entries(one)) {
    const its = other[axis];
    if (range && its) both[axis] = [Math.min(range[0], its[0]), Math.max(range[1], its[1])];
  }
  return both;
}

/** @param {Value} value @param {Region} region @returns {Region} the part of a value that what is made of it needs anew */
function carried(value, region) {
  /** @type {Region} */
  const found = {};
  for (const [axis, range] of Object.entries(region)) {
    if (value.op === "as_keys" && axis === "query") found.key = range;
    else if (value.op === "norm_of_heads" && axis.endsWith("head")) continue;
    else if (value.op === "normalise" && (axis === "key" || (axis === "query" && value.over !== "keys"))) continue;
    else if (value.axes.includes(axis)) found[axis] = range;
    else if (axis === "kv_head" && range && "group" in value) found.head = [range[0] * value.group, range[1] * value.group];
  }
  return found;
}

/** @param {{ axes: string[], shape: number[] }} array @param {Region} region @returns {Box} */
function boxOf({ axes, shape }, region) {
  const [heads, rows] = shape, row = axes[axes.length - 2];
  const [h0, h1] = (axes.length > 1 && axes[0].endsWith("head") && region[axes[0]]) || [0, heads];
  const [r0, r1] = (!row?.endsWith("head") && row && region[row]) || [0, rows];
  return [h0, h1, r0, r1];
}

/** @param {Step} step @param {number} at @returns {Region} where one number of a step stands */
function regionAt({ axes, shape }, at) {
  /** @type {Region} */
  const region = {};
  const lengths = axes.length === 3 ? shape : axes.length === 1 ? [countOf(shape)] : axes[0].endsWith("head") ? [shape[0], shape[1] * shape[2]] : shape.slice(1);
  for (let axis = axes.length - 1, left = at; axis >= 0; axis--) {
    const place = left % lengths[axis];
    left = (left - place) / lengths[axis];
    if (TRACKED.has(axes[axis])) region[axes[axis]] = [place, place + 1];
  }
  return region;
}

/** One answer to a question what follows. */
class Following {
  /** @param {Program} program @param {Arrays} arrays @param {Change[]} changes @param {Arrays} spare */
  constructor(program, arrays, changes, spare) {
    /** @type {Settings} */
    this.settings = { ...program.settings };
    this.program = program;
    this.arrays = arrays;
    /** @type {Arrays} */
    this.made = {};
    /** @type {Map<string, Region>} */
    this.stale = new Map();
    /** @type {Set<string>} */
    this.moved = new Set();
    /** @type {Map<string, Entry[]>} */
    this.entries = new Map();
    for (const change of changes) this.note(change);
    this.spare = new Set(Object.values(spare));
    for (const array of [...Object.values(arrays), ...Object.values(this.made)]) this.spare.delete(array);
    this.around = { settings: this.settings, queries: program.queries, keys: program.keys, line: this.line.bind(this) };
  }

  /** @param {Change} change */
  note(change) {
    if ("setting" in change) {
      this.settings[change.setting] = change.value;
      this.moved.add(change.setting);
    } else if ("array" in change) {
      this.made[change.step] = change.array;
      this.stale.set(change.step, {});
    } else this.entries.set(change.step, [...(this.entries.get(change.step) ?? []), change]);
  }

  /** @param {string} name @returns {unknown} */
  line(name) {
    return compiledLine(/** @type {Source} */ (this.settings[name]));
  }

  /** @param {Step} step */
  follow(step) {
    const entries = this.entries.get(step.name) ?? [], given = this.stale.has(step.name);
    const region = given || !step.made ? this.stale.get(step.name) : this.regionOf(step.made);
    if (!region && !entries.length) return;
    if (region && !given && step.made) this.made[step.name] = this.computed(step, step.made, region);
    let whole = region;
    if (entries.length) {
      const array = (this.made[step.name] = this.copied(this.get(step.name)));
      for (const { at, value } of entries)
        for (const place of placesOf(step, at)) {
          array[place] = value;
          whole = union(whole, regionAt(step, place));
        }
    }
    this.stale.set(step.name, whole ?? {});
  }

  /** @param {Value} value @returns {Region | undefined} the part of a value that is not what it was */
  regionOf(value) {
    if (value.op === "step") return this.stale.get(value.name);
    if (value.op === "setting") return this.moved.has(value.name) ? {} : undefined;
    if (value.settings?.some((name) => this.moved.has(name))) return {};
    /** @type {Region | undefined} */
    let region;
    value.args.forEach((arg, place) => {
      const its = this.regionOf(arg);
      if (its) region = union(region, value.op === "tied" || (value.op === "normalise" && place) ? {} : carried(value, its));
    });
    return region;
  }

  /** @param {string} name @returns {Float64Array} a step as it is now; one that was not given is computed */
  get(name) {
    const found = this.made[name] ?? this.arrays[name];
    if (found) return found;
    const step = this.program.steps.find((each) => each.name === name);
    if (!step?.made) throw new Error(`the run has no ${name}`);
    return (this.made[name] = this.computed(step, step.made, {}));
  }

  /** @param {Step} step @param {Value} made @param {Region} region @returns {Float64Array} */
  computed(step, made, region) {
    const edits = this.program.edits.filter((edit) => edit.step === step.name), before = this.arrays[step.name];
    if (made.op === "step" && !edits.length) return this.get(made.name);
    const whole = boxOf(made, {}), box = before ? boxOf(made, region) : whole;
    const out = box.every((end, at) => end === whole[at]) ? this.memory(countOf(step.shape)) : this.copied(before);
    if (made.op === "step") out.set(this.get(made.name));
    else this.fill(made, out, box);
    for (const { at, value } of edits) out[at] = value;
    return out;
  }

  /** @param {Value} value @param {Float64Array} out @param {Box} box */
  fill(value, out, box) {
    let free = IN_PLACE.has(value.op);
    const x = value.args.map((arg) => {
      const into = free && countOf(arg.shape) === out.length ? out : null, array = this.operand(arg, into, box);
      if (array === out) free = false;
      return array;
    });
    const operation = /** @type {Fill<Value>} */ (FILLS[value.op]);
    operation(value, x, out, box, this.around);
  }

  /** @param {Value} arg @param {Float64Array | null} into @param {Box} box @returns {Float64Array} what an operation reads */
  operand(arg, into, box) {
    if (arg.op === "step") return this.get(arg.name);
    if (arg.op === "number") return Float64Array.of(arg.number);
    if (arg.op === "setting") {
      const number = /** @type {number | number[]} */ (this.settings[arg.name]);
      return Float64Array.from({ length: countOf(arg.shape) }, (_, n) => help.each(number, n));
    }
    if (arg.op === "as_keys") return this.operand(arg.args[0], into, box);
    if (into) {
      this.fill(arg, into, box);
      return into;
    }
    const out = new Float64Array(countOf(arg.shape));
    this.fill(arg, out, boxOf(arg, {}));
    return out;
  }

  /** @param {number} length @returns {Float64Array} memory that nobody reads */
  memory(length) {
    for (const array of this.spare)
      if (array.length === length) {
        this.spare.delete(array);
        return array;
      }
    return new Float64Array(length);
  }

  /** @param {Float64Array} array @returns {Float64Array} */
  copied(array) {
    const copy = this.memory(array.length);
    copy.set(array);
    return copy;
  }
}

/** @param {Step} step @param {number} at @returns {number[]} the place of a number, and those that are the same one */
function placesOf({ shape, shared = 1 }, at) {
  const size = shape[1] * shape[2], first = Math.floor(at / size / shared) * shared;
  return shared === 1 ? [at] : Array.from({ length: shared }, (_, n) => (first + n) * size + (at % size));
}

/**
 * Make a program ready to be asked.
 *
 * @param {Program} program
 * @returns {Live}
 */
export function compile(program) {
  return {
    follow(arrays, changes, spare = {}) {
      const following = new Following(program, arrays, changes, spare);
      for (const step of program.steps) following.follow(step);
      return following.made;
    },
  };
}
