// The numbers of the layer that is shown, as the maps have them, for who explains their cells.

/** @import { StageArray } from "../../../pictures/stage_bytes.js" */

export const ARRAYS = "attnviz:cell-arrays"; // other numbers have come
export const CELL = ".cell."; // before the names of those that are for a cell

/**
 * @param {{ name: string, head: number } | null} cells  the name of the facts that belong to them, and the head that is spoken of
 * @param {Record<string, StageArray>} arrays  of a message
 */
export function announceArrays(cells, arrays) {
  const ours = Object.entries(arrays).filter(([name]) => name.startsWith(CELL));
  announce(cells && { ...cells, arrays: Object.fromEntries(ours.map(([name, array]) => [name.slice(CELL.length), array])) });
}

/** @param {Window["attnvizCellArrays"]} numbers  with what belongs to them */
export function announce(numbers) {
  window.attnvizCellArrays = numbers;
  window.dispatchEvent(new CustomEvent(ARRAYS));
}
