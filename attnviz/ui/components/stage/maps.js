// The stages of a message as they are drawn: the number that each cell shows, what is said beside it, and its colours.

/** @import { StageArray } from "../../../pictures/stage_bytes.js" */
/** @import { Shape } from "../../../pictures/layout/placement.js" */
/** @import { Tiling } from "../../../pictures/layout/tiling.js" */
/** @import { DrawnMap, Meta, Stage, StageData, StageFacts } from "./types" */
import { LARGER, roomBeside } from "../../../pictures/layout/placement.js";

/** @type {Map<string, StageData["words"]>} */
const KEPT_WORDS = new Map(); // by the keys of the maps

/** What belongs to maps, with their words: a move of numbers leaves those as they are, and does not send them. @param {StageData} header */
export function withWords(header) {
  const words = header.words ?? KEPT_WORDS.get(header.key);
  if (words) KEPT_WORDS.set(header.key, words);
  return { ...header, words: words ?? header.words };
}

/** Whether two lists hold the same bytes. @param {ArrayBufferView} one @param {ArrayBufferView} other */
export function isSame(one, other) {
  const [a, b] = [one, other].map(({ buffer, byteOffset, byteLength }) => new Uint8Array(buffer, byteOffset, byteLength));
  return a.length === b.length && a.every((byte, at) => byte === b[at]);
}

/**
 * The stages of a message. One that is as before is the same object, so that nothing of it is drawn again.
 *
 * @param {StageFacts[]} stages
 * @param {Record<string, StageArray>} arrays
 * @param {Stage[]} before
 * @returns {Stage[]}
 */
export function stagesOf(stages, arrays, before) {
  return stages.map((facts) => {
    const part = (/** @type {string} */ name) => arrays[`${facts.name}.${name}`]?.values ?? null;
    const mask = facts.masked === null ? null : arrays[facts.masked];
    const { values, shape } = arrays[facts.name];
    /** @type {Stage} */
    const stage = { ...facts, values, shape: [shape[0], shape[1], shape[2]], mask: mask?.values ?? null, isShared: mask?.shape[0] === 1, total: part("total"), spread: part("spread"), only: null };
    const text = JSON.stringify(facts);
    const same = before.find((other) => other.name === facts.name && text === other.text);
    stage.text = text;
    const isAsBefore = same && isSame(same.values, values) && (same.mask === stage.mask || (same.mask && stage.mask && isSame(same.mask, stage.mask)));
    return isAsBefore ? same : stage;
  });
}

/** @type {WeakMap<Stage, Map<number, Stage>>} */
const ALONE = new WeakMap();

/**
 * The part of a stage that is one head's, of so many; heads that share keys have the shared ones. What has no heads
 * stays whole.
 *
 * @param {Stage} stage
 * @param {number} head
 * @param {number} heads
 * @returns {Stage}
 */
export function alone(stage, head, heads) {
  const [n, rows, columns] = stage.shape;
  if (n === 1) return stage;
  const at = Math.floor((head * n) / heads);
  const known = ALONE.get(stage) ?? new Map();
  ALONE.set(stage, known);
  const one = (/** @type {string[] | null} */ list) => list && [list[at]];
  const part = (/** @type {Stage["total"]} */ numbers, /** @type {number} */ length) => numbers && numbers.subarray(at * length, (at + 1) * length);
  const ours = (/** @type {number[][]} */ cells) => cells.filter(([where]) => where === at).map(([, ...cell]) => [0, ...cell]);
  if (!known.has(at))
    known.set(at, {
      ...stage,
      shape: [1, rows, columns],
      values: stage.values.subarray(at * rows * columns, (at + 1) * rows * columns),
      mask: stage.isShared ? stage.mask : part(stage.mask, rows * columns),
      isShared: true,
      total: part(stage.total, columns),
      spread: part(stage.spread, rows),
      widths: [stage.widths[at]],
      heads: [stage.heads[at]],
      roles: one(stage.roles),
      tested: one(stage.tested),
      former: stage.former && [stage.former[at]],
      ends: [stage.ends[at]],
      edited: ours(stage.edited),
      wanted: ours(stage.wanted),
      differs: stage.differs && { more: ours(stage.differs.more), less: ours(stage.differs.less) },
      scale: { ...stage.scale, ...(stage.reach === null ? endsOf(stage, at) : {}) },
      only: at,
    });
  return known.get(at);
}

/** The ends of the colours of one head by itself. @param {Stage} stage @param {number} at */
function endsOf({ scale, ends, kind }, at) {
  if (kind === "allowed") return {};
  return scale.low < 0 ? { low: -(ends[at] || 1), high: ends[at] || 1 } : { low: 0, high: Math.max(1, ends[at]) };
}

/** What the placement of a stage depends on. @param {Stage} stage @returns {Shape & { axis: string }} */
export function shapeOf({ widths, shape, rows, columns, leads, sums, large, axes }) {
  const left = roomBeside(rows);
  return { widths, rows: shape[1], left: large ? Math.round(LARGER * left) : left, worded: columns !== null, leads, sums, large, axis: axes[0] };
}

/** Whether a head has a number to show in a cell of the array. @param {Stage} stage @param {number} head @param {number} row @param {number} column */
export function isDrawn({ kind, shape, values, mask, isShared, widths }, head, row, column) {
  const at = row * shape[2] + column;
  const size = shape[1] * shape[2];
  if (column >= widths[head]) return false;
  return kind === "allowed" ? values[head * size + at] !== 0 : !mask?.[isShared ? at : head * size + at];
}

/**
 * Where in the array each drawn cell has its number: that of the largest size among those that share it, one that is no
 * number before all others; -1 where nothing is drawn.
 *
 * @param {Stage} stage
 * @param {Tiling} tiling
 */
export function indices(stage, { lines, columns, block, fold }) {
  const [heads, rows, width] = stage.shape;
  const at = new Int32Array(heads * lines * columns).fill(-1);
  const most = new Float64Array(at.length).fill(-1);
  for (let index = 0, head = 0; head < heads; head++)
    for (let row = 0; row < rows; row++)
      for (let column = 0; column < width; column++, index++) {
        if (!isDrawn(stage, head, row, column)) continue;
        const cell = (head * lines + Math.floor(row / block)) * columns + Math.floor(column / fold);
        const number = stage.values[index];
        const size = Number.isNaN(number) ? Infinity : Math.abs(number);
        if (size > most[cell]) [at[cell], most[cell]] = [index, size];
      }
  return at;
}

/**
 * A stage in its tiles: what is written beside it, the index of each number, and the heat map as Plotly takes it.
 *
 * @param {Stage} stage
 * @param {Tiling} tiling
 * @param {boolean} dark
 * @returns {DrawnMap}
 */
export function mapOf(stage, tiling, dark) {
  const at = indices(stage, tiling);
  const numbers = Array.from(at, (index) => (index < 0 ? NaN : stage.values[index]));
  const meta = metaOf(stage, tiling, at);
  const { low, high, colours, dark: darker } = stage.scale;
  const shown = dark ? darker : colours;
  const colorscale = shown.map((colour, i) => /** @type {[number, string]} */ ([i / (shown.length - 1), colour]));
  const [zmin, zmax] = meta.ends ? [-1, 1] : [low, high];
  return { meta, at, trace: { x: tiling.x, y: tiling.y, z: laidOut(numbers, tiling, meta.ends), zmin, zmax, colorscale } };
}

/**
 * Every head in its tile, NaN wherever nothing is drawn or the number has no colour.
 *
 * @param {number[]} numbers
 * @param {Tiling} tiling
 * @param {number[] | null} ends  of the heads, where each has a scale of its own
 */
function laidOut(numbers, { widths, across, lines, columns, x, y }, ends) {
  const z = Array.from({ length: y.length - 1 }, () => new Float64Array(x.length - 1).fill(NaN));
  widths.forEach((_, head) => {
    const [top, left] = [Math.floor(head / across) * (lines + 1), (head % across) * (columns + 1)];
    for (let row = 0; row < lines; row++)
      for (let column = 0; column < columns; column++) {
        const number = numbers[(head * lines + row) * columns + column] / (ends?.[head] || 1);
        if (Number.isFinite(number)) z[top + row][left + column] = number;
      }
  });
  return z;
}

/** The largest numbers of each block of a list, at least 0. @param {ArrayLike<number>} numbers @param {number} block */
function longest(numbers, block) {
  const found = Array(Math.ceil(numbers.length / block)).fill(0);
  for (let at = 0; at < numbers.length; at++) found[Math.floor(at / block)] = Math.max(found[Math.floor(at / block)], numbers[at] || 0);
  return found;
}

/** The facts by which a cell is found, named and written beside. @param {Stage} stage @param {Tiling} tiling @param {Int32Array} at @returns {Meta} */
function metaOf(stage, { widths, across, block, fold, left, right, top }, at) {
  const { rows, columns, heads, roles, tested, axes, positions, common, large, leads, kind, total, spread, shape } = stage;
  const drawn = Array.from(at).filter((index) => index >= 0);
  const bars = (/** @type {Stage["total"]} */ numbers, /** @type {number} */ length) => heads.map((_, head) => longest((numbers ?? []).slice(head * length, (head + 1) * length), block));
  return {
    ...{ rows, columns, heads, roles, tested, axes, positions, common, large, leads, across },
    widths: widths.map((width) => Math.ceil(width / fold)),
    true: widths,
    block: [block, fold],
    room: [left, right, top],
    ends: stage.apart ? stage.ends : null,
    sums: total && spread ? { columns: bars(total, shape[2]), rows: bars(spread, shape[1]) } : null,
    share: kind === "share",
    masked: hasMasked(stage),
    odd: drawn.some((index) => !Number.isFinite(stage.values[index])),
  };
}

/** Whether any cell within the widths is not drawn. @param {Stage} stage */
export function hasMasked(stage) {
  const { kind, mask, values } = stage;
  return kind === "allowed" ? values.includes(0) : Boolean(mask?.includes(1));
}
