// The run that is shown, and where its reader is in it.

/** @import { Cell, Marked, Run, Step } from "./types" */
import { exact, range } from "./formats.js";

/**
 * Find an element of the page by its id.
 *
 * @template {HTMLElement} Kind
 * @param {string} id
 * @param {new () => Kind} kind
 */
export function element(id, kind) {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`the page has no ${id} of this kind`);
  return found;
}

/** @type {Run} */
export const data = JSON.parse(element("run", HTMLScriptElement).text);
export const { words, setting } = data;

/** @type {{ layer: number, lit: Marked | null, chosen: Marked | null, apart: boolean }} */
export const view = { layer: 0, lit: null, chosen: null, apart: true };

/** @param {string} name @param {number} [layer] @returns {Step | undefined} the step of a layer, if it was sent */
export const step = (name, layer = view.layer) => data.layers[layer].steps[name];

/** @param {Step} found @returns {Float64Array} its numbers */
const numbersOf = (found) =>
  (found.numbers ??= new Float64Array(Uint8Array.from(atob(found.base64), (c) => c.charCodeAt(0)).buffer));

/**
 * Look up one number of a step, as it was sent, bit for bit.
 *
 * @param {string} name
 * @param {number[]} place
 */
export function at(name, ...place) {
  const found = step(name);
  if (!found) throw new Error(`the layer has no ${name}`);
  return numbersOf(found)[place.reduce((sum, index, axis) => sum * found.shape[axis] + index, 0)];
}

/**
 * Look up a weight, of any layer.
 *
 * @param {Cell} cell
 * @param {number} [layer]
 * @returns {number | null} null where it is masked
 */
export function weight([h, i, j], layer = view.layer) {
  const [masked, weights] = [step("masked", layer), step("weights", layer)];
  if (!weights) return null;
  const place = (h * data.queries.length + i) * data.keys.length + j;
  return masked && numbersOf(masked)[place] === -Infinity ? null : numbersOf(weights)[place];
}

/** @param {string} name @param {number} head @param {number} row @param {number} width */
export const vector = (name, head, row, width) => range(width).map((d) => at(name, head, row, d));

/**
 * Write what was computed beside what the run holds: the same but for rounding, or changed by hand.
 *
 * @param {number} computed
 * @param {number} recorded
 */
export function held(computed, recorded, size = Math.abs(computed)) {
  const near = computed === recorded || (Number.isNaN(computed) && Number.isNaN(recorded));
  if (near || Math.abs(computed - recorded) <= 1e-11 * size + 1e-300) return exact(recorded);
  return `${exact(computed)}; ${words.edited} ${exact(recorded)}`;
}
