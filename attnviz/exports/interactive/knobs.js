// Sliders for the numbers of the setting, the formulas in which they stand, and the number of the cell that is chosen.

/** @import { Knob } from "../../live/types" */
/** @import { Picture } from "./picture.js" */
/** @import { Cell, Marked, Stage } from "./types" */
import { weightsFormula } from "../../pictures/weights_formula.js";
import { make } from "./canvas.js";
import { exact } from "./formats.js";
import { allow, canMove, canUndo, hasMask, hasOutput, isHeld, isMasked, isOff, mayAttend, moveBack, moveNumber, moveSetting, numberNow, savedNumber, settle, switchHead, undo } from "./moved.js";
import { at, data, element, step, view, words } from "./run.js";

const OF_SCORES = "score_formula"; // the line that stands over the scores, where it was typed
const STOPS = 400; // of a slider
export const DIGITS = 3; // of what a slider gives
const NUDGE = 0.02; // of that scale, by an arrow
export const FINER = 0.1; // with Shift

/** @param {Knob} knob @param {number} stop @returns {number} what a stop of the slider stands for */
function numberAt({ low, high, value, whole }, stop) {
  if (whole) return stop;
  if (stop === halfway(value, low, high)) return value;
  const share = stop / STOPS;
  return Number((low > 0 ? low * (high / low) ** share : low + (high - low) * share).toPrecision(DIGITS));
}

/** @param {number} x @param {number} low @param {number} high @returns {number} the stop that is nearest to a number */
const halfway = (x, low, high) => Math.round(STOPS * (low > 0 ? Math.log(Math.max(x, low) / low) / Math.log(high / low) : (x - low) / (high - low)));

/** @param {Knob} knob @param {number} x */
const stopOf = ({ low, high, whole }, x) => (whole ? x : halfway(x, low, high));

/**
 * Set a slider and a field for each number that may be moved.
 *
 * @param {() => void} moved  draws the numbers anew
 */
export function offerKnobs(moved) {
  if (!data.live) return;
  const parent = element("knobs");
  /** @type {(() => void)[]} */
  const back = [];
  for (const knob of data.live.knobs) {
    const label = make("label", parent, knob.label);
    const [slider, field] = [make("input", label), make("input", label)];
    [slider.type, slider.min, slider.max, slider.step] = ["range", String(knob.whole ? knob.low : 0), String(knob.whole ? knob.high : STOPS), "1"];
    [field.type, field.min, field.max, field.step] = ["number", String(knob.least), String(knob.most), knob.whole ? "1" : "any"];
    field.setAttribute("aria-label", knob.label);
    slider.dataset.knob = field.dataset.knob = knob.name;
    /** @param {number} value */
    const show = (value) => {
      slider.value = String(stopOf(knob, value));
      slider.setAttribute("aria-valuetext", exact(value));
      field.value = String(value);
    };
    /** @param {number} value */
    const set = (value) => {
      show(value);
      moveSetting(knob.name, value);
      moved();
    };
    slider.addEventListener("input", () => {
      const value = numberAt(knob, Number(slider.value));
      field.value = String(value);
      slider.setAttribute("aria-valuetext", exact(value));
      moveSetting(knob.name, value);
      moved();
    });
    field.addEventListener("change", () => {
      const typed = field.valueAsNumber;
      set(Number.isFinite(typed) ? Math.min(Math.max(knob.whole ? Math.round(typed) : typed, knob.least), knob.most) : knob.value);
    });
    label.addEventListener("keydown", ({ key }) => key === "Escape" && set(knob.value));
    show(knob.value);
    back.push(() => show(numberNow(knob)));
  }
  /** @param {string} id @param {string} text @param {() => void} change */
  const offer = (id, text, change) => {
    const button = make("button", element("moves"), text), after = () => {
      change();
      for (const each of back) each();
      moved();
      if (view.chosen) showHeld(view.chosen);
    };
    [button.type, button.id] = ["button", id];
    button.addEventListener("click", () => {
      after();
      (parent.querySelector("input") ?? element("number", HTMLInputElement)).focus(); // the button may be gone
    });
    return { button, after };
  };
  const taken = offer("undo", words.undo, undo);
  taken.button.title = "Ctrl+Z";
  offer("back", words.back, moveBack);
  document.addEventListener("keydown", (event) => {
    const isOurs = !(event.target instanceof Element && event.target.matches("#head, #query, #key, .typed"));
    if (event.key.toLowerCase() !== "z" || !(event.ctrlKey || event.metaKey) || event.shiftKey || !isOurs || !canUndo()) return;
    event.preventDefault();
    taken.after();
  });
  for (const kind of ["pointerup", "pointercancel", "change"]) document.addEventListener(kind, settle);
  document.addEventListener("focusout", ({ target }) => target instanceof HTMLInputElement && settle());
  parent.hidden = element("moves").hidden = false;
}

/** Say what is said of the run as it was saved to be so while its numbers are others. What stands above the pictures keeps its place. */
export function showWhatHolds() {
  element("linked").hidden = view.moved || !data.link;
  element("overview").classList.toggle("past", view.moved);
  const note = element("as-saved");
  [note.textContent, note.style.visibility] = [canMove ? words.as_saved : "", view.moved ? "" : "hidden"];
  if (!canMove) return;
  element("back").style.visibility = view.moved ? "" : "hidden";
  element("undo").style.visibility = canUndo() ? "" : "hidden";
}

/** @param {Stage} stage @param {Cell} cell @returns {boolean} whether a number can be held: it is there, and not masked */
export const canHold = (stage, cell) => canMove && Boolean(step(stage.name)) && !isMasked(stage, cell);

/** @param {Marked} marked @returns {string} what a number was before it was changed, or nothing */
export function before({ stage, cell }) {
  if (!canMove || !isHeld(stage.name, cell)) return "";
  return ` (${words.was.replace("{number}", exact(savedNumber(stage.name, cell)))})`;
}

/**
 * Fill the field and the button of the cell that is chosen.
 *
 * @param {Marked} marked
 */
export function showHeld({ stage, cell }) {
  if (!canMove) return;
  const [field, button] = [element("number", HTMLInputElement), element("allowed", HTMLButtonElement)];
  const [h, i, j] = cell, open = canHold(stage, cell);
  element("held").hidden = !open;
  if (open && document.activeElement !== field) field.value = String(at(stage.name, ...cell));
  button.hidden = !stage.worded || !hasMask();
  button.textContent = stage.worded && hasMask() && !mayAttend(i, j) ? words.allow : words.forbid;
  const off = element("off", HTMLButtonElement);
  off.hidden = !hasOutput();
  off.setAttribute("aria-pressed", String(isOff(h)));
  off.textContent = isOff(h) ? words.head_on : words.head_off;
}

/**
 * Listen to what is typed for the cell that is chosen, and to its button.
 *
 * @param {() => void} moved
 */
export function offerNumber(moved) {
  if (!canMove) return;
  const field = element("number", HTMLInputElement);
  element("hint").append(` ${words.number_hint}`);
  field.addEventListener("input", () => {
    if (!view.chosen || !Number.isFinite(field.valueAsNumber)) return;
    moveNumber(view.chosen.stage.name, view.chosen.cell, field.valueAsNumber);
    moved();
  });
  field.addEventListener("change", (event) => event.stopPropagation());
  field.addEventListener("keydown", (event) => {
    const by = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (by && view.chosen) {
      event.preventDefault();
      const { low, high } = view.chosen.stage.scale, more = by * (event.shiftKey ? FINER : 1) * NUDGE * (high - low);
      field.value = String(Number((field.valueAsNumber + more).toPrecision(2 * DIGITS)));
      field.dispatchEvent(new Event("input"));
    }
    if (event.key !== "Escape" || !view.chosen) return;
    moveNumber(view.chosen.stage.name, view.chosen.cell, null);
    field.value = String(at(view.chosen.stage.name, ...view.chosen.cell));
    moved();
  });
  element("allowed", HTMLButtonElement).addEventListener("click", () => {
    if (!view.chosen) return;
    const [, i, j] = view.chosen.cell;
    allow([[i, j]], !mayAttend(i, j));
    settle();
    moved();
  });
  element("off", HTMLButtonElement).addEventListener("click", () => {
    if (!view.chosen) return;
    switchHead(view.chosen.cell[0]);
    moved();
  });
}

/**
 * Let a head be switched off by its name, or by a key where one of its cells is chosen.
 *
 * @param {Picture} picture
 * @param {() => void} moved
 */
export function offerSwitch(picture, moved) {
  const { box } = picture;
  if (!picture.switches) return;
  /** @param {number} head */
  const toggle = (head) => {
    switchHead(head);
    moved();
  };
  box.addEventListener("pointermove", (event) => {
    const head = picture.headAt(event);
    box.title = head < 0 ? "" : isOff(head) ? words.head_on : words.head_off;
    if (head >= 0) box.style.cursor = "pointer";
  });
  box.addEventListener("click", (event) => picture.headAt(event) >= 0 && toggle(picture.headAt(event)));
  box.addEventListener("keydown", ({ key }) => key.toLowerCase() === "x" && view.chosen && toggle(view.chosen.cell[0]));
}

/** A line with its numbers. @param {Knob[]} knobs @param {(knob: Knob) => string} number */
const lineOf = (knobs, number) => knobs.map((knob) => `${knob.before ?? ""}${number(knob)}${knob.after ?? ""}`).join("");

/** A number as it stands in its line: as it was typed, until it is another. @param {Knob} knob */
const textNow = (knob) => (numberNow(knob) === knob.value ? (knob.text ?? String(knob.value)) : String(numberNow(knob)));

/** The formula over a picture, with the numbers of the setting as they are now. @param {Stage} stage @returns {string} */
export function headingNow({ name, formula }) {
  const { live } = data;
  if (!live) return formula;
  if (name === "scores") {
    const knobs = live.knobs.filter(({ line }) => line === OF_SCORES);
    return knobs.length ? formula.replace(lineOf(knobs, (knob) => knob.text ?? String(knob.value)), () => lineOf(knobs, textNow)) : formula;
  }
  if (name !== "weights") return formula;
  const moved = live.knobs.filter((knob) => knob.name in live.formula && numberNow(knob) !== knob.value);
  const now = { ...live.formula, ...Object.fromEntries(moved.map((knob) => [knob.name, numberNow(knob)])) };
  return moved.length ? formula.replace(weightsFormula(live.formula), () => weightsFormula(now)) : formula;
}
