// The run that is shown, and where its reader is in it.

/** @import { Cell, Marked, Run, Stage, Step } from "./types" */
import { exact, range, short, writeComma } from "./formats.js";

/**
 * Find an element of the page by its id.
 *
 * @template {HTMLElement} [Kind=HTMLElement]
 * @param {string} id
 * @param {new () => Kind} [kind]
 */
export function element(id, kind = /** @type {new () => Kind} */ (HTMLElement)) {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`the page has no ${id} of this kind`);
  return found;
}

/** @type {Run} */
export const data = JSON.parse(element("run", HTMLScriptElement).text);
export const { words, setting } = data;
if (data.has_comma) writeComma();

/** @type {{ layer: number, lit: Marked | null, chosen: Marked | null, held: Marked | null, apart: boolean, moved: boolean, paints: boolean }} held  under the hand; paints  whether a press on weights does */
export const view = { layer: 0, lit: null, chosen: null, held: null, apart: true, moved: false, paints: false };

/** @param {string} name @param {number} [layer] @returns {Step | undefined} the step of a layer, if it was sent */
export const step = (name, layer = view.layer) => data.layers[layer].steps[name];

/** @type {Float64Array | undefined} */
let halves; // all that there are: nine million at once are looked up, not computed

/** @param {number} bits @returns {number} what they are as a float16 */
function half(bits) {
  const [sign, exponent, fraction] = [bits >> 15 ? -1 : 1, (bits >> 10) & 31, bits & 1023];
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? (1024 + fraction) * 2 ** (exponent - 25) : fraction * 2 ** -24);
}

/** @param {Step} found @returns {Float64Array} */
function decoded({ form, base64, shape, power = 0 }) {
  const text = atob(base64), bytes = new Uint8Array(text.length);
  for (let n = 0; n < text.length; n++) bytes[n] = text.charCodeAt(n);
  if (form === "exact") return new Float64Array(bytes.buffer);
  const numbers = new Float64Array(shape.reduce((a, b) => a * b, 1));
  if (form === "closed") return numbers.map((_, n) => ((bytes[n >> 3] >> (n & 7)) & 1 ? -Infinity : 0));
  const all = (halves ??= Float64Array.from(range(2 ** 16), half)), factor = 2 ** -power;
  for (let n = 0; n < numbers.length; n++) numbers[n] = all[bytes[2 * n] | (bytes[2 * n + 1] << 8)] * factor;
  return numbers;
}

/** @param {Step} found @returns {Float64Array} its numbers */
export const numbersOf = (found) => (found.numbers ??= decoded(found));

/**
 * Look up one number of a step, as it was sent.
 *
 * @param {string} name
 * @param {number[]} place
 */
export function at(name, ...place) {
  const found = step(name);
  if (!found) throw new Error(`the layer has no ${name}`);
  let where = 0; // a loop, as this is called for every cell that is drawn
  for (let axis = 0; axis < place.length; axis++) where = where * found.shape[axis] + place[axis];
  return numbersOf(found)[where];
}

/** @param {Cell} cell @returns {boolean} whether the query may not attend to the key */
export const isClosed = (cell) => Boolean(step("masked")) && at("masked", ...cell) === -Infinity;

/**
 * Return what looks up a weight of a layer, which is null where it is masked.
 *
 * @param {number} [layer]
 * @returns {(...cell: Cell) => number | null}
 */
export function weightsOf(layer = view.layer) {
  const [masked, weights] = ["masked", "weights"].map((name) => step(name, layer)).map((found) => found && numbersOf(found));
  return (h, i, j) => {
    const place = (h * data.queries.length + i) * data.keys.length + j;
    return !weights || (masked && masked[place] === -Infinity) ? null : weights[place];
  };
}

/**
 * Write a number of a step of the layer, or what is made of several, with no more digits than the file holds of it.
 *
 * @param {string} name
 * @param {number} x
 * @param {(x: number) => string} [write]  how, where it holds all
 * @param {number} [digits]
 */
export function digitsOf(name, x, write = exact, digits = 3) {
  const least = step(name)?.least;
  if (least === undefined || x === 0 || !Number.isFinite(x)) return write(x);
  const rounded = Number(x.toPrecision(digits));
  return Math.abs(rounded) < least ? words.nearer.replace("{number}", short(least)) : exact(rounded);
}

/** @param {Stage} stage @param {number} head @returns {string} its name; what it does was said of the numbers as they were saved */
export const headName = ({ heads }, head) => (view.moved ? heads[head].split(" · ")[0] : heads[head]);

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
