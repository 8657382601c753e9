// The choice of a head, or of the average of all.

/** @import { LinesData } from "./types" */
import { make, rove, within } from "./words.js";

/** @type {Partial<Record<string, number>>} */
const STEPS = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 };

export class HeadChoice {
  /** @type {HTMLButtonElement[]} */
  choices = []; // the last one is the average

  /** @param {Node} parent @param {(choice: number) => void} onChoose  called with the index of the choice */
  constructor(parent, onChoose) {
    this.onChoose = onChoose;
    this.box = make(parent, "div", "aw-heads");
    this.box.setAttribute("role", "radiogroup");
    this.box.addEventListener("click", (event) => this.onChoose(within(this.choices, event)));
    this.box.addEventListener("keydown", (event) => this.onKeydown(event));
  }

  /** @param {LinesData} data */
  update({ n_heads, head, words }) {
    this.box.style.display = n_heads < 2 ? "none" : "";
    if (this.choices.length !== n_heads + 1) {
      this.box.replaceChildren();
      make(this.box, "span", "", words.head);
      const names = [...Array(n_heads).keys()].map((h) => String(h + 1)).concat(words.mean);
      this.choices = names.map((name) => make(this.box, "button", "", name));
      this.choices.forEach((choice, h) => {
        choice.setAttribute("role", "radio");
        if (h < n_heads) choice.setAttribute("aria-label", `${words.head} ${h + 1}`);
      });
      this.choices[n_heads].dataset.average = "";
      this.box.setAttribute("aria-label", words.head);
    }
    this.choices.forEach((choice, h) => choice.setAttribute("aria-checked", String(h === (head ?? n_heads))));
    rove(this.choices, head ?? n_heads);
  }

  /** @param {KeyboardEvent} event */
  onKeydown(event) {
    const step = STEPS[event.key];
    if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const to = (within(this.choices, event) + step + this.choices.length) % this.choices.length;
    rove(this.choices, to);
    this.choices[to].focus();
    this.onChoose(to);
  }
}
