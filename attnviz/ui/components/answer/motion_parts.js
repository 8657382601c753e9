// The parts of a scene of the player: what pieces and words are, their colours, and matrices as small pictures.

/** @import { MotionMap, MotionNumbers } from "./types" */
import { parts } from "../colours.js";

/**
 * A rectangle. What was not in the scene before comes `from` another piece of it, or grows from the line `base`.
 *
 * @typedef {object} Piece
 * @property {number} x
 * @property {number} y
 * @property {number} w
 * @property {number} h
 * @property {number[]} fill
 * @property {number} [alpha]
 * @property {boolean} [ring]  only its edge
 * @property {HTMLCanvasElement} [image]
 * @property {string} [from]
 * @property {[number, number]} [part]  which of how many columns of `from` it leaves
 * @property {number} [base]
 * @property {number} [delay]  when it sets out, from 0 to 1
 */

/**
 * A word or a number; the anchor is in its middle, or at the side that `align` names.
 *
 * @typedef {object} Note
 * @property {number} x
 * @property {number} y
 * @property {string} text
 * @property {number} [size]
 * @property {boolean} [bold]
 * @property {number[]} [fill]
 * @property {CanvasTextAlign} [align]
 * @property {boolean} [rotated]
 * @property {number} [maxWidth]  in pixels, after which it is cut
 * @property {number} [within]  in pixels, to which it is made narrower
 */

/** @typedef {{ pieces: Map<string, Piece>, notes: Map<string, Note>, into?: (id: string) => string }} Scene */
/** @typedef {{ w: number, h: number }} Size */
/** @typedef {Record<keyof typeof PROPERTIES, number[]>} Palette */

const PROPERTIES = {
  ink: "--page-ink",
  muted: "--page-muted",
  accent: "--page-accent",
  others: "--page-others",
  positive: "--page-positive",
  negative: "--page-negative",
  ground: "--page-ground",
};

/**
 * Return the colours of the page for a canvas, which knows no custom property of a style sheet.
 *
 * @param {Element} element  on the page
 * @param {boolean} dark  whether the page is
 * @returns {Palette}
 */
export function paletteOf(element, dark) {
  const style = getComputedStyle(element);
  const colours = Object.entries(PROPERTIES).map(([name, property]) => {
    const [light = "#808080", other = light] = style.getPropertyValue(property).match(/#[\da-f]{6}/gi) ?? [];
    return [name, parts(dark ? other : light)];
  });
  return Object.fromEntries(colours);
}

export const ROW = 26; // pixels that a row of numbers is high
export const EDGE = 66; // pixels left of the values for their words
export const ROOMY = 40; // of a cell that has room for a number of three decimals in its full size

/** @param {number} x @param {number} low @param {number} high */
export const clamp = (x, low, high) => Math.min(Math.max(x, low), Math.max(low, high));

/** @param {MotionMap} map */
export const bytes = ({ cells }) => Uint8Array.from(atob(cells), (letter) => letter.charCodeAt(0));

/** The row of a map that is shown, without its texts. @param {MotionMap} map @returns {MotionNumbers} */
export function mapNumbers(map) {
  const row = bytes(map).subarray(map.at * map.columns, (map.at + 1) * map.columns);
  return { values: [...row].map((byte) => ((byte - 128) / 127) * map.end), texts: [] };
}

/** @param {MotionMap | undefined} map @param {(share: number) => number[]} colour @returns {HTMLCanvasElement} */
export function painted(map, colour) {
  const canvas = document.createElement("canvas");
  if (!map) return canvas;
  canvas.width = map.columns;
  canvas.height = map.rows;
  const context = canvas.getContext("2d");
  if (!context) return canvas;
  const image = context.createImageData(map.columns, map.rows);
  bytes(map).forEach((byte, at) => image.data.set([...colour((byte - 1) / 254), 255], 4 * at));
  context.putImageData(image, 0, 0);
  return canvas;
}
