// What follows from what a hand holds in the maps, for the other views of the page.

/** @import { HeldNumbers } from "../types" */

const HELD_NUMBERS = "attnviz:held"; // detail: the numbers, null without; whether the server has confirmed them

/**
 * Follow what is held.
 *
 * @param {(held: HeldNumbers | null, isConfirmed: boolean) => void} follow  with null where all is as the server has sent it
 * @param {AbortSignal} signal
 */
export function followHeld(follow, signal) {
  window.addEventListener(HELD_NUMBERS, (event) => event instanceof CustomEvent && follow(event.detail?.numbers ?? null, event.detail?.isConfirmed === true), { signal });
}

/** @param {HeldNumbers | null} numbers @param {boolean} [isConfirmed]  by the server, whose numbers have come */
export function announceHeld(numbers, isConfirmed = false) {
  window.dispatchEvent(new CustomEvent(HELD_NUMBERS, { detail: { numbers, isConfirmed } }));
}
