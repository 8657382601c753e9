// Arcs over a line of words, from one of them to those that it attends to.

import { ranked } from "./weight_rows.js";

const THICKEST = 8; // pixels, for a weight of 1
export const LEAST = 0.03; // a weaker weight has no arc
const CLEAR = 4; // pixels between the highest arc and what stands above

/**
 * Arcs over the words, the faintest first.
 *
 * @param {HTMLElement | undefined} from
 * @param {HTMLElement[]} keys
 * @param {(number | null)[]} row  what it takes of each
 * @param {HTMLElement} line  of all words
 */
export function arcsOf(from, keys, row, line) {
  const box = line.getBoundingClientRect();
  const middle = (/** @type {HTMLElement} */ word) => {
    const { left, width } = word.getBoundingClientRect();
    return left + width / 2 - box.left;
  };
  if (!from || !box.width) return [];
  const top = from.offsetTop - 1;
  const strong = ranked(row).filter(([weight, key]) => weight >= LEAST && keys[key] !== from);
  return strong.reverse().map(([weight, key]) => {
    const [x, to] = [middle(from), middle(keys[key])];
    const thick = (0.8 + (THICKEST - 0.8) * Math.min(weight, 1)).toFixed(2); // the same of single precision
    const high = Math.min(top - Number(thick) / 2 - CLEAR, 9 + Math.abs(to - x) / 9);
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    path.setAttribute("d", `M${x},${top}C${x},${top - high * 1.3} ${to},${top - high * 1.3} ${to},${top}`);
    path.setAttribute("stroke-width", thick);
    path.setAttribute("stroke-opacity", (0.25 + 0.6 * Math.min(weight, 1)).toFixed(2));
    return path;
  });
}

/** Whether elements are like those that are there. @param {Element[]} made @param {NodeListOf<ChildNode>} there */
export const areSame = (made, there) => made.length === there.length && made.every((each, at) => each.isEqualNode(there[at]));
