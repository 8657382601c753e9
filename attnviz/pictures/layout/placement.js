// The placement of the heads of every stage in a box of the window: a pure function of shapes and pixels.
//
// All lengths are CSS pixels. The box depends on the window alone, so that one word or head more never moves what is
// around it; what changes is the size of the cells, and nothing here knows what is chosen. Where cells would be smaller
// than `BLOCKS_BELOW`, several words share one, which then shows the largest value of them.

/** @import { Tiling } from "./tiling.js" */
import { LEAST_FLAT_FROM, flattest, tallest, whole, worth } from "./cell_shape.js";
import { measured } from "./tiling.js";

/**
 * The size of a stage, as far as its placement depends on it.
 *
 * @typedef {object} Shape
 * @property {number[]} widths  true columns of every head
 * @property {number} rows  of each of them
 * @property {number} left  pixels for the words beside the rows
 * @property {boolean} worded  whether columns carry words; those that are only counted become narrow stripes beside a
 *   stage that leads
 * @property {boolean} leads  whether its cells are to be the widest
 * @property {boolean} sums  whether each head has bars of its rows at the right and of its columns below
 * @property {boolean} large  words and numbers in large type, for a room
 */

/**
 * The tiles of every stage, and the pixels that each takes of the width; side by side or one below the other.
 *
 * @typedef {{ tilings: Tiling[], spans: number[], sideBySide: boolean }} Placement
 */

/** @typedef {[side: number, area: number, full: number, filled: number]} Score */

/**
 * Heads in a row, rows to a cell and the size of the leading cells, and how good that is: the shorter side of a cell,
 * worth more where there is text; its area; places without a head, less than none; and the part of the box along which
 * least is filled.
 *
 * @typedef {{ score: Score, across: number, block: number, cell: number, high: number }} Way
 */

const LARGEST_CELL = 46;
const LARGEST_FOR_A_ROOM = 120;
const LARGEST_ON_A_PHONE = 96; // where one stage is shown by itself, and few words would leave most of the window empty
const BLOCKS_BELOW = LEAST_FLAT_FROM;
const EVEN_FROM = 30; // from here on the cells of all stages are equally wide; below, those that lead are wider
const [NAME, SUMS, WORDS_BELOW] = [17, 11, 36]; // over a head its name; under it the sums of its columns; words under the last row
const AIR = 4; // between a head and the next line where there are no sums
export const STAGE_GAP = 16; // pixels between stages,
const MORE_GAP = 28; // and how many more if there are any; then each has its part
const NARROWEST_STAGE = 100; // a heading needs this much,
const NARROWEST_ALONE = 340; // and this much to be whole
export const NARROWEST_PAGE = 640; // below this, stages do not stand side by side
const [LEAD, BESIDE] = [0.75, 0.55]; // how wide the cells of other stages are beside those that lead; in focus while small
const NUMBERED = 28; // the width from which a cell has its number, if that is no share
const STRIPE = 0.6; // the same for columns that are only counted
export const LARGER = 1.4; // where type is large
const BELOW_EVEN = [3.5, 3.0, 2.6, 2.2, 1.8, 1.4, 1.0];
const COMPARED = " / "; // between the words of two sentences in one row
const UNWORDED = 6; // pixels left of a stage without words there

/**
 * The pixels for the longest of `words` beside its row, within reason; a longer one is cut. Of two that are compared both
 * are to be read.
 *
 * @param {string[]} words
 */
export function roomBeside(words) {
  const longest = words.reduce((most, word) => Math.max(most, [...word].length), 0);
  const most = words.some((word) => word.includes(COMPARED)) ? 100 : 60;
  return Math.min(Math.max(Math.round(6.4 * longest) + 8, 36), most) + 6;
}

/**
 * Place all heads of stages in a box; words beside the rows of one serve also those at its right whose columns are only
 * counted.
 *
 * @param {(Shape & { axis: string })[]} shapes  and the axis of the rows of each
 * @param {number} width
 * @param {number} height
 * @param {boolean} focused
 */
export function placed(shapes, width, height, focused) {
  const worded = new Set();
  const outlines = shapes.map((shape) => {
    const isBare = !shape.worded && worded.has(shape.axis);
    if (shape.worded && width >= NARROWEST_PAGE) worded.add(shape.axis);
    return isBare ? { ...shape, left: UNWORDED } : shape;
  });
  return place(outlines, width, height, focused);
}

/**
 * The placement with the largest legible cells within a box; stages share rows of the same heights.
 *
 * @param {Shape[]} shapes
 * @param {number} width
 * @param {number} height
 * @param {boolean} focused  one head is shown by itself; its cells may be higher than wide by more
 * @returns {Placement}
 */
export function place(shapes, width, height, focused) {
  if (width < NARROWEST_PAGE && shapes.length > 1) {
    const alone = shapes.map((shape) => place([shape], width, height, focused).tilings[0]);
    return { tilings: alone, spans: alone.map(() => width), sideBySide: false };
  }
  const tilings = widened(shapes, largest(shapes, width, height, focused), width);
  const narrowest = shapes.length > 1 ? NARROWEST_STAGE : Math.min(NARROWEST_ALONE, width);
  const spans = tilings.map((tiling) => Math.max(tiling.width, narrowest));
  const n = spans.length;
  const spare = width - sum(spans) - STAGE_GAP * (n - 1);
  const more = Math.max(0, Math.min(Math.max(MORE_GAP, Math.floor(spare / n)), Math.floor(spare / Math.max(1, n - 1))));
  return { tilings, spans: spans.map((span, at) => (at < n - 1 ? span + more : span)), sideBySide: shapes.length > 1 };
}

/** @param {number[]} numbers */
const sum = (numbers) => numbers.reduce((all, each) => all + each, 0);

/** Whether one list of numbers comes after another of its length. @param {number[]} one @param {number[]} other */
function isMore(one, other) {
  const at = one.findIndex((number, i) => number !== other[i]);
  return at >= 0 && one[at] > other[at];
}

/**
 * The tiles with the largest cells; words share cells only where these would be too small otherwise.
 *
 * @param {Shape[]} shapes
 * @param {number} width
 * @param {number} height
 * @param {boolean} focused
 */
function largest(shapes, width, height, focused) {
  const heads = Math.max(...shapes.map((shape) => shape.widths.length));
  const rows = Math.max(...shapes.map((shape) => shape.rows));
  const most = Math.max(rows, ...shapes.filter((shape) => shape.worded).map((shape) => Math.max(...shape.widths)));
  /** @type {Way} */
  let best = { score: [0, 0, 0, 0], across: 1, block: 1, cell: 1, high: 1 };
  let fits = false;
  for (let block = 1; ; block *= 2) {
    for (let across = 1; across <= heads; across++) {
      const way = columns(shapes, across, block, width, height, focused, best.score);
      if (way) [best, fits] = [way, true];
    }
    if (fits && (best.score[0] >= BLOCKS_BELOW || block >= most)) return tilings(shapes, best, focused);
    // not even that fits: it is drawn as small as can be, and may be scrolled to
    if (block >= most) return tilings(shapes, { score: [1, 1, 1, 1], across: Math.ceil(Math.sqrt(heads)), block, cell: 1, high: 1 }, focused);
  }
}

/**
 * The tiles with wider stripes where so much width is spare that their numbers fit in.
 *
 * @param {Shape[]} shapes
 * @param {Tiling[]} tilings
 * @param {number} width
 */
function widened(shapes, tilings, width) {
  const led = tilings.find((_, at) => shapes[at].leads);
  if (!led || shapes.every((shape) => shape.worded)) return tilings;
  const taken = sum(tilings.map((tiling) => Math.max(tiling.width, NARROWEST_STAGE))) + (STAGE_GAP + MORE_GAP) * (tilings.length - 1);
  const cells = sum(tilings.map((tiling, at) => (shapes[at].worded ? 0 : tiling.across * tiling.columns)));
  return tilings.map((tiling, at) => {
    const cellW = Math.min(led.cellW, tiling.cellW + Math.floor((width - taken) / cells));
    return !shapes[at].worded && cellW >= NUMBERED && tiling.fold === 1 ? measured({ ...tiling, cellW }) : tiling;
  });
}

/**
 * The largest cells with so many heads in a row; null if none fit, or none are better than `least`.
 *
 * @param {Shape[]} shapes
 * @param {number} across
 * @param {number} block
 * @param {number} width
 * @param {number} height
 * @param {boolean} focused
 * @param {Score} least
 * @returns {Way | null}
 */
function columns(shapes, across, block, width, height, focused, least) {
  const heads = Math.max(...shapes.map((shape) => shape.widths.length));
  const down = Math.ceil(heads / across);
  const lines = Math.max(...shapes.map((shape) => Math.ceil(shape.rows / block)));
  const [top, gap, below] = around(shapes);
  const alone = focused && width < NARROWEST_PAGE ? LARGEST_ON_A_PHONE : LARGEST_CELL;
  const most = shapes.some((shape) => shape.large) ? LARGEST_FOR_A_ROOM : alone;
  const highest = Math.min(most, (height - top - below - (down - 1) * gap) / (down * lines));
  if (highest < 1) return null;
  const flat = flattest(shapes.length, shapes[0].widths.length);
  const room = width - STAGE_GAP * (shapes.length - 1);
  for (let at = 0, cell = most; cell >= 1; cell = cell > BLOCKS_BELOW ? cell - 1 : (BELOW_EVEN[at++] ?? 0)) {
    const high = whole(Math.min(highest, tallest(cell, focused)));
    if (cell > BLOCKS_BELOW && high < cell * flat) continue; // a smaller, squarer cell leaves the same height
    if (worth(cell, Infinity) < least[0]) return null;
    /** @type {[number, number]} */
    const size = [worth(cell, high), cell * high];
    if (isMore(least.slice(0, 2), size)) continue;
    const used = sum(shapes.map((shape) => span(shape, shapes, across, block, cell, focused)));
    if (used > room) continue;
    /** @type {Score} */
    const score = [...size, heads - across * down, Math.min(used / room, (down * lines * high + (down - 1) * gap) / height)];
    return isMore(score, least) ? { score, across, block, cell, high } : null;
  }
  return null;
}

/**
 * The pixels that a stage takes of the width.
 *
 * @param {Shape} shape
 * @param {Shape[]} shapes
 * @param {number} across
 * @param {number} block
 * @param {number} cell
 * @param {boolean} focused
 */
function span(shape, shapes, across, block, cell, focused) {
  const [cellW, fold] = wide(shape, shapes, block, cell, focused);
  const [gap, right] = gutters(shape, cell);
  const n = Math.min(across, shape.widths.length);
  const tile = Math.floor(Math.ceil(Math.max(...shape.widths) / fold) * cellW + 0.5);
  return Math.max(shape.left + n * (tile + right) + (n - 1) * gap + (right === 0 ? 1 : 0), NARROWEST_STAGE);
}

/** The pixels between two heads, and for the bars at the right of each. @param {Shape} shape @param {number} cell */
function gutters(shape, cell) {
  const [gap, bars] = cell >= 14 ? [12, 20] : [6, 8];
  return [gap, shape.sums ? bars : 0];
}

/** The pixels over the first row of heads, between two rows and under the last. @param {Shape[]} shapes */
function around(shapes) {
  const larger = shapes.some((shape) => shape.large) ? LARGER : 1;
  const sums = shapes.some((shape) => shape.sums) ? SUMS : AIR / 2;
  const name = Math.round(NAME * larger);
  return [name, name + sums, Math.round(sums + WORDS_BELOW * larger + AIR)];
}

/** @param {Shape[]} shapes @param {Way} way @param {boolean} focused */
function tilings(shapes, way, focused) {
  const [top, gapY, below] = around(shapes);
  return shapes.map((shape) => {
    const [cellW, fold] = wide(shape, shapes, way.block, way.cell, focused);
    const [gap, right] = gutters(shape, way.cell);
    const { widths, rows, left } = shape;
    const gaps = { gapX: gap + right, gapY, left, right: right || 1, top, below }; // a frame needs a pixel
    return measured({ widths, rows, across: Math.min(way.across, widths.length), cellW, cellH: way.high, ...gaps, block: way.block, fold });
  });
}

/**
 * The width of the cells of a stage, and the number of columns that share one.
 *
 * @param {Shape} shape
 * @param {Shape[]} shapes
 * @param {number} block
 * @param {number} cell
 * @param {boolean} focused
 * @returns {[number, number]}
 */
function wide(shape, shapes, block, cell, focused) {
  if (shape.worded) {
    if (shape.leads || cell >= EVEN_FROM || !shapes.some((each) => each.leads)) return [cell, block];
    const less = focused && cell < 24 ? BESIDE : LEAD;
    return [cell >= 3 ? Math.max(2, Math.floor(less * cell)) : less * cell, block];
  }
  const n = Math.max(...shape.widths);
  const worded = shapes.filter((each) => each.worded);
  let [wish, most] = [n * cell, Math.max(1.6 * Math.ceil(shape.rows / block) * cell, 36)];
  if (worded.some((each) => each.leads)) {
    const widest = Math.ceil(Math.max(...worded.map((each) => Math.max(...each.widths))) / block) * cell;
    const part = focused && cell < 12 ? 0.25 : 0.5;
    wish = Math.max(n * cell * (cell >= EVEN_FROM ? 1 : STRIPE), BLOCKS_BELOW * n);
    most = Math.max(part * widest, 36);
  }
  const tile = Math.min(wish, most);
  const fold = tile / n >= Math.min(BLOCKS_BELOW, cell) ? 1 : Math.ceil(n / Math.max(1, Math.floor(tile / BLOCKS_BELOW)));
  return [Math.min(tile / Math.ceil(n / fold), cell), fold];
}
