// A stroke over a grid.

/** @typedef {[row: number, column: number]} Square */

/**
 * Return every cell on the way from one to another, so that a fast stroke has no holes.
 *
 * @param {Square} from
 * @param {Square} to
 * @returns {Square[]}
 */
export function squaresBetween([row, column], [toRow, toColumn]) {
  const steps = Math.max(Math.abs(toRow - row), Math.abs(toColumn - column), 1);
  /** @param {number} from @param {number} to @param {number} i */
  const at = (from, to, i) => Math.round(from + ((to - from) * i) / steps);
  return Array.from({ length: steps + 1 }, (_, i) => [at(row, toRow, i), at(column, toColumn, i)]);
}
