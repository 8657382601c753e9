// Canvases: their colours, their resolution, and text that fits.

/** @import { Scale } from "./types" */

const LETTERS = 12;

/** @param {string} hex */
const rgb = (hex) => [1, 3, 5].map((from) => parseInt(hex.slice(from, from + 2), 16));

/** @param {Scale} scale @param {number} x @returns {string} its colour */
export function shade({ low, high, colours }, x) {
  if (!Number.isFinite(x)) return "#f5c518";
  const where = Math.min(Math.max((x / 2 - low / 2) / (high / 2 - low / 2), 0), 1) * (colours.length - 1);
  const [from, to] = [rgb(colours[Math.floor(where)]), rgb(colours[Math.ceil(where)])];
  return `rgb(${from.map((part, n) => Math.floor(part + (to[n] - part) * (where % 1) + 0.5)).join(",")})`;
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
