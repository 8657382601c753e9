// The number of a cell under the hand: dragged up and down, or typed where it stands.

/** @import { Cell, Stage } from "./types" */
/** @import { Picture } from "./picture.js" */
import { make } from "./canvas.js";
import { canHold, DIGITS, FINER } from "./knobs.js";
import { canMove, isHeld, moveNumber, settle } from "./moved.js";
import { isPainted } from "./paint.js";
import { at, element, view } from "./run.js";

const HELD_FROM = 12; // pixels from which a pressed cell is held: more than a click slips
const PULL = 150; // pixels over which a held number goes through the whole scale of its picture
const FIGURE = /^[\d.,−-]$/;

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
    box.style.cursor = isPainted(stage) ? "cell" : cell && canHold(stage, cell) ? "ns-resize" : "";
  });
  box.addEventListener("pointerdown", (down) => {
    const cell = locate(down);
    if (!cell || down.button !== 0 || down.pointerType === "touch" || isPainted(stage) || !canHold(stage, cell)) return;
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
        view.held = { stage, cell };
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
      view.held = null;
      box.removeEventListener("pointermove", drag);
      document.removeEventListener("keydown", takeBack, true);
    };
    box.addEventListener("pointermove", drag);
    document.addEventListener("keydown", takeBack, true);
    box.addEventListener("pointerup", leave, { once: true });
    box.addEventListener("pointercancel", leave, { once: true });
  });
}

/**
 * Let a figure that is pressed in a picture open a field for the number of the cell that is chosen; Enter keeps it, Escape
 * does not.
 *
 * @param {Picture} picture
 * @param {() => void} moved
 */
export function offerTyping(picture, moved) {
  const { box, stage } = picture;
  if (!canMove) return;
  box.addEventListener("keydown", (event) => {
    const chosen = view.chosen?.stage === stage ? view.chosen.cell : null;
    if (!chosen || !FIGURE.test(event.key) || event.ctrlKey || event.metaKey || event.altKey || !canHold(stage, chosen)) return;
    event.preventDefault();
    typeInto(picture, chosen, event.key, moved);
  });
}

/** @param {Picture} picture @param {Cell} cell @param {string} text @param {() => void} moved */
function typeInto(picture, cell, text, moved) {
  const { box, stage: { name } } = picture, [first, wasHeld] = [at(name, ...cell), isHeld(name, cell)], outer = box.getBoundingClientRect();
  const field = make("input", box, undefined, "typed"), [right, foot] = picture.foot(cell);
  field.inputMode = "decimal";
  field.setAttribute("aria-label", element("held").textContent.trim());
  field.style.left = `${Math.max(0, Math.min(right - outer.left + 4, box.clientWidth - field.offsetWidth))}px`;
  field.style.top = `${foot - outer.top - picture.cell}px`;
  const type = () => {
    const typed = field.value.trim().replace(",", ".").replace("−", "-"), value = Number(typed);
    if (typed && Number.isFinite(value)) moveNumber(name, cell, value);
    moved();
  };
  let isOpen = true;
  /** @param {boolean} isKept */
  const close = (isKept) => {
    if (!isOpen) return;
    isOpen = false;
    if (!isKept) moveNumber(name, cell, wasHeld ? first : null);
    settle();
    field.remove();
    moved();
  };
  for (const kind of ["pointerdown", "click"]) field.addEventListener(kind, (event) => event.stopPropagation());
  field.addEventListener("input", type);
  field.addEventListener("blur", () => close(true));
  field.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key !== "Enter" && event.key !== "Escape") return;
    close(event.key === "Enter");
    box.focus();
  });
  field.value = text;
  field.focus();
  type();
}
