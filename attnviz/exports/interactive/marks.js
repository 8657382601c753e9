// Marks over a picture: rows, columns and cells that are pointed at or chosen, numbers that were set by hand, heads that
// are switched off.

/** @import { Marked } from "./types" */
/** @import { Picture } from "./picture.js" */
import { heldCells } from "./moved.js";
import { view } from "./run.js";

const LINE = 2; // pixels of the frame of a number that was set by hand

/** @param {Picture} picture @param {CanvasRenderingContext2D} pen @param {Marked} marked @param {number} line */
export function mark(picture, pen, { stage, cell: [h, i, j] }, line) {
  const { cell } = picture, same = stage.worded === picture.stage.worded;
  /** @param {number} x @param {number} y @param {number} w @param {number} height */
  const frame = (x, y, w, height) => {
    pen.strokeStyle = getComputedStyle(document.body).backgroundColor;
    pen.lineWidth = line + 2;
    pen.strokeRect(x, y, w, height);
    pen.strokeStyle = getComputedStyle(document.body).color;
    pen.lineWidth = line;
    pen.strokeRect(x, y, w, height);
  };
  picture.stage.widths.forEach((width, head) => {
    const [x, y] = picture.corner(head);
    frame(x, y + i * cell, width * cell, cell);
    if (same && j < width) frame(x + j * cell, y, cell, picture.rows * cell);
    if (same && head === h && j < width) frame(x + j * cell, y + i * cell, cell, cell);
  });
}

/** Frame the numbers that were set by hand, and the one that is held. @param {Picture} picture @param {CanvasRenderingContext2D} pen */
export function frameHeld(picture, pen) {
  const { cell, stage } = picture;
  [pen.strokeStyle, pen.lineWidth] = [getComputedStyle(document.body).getPropertyValue("--edited"), LINE];
  const held = view.held?.stage === stage ? [view.held.cell] : [];
  for (const [h, i, j] of [...heldCells(stage.name), ...held]) {
    if (h >= stage.widths.length || j >= stage.widths[h]) continue;
    const [x, y] = picture.corner(h), off = Math.min(LINE, cell / 4);
    pen.strokeRect(x + j * cell + off, y + i * cell + off, cell - 2 * off - 1, cell - 2 * off - 1);
  }
}

/** Cross out a head that is switched off. @param {Picture} picture @param {CanvasRenderingContext2D} pen @param {number} width @param {number} x @param {number} y */
export function cross(picture, pen, width, x, y) {
  const [right, foot] = [x + width * picture.cell, y + picture.rows * picture.cell];
  const ink = pen.fillStyle;
  pen.beginPath();
  for (const [from, to] of [[x, right], [right, x]]) {
    pen.moveTo(from, y);
    pen.lineTo(to, foot);
  }
  [pen.strokeStyle, pen.lineWidth] = [getComputedStyle(document.body).backgroundColor, 4];
  pen.stroke();
  [pen.strokeStyle, pen.lineWidth] = [ink, 2];
  pen.stroke();
}
