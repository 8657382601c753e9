// The heads of one stage as tiles: how many cells each has, and the pixels at which these begin.

/**
 * The heads of one stage as tiles of equal size, `across` of them in a row.
 *
 * @typedef {object} Tiling
 * @property {number[]} widths
 * @property {number} rows
 * @property {number} across
 * @property {number} cellW  may be a fraction, as the height may; edges are whole pixels
 * @property {number} cellH
 * @property {number} gapX  between tiles
 * @property {number} gapY
 * @property {number} left  around them
 * @property {number} right
 * @property {number} top
 * @property {number} below
 * @property {number} block  how many rows share a drawn cell
 * @property {number} fold  and how many columns
 * @property {number} columns  drawn cells side by side in the widest head
 * @property {number} lines  and one below the other in each
 * @property {number[]} x  the edges of all columns of cells, and between tiles those of a gutter
 * @property {number[]} y
 * @property {number} width  of all of it
 * @property {number} height
 */

/** A tiling with the edges that follow from the rest. @param {Omit<Tiling, "columns" | "lines" | "x" | "y" | "width" | "height">} tiling @returns {Tiling} */
export function measured(tiling) {
  const { widths, rows, across, cellW, cellH, gapX, gapY, left, right, top, below, block, fold } = tiling;
  const [inRow, lines] = [Math.ceil(Math.max(...widths) / fold), Math.ceil(rows / block)];
  const x = edges(across, inRow, cellW, gapX);
  const y = edges(Math.ceil(widths.length / across), lines, cellH, gapY);
  return { ...tiling, columns: inRow, lines, x, y, width: left + x[x.length - 1] + right, height: top + y[y.length - 1] + below };
}

/** @param {number} tiles @param {number} cells @param {number} cell @param {number} gap */
function edges(tiles, cells, cell, gap) {
  const inside = Array.from({ length: cells + 1 }, (_, at) => Math.floor(at * cell + 0.5));
  const pitch = inside[cells] + gap;
  return Array.from({ length: tiles }, (_, tile) => inside.map((at) => tile * pitch + at)).flat();
}
