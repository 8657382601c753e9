// A stage with the numbers that follow from what is held, as Python would describe it.

/** @import { Arrays, Change } from "../../../../live/types" */
/** @import { Holdable, Stage } from "../types" */
/** @import { LiveRun } from "./live_run.js" */
import { weightsFormula } from "../../../../pictures/weights_formula.js";
import { isDrawn } from "../maps.js";

const LEAST_END = 1e-12; // of a scale, as `stage_record.py` has it
const NEAR = 1e-6; // of the scale: numbers of single precision are no nearer

/**
 * The numbers of an array at the positions that a stage shows.
 *
 * @param {Stage} stage
 * @param {Float64Array} array
 * @param {number[]} shape
 */
function shownOf({ shape: [heads, rows, columns], positions: [down, across] }, array, shape) {
  if (!down && !across) return array.slice();
  const found = new Float64Array(heads * rows * columns);
  for (let head = 0, at = 0; head < heads; head++)
    for (let row = 0; row < rows; row++) {
      const first = (head * shape[1] + (down ? down[row] : row)) * shape[2];
      for (let column = 0; column < columns; column++) found[at++] = array[first + (across ? across[column] : column)];
    }
  return found;
}

/**
 * Return a stage with what was made anew; the same one where nothing of it was.
 *
 * @param {Stage} stage
 * @param {LiveRun} run
 * @param {number} layer
 * @param {Arrays} made
 * @param {Change[]} changes
 * @returns {Stage}
 */
export function movedStage(stage, run, layer, made, changes) {
  const step = run.stepOf(stage.name, layer);
  if (!step || !fits(stage, step.shape)) return stage;
  const isOfPairs = stage.axes.join() === "query,key" && stage.kind !== "allowed"; // in these what is forbidden is masked
  const allowed = isOfPairs && made[`masked.${layer}`];
  const array = made[step.name] ?? (allowed && run.arrays[step.name]); // of what was masked no number was sent
  if (!array) return stage;
  const values = shownOf(stage, array, step.shape);
  const moved = { ...stage, values, edited: [...stage.edited, ...heldOf(stage, step, changes)] };
  if (allowed) maskOf(moved, allowed, run, layer);
  if (stage.total) barsOf(moved);
  scaleOf(moved);
  moved.alt = moved.title; // its largest number may be another one
  if (stage.roles) moved.former = stage.roles.map((_, head) => !isAsBefore(stage, moved, head)); // said of other numbers
  return moved;
}

/** Whether a stage shows the array of this shape, or a part of it. @param {Stage} stage @param {number[]} shape */
const fits = ({ shape, positions }, [heads, rows, columns]) => shape[0] === heads && (positions[0] ? shape[1] <= rows : shape[1] === rows) && (positions[1] ? shape[2] <= columns : shape[2] === columns);

/** Head, row and column in a stage of the single numbers that were changed. @param {Stage} stage @param {{ name: string, shape: number[] }} step @param {Change[]} changes */
function heldOf({ positions }, { name, shape: [, rows, columns] }, changes) {
  const within = (/** @type {0 | 1} */ axis, /** @type {number} */ at) => positions[axis]?.indexOf(at) ?? at;
  return changes.flatMap((change) => {
    if (!("at" in change) || change.step !== name) return [];
    const row = Math.floor(change.at / columns);
    const cell = [Math.floor(row / rows), within(0, row % rows), within(1, change.at % columns)];
    return cell.includes(-1) ? [] : [cell];
  });
}

/** Mask what is at minus infinity before the normaliser. @param {Stage} stage @param {Float64Array} masked @param {LiveRun} run @param {number} layer */
function maskOf(stage, masked, run, layer) {
  const step = run.stepOf("masked", layer);
  if (!step) return;
  const every = shownOf({ ...stage, shape: [step.shape[0], stage.shape[1], stage.shape[2]] }, masked, step.shape);
  const mask = Uint8Array.from(every, (number) => (number === -Infinity ? 1 : 0)), size = stage.shape[1] * stage.shape[2];
  const before = (/** @type {number} */ at) => stage.mask?.[stage.isShared ? at % size : at] ?? 0;
  if (mask.every((closed, at) => closed === before(at))) return; // the same is not drawn again
  Object.assign(stage, { mask, isShared: step.shape[0] === 1 });
}

/** What columns add to, and over what part of the keys rows spread. @param {Stage} stage */
function barsOf(stage) {
  const [heads, rows, columns] = stage.shape;
  const [total, spread] = [new Float64Array(heads * columns), new Float64Array(heads * rows)];
  for (let head = 0; head < heads; head++)
    for (let row = 0; row < rows; row++) {
      const first = (head * rows + row) * columns;
      const shares = Array.from({ length: columns }, (_, at) => (isDrawn(stage, head, row, at) && Number.isFinite(stage.values[first + at]) ? stage.values[first + at] : 0));
      shares.forEach((share, at) => (total[head * columns + at] += share));
      spread[head * rows + row] = effectiveKeys(shares) / columns;
    }
  Object.assign(stage, { total, spread });
}

/** Over how many keys alike the entropy of a row would be the same. @param {number[]} row */
function effectiveKeys(row) {
  if (row.every((share) => share === 0)) return 0;
  if (row.some((share) => share < 0)) return NaN;
  const sum = row.reduce((a, b) => a + b, 0);
  return Math.exp(-row.reduce((all, share) => all + (share ? (share / sum) * Math.log(share / sum) : 0), 0));
}

/** The ends of the colours: symmetric about 0 for signed numbers, from 0 to at least 1 for shares. @param {Stage} stage */
function scaleOf(stage) {
  const { kind, shape, values, scale, reach } = stage;
  if (kind === "allowed" || reach !== null) return;
  const size = shape[1] * shape[2], ends = new Array(shape[0]).fill(0);
  for (let head = 0, index = 0; head < shape[0]; head++)
    for (let at = 0; at < size; at++, index++)
      if (Number.isFinite(values[index]) && isDrawn(stage, head, Math.floor(at / shape[2]), at % shape[2])) ends[head] = Math.max(ends[head], Math.abs(values[index]));
  const most = Math.max(...ends);
  stage.scale = scale.low < 0 ? { ...scale, low: -(most || 1), high: most || 1 } : { ...scale, high: Math.max(1, most) };
  stage.ends = ends.map((end) => (end ? Math.max(end, LEAST_END * Math.max(1, stage.scale.high)) : 0));
}

/** Whether a head has the numbers that it had. @param {Stage} before @param {Stage} after @param {number} head */
function isAsBefore(before, after, head) {
  const size = before.shape[1] * before.shape[2];
  for (let at = head * size; at < (head + 1) * size; at++)
    if (Math.abs(before.values[at] - after.values[at]) > NEAR) return false;
  return true;
}

/**
 * Whether a stage of the server has the numbers of a run; if not, they are of different settings.
 *
 * @param {Stage} stage
 * @param {LiveRun} run
 * @param {number} layer
 * @param {Arrays} made
 */
export function agrees(stage, run, layer, made) {
  const step = run.stepOf(stage.name, layer);
  const array = step && (made[step.name] ?? run.arrays[step.name]);
  if (!step || !array || !fits(stage, step.shape)) return true; // it has no such step, or of another shape
  const values = shownOf(stage, array, step.shape), [, rows, columns] = stage.shape;
  const near = NEAR * Math.max(1, ...stage.ends);
  return values.every((number, at) => {
    const [head, row, column] = [Math.floor(at / rows / columns), Math.floor(at / columns) % rows, at % columns];
    const sent = stage.values[at];
    return !isDrawn(stage, head, row, column) || Object.is(sent, number) || Math.abs(sent - number) <= near;
  });
}

/** The formula of the weights with the numbers of the setting as they are now. @param {string} before @param {Holdable["formula"] | undefined} sent @param {Change[]} changes */
export function movedFormula(before, sent, changes) {
  const moved = changes.flatMap((change) => ("setting" in change && sent && change.setting in sent ? [[change.setting, change.value]] : []));
  return sent && moved.length ? weightsFormula({ ...sent, ...Object.fromEntries(moved) }) : before;
}
