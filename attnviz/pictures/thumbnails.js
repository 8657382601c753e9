// A step of one head as a small picture, as `thumbnails.py` and the scale of a stage make it.

const MAX_PIXELS = [48, 32]; // the largest width and height
const [NO_PIXEL, MASKED_PIXEL, ODD_PIXEL, LOWEST_PIXEL, HIGHEST_PIXEL] = [0, 1, 2, 3, 255];

/** The nearest whole number, of two the even one. @param {number} x */
function nearest(x) {
  const rounded = Math.round(x);
  return rounded - x === 0.5 && rounded % 2 ? rounded - 1 : rounded;
}

/**
 * The bytes of the picture, a row after the other.
 *
 * @param {ArrayLike<number>} values  (rows, columns)
 * @param {[rows: number, columns: number]} shape
 * @param {(at: number) => boolean} isHidden
 * @param {{ isSigned: boolean, isSquare: boolean }} kind  whether 0 is the middle of the colours, and a pixel as many rows as columns
 * @returns {Uint8Array}
 */
export function thumbnail(values, [rows, columns], isHidden, { isSigned, isSquare }) {
  let low = 0, high = 0;
  for (let at = 0; at < rows * columns; at++) {
    if (!Number.isFinite(values[at]) || isHidden(at)) continue;
    low = Math.min(low, values[at]);
    high = Math.max(high, values[at]);
  }
  const signed = isSigned || low < 0;
  const [from, to] = signed ? [-(Math.max(-low, high) || 1), Math.max(-low, high) || 1] : [0, Math.max(1, high)];
  const pixel = (/** @type {number} */ at) => {
    if (isHidden(at)) return MASKED_PIXEL;
    if (!Number.isFinite(values[at])) return ODD_PIXEL;
    return LOWEST_PIXEL + nearest(Math.min(Math.max((values[at] - from) / (to - from), 0), 1) * (HIGHEST_PIXEL - LOWEST_PIXEL));
  };
  let [wide, tall] = [Math.ceil(columns / MAX_PIXELS[0]), Math.ceil(rows / MAX_PIXELS[1])];
  if (isSquare) wide = tall = Math.max(wide, tall);
  return pooled(pixel, [rows, columns], [tall, wide], signed);
}

/**
 * A pixel for each block: what is no finite number, if any, else the number furthest from zero, else masked.
 *
 * @param {(at: number) => number} pixel
 * @param {[rows: number, columns: number]} shape
 * @param {[down: number, across: number]} block
 * @param {boolean} signed
 */
function pooled(pixel, [rows, columns], [down, across], signed) {
  const [high, wide] = [Math.ceil(rows / down), Math.ceil(columns / across)];
  const middle = (LOWEST_PIXEL + HIGHEST_PIXEL) / 2;
  const first = (/** @type {number} */ byte) =>
    byte === ODD_PIXEL ? HIGHEST_PIXEL + 1 : signed && byte >= LOWEST_PIXEL ? Math.abs(byte - middle) + LOWEST_PIXEL : byte;
  const picture = new Uint8Array(high * wide).fill(NO_PIXEL);
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++) {
      const at = Math.floor(row / down) * wide + Math.floor(column / across), byte = pixel(row * columns + column);
      if (first(byte) > first(picture[at])) picture[at] = byte;
    }
  return picture;
}
