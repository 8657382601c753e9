// Lines from a word to others, and the tints of these, by weight.

import { between, inkOn } from "../colours.js";

const DARK = "#000000"; // pure, so that one of the two always reads at 4.5 to 1 or more
const THICKEST = 9; // pixels, for a weight of 1

/**
 * The colour of a share on a scale, and the ink that reads best on it.
 *
 * @param {number} share
 * @param {string[]} scale
 */
function shade(share, scale) {
  const colour = between(scale, share);
  return { ground: `rgb(${colour.join()})`, ink: inkOn(colour) };
}

/**
 * How a weight tints a word; on a dark page the page itself stands for the near-white half of the scale.
 *
 * @param {number} weight
 * @param {string[]} scale
 */
export function tint(weight, scale) {
  const share = Math.min(Math.max(weight, 0), 1);
  const light = shade(share, scale);
  if (share >= 0.5) return light;
  const veil = `color-mix(in srgb, ${shade(0.5, scale).ground} ${Math.round(200 * share)}%, var(--st-background-color))`;
  const ink = share < 0.34 ? "var(--st-text-color)" : DARK;
  return { ground: `light-dark(${light.ground}, ${veil})`, ink: `light-dark(${light.ink}, ${ink})` };
}

/**
 * A path that bends only between the two texts; inside the second it runs straight down behind the words to its key.
 *
 * @param {number} x
 * @param {number} top
 * @param {number} toX
 * @param {number} bottom
 * @param {number} toY
 */
export function curve(x, top, toX, bottom, toY) {
  const bend = (bottom - top) / 2;
  return `M${x},${top}C${x},${top + bend} ${toX},${bottom - bend} ${toX},${bottom}V${toY}`;
}

/** @param {string} d @param {number} width @param {number} opacity */
function draw(d, width, opacity) {
  const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
  line.setAttribute("d", d);
  line.setAttribute("stroke-width", width.toFixed(2));
  line.setAttribute("stroke-opacity", opacity.toFixed(2));
  return line;
}

/** A line to a key. @param {string} d @param {number} weight  1 at most @param {number} key */
export function lineTo(d, weight, key) {
  const line = draw(d, 0.5 + (THICKEST - 0.5) * weight, 0.2 + 0.7 * weight ** 0.6);
  line.dataset.key = String(key);
  return line;
}

/**
 * From a word in an upper line straight down to where the lines part.
 *
 * @param {number} x
 * @param {number} top
 * @param {number} bottom
 */
export const stem = (x, top, bottom) => draw(`M${x},${top}V${bottom}`, 1.5, 0.85);
