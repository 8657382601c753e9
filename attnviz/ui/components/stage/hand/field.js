// A field over a cell, into which its number is typed.

/** @import { Heatmap } from "../heatmap.js" */
/** @import { Picture } from "../picture/picture.js" */
/** @import { Cell } from "../types" */

/**
 * What becomes of what is typed.
 *
 * @typedef {object} Typing
 * @property {(value: number) => void} typed
 * @property {(by: number, isFine: boolean) => void} nudged
 * @property {() => void} kept
 * @property {() => void} left
 * @property {() => string} written  the number as it is now
 * @property {string} label
 */

export class Field {
  /** @type {HTMLInputElement | null} */
  input = null;

  /** @param {Heatmap} heatmap */
  constructor(heatmap) {
    this.heatmap = heatmap;
  }

  get isOpen() {
    return this.input !== null;
  }

  /** @param {Picture} picture @param {Cell} cell @param {string} text @param {Typing} typing */
  open(picture, cell, text, typing) {
    const input = (this.input = document.createElement("input"));
    const [outer, inner] = [this.heatmap.frame, picture.layer].map((element) => element.getBoundingClientRect());
    const [x, y, w, h] = picture.cells(cell.head, cell.row, cell.column);
    Object.assign(input, { className: "attn-field", value: text, inputMode: "decimal", autocomplete: "off" });
    input.setAttribute("aria-label", typing.label);
    Object.assign(input.style, { left: `${inner.left - outer.left + x + w / 2 + 14}px`, top: `${inner.top - outer.top + y + h / 2}px` });
    const read = () => {
      const value = Number(input.value.trim().replace("−", "-").replace(",", "."));
      if (input.value.trim() && Number.isFinite(value)) typing.typed(value);
    };
    input.addEventListener("input", read);
    input.addEventListener("blur", () => this.input === input && typing.kept());
    input.addEventListener("keydown", (event) => {
      event.stopPropagation();
      const by = event.key === "ArrowUp" ? 1 : event.key === "ArrowDown" ? -1 : 0;
      if (by) {
        typing.nudged(by, event.shiftKey);
        input.value = typing.written();
      } else if (event.key === "Enter") typing.kept();
      else if (event.key === "Escape") typing.left();
      else return;
      event.preventDefault();
      if (!by) picture.focus.focus({ preventScroll: true });
    });
    this.heatmap.frame.append(input);
    input.focus({ preventScroll: true });
    read();
  }

  close() {
    const { input } = this;
    this.input = null;
    input?.remove();
  }
}
