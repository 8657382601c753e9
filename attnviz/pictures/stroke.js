// Strokes over a grid: lines, blocks and diagonals.

/** @typedef {[row: number, column: number]} Square */
/** @typedef {{ row: number, column: number }} Place */

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

/** All cells between two. @param {Place} one @param {Place} other @returns {Place[]} */
export function blockBetween(one, other) {
  const [top, bottom] = [one.row, other.row].sort((a, b) => a - b), [left, right] = [one.column, other.column].sort((a, b) => a - b);
  const columns = Array.from({ length: right - left + 1 }, (_, at) => left + at);
  return Array.from({ length: bottom - top + 1 }, (_, at) => columns.map((column) => ({ row: top + at, column }))).flat();
}

/** The diagonal through a cell of a map. @param {Place} through @param {number} rows @param {number} columns @returns {Place[]} */
export const diagonalOf = (through, rows, columns) =>
  Array.from({ length: rows }, (_, row) => ({ row, column: row + through.column - through.row })).filter(({ column }) => column >= 0 && column < columns);
