// Where all lines of the arithmetic are read: in a pane over the foot of the maps, which stay where they are; in a narrow
// window below them.

import { SHEET } from "./rail.js";

const [LINES, SWITCH, PANE] = [".st-key-all-lines", ".st-key-all_lines label", "attn-lines"];
const [AGAIN, ONCE_THERE, TIMES] = [50, 150, 20]; // milliseconds between looks for them, and how many there are

/** Whether the pane is open. */
export const isInPane = () => document.documentElement.classList.contains(PANE) && !SHEET.matches;

/** @param {boolean} isOpen */
export function setPane(isOpen) {
  document.documentElement.classList.toggle(PANE, isOpen);
  document.querySelector(".ad-all")?.setAttribute("aria-expanded", String(isInPane()));
}

/** Close the pane where the lines are switched off in it, and with the answer to which they belong. @param {AbortSignal} signal */
export function followSwitch(signal) {
  signal.addEventListener("abort", () => setPane(false));
  const isSwitch = (/** @type {EventTarget | null} */ target) => target instanceof Element && target.closest(SWITCH) && !target.closest("button"); // which explains it
  window.addEventListener("click", ({ target }) => isSwitch(target) && isInPane() && requestAnimationFrame(putAway), { signal, capture: true });
}

/** Close the pane; what has the focus in it would be scrolled to. */
function putAway() {
  const button = document.querySelector(".ad-all");
  if (button instanceof HTMLElement) button.focus({ preventScroll: true });
  setPane(false);
}

/** Scroll to the lines, which may be on their way. */
export function scrollToLines() {
  let tries = 0;
  const look = () => {
    const lines = document.querySelector(LINES);
    if (lines) lines.scrollIntoView({ block: "start", behavior: "instant" });
    if (tries++ < TIMES) setTimeout(look, lines ? ONCE_THERE : AGAIN);
  };
  look();
}
