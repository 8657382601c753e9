// A field on a word of the sentence, in which it is replaced.

import { make } from "../words.js";

const MOST = 100; // characters
const WIDER = 26; // pixels that it has beside the word

export class WordField {
  /** @param {HTMLElement} box  around the sentence @param {HTMLElement} word @param {string} text */
  constructor(box, word, text) {
    const [at, outer] = [word, box].map((element) => element.getBoundingClientRect());
    this.input = make(box, "input", "at-field");
    Object.assign(this.input, { value: text, maxLength: MOST, autocomplete: "off", spellcheck: false, dir: "auto" });
    Object.assign(this.input.style, { left: `${Math.max(0, at.left - outer.left)}px`, top: `${at.top - outer.top}px`, width: `${at.width + WIDER}px` });
  }

  /** @param {{ typed: (text: string) => void, kept: () => void }} typing */
  listen({ typed, kept }) {
    this.input.addEventListener("input", () => typed(this.text));
    this.input.addEventListener("blur", kept);
    this.input.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key === "Enter") kept();
    });
  }

  get text() {
    return this.input.value.trim();
  }

  /** @param {string} label */
  open(label) {
    this.input.setAttribute("aria-label", label);
    this.input.focus({ preventScroll: true });
    this.input.select();
  }

  close() {
    this.input.blur();
    this.input.remove();
  }
}
