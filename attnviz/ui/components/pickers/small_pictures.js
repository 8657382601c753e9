// Small pictures of steps: their bytes, and the colours of those.

import { between, parts } from "../colours.js";

const [MASKED_CELL, NOT_FINITE, LOWEST, HIGHEST] = [1, 2, 3, 255]; // bytes of a picture, as pictures/thumbnails.py says; 0 is no cell
const NOT_A_NUMBER = [...parts("#f5c518"), 255]; // on neither colour scale

/** @type {Map<string, readonly number[][]>} */
const TABLES = new Map();

/**
 * The colour of every byte: between LOWEST and HIGHEST along the scale; the same table for the same colours.
 *
 * @param {readonly string[]} scale
 * @param {string} masked
 */
export function stepColours(scale, masked) {
  const name = `${scale} ${masked}`, known = TABLES.get(name);
  if (known) return known;
  const table = Array.from({ length: 256 }, (_, byte) => {
    if (byte === MASKED_CELL) return [...parts(masked), 255];
    if (byte === NOT_FINITE) return NOT_A_NUMBER;
    return byte < LOWEST ? [0, 0, 0, 0] : [...between(scale, (byte - LOWEST) / (HIGHEST - LOWEST)), 255];
  });
  TABLES.set(name, table);
  return table;
}

/**
 * What Python sent: JSON, a zero byte, and the bytes of all pictures in the order of their sizes.
 *
 * @template Data
 * @param {Uint8Array} bytes
 * @param {(data: Data) => { size: [width: number, height: number] }[]} pictures
 * @returns {{ data: Data, pixels: Uint8Array[] }}
 */
export function unpackedPictures(bytes, pictures) {
  const end = bytes.indexOf(0);
  /** @type {Data} */
  const data = JSON.parse(new TextDecoder().decode(bytes.subarray(0, end)));
  let at = end + 1;
  const pixels = pictures(data).map(({ size }) => bytes.subarray(at, (at += size[0] * size[1])));
  return { data, pixels };
}

/** Append a text in which an underscore makes the letters after it a subscript. @param {Node} parent @param {string} text */
export function withSubscripts(parent, text) {
  text.split(/_(\p{L}+)/u).forEach((part, at) => {
    const node = at % 2 ? parent.appendChild(document.createElement("sub")) : parent;
    node.appendChild(document.createTextNode(part));
  });
}
