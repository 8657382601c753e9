// The room that a window leaves for the maps of a page, in pixels: nothing in it depends on what is chosen.

/** @import { Room, Sharing } from "./types" */
import { NARROWEST_PAGE } from "../../../pictures/layout/placement.js";

const LEAST = 160; // pixels of height
const SCROLLED = 560; // pixels of height for the maps of a page that is scrolled
const FILM = 64; // pixels of the strip of all heads, beside the maps or below them
const OVERVIEW = [184, 124]; // and of the overview of a long text, beside them or over them
const HEADING = [40, 60, 34]; // over each map; in large type, and that in one line
const HANDLES = 32; // of a line of handles in it, where stages come one by one
const STEP = 8; // pixels by which the height changes
const SCROLLBAR = 24; // pixels by which the width may grow without another layout, so that none follows from a scrollbar

/**
 * Share the room out.
 *
 * @param {Sharing} view
 * @param {{ width: number, height: number | null }} measured
 * @param {{ film: boolean, overview: boolean, handles?: number }} has  handles  lines of them
 * @returns {Room}
 */
export function roomFor(view, { width, height: left }, has) {
  const isNarrow = width < NARROWEST_PAGE;
  const fill = view.fill && !(view.beside && isNarrow);
  const { reserved } = view;
  let height = fill || view.fit ? left : null;
  if (height !== null && view.least && (isNarrow || height - reserved < view.least)) height = null;
  if (height !== null) height = Math.max(height - reserved, LEAST);
  const overview = has.overview && width - (has.film ? FILM : 0) - OVERVIEW[0] >= NARROWEST_PAGE ? OVERVIEW[0] : 0;
  const over = has.overview && !overview ? OVERVIEW[1] : 0;
  const film = has.film && width - overview - FILM >= NARROWEST_PAGE ? FILM : 0;
  const below = has.film && !film ? FILM : 0;
  const one = isNarrow && (fill || view.one_by_one);
  const heading = HEADING[view.large ? (view.one_line ? 2 : 1) : 0] + HANDLES * (one ? (has.handles ?? 0) : 0);
  const maps = width - overview - film;
  return { width: maps, height: (height ?? SCROLLED) - heading - over - below, heading, fill, isNarrow, one, overview, over, film, below };
}

/** Measures the room, and tells when it is another. */
export class Space {
  width = 0;
  /** @type {number | null} */
  height = null;
  /** @type {HTMLElement | undefined} */
  host;

  /** @param {() => void} changed */
  constructor(changed) {
    this.observer = new ResizeObserver(changed);
  }

  /** @param {HTMLElement} host  the element of the maps in the page */
  follow(host) {
    if (host === this.host) return;
    this.host = host;
    this.observer.disconnect();
    for (const each of [host, this.block, this.main]) if (each) this.observer.observe(each);
  }

  /** All that is on the page. */
  get block() {
    return this.host?.closest("[data-testid=stMainBlockContainer]") ?? null;
  }

  /** What of it can be seen. */
  get main() {
    return this.host?.closest("[data-testid=stMain]") ?? null;
  }

  close() {
    this.observer.disconnect();
  }

  /** @param {Sharing} view */
  measure(view) {
    if (matchMedia("print").matches) return { width: this.width, height: this.height }; // paper takes the maps as they are
    const width = this.host?.clientWidth ?? 0;
    if (width > 0 && (width < this.width || width >= this.width + SCROLLBAR)) this.width = width;
    const height = this.heightLeft(view);
    if (height !== null && (view.fill || height >= LEAST)) this.height = height; // opened lines below may well be scrolled to
    return { width: this.width, height: this.height };
  }

  /** The height that the window leaves: what it has less all that stands above and below; where the maps are to fill the
   *  window, what is below them is scrolled to. @param {Sharing} view */
  heightLeft({ fit, fill }) {
    const { host, block, main } = this;
    const column = host?.closest(".st-key-column-maps"); // what is beside them takes nothing of their height
    const last = column ?? block?.querySelector("[data-testid=stVerticalBlock]");
    if ((!fit && !fill) || !host || !block || !main || !last) return null;
    const [maps, all] = [host, last].map((element) => element.getBoundingClientRect());
    const above = maps.top - block.getBoundingClientRect().top;
    const below = fill ? 0 : all.bottom - maps.bottom + parseFloat(getComputedStyle(block).paddingBottom);
    return Math.floor((main.clientHeight - above - below) / STEP) * STEP;
  }
}
