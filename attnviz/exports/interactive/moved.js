// What was moved by hand, and the numbers that follow from it: the program that Python writes, carried out here.

/** @import { Live } from "../../live/types" */
/** @import { Cell, Stage } from "./types" */
import { compile } from "../../live/live.js";
import { range } from "./formats.js";
import { data, isClosed, numbersOf, setting, step, view } from "./run.js";

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

/** @typedef {[numbers: Record<string, number>, entries: [string, { step: string, at: number, value: number }][], off: string[]]} Moves  all that was moved */

/** @type {Moves[]} */
const past = []; // before each change, the last one at the end
let gesture = ""; // what changes until the hand lets go, which is one change

/** @returns {Moves} */
const movesNow = () => [numbers, [...entries], [...switchedOff]];

/** Remember what was moved before a change. @param {string} name  of what changes: until the hand lets go of it, that is one change */
function remember(name) {
  if (name !== gesture) past.push(movesNow());
  gesture = name;
}

/** The hand lets go: what follows is another change. */
export const settle = () => void (gesture = "");

/** Whether there is a change to take back. */
export const canUndo = () => past.length > 0;

/** Take back the last change. */
export function undo() {
  settle();
  const now = JSON.stringify(movesNow());
  let before = past.pop();
  while (before && JSON.stringify(before) === now) before = past.pop(); // what Escape took back already
  if (!before) return;
  numbers = before[0];
  entries.clear();
  switchedOff.clear();
  for (const [key, entry] of before[1]) entries.set(key, entry);
  for (const head of before[2]) switchedOff.add(head);
  renewNumbers();
}

/** A number of the setting as it is now. @param {{ name: string, value: number }} knob */
export const numberNow = ({ name, value }) => numbers[name] ?? value;

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
  remember(`head ${key}`);
  settle();
  if (!switchedOff.delete(key)) switchedOff.add(key);
  renewNumbers();
}

/** @param {string} name @param {number} value  a number of the setting, and what it is to be */
export function moveSetting(name, value) {
  const was = data.live?.knobs.find((knob) => knob.name === name)?.value;
  if ((numbers[name] ?? was) === value) return;
  remember(`setting ${name}`);
  const { [name]: _, ...rest } = numbers;
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
  remember(`number ${key}:${at}`);
  if (value === null) entries.delete(`${key}:${at}`);
  else entries.set(`${key}:${at}`, { step: key, at, value });
  renewNumbers();
}

/** @param {string} name @param {Cell} cell @returns {boolean} whether a number was set by hand */
export const isHeld = (name, cell) => entries.has(`${name}.${view.layer}:${placeOf(name, cell)}`);

/** Whether no number of a stage stands in a cell; in a run without a mask there may be one since. @param {Pick<Stage, "masked" | "worded">} stage @param {Cell} cell */
export const isMasked = ({ masked, worded }, cell) => (masked || (worded && view.moved)) && isClosed(cell);

/** Whether some cell of the layer is masked that was not. */
export const hasPainted = () => [...entries.values()].some(({ step, value }) => step === `allowed.${view.layer}` && !value);

/** The cells of a stage of the layer whose numbers were set by hand. @param {string} name @returns {Cell[]} */
export function heldCells(name) {
  const found = step(name), key = `${name}.${view.layer}`;
  if (!found || !data.live) return [];
  const [, rows, columns] = found.shape, set = [...data.live.program.edits, ...entries.values()].filter((each) => each.step === key);
  return set.map(({ at }) => [Math.floor(at / columns / rows), Math.floor(at / columns) % rows, at % columns]);
}

/** The step of a layer's mask. @param {number} layer */
const maskOf = (layer) => data.live?.program.steps.find((each) => each.name === `allowed.${layer}`);

/** Whether the layer has a mask that may be changed: one for all heads. */
export const hasMask = () => maskOf(view.layer)?.shape[0] === 1;

/** @param {number} i @param {number} j @returns {boolean} whether a query may attend to a key */
export function mayAttend(i, j) {
  const name = `allowed.${view.layer}`, at = i * data.keys.length + j;
  const may = entries.get(`${name}:${at}`)?.value ?? made[name]?.[at];
  return may === undefined ? mightAttend(view.layer, at) : may !== 0;
}

/** @param {number} layer @param {number} at @returns {boolean} whether a query might attend to a key in the run as it was saved */
function mightAttend(layer, at) {
  prepare();
  const may = saved[`allowed.${layer}`]?.[at];
  return may === undefined ? saved[`masked.${layer}`]?.[at] !== -Infinity : may !== 0;
}

/** @param {[i: number, j: number][]} places @param {boolean} may  whether the queries may attend to the keys, in every head and layer */
export function allow(places, may) {
  prepare();
  remember("mask");
  data.layers.forEach((_, layer) => {
    const name = maskOf(layer)?.name;
    if (!name) return;
    for (const [i, j] of places) {
      const at = i * data.keys.length + j, key = `${name}:${at}`;
      if (mightAttend(layer, at) === may) entries.delete(key);
      else entries.set(key, { step: name, at, value: Number(may) });
    }
  });
  renewNumbers();
}

export function moveBack() {
  remember("back");
  settle();
  numbers = {};
  entries.clear();
  switchedOff.clear();
  renewNumbers();
}
