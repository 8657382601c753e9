// The rail beside a number that is held: from where to where it has been moved, what it was and what it is.

/** @import { Heatmap } from "../heatmap.js" */
import { svg } from "../ink.js";
import { asWritten } from "../../number_format.js";

const WIDE = 18; // pixels
const BEYOND = 14; // pixels of the rail beyond its ends
const DISC = 6;

export class Rail {
  /** @param {Heatmap} heatmap */
  constructor(heatmap) {
    this.heatmap = heatmap;
    this.box = document.createElement("div");
    this.box.className = "attn-hold";
  }

  /**
   * @param {[x: number, y: number]} point  pixels of the maps where the number stood
   * @param {number} up  pixels by which it is moved
   * @param {[was: number, now: number]} numbers
   * @param {[top: number, bottom: number] | null} edges  between which it stays, as an arrow where it would go on
   */
  show([x, y], up, [was, now], edges) {
    const { box, heatmap } = this;
    if (!box.parentNode) heatmap.frame.append(box);
    box.replaceChildren();
    const [above, below] = edges ?? [-Infinity, Infinity], aim = Math.min(Math.max(y - up, above + DISC), below - DISC), isBeyond = aim !== y - up;
    const top = Math.max(Math.min(y, aim) - BEYOND, above), high = Math.min(Math.max(y, aim) + BEYOND, below) - top;
    Object.assign(box.style, { left: `${x - WIDE / 2}px`, top: `${top}px`, width: `${WIDE}px`, height: `${high}px` });
    const picture = svg(box, "svg", { width: WIDE, height: high, "aria-hidden": true });
    const [from, to] = [y - top, aim - top], tip = up < 0 ? DISC : -DISC;
    svg(picture, "rect", { x: 1, y: 1, width: WIDE - 2, height: high - 2, rx: WIDE / 2 - 1, class: "attn-rail" });
    svg(picture, "line", { x1: WIDE / 2, x2: WIDE / 2, y1: from, y2: to, class: "attn-way" });
    svg(picture, "circle", { cx: WIDE / 2, cy: from, r: DISC, class: "attn-was" });
    if (isBeyond) svg(picture, "path", { d: `M${WIDE / 2 - DISC},${to - tip / 2}h${2 * DISC}l${-DISC},${tip * 1.5}Z`, class: "attn-now" });
    else svg(picture, "circle", { cx: WIDE / 2, cy: to, r: DISC, class: "attn-now" });
    const isLeft = x + 120 > heatmap.frame.clientWidth;
    this.tag(heatmap.data.words.was.replace("{number}", asWritten(was)), from + (Math.abs(from - to) < 22 ? (up < 0 ? -22 : 22) : 0), isLeft);
    this.tag(asWritten(now), to, isLeft).classList.add("attn-now");
  }

  /** @param {string} text @param {number} y @param {boolean} isLeft */
  tag(text, y, isLeft) {
    const tag = this.box.appendChild(document.createElement("span"));
    tag.textContent = text;
    Object.assign(tag.style, { top: `${y}px`, [isLeft ? "right" : "left"]: `${WIDE + 6}px` });
    return tag;
  }

  hide() {
    this.box.remove();
  }
}
