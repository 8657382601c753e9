// The tooltip beside the pointer: the cell of a map, or its head. Words of a visitor are only ever set as text.

/** @import { Heatmap } from "./heatmap.js" */
/** @import { Picture } from "./picture/picture.js" */
/** @import { Spot } from "./types" */
import { fourDigits, inLanguage } from "../number_format.js";
import { graphemes } from "./ink.js";

export class Tip {
  /** @param {Element} root */
  constructor(root) {
    this.box = root.appendChild(document.createElement("div"));
    this.box.className = "attn-tip";
  }

  /** @param {Heatmap} heatmap @param {Picture} picture @param {Spot} spot */
  showCell(heatmap, picture, { head, row, column }) {
    const { axes, heads, columns } = picture.meta;
    const lines = [];
    if (head !== undefined && heads[head]) lines.push(line("", heads[head]));
    const isNamed = !heatmap.data.unnamed;
    if (isNamed && row !== undefined) lines.push(line(heatmap.axis(axes[0]), picture.rowWord(row), picture.positions(row, 0)));
    if (isNamed && column !== undefined) lines.push(line(heatmap.axis(axes[1]), picture.columnWord(column), columns ? picture.positions(column, 1) : ""));
    if (head !== undefined && row !== undefined && column !== undefined) lines.push(line("value", picture.describe({ head, row, column }), picture.digits({ head, row, column })));
    const sum = head === undefined || row === undefined ? null : picture.editedSum(head, row);
    if (sum !== null) lines.push(line("meaning", heatmap.data.words.row_sum.replace("{sum}", inLanguage(fourDigits(sum), heatmap.data.words))));
    const how = heatmap.holding.hint(picture, { head, row, column });
    if (how) lines.push(line("meaning", how));
    this.box.replaceChildren(...lines);
    this.box.style.display = "block";
  }

  /** Show what a head does, and what the bars beside and below it are. @param {Heatmap} heatmap @param {Picture} picture @param {number} head @param {number} x @param {number} y */
  showHead(heatmap, picture, head, x, y) {
    const { heads, roles, tested, sums } = picture.meta;
    if (!sums) return;
    const { reads_key, total_key } = heatmap.data.words;
    const role = (!picture.stage.former?.[head] && roles?.[head]) || "", measured = tested?.[head];
    const more = measured ? [line("meaning", measured)] : [];
    this.box.replaceChildren(line("", heads[head]), line("", role), ...more, line("meaning", reads_key), line("meaning", total_key));
    this.box.style.display = "block";
    this.moveTo(x, y);
  }

  /** Move beside a point of the screen; return the lower edge. @param {number} x @param {number} y */
  moveTo(x, y) {
    const { width, height } = this.box.getBoundingClientRect();
    const left = x + 14 + width > window.innerWidth ? x - width - 10 : x + 14;
    const top = Math.max(4, y + 16 + height > window.innerHeight ? y - height - 10 : y + 16);
    Object.assign(this.box.style, { left: `${Math.max(4, left)}px`, top: `${top}px` });
    return top + height;
  }

  hide() {
    this.box.style.display = "none";
  }
}

/** @param {string} label @param {string} text @param {string} [positions] */
function line(label, text, positions) {
  const line = document.createElement("div");
  const bold = document.createElement("bdi");
  const letters = graphemes(text);
  bold.textContent = label !== "meaning" && letters.length > 48 ? letters.slice(0, 47).join("") + "…" : text;
  if (label === "value") line.className = "attn-value";
  else if (label === "meaning") line.className = "attn-meaning";
  else if (label) line.append(label + " ");
  line.append(bold);
  if (positions) line.appendChild(document.createElement("small")).textContent = positions;
  return line;
}
