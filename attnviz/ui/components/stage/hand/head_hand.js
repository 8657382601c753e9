// A head that is switched off by its name: its output is 0, and what follows from that is shown.

/** @import { Change } from "../../../../live/types" */
/** @import { Holding } from "./holding.js" */
/** @import { Picture } from "../picture/picture.js" */
import { svg } from "../ink.js";
import { signOf } from "../../signs.js";

const [CROSSED, OUTPUT] = ["weights", "heads"]; // the stage with the buttons, and the step that is 0

export class HeadHand {
  /** @type {Map<number, boolean>} */
  pending = new Map(); // heads that were switched, until the server has heard of it

  /** @param {Holding} holding */
  constructor(holding) {
    this.holding = holding;
  }

  /** Whether heads of a map can be switched off. @param {Picture} picture */
  switches(picture) {
    return picture.name === CROSSED && Boolean(this.holding.heatmap.data.live?.off) && picture.meta.share;
  }

  /** @param {number} head  among all */
  isOff(head) {
    return this.pending.get(head) ?? this.holding.heatmap.data.live?.off?.includes(head) ?? false;
  }

  /** Switch a head off, or on again. @param {number} head  among all */
  async toggle(head) {
    const { holding } = this, off = !this.isOff(head);
    if (holding.isHeld || holding.isAhead) return;
    await holding.prepare();
    this.pending.set(head, off);
    const run = off ? holding.run : null; // what it was is not known here
    holding.isForgotten ||= !off;
    if (run) holding.show(this.changes(head));
    if (run) holding.keep({ head, off });
    else holding.send({ head, off });
    holding.heatmap.pictures.forEach((picture) => picture.drawHighlight());
  }

  /** @param {number} head @returns {Change[]} */
  changes(head) {
    const step = this.holding.run?.stepOf(OUTPUT, this.holding.layer);
    if (!step) return [];
    const size = step.shape[1] * step.shape[2];
    return Array.from({ length: size }, (_, at) => ({ step: step.name, at: head * size + at, value: 0 }));
  }

  /** A button in the name of each head. @param {Picture} picture @param {HTMLElement} name @param {number} head  among all */
  offer(picture, name, head) {
    if (!this.switches(picture)) return;
    const button = name.appendChild(document.createElement("button"));
    Object.assign(button, { type: "button", className: "attn-switch", textContent: "×", tabIndex: -1 }); // by keys: X
    button.dataset.switch = String(head);
    button.addEventListener("pointerdown", (event) => event.stopPropagation());
    button.addEventListener("click", (event) => (event.stopPropagation(), this.toggle(head)));
  }

  /** Cross out what is switched off, and say so at the button. @param {Picture} picture */
  draw(picture) {
    if (!this.switches(picture)) return;
    const { words } = this.holding.heatmap.data, first = picture.stage.only ?? 0;
    picture.meta.widths.forEach((width, at) => {
      const off = this.isOff(first + at), [x, y, w, h] = picture.cells(at, 0, 0, picture.rows, width);
      if (off) svg(picture.light, "path", { d: `M${x},${y}l${w},${h}m0,${-h}l${-w},${h}`, class: "attn-off", fill: "none" });
      const button = picture.maps.querySelector(`[data-switch="${first + at}"]`);
      if (button instanceof HTMLElement) button.style.setProperty("--left", `${picture.named[at] - 2}px`);
      button?.setAttribute("aria-pressed", String(off));
      button?.setAttribute("title", off ? words.head_on : words.head_off);
      button?.setAttribute("aria-label", picture.meta.heads[at] + signOf(": ") + (off ? words.head_on : words.head_off));
    });
  }
}
