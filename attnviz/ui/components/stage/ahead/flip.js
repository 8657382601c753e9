// B in the place of A: where two settings stand side by side, the maps of A show those of B for as long as a key or a
// button is held, so that the eye sees what moves.

/** @import { Heatmap } from "../heatmap.js" */
/** @import { Stage } from "../types" */
import { say } from "../ink.js";
import { isSame } from "../maps.js";

const NOT_TYPED = "input, textarea, [contenteditable]"; // what a key is typed into

export class Flip {
  isFlipped = false;
  isPressed = false; // by the button, and not by a key, with which a cell can be clicked meanwhile

  /** @param {Heatmap} heatmap */
  constructor(heatmap) {
    this.heatmap = heatmap;
    this.box = heatmap.host.appendChild(document.createElement("div"));
    this.box.className = "attn-flip";
    this.box.hidden = true;
    this.said = this.box.appendChild(document.createElement("span"));
    this.button = this.box.appendChild(document.createElement("button"));
    this.button.type = "button";
  }

  /** @param {AbortSignal} signal */
  listen(signal) {
    const { button } = this, isB = (/** @type {KeyboardEvent} */ { key, ctrlKey, metaKey, altKey }) => key.toLowerCase() === "b" && !ctrlKey && !metaKey && !altKey;
    button.addEventListener("pointerdown", () => ((this.isPressed = true), this.flip(true)));
    button.addEventListener("keydown", ({ key }) => (key === " " || key === "Enter") && this.flip(true));
    button.addEventListener("keyup", () => this.flip(false));
    for (const kind of ["pointerup", "pointercancel"]) window.addEventListener(kind, () => this.isPressed && this.flip(false), { signal });
    window.addEventListener("blur", () => this.flip(false), { signal });
    window.addEventListener("keydown", (event) => isB(event) && !isTypedInto(event) && this.flip(true), { signal });
    window.addEventListener("keyup", ({ key }) => key.toLowerCase() === "b" && this.flip(false), { signal });
  }

  /** The stages of A and B, where both are there and of one size. @param {Stage[]} stages */
  pair(stages) {
    const [a, b] = ["a", "b"].map((name) => stages.find((stage) => stage.name === name));
    return a && b && String(a.shape) === String(b.shape) ? { a, b } : null;
  }

  /** The stages as they are to be drawn. @param {Stage[]} stages */
  shown(stages) {
    const pair = this.pair(stages), { words } = this.heatmap.data;
    this.box.hidden = !pair;
    say(this.button, words.flip);
    this.button.title = words.flip_hint;
    const said = pair && isSame(pair.a.values, pair.b.values) ? words.flipped_same : words.flipped;
    say(this.said, this.isFlipped ? said : "");
    this.box.toggleAttribute("data-flipped", this.isFlipped);
    if (!pair || !this.isFlipped) return stages;
    return stages.map((stage) => (stage === pair.a ? { ...pair.b, name: stage.name, leads: stage.leads } : stage));
  }

  /** Whose numbers a map shows. @param {string} name */
  of(name) {
    return this.isFlipped && name === "a" ? "b" : name;
  }

  /** @param {boolean} isFlipped */
  flip(isFlipped) {
    if (isFlipped === this.isFlipped || (isFlipped && !this.pair(this.heatmap.stages))) return;
    this.isFlipped = isFlipped;
    this.isPressed &&= isFlipped;
    this.heatmap.lay(false);
  }
}

/** @param {Event} event */
const isTypedInto = (event) => event.composedPath().some((each) => each instanceof Element && each.matches(NOT_TYPED));
