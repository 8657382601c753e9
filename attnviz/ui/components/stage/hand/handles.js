// The handles of numbers as they stand in headings: over the map of the weights, in typed lines, and in shapes.

/** @import { Picture } from "../picture/picture.js" */
/** @import { LiveKnob } from "../types" */

const [A_LETTER, AROUND] = [7.5, 24]; // pixels of a letter of a handle for a finger, and of what stands around its letters
const [OF_WHOLE, OF_OTHERS] = [3, 6]; // letters that a number may come to have
const TYPED_SCORE = "score_formula";
/** @type {Record<string, string>} */
const SIZES = { n_heads: "scores", d_v: "heads" }; // the stages in whose shapes these stand

/** Where a handle stands: in a line, in a shape, or over the weights. @param {LiveKnob} knob */
const slotOf = ({ name, line }) => line ?? (name in SIZES ? name : "");

export class Handles {
  drawn = "";
  /** @type {Map<string, HTMLElement>} */
  of = new Map(); // by the names of their numbers
  /** @type {Map<string, HTMLElement>} */
  boxes = new Map(); // by their places

  /** How many lines they take in a narrow window, whatever their numbers become. @param {LiveKnob[]} knobs @param {number} width */
  lineCount(knobs, width) {
    let [lines, left] = [0, 0];
    for (const { sign, whole } of knobs.filter((knob) => !slotOf(knob))) {
      const wide = A_LETTER * (sign.length + (whole ? OF_WHOLE : OF_OTHERS)) + AROUND;
      if (wide > left) [lines, left] = [lines + 1, width];
      left -= wide;
    }
    return lines;
  }

  /** The typed lines whose numbers are handles over a map. @param {LiveKnob[]} knobs @param {string} stage  its name */
  linesOf(knobs, stage) {
    const lines = [...new Set(knobs.flatMap(({ line }) => line ?? []))];
    return lines.filter((line) => (line === TYPED_SCORE ? "scores" : "weights") === stage);
  }

  /** The numbers that are handles in the shape of a stage. @param {LiveKnob[]} knobs @param {string} stage  its name */
  sizesOf(knobs, stage) {
    return knobs.flatMap(({ name }) => (SIZES[name] === stage ? [name] : []));
  }

  /** Set them into the heading of a picture. @param {Picture} picture */
  settle(picture) {
    const slots = /** @type {NodeListOf<HTMLElement>} */ (picture.head.querySelectorAll(".attn-handles, .attn-typed, .attn-size"));
    for (const slot of slots) {
      const box = this.boxes.get(slot.dataset.line ?? slot.dataset.size ?? "");
      if (box && slot.firstChild !== box) slot.append(box);
    }
  }

  /**
   * Make them, where they are others than before.
   *
   * @param {LiveKnob[]} knobs
   * @param {string} hint
   * @param {(box: HTMLElement) => void} listen  to what is done at those in a box
   */
  make(knobs, hint, listen) {
    const drawn = JSON.stringify(knobs.map(({ name, label, before, after }) => [name, label, before, after]));
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    this.of = new Map(knobs.map((knob) => [knob.name, handleOf(knob, hint)]));
    for (const old of this.boxes.values()) old.remove();
    this.boxes = new Map();
    for (const knob of knobs) {
      const known = this.boxes.get(slotOf(knob)), box = known ?? boxAround(knob);
      if (!known) listen(box);
      box.append(knob.before ?? "", /** @type {HTMLElement} */ (this.of.get(knob.name)), knob.after ?? "");
      this.boxes.set(slotOf(knob), box);
    }
  }
}

/** What stands around the handles of a place. @param {LiveKnob} knob  the first of them */
function boxAround({ name, line, sign }) {
  const box = document.createElement("span");
  if (!line && !(name in SIZES)) box.className = "attn-knobs";
  if (line && line !== TYPED_SCORE) box.append(`${sign} `);
  return box;
}

/** @param {LiveKnob} knob @param {string} hint */
function handleOf(knob, hint) {
  const { name, label, least, most } = knob, handle = document.createElement("button"), [sign, index] = knob.sign.split("_");
  Object.assign(handle, { type: "button", className: "attn-knob", title: `${label}: ${hint}` });
  handle.dataset.knob = name;
  for (const [key, value] of Object.entries({ role: "slider", "aria-label": label, "aria-valuemin": least, "aria-valuemax": most })) handle.setAttribute(key, String(value));
  if (!slotOf(knob)) {
    handle.append(sign);
    if (index) handle.appendChild(document.createElement("sub")).textContent = index;
    handle.append(" ");
  }
  handle.append(document.createElement("b"));
  return handle;
}
