// An answer that comes from the foot of the window stands over the maps, which stay as they are. Where it would hide the
// row that it explains, the page is scrolled until that stands over it; once the answer is closed, it goes back.

const RINGS = ".st-key-stage .attn-ring"; // around what is chosen, in each of the maps that have it
const TOP = 48; // pixels of the window over which the places stand
const MARGIN = 56; // pixels between the row and the answer: the words below the last row

/** The top and the bottom of each box of a path, which may go round a row in every head. @param {Element} path */
function boxesOf(path) {
  const origin = path.closest("svg")?.getBoundingClientRect().top ?? 0;
  return [...(path.getAttribute("d") ?? "").matchAll(/M[-\d.]+,([-\d.]+)h[-\d.]+v([-\d.]+)/g)].map(([, y, height]) => ({ top: origin + Number(y), bottom: origin + Number(y) + Number(height) }));
}

export class InSight {
  isOpen = false;
  before = 0; // where the page stood without an answer
  base = 0; // where it stood as this answer came
  to = 0; // where it was scrolled to

  /** @param {HTMLElement} box  of the answer */
  constructor(box) {
    this.box = box;
  }

  get page() {
    return this.box.closest("[data-testid=stMain]");
  }

  /** Nobody has scrolled the page since. */
  get isUntouched() {
    return Math.abs((this.page?.scrollTop ?? 0) - this.to) < 2;
  }

  /** An answer has come, or another one. */
  keep() {
    const { page } = this;
    if (!page) return;
    this.base = this.to = page.scrollTop;
    if (!this.isOpen) this.before = this.base;
    this.isOpen = true;
    this.look();
  }

  /** The maps have been drawn, maybe in other places: scroll no further than this answer needs. */
  look() {
    const { page, box, base } = this;
    if (!this.isOpen || !page || !this.isUntouched) return;
    const from = base - page.scrollTop; // the places of the rings were the page not scrolled yet
    const rings = [...document.querySelectorAll(RINGS)].flatMap(boxesOf);
    const foot = window.innerHeight - box.offsetHeight - MARGIN; // of the room over the answer, once that has come up
    const ways = rings.map(({ top, bottom }) => Math.max(bottom - from - foot, 0) || Math.min(top - from - TOP, 0));
    const [by = 0] = ways.sort((one, other) => Math.abs(one) - Math.abs(other));
    if (rings.length && base + by !== page.scrollTop) page.scrollTop = base + by;
    this.to = page.scrollTop;
  }

  /** The answer was closed: back, unless somebody has scrolled the page since. */
  leave() {
    const { page } = this;
    if (page && this.isOpen && this.isUntouched) page.scrollTop = this.before;
    this.isOpen = false;
  }
}
