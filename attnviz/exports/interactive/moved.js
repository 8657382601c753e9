// What was moved by hand, and the numbers that follow from it: the program that Python writes, carried out here.

/** @import { Live } from "../../live/types" */
/** @import { Cell } from "./types" */
import { compile } from "../../live/live.js";
import { range } from "./formats.js";
import { data, numbersOf, setting, step, view } from "./run.js";

/**
 * The lines of the rows; Python writes them here as functions, since the rules of the file forbid to compile a text.
 *
 * @type {Record<string, import("../../live/types").Source>}
 */
const LINES = {};

/** What the arithmetic of a cell reads of the setting. */
const FOLLOWED = /** @type {const} */ (["temperature", "softcap"]);
const SAVED = { ...setting };

/** @type {Live | null} */
let program = null;
/** @type {Record<string, Float64Array>} */
let saved = {};
/** @type {Record<string, Float64Array>} */
let made = {};
/** @type {Record<string, number>} */
let numbers = {};
/** @type {Map<string, { step: string, at: number, value: number }>} */
const entries = new Map();
/** @type {Set<string>} */
const switchedOff = new Set(); // heads, by their layer and number

export const canMove = data.live !== null;

/** Get all numbers ready, which takes a moment in a large file. */
function prepare() {
  if (program || !data.live) return;
  const edits = data.live.program.edits.map((edit) => ({ ...edit, value: Number(edit.value) }));
  program = compile({ ...data.live.program, edits, settings: { ...data.live.program.settings, ...LINES } });
  for (const [name, found] of Object.entries(data.live.arrays)) saved[name] = numbersOf(found);
  data.layers.forEach(({ steps }, layer) => {
    for (const [name, found] of Object.entries(steps)) if (found) saved[`${name}.${layer}`] = numbersOf(found);
  });
}

/** Compute what follows from all that was moved, and put it where every reader of a number looks. */
function renewNumbers() {
  prepare();
  const settings = Object.entries(numbers).map(([name, value]) => ({ setting: name, value }));
  const changes = [...settings, ...entries.values(), ...[...switchedOff].flatMap(outputsOf)];
  made = program && changes.length ? program.follow(saved, changes, made) : {};
  data.layers.forEach(({ steps }, layer) => {
    for (const [name, found] of Object.entries(steps)) if (found) found.numbers = made[`${name}.${layer}`] ?? saved[`${name}.${layer}`];
  });
  for (const name of FOLLOWED) setting[name] = numbers[name] ?? SAVED[name];
  setting.scale = "scale" in numbers ? SAVED.scale.map(() => numbers.scale) : SAVED.scale;
  setting.knobs = { ...SAVED.knobs, ...numbers };
  view.moved = changes.length > 0;
}

/** @param {string} head  that is switched off: all of its output is 0 */
function outputsOf(head) {
  const [layer, at] = head.split(":").map(Number), size = /** @type {{ shape: number[] }} */ (step("heads", layer)).shape.slice(1).reduce((a, b) => a * b);
  return range(size).map((n) => ({ step: `heads.${layer}`, at: at * size + n, value: 0 }));
}

/** @param {number} head @returns {boolean} whether it is switched off */
export const isOff = (head) => switchedOff.has(`${view.layer}:${head}`);

/** Whether heads may be switched off. */
export const hasOutput = () => canMove && Boolean(step("heads"));

/** @param {number} head  to switch off, or on again */
export function switchHead(head) {
  const key = `${view.layer}:${head}`;
  if (!switchedOff.delete(key)) switchedOff.add(key);
  renewNumbers();
}

/** @param {string} name @param {number} value  a number of the setting, and what it is to be */
export function moveSetting(name, value) {
  const { [name]: _, ...rest } = numbers;
  const was = data.live?.knobs.find((knob) => knob.name === name)?.value;
  numbers = value === was ? rest : { ...rest, [name]: value };
  renewNumbers();
}

/** @param {string} name @param {Cell} cell @returns {number} where a number of the step stands in its array */
function placeOf(name, [h, i, j]) {
  const [, rows, columns] = /** @type {{ shape: number[] }} */ (step(name)).shape;
  return (h * rows + i) * columns + j;
}

/** @param {string} name @param {Cell} cell @returns {number} the number that the file was saved with */
export function savedNumber(name, cell) {
  prepare();
  return saved[`${name}.${view.layer}`][placeOf(name, cell)];
}

/** @param {string} name @param {Cell} cell @param {number | null} value  what a number is to be; what follows is again computed without one */
export function moveNumber(name, cell, value) {
  const [at, key] = [placeOf(name, cell), `${name}.${view.layer}`];
  if (value === null) entries.delete(`${key}:${at}`);
  else entries.set(`${key}:${at}`, { step: key, at, value });
  renewNumbers();
}

/** @param {string} name @param {Cell} cell @returns {boolean} whether a number was set by hand */
export const isHeld = (name, cell) => entries.has(`${name}.${view.layer}:${placeOf(name, cell)}`);

/** Whether the layer has a mask, which may be changed. */
export const hasMask = () => Boolean(data.live?.program.steps.some((each) => each.name === `allowed.${view.layer}`));

/** @param {Cell} cell @param {boolean} may  whether a query may attend to a key, in every head */
export function allow([, i, j], may) {
  const [name, at] = [`allowed.${view.layer}`, i * data.keys.length + j];
  const key = `${name}:${at}`;
  if (entries.has(key)) entries.delete(key);
  else entries.set(key, { step: name, at, value: may ? 1 : 0 });
  renewNumbers();
}

export function moveBack() {
  numbers = {};
  entries.clear();
  switchedOff.clear();
  renewNumbers();
}
