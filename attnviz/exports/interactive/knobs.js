// Sliders for the numbers of the setting, and the number of a cell under the hand.

/** @import { Knob } from "../../live/types" */
/** @import { Picture } from "./picture.js" */
/** @import { Cell, Marked, Stage } from "./types" */
import { make } from "./canvas.js";
import { exact } from "./formats.js";
import { allow, canMove, hasMask, hasOutput, isHeld, isOff, moveBack, moveNumber, moveSetting, savedNumber, switchHead } from "./moved.js";
import { at, data, element, step, view, words } from "./run.js";

const STOPS = 400; // of a slider
const DIGITS = 3; // of what a slider gives
const HELD_FROM = 4; // pixels from which a pressed cell is held
const NUDGE = 0.02; // of that scale, by an arrow
const FINER = 0.1; // with Shift
const PULL = 150; // pixels over which a held number goes through the whole scale of its picture

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
  const parent = element("knobs", HTMLElement);
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
    slider.addEventListener("input", () => {
      const value = numberAt(knob, Number(slider.value));
      field.value = String(value);
      slider.setAttribute("aria-valuetext", exact(value));
      moveSetting(knob.name, value);
      moved();
    });
    field.addEventListener("change", () => {
      const typed = field.valueAsNumber;
      const value = Number.isFinite(typed) ? Math.min(Math.max(knob.whole ? Math.round(typed) : typed, knob.least), knob.most) : knob.value;
      show(value);
      moveSetting(knob.name, value);
      moved();
    });
    label.addEventListener("keydown", ({ key }) => {
      if (key !== "Escape") return;
      show(knob.value);
      moveSetting(knob.name, knob.value);
      moved();
    });
    show(knob.value);
    back.push(() => show(knob.value));
  }
  const button = make("button", parent, words.back);
  button.type = "button";
  button.id = "back";
  button.addEventListener("click", () => {
    moveBack();
    for (const each of back) each();
    moved();
    (parent.querySelector("input") ?? element("number", HTMLInputElement)).focus(); // the button is gone
  });
  parent.hidden = false;
}

/** Say nothing of the run as it was saved while its numbers are others. What stands above the pictures keeps its place. */
export function showWhatHolds() {
  element("linked", HTMLElement).hidden = view.moved || !data.link;
  element("overview", HTMLElement).style.visibility = view.moved ? "hidden" : "";
  if (canMove) element("back", HTMLElement).style.visibility = view.moved ? "" : "hidden";
}

/** @param {Stage} stage @param {Cell} cell @returns {boolean} whether a number can be held: it is there, and not masked */
const canHold = (stage, [h, i, j]) => canMove && Boolean(step(stage.name)) && !(stage.masked && step("masked") && at("masked", h, i, j) === -Infinity);

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
  const [h, i, j] = cell, open = canHold(stage, cell), masked = step("masked") && stage.worded && at("masked", h, i, j) === -Infinity;
  element("held", HTMLElement).hidden = !open;
  if (open && document.activeElement !== field) field.value = String(at(stage.name, ...cell));
  button.hidden = !stage.worded || !hasMask();
  button.textContent = masked ? words.allow : words.forbid;
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
  element("hint", HTMLElement).append(` ${words.number_hint}`);
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
    const [h, i, j] = view.chosen.cell;
    allow(view.chosen.cell, at("masked", h, i, j) === -Infinity);
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

/**
 * Let a cell of a picture be dragged up and down; Escape takes the number back.
 *
 * @param {HTMLElement} box
 * @param {Stage} stage
 * @param {(event: MouseEvent) => Cell | null} locate
 * @param {(cell: Cell) => void} choose
 * @param {() => void} moved
 */
export function makeHoldable(box, stage, locate, choose, moved) {
  if (!canMove) return;
  box.addEventListener("pointermove", (event) => {
    const cell = locate(event);
    box.style.cursor = cell && canHold(stage, cell) ? "ns-resize" : "";
  });
  box.addEventListener("pointerdown", (down) => {
    const cell = locate(down);
    if (!cell || down.button !== 0 || down.pointerType === "touch" || !canHold(stage, cell)) return;
    const [first, wasHeld] = [at(stage.name, ...cell), isHeld(stage.name, cell)], unit = (stage.scale.high - stage.scale.low) / PULL;
    let held = false;
    /** @param {PointerEvent} event */
    const drag = (event) => {
      const up = down.clientY - event.clientY;
      if (!held && Math.abs(up) < HELD_FROM) return;
      if (!held) {
        held = true;
        box.setPointerCapture(down.pointerId);
        box.addEventListener("click", (click) => click.stopImmediatePropagation(), { capture: true, once: true }); // of letting go
        choose(cell);
      }
      moveNumber(stage.name, cell, Number((first + up * unit * (event.shiftKey ? FINER : 1)).toPrecision(DIGITS)));
      moved();
    };
    /** @param {KeyboardEvent} event */
    const takeBack = (event) => {
      if (event.key !== "Escape" || !held) return;
      event.preventDefault();
      moveNumber(stage.name, cell, wasHeld ? first : null);
      moved();
      leave();
    };
    const leave = () => {
      box.removeEventListener("pointermove", drag);
      document.removeEventListener("keydown", takeBack, true);
    };
    box.addEventListener("pointermove", drag);
    document.addEventListener("keydown", takeBack, true);
    box.addEventListener("pointerup", leave, { once: true });
    box.addEventListener("pointercancel", leave, { once: true });
  });
}
