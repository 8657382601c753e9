// Canvases: their colours, their resolution, and text that fits.

/** @import { Scale } from "./types" */

const LETTERS = 12;
const HATCH = 6; // pixels from line to line

/** @param {string} hex */
const rgb = (hex) => [1, 3, 5].map((from) => parseInt(hex.slice(from, from + 2), 16));

/** @type {WeakMap<string[], number[][]>} */
const read = new WeakMap();

/** @param {Scale} scale @param {number} x @returns {number[]} its colour: red, green and blue */
function tint({ low, high, colours }, x) {
  if (!Number.isFinite(x)) return rgb("#f5c518");
  const stops = read.get(colours) ?? colours.map(rgb);
  read.set(colours, stops);
  const where = Math.min(Math.max((x / 2 - low / 2) / (high / 2 - low / 2), 0), 1) * (stops.length - 1);
  const [from, to] = [stops[Math.floor(where)], stops[Math.ceil(where)]];
  /** @param {number} n */
  const mixed = (n) => Math.floor(from[n] + (to[n] - from[n]) * (where % 1) + 0.5);
  return [mixed(0), mixed(1), mixed(2)];
}

/** @param {Scale} scale @param {number} x @returns {string} its colour */
export const shade = (scale, x) => `rgb(${tint(scale, x).join(",")})`;

/**
 * Paint a dot for each number, over the whole of a canvas: as rectangles, tens of thousands would take seconds.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {number} width
 * @param {number} height
 * @param {Scale} scale
 * @param {(x: number, y: number) => number | null} number  null where it is masked
 */
export function paintDots(canvas, width, height, scale, number) {
  [canvas.width, canvas.height] = [width, height];
  const pen = penOf(canvas), image = pen.createImageData(width, height);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const value = number(x, y), at = 4 * (y * width + x);
      const [red, green, blue] = value === null ? [0, 0, 0] : tint(scale, value);
      image.data[at] = red;
      image.data[at + 1] = green;
      image.data[at + 2] = blue;
      image.data[at + 3] = value === null ? 0 : 255;
    }
  pen.putImageData(image, 0, 0);
}

/** Thin lines for masked cells, on whatever ground the page has. @param {CanvasRenderingContext2D} pen */
export function hatch(pen) {
  const tile = document.createElement("canvas");
  tile.width = tile.height = HATCH;
  const lines = penOf(tile);
  lines.strokeStyle = "rgba(128,128,128,0.35)";
  for (const x of [-HATCH, 0, HATCH]) {
    lines.moveTo(x, HATCH);
    lines.lineTo(x + HATCH, 0);
  }
  lines.stroke();
  return pen.createPattern(tile, "repeat") ?? "transparent";
}

/**
 * Append an element; what a visitor wrote enters as text only.
 *
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {HTMLElement} parent
 * @param {string} [text]
 * @param {string} [name]  of its class
 */
export function make(tag, parent, text, name) {
  const made = parent.appendChild(document.createElement(tag));
  if (text !== undefined) made.textContent = text;
  if (name) made.className = name;
  return made;
}

/** @param {HTMLCanvasElement} canvas */
export function penOf(canvas) {
  const pen = canvas.getContext("2d");
  if (!pen) throw new Error("this browser draws on no canvas");
  return pen;
}

/**
 * Give a canvas its size in pixels of the page, and as many dots as the screen has for them.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {number} width
 * @param {number} height
 */
export function sharp(canvas, width, height) {
  const dots = window.devicePixelRatio || 1;
  [canvas.width, canvas.height] = [Math.ceil(width * dots), Math.ceil(height * dots)];
  [canvas.style.width, canvas.style.height] = [width + "px", height + "px"];
  const pen = penOf(canvas);
  pen.scale(dots, dots);
  pen.font = `${LETTERS}px system-ui, sans-serif`;
  return pen;
}

/**
 * Shorten a text, by whole characters as they are read, until it fits.
 *
 * @param {CanvasRenderingContext2D} pen
 * @param {string} text
 * @param {number} room
 */
export function cut(pen, text, room) {
  if (pen.measureText(text).width <= room) return text;
  const clusters = [...new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(text.slice(0, 200))];
  let kept = "";
  for (const { segment } of clusters) {
    if (pen.measureText(kept + segment + "…").width > room) break;
    kept += segment;
  }
  return kept + "…";
}
