// The mask of the weights under the hand: a press or a stroke over cells forbids or allows them, a word its whole row or
// column; with Shift held it is a block, with Alt, or Control and Shift, a diagonal.

/** @import { Place } from "../../pictures/stroke.js" */
/** @import { Picture } from "./picture.js" */
/** @import { Stage } from "./types" */
import { blockBetween, diagonalOf, squaresBetween } from "../../pictures/stroke.js";
import { make } from "./canvas.js";
import { range } from "./formats.js";
import { allow, hasMask, mayAttend, settle } from "./moved.js";
import { data, view, words } from "./run.js";

/** @typedef {"line" | "block" | "diagonal"} Shape */
/** @typedef {{ row?: number, column?: number }} Spot  a cell, or the word of a row or a column */
/** @typedef {{ may: boolean, first: Spot, last: Spot, shape: Shape, before: Map<string, [[number, number], boolean]> }} Stroke */

const isOffered = (/** @type {Stage} */ { name }) => name === "weights" && hasMask();

/** Whether a press on a stage paints. @param {Stage} stage */
export const isPainted = (stage) => view.paints && isOffered(stage);

/** @param {Spot} spot @returns {[i: number, j: number][]} */
function cellsAt({ row, column }) {
  const rows = row === undefined ? range(data.queries.length) : [row], columns = column === undefined ? range(data.keys.length) : [column];
  return rows.flatMap((i) => columns.map((j) => /** @type {[number, number]} */ ([i, j])));
}

/** @param {Spot} spot @returns {spot is Place} */
const isCell = (spot) => spot.row !== undefined && spot.column !== undefined;

/** @param {Spot} spot @param {Shape} shape @returns {Stroke} */
function strokeFrom(spot, shape) {
  return { may: !cellsAt(spot).some(([i, j]) => mayAttend(i, j)), first: spot, last: spot, shape, before: new Map() };
}

/** Paint all between what was painted last and a spot, or the block or diagonal up to there alone. @param {Stroke} stroke @param {Spot} spot */
function paintTo(stroke, spot) {
  const { first, last, shape, may, before } = stroke;
  /** @type {Spot[]} */
  let way = [spot];
  if (isCell(spot) && isCell(last) && isCell(first)) {
    if (shape !== "line") restore(stroke);
    if (shape === "block") way = blockBetween(first, spot);
    else if (shape === "diagonal") way = diagonalOf(spot, data.queries.length, data.keys.length);
    else way = squaresBetween([last.row, last.column], [spot.row, spot.column]).map(([row, column]) => ({ row, column }));
  } else if ((spot.row === undefined) !== (last.row === undefined) || (spot.column === undefined) !== (last.column === undefined)) return; // a row of words is left
  const cells = way.flatMap(cellsAt);
  for (const [i, j] of cells) if (!before.has(`${i}:${j}`)) before.set(`${i}:${j}`, [[i, j], mayAttend(i, j)]);
  allow(cells, may);
  stroke.last = spot;
}

/** @param {Stroke} stroke */
function restore({ before }) {
  for (const was of [true, false]) allow([...before.values()].flatMap(([cell, may]) => (may === was ? [cell] : [])), was);
}

/**
 * Offer a switch over the weights, and strokes while it is on.
 *
 * @param {Picture} picture
 * @param {() => void} moved
 */
export function offerPaint(picture, moved) {
  const { box, stage } = picture;
  if (!isOffered(stage)) return;
  const button = make("button", picture.key, words.paint, "paint");
  const press = () => button.setAttribute("aria-pressed", String(view.paints));
  [button.type, button.title] = ["button", words.paint_hint];
  button.addEventListener("click", () => {
    view.paints = !view.paints;
    press();
  });
  press();
  /** @type {Stroke | null} */
  let stroke = null;
  let swallows = false; // whether the click that comes next is that of letting go
  /** @param {Stroke} begun @param {Spot} spot */
  const paint = (begun, spot) => {
    paintTo(begun, spot);
    moved();
  };
  const end = () => {
    stroke = null;
    settle();
  };
  box.addEventListener("pointerdown", (event) => {
    const spot = event.button === 0 && isPainted(stage) ? picture.wordOrCell(event) : null;
    swallows = spot !== null;
    if (!spot) return;
    box.setPointerCapture(event.pointerId);
    settle();
    paint((stroke = strokeFrom(spot, event.altKey || (event.ctrlKey && event.shiftKey) ? "diagonal" : event.shiftKey ? "block" : "line")), spot);
  });
  box.addEventListener("pointermove", (event) => {
    const spot = stroke && picture.wordOrCell(event);
    if (stroke && spot) paint(stroke, spot);
  });
  for (const kind of ["pointerup", "pointercancel"]) box.addEventListener(kind, end);
  box.addEventListener("touchmove", (event) => stroke && event.preventDefault(), { passive: false });
  box.addEventListener("click", (event) => swallows && event.stopImmediatePropagation(), { capture: true });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !stroke) return;
    restore(stroke);
    end();
    moved();
  });
  box.addEventListener("keydown", (event) => {
    const cell = view.chosen?.stage === stage ? view.chosen.cell : null;
    if (event.key !== " " || !cell || !isPainted(stage)) return;
    event.preventDefault();
    const [, row, column] = cell, isDiagonal = event.shiftKey && event.ctrlKey;
    const spot = isDiagonal ? { row, column } : event.shiftKey ? { row } : event.ctrlKey ? { column } : { row, column };
    paint(strokeFrom(spot, isDiagonal ? "diagonal" : "line"), spot);
    settle();
  });
}
