// A field over the maps, into which a number is typed.

/** @import { Heatmap } from "../heatmap.js" */

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

  /** @param {[x: number, y: number]} point  of the maps @param {HTMLElement} back  what has the focus after that @param {string} text @param {Typing} typing */
  open([x, y], back, text, typing) {
    const input = (this.input = document.createElement("input"));
    Object.assign(input, { className: "attn-field", value: text, inputMode: "decimal", autocomplete: "off" });
    input.setAttribute("aria-label", typing.label);
    Object.assign(input.style, { left: `${x}px`, top: `${y}px` });
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
      if (!by) back.focus({ preventScroll: true });
    });
    this.heatmap.frame.append(input);
    input.focus({ preventScroll: true });
    if (text === typing.written()) input.select(); // it is as it was, and what is typed takes its place
    read();
  }

  close() {
    const { input } = this;
    this.input = null;
    input?.remove();
  }
}
