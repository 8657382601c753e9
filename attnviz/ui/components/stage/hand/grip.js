// The mark at a number that can be held: up and down, as it is dragged.

/** @import { Heatmap } from "../heatmap.js" */
import { svg } from "../ink.js";

const [GRIP_WIDE, GRIP_HIGH] = [12, 7]; // pixels of each of its two arrows
const [GRIP_IN, GRIP_LOW] = [2, 12]; // pixels that they reach into the cell, and of the lowest cell that lies between them

export class Grip {
  /** @param {Heatmap} heatmap */
  constructor(heatmap) {
    this.heatmap = heatmap;
    this.box = document.createElement("div");
    this.box.className = "attn-grip";
    this.box.setAttribute("aria-hidden", "true");
    const picture = svg(this.box, "svg", {});
    this.arrows = [0, 1].map(() => svg(picture, "path", {}));
  }

  /** @param {[x: number, y: number]} point  the middle of the cell in the maps @param {number} high  pixels of the cell */
  show([x, y], high) {
    const wide = GRIP_WIDE + 4, between = Math.max(high - 2 * GRIP_IN, GRIP_LOW), tall = between + 2 * GRIP_HIGH + 4;
    Object.assign(this.box.style, { left: `${x - wide / 2}px`, top: `${y - tall / 2}px`, width: `${wide}px`, height: `${tall}px` });
    const [up, down] = this.arrows, half = GRIP_WIDE / 2;
    up.setAttribute("d", `M2,${2 + GRIP_HIGH}h${GRIP_WIDE}l${-half},${-GRIP_HIGH}Z`);
    down.setAttribute("d", `M2,${tall - 2 - GRIP_HIGH}h${GRIP_WIDE}l${-half},${GRIP_HIGH}Z`);
    if (!this.box.parentNode) this.heatmap.frame.append(this.box);
  }

  hide() {
    this.box.remove();
  }
}
