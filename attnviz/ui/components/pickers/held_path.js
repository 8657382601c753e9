// The path as it follows from what is held in the maps, or as another setting has it.

/** @import { HeldNumbers, OtherPath } from "../../types" */
/** @import { PathData, PathStep } from "./types" */
import { thumbnail } from "../../../pictures/thumbnails.js";

const HOLED = ["masked", "bias"]; // steps in which minus infinity is no cell

/**
 * The small picture of a step as it follows from what is held; null where it is as it was.
 *
 * @param {PathStep} node
 * @param {PathData} data
 * @param {HeldNumbers} held
 */
export function pictureOf({ name, shape, kind, size }, { head, heads }, held) {
  const [array, masked] = [held.array(name), name === "weights" ? held.array("masked") : null];
  if (!array || !(array.isMoved || masked?.isMoved)) return null;
  const [all, rows, columns] = array.shape, own = shape.split(" × ").map(Number);
  if (array.isPart && (own[0] !== rows || own[1] !== (array.widths?.[Math.floor((head * all) / heads)] ?? columns))) return null; // of another size
  const [high, wide] = [own.length > 1 ? own[0] : 1, own[own.length - 1]];
  const first = Math.floor((head * all) / heads) * rows * columns, ofMask = masked && masked.shape[0] > 1 ? first : 0;
  const numbers = Float64Array.from({ length: high * wide }, (_, at) => array.values[first + Math.floor(at / wide) * columns + (at % wide)]);
  const isHidden = (/** @type {number} */ at) => masked?.values[ofMask + at] === -Infinity || (HOLED.includes(name) && numbers[at] === -Infinity);
  const picture = thumbnail(numbers, [high, wide], isHidden, { isSigned: kind === "signed", isSquare: array.axes.slice(-2).join() === "query,key" });
  return picture.length === size[0] * size[1] ? picture : null;
}

/** The path of another setting, as if it had been sent. @param {PathData} data @param {OtherPath} path @returns {PathData} */
export function otherData(data, { nodes, sizes, words }) {
  const shown = data.nodes.flatMap((node) => (node.shown ? [node.name] : [])), [one, more] = data.counts;
  return {
    ...data,
    count: words === null ? data.count : words === 1 ? one : more.replace("{n}", String(words)),
    scales: nodes.map(({ colours, dark }) => [colours, dark]),
    nodes: nodes.map((node, at) => ({ ...node, kind: "signed", scale: at, size: sizes[at], shown: shown.includes(node.name) })),
  };
}
