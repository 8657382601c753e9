// A field over the maps, into which a number is typed.

/** @import { Heatmap } from "../heatmap.js" */

/**
 * What becomes of what is typed.
 *
 * @typedef {object} Typing
 * @property {(value: number | null) => void} typed  null where it is none that can be kept
 * @property {(value: number) => string} fault  why a number cannot be kept, "" if it can
 * @property {(by: number, isFine: boolean) => void} nudged
 * @property {() => void} kept
 * @property {() => void} left
 * @property {() => string} written  the number as it is now
 * @property {string} label
 */

const NUMBER = /^[+-]?(\d+[.]?\d*|[.]\d+)(e[+-]?\d+)?$/i;
const BEGUN = /^[+-]?[.]?$/; // of a number
const [FAULT, FAULT_BELOW, FAULT_WIDE] = ["attn-misread", 18, 190]; // its name, and pixels: from the middle of the field, and how wide it may be

export class Field {
  /** @type {HTMLInputElement | null} */
  input = null;
  isGood = false; // whether what it says can be kept
  fault = Object.assign(document.createElement("div"), { className: FAULT, id: FAULT });

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
    this.fault.setAttribute("role", "alert");
    const { words } = this.heatmap.data, read = () => this.read(input, typing);
    input.addEventListener("input", read);
    input.addEventListener("blur", () => this.input === input && (this.isGood ? typing.kept() : typing.left()));
    input.addEventListener("keydown", (event) => {
      event.stopPropagation();
      const by = event.key === "ArrowUp" ? 1 : event.key === "ArrowDown" ? -1 : 0;
      if (by) {
        typing.nudged(by, event.shiftKey);
        input.value = typing.written();
        read();
      } else if (event.key === "Enter" && !this.isGood) {
        event.preventDefault();
        return this.say(input, this.fault.textContent || words.no_number);
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

  /** What is typed is shown; what is no number, or none that can be kept, is not, and the field says so. @param {HTMLInputElement} input @param {Typing} typing */
  read(input, typing) {
    const text = input.value.trim().replace("−", "-").replace(",", "."), value = NUMBER.test(text) ? Number(text) : NaN;
    const fault = BEGUN.test(text) ? "" : Number.isFinite(value) ? typing.fault(value) : this.heatmap.data.words.no_number;
    this.isGood = Number.isFinite(value) && !fault;
    typing.typed(this.isGood ? value : null);
    this.say(input, fault);
  }

  /** @param {HTMLInputElement} input @param {string} fault */
  say(input, fault) {
    const { fault: box } = this, left = Math.min(parseFloat(input.style.left), this.heatmap.frame.clientWidth - FAULT_WIDE);
    input.setAttribute("aria-invalid", String(Boolean(fault)));
    input.setAttribute("aria-describedby", fault ? FAULT : "");
    box.textContent = fault;
    Object.assign(box.style, { left: `${left}px`, top: `${parseFloat(input.style.top) + FAULT_BELOW}px` });
    if (fault) this.heatmap.frame.append(box);
    else box.remove();
  }

  close() {
    const { input } = this;
    this.fault.remove();
    this.input = null;
    input?.remove();
  }
}
