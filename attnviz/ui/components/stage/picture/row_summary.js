// What a row says, written into it: most of its cells are nearly 0, and the eye is there already.

/** @import { Picture } from "./picture.js" */
import { percent } from "../../percent.js";
import { context, share, svg } from "../ink.js";

const IN_ROW = { size: 11, cell: 13, air: 16, least: 0.25 }; // pixels of letters, of a cell's height and beside the words; the least share

/**
 * The longest run of cells in which no number stands, from its first to behind its last.
 *
 * @param {boolean[]} blank
 * @returns {[number, number]}
 */
export function longestRun(blank) {
  /** @type {[number, number]} */
  let longest = [0, 0];
  let first = 0;
  [...blank, false].forEach((isBlank, at) => {
    if (isBlank) return;
    if (at - first > longest[1] - longest[0]) longest = [first, at];
    first = at + 1;
  });
  return longest;
}

/**
 * Write to what a row attends most, in the longer of two ways that has room; nothing where none has, and then the
 * sentence over the maps says it alone. A share without its word, or in one cell, would be read as the weight of the
 * column that it stands in.
 *
 * @param {Picture} picture
 * @param {number} head
 * @param {number} row
 */
export function drawRowSummary(picture, head, row) {
  const { meta, heatmap, family, light } = picture;
  const [, , wide, high] = picture.cells(head, row, 0);
  if (!meta.share || meta.axes[1] !== "key" || meta.block[1] > 1 || high < IN_ROW.cell) return;
  const shares = picture.rowOf(head, row);
  const key = shares.reduce((/** @type {number} */ most, each, at) => ((each ?? -1) > (shares[most] ?? -1) ? at : most), 0);
  const most = shares[key];
  if (most === null || !(most >= IN_ROW.least && most <= 1)) return;
  const [first, behind] = longestRun(shares.map((each) => each !== null && share(each, wide) === ""));
  if (behind - first < 2) return;
  const [x, y, room] = picture.cells(head, row, first, 1, behind - first);
  const [word, amount] = [picture.columnWord(key), percent(most)];
  const said = heatmap.data.words.row_says.replace("{key}", () => word).replace("{amount}", () => amount);
  context.font = `400 ${IN_ROW.size}px ${family}`;
  const text = [said, `${word} ${amount}`].find((each) => context.measureText(each).width + IN_ROW.air <= room);
  if (!text) return;
  const at = { x: x + room / 2, y: y + high / 2 + 0.35 * IN_ROW.size, "font-size": IN_ROW.size, "text-anchor": "middle" };
  svg(light, "text", { ...at, class: "attn-row-says" }, text);
}
