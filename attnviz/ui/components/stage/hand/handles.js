// The handles of numbers as they stand in headings: in typed lines, and over the map of the weights. Those that have no
// room there are in lines below, which a button opens, or whoever comes to one of them with the keyboard.

/** @import { Picture } from "../picture/picture.js" */
/** @import { LiveKnob } from "../types" */
import { letterCount } from "../heading.js";
import { signOf } from "../../signs.js";

const [A_LETTER, AROUND] = [7.5, 24]; // pixels of a letter of a handle for a finger, and of what stands around its letters
const [OF_WHOLE, OF_OTHERS] = [3, 6]; // letters that a number may come to have
const TYPED_SCORE = "score_formula";

/** Where a handle stands: in a line, or over the weights. @param {LiveKnob} knob */
const slotOf = ({ line }) => line ?? "";

export class Handles {
  drawn = "";
  /** @type {Map<string, HTMLElement>} */
  of = new Map(); // by the names of their numbers
  /** @type {Map<string, HTMLElement>} */
  boxes = new Map(); // by their places
  observer = new ResizeObserver((entries) => this.measured(entries));

  /** How many lines they take in a narrow window, whatever their numbers become. @param {LiveKnob[]} knobs @param {number} width @param {string} button  the text of one behind them, if any */
  lineCount(knobs, width, button) {
    let [lines, left] = [0, 0];
    const letters = knobs.filter((knob) => !slotOf(knob)).map(({ sign, whole }) => sign.replace("_", "").length + (whole ? OF_WHOLE : OF_OTHERS));
    for (const each of button ? [...letters, letterCount(button)] : letters) {
      const wide = A_LETTER * each + AROUND;
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

  /** Set them into the heading of a picture. @param {Picture} picture */
  settle(picture) {
    const slots = /** @type {NodeListOf<HTMLElement>} */ (picture.head.querySelectorAll(".attn-handles, .attn-typed"));
    for (const slot of slots) {
      const box = this.boxes.get(slot.dataset.line ?? "");
      if (box && box.parentNode !== slot) slot.append(box);
    }
    this.mark(picture.head.firstElementChild);
  }

  /** Write into classes whether lines are open in a heading: a rule for what has them in it would cost a look through the whole page at every change. @param {Element | null} head */
  mark(head) {
    const isOpen = head?.querySelector(".attn-knobs[data-open]");
    for (const around of [head, head?.closest(".attn-stage")]) around?.classList.toggle("attn-unfolded", Boolean(isOpen));
  }

  /** Open the lines below where a handle is in them. @param {HTMLElement} handle */
  reveal(handle) {
    const box = handle.closest(".attn-knobs");
    if (box instanceof HTMLElement && !box.closest(".attn-one") && handle.offsetTop >= box.offsetTop + handle.offsetHeight) this.open(box, true);
  }

  /** @param {HTMLElement} box @param {boolean} isOpen */
  open(box, isOpen) {
    box.toggleAttribute("data-open", isOpen);
    box.querySelector(".attn-others")?.setAttribute("aria-expanded", String(isOpen));
    this.mark(box.closest(".attn-head"));
  }

  /** The button that opens the lines below, where there are any. @param {HTMLElement} box @param {string} label */
  offerOthers(box, label) {
    const button = Object.assign(document.createElement("button"), { type: "button", className: "attn-others", textContent: "…", title: label });
    button.setAttribute("aria-label", label);
    button.addEventListener("click", () => this.open(box, !box.hasAttribute("data-open")));
    box.addEventListener("focusin", ({ target }) => target instanceof HTMLElement && target !== button && this.reveal(target));
    box.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || event.defaultPrevented || !box.hasAttribute("data-open")) return;
      event.preventDefault();
      this.open(box, false);
      button.focus({ preventScroll: true });
    });
    this.observer.disconnect();
    this.observer.observe(box);
    this.open(box, false);
    return button;
  }

  /** Whatever is pressed or has the focus elsewhere closes the lines below. @param {Event} event */
  leave({ target }) {
    for (const box of this.boxes.values()) if (box.hasAttribute("data-open") && target instanceof Element && !box.contains(target) && !target.closest(".attn-field")) this.open(box, false);
  }

  /** Tell whether all of them have room. @param {ResizeObserverEntry[]} entries */
  measured(entries) {
    for (const { target: box } of entries) {
      const first = box.querySelector(".attn-knob");
      if (first instanceof HTMLElement && !box.hasAttribute("data-open")) box.toggleAttribute("data-more", box.clientHeight > first.offsetHeight * 1.5);
    }
  }

  /**
   * Make them, where they are others than before.
   *
   * @param {LiveKnob[]} knobs
   * @param {{ knob: string, others: string }} words
   * @param {(box: HTMLElement) => void} listen  to what is done at those in a box
   */
  make(knobs, { knob: hint, others }, listen) {
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
    const over = this.boxes.get("");
    over?.append(this.offerOthers(over, others));
  }
}

/** What stands around the handles of a place. @param {LiveKnob} knob  the first of them */
function boxAround({ line, sign }) {
  const box = document.createElement("span");
  if (!line) box.className = "attn-knobs";
  if (line && line !== TYPED_SCORE) box.append(`${sign} `);
  return box;
}

/** @param {LiveKnob} knob @param {string} hint */
function handleOf(knob, hint) {
  const { name, label, least, most } = knob, handle = document.createElement("button"), [sign, index] = knob.sign.split("_");
  Object.assign(handle, { type: "button", className: "attn-knob", title: label + signOf(": ") + hint });
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
