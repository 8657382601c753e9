// The space of a window for the maps, reported to the page whenever that would change the pictures.

/** @import { Heatmap } from "./heatmap.js" */

const BESIDE_FROM = 1100; // pixels of a window in which an answer takes no room of the pictures

export class AvailableSpace {
  // what was reported last
  /** @type {number | undefined} */
  width;
  /** @type {number | undefined} */
  height;
  /** @type {boolean | undefined} */
  wide;
  /** @type {HTMLElement | undefined} */
  host;
  /** @type {Element | null | undefined} */
  block; // all that is on the page
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  widthTimer;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  heightTimer;

  /** @param {Heatmap} heatmap */
  constructor(heatmap) {
    this.heatmap = heatmap;
    this.observer = new ResizeObserver(() => this.report());
  }

  /** @param {HTMLElement} host */
  follow(host) {
    this.host = host;
    this.block = host.closest("[data-testid=stMainBlockContainer]");
    this.observer.disconnect();
    this.observer.observe(host);
    if (this.heatmap.data.fit && this.block) this.observer.observe(this.block);
  }

  close() {
    this.observer.disconnect();
    clearTimeout(this.widthTimer);
    clearTimeout(this.heightTimer);
  }

  /** Report the width and the height that is left, after a pause unless for the first time. */
  report() {
    if (matchMedia("print").matches) return; // paper takes the pictures as they are
    this.reportWidth();
    if (this.heatmap.data.fit) this.reportHeight();
  }

  /** Send the page another size, for which it will draw other charts. @param {"room" | "width"} name @param {number} size */
  send(name, size) {
    this.heatmap.afterimage.expect();
    this.heatmap.page.setStateValue(name, size);
    this.remember();
  }

  /** Keep what was reported until the browser is closed: a page that is opened again is laid out for it at once. */
  remember() {
    const { cookie, width, fill, wide } = this.heatmap.data;
    const values = [this.width ?? width, this.height ?? fill, (this.wide ?? wide) ? 1 : 0];
    if (cookie) document.cookie = `${cookie}=${values.join("x")}; path=/; SameSite=Lax`;
  }

  /** The height that the window leaves for the pictures: what it has less all that stands above and below them; where
   *  they are to fill the window, what is below them does not count and is scrolled to. */
  reportHeight() {
    clearTimeout(this.heightTimer);
    const { heatmap, host, block } = this;
    const { data } = heatmap;
    const main = block?.closest("[data-testid=stMain]");
    const last = block?.querySelector("[data-testid=stVerticalBlock]");
    if (!host || !block || !main || !last) return;
    const [maps, all] = [host, last].map((element) => element.getBoundingClientRect());
    const above = maps.top - block.getBoundingClientRect().top;
    const below = data.fill ? 0 : all.bottom - maps.bottom + parseFloat(getComputedStyle(block).paddingBottom);
    const height = Math.floor((main.clientHeight - above - below) / 8) * 8;
    const reported = this.height ?? data.fill;
    if (height === reported || height < data.fit) return; // opened lines below may well be scrolled to
    const send = () => this.send("room", (this.height = height));
    if (this.height === undefined) send();
    else this.heightTimer = setTimeout(send, 200);
  }

  /** Report the width if that would change the picture; never twice, so that it cannot oscillate. */
  reportWidth() {
    clearTimeout(this.widthTimer);
    this.reportWide();
    const { heatmap } = this;
    const { data } = heatmap;
    const width = Math.floor((this.host?.clientWidth ?? 0) / 8) * 8;
    const reported = this.width ?? data.width;
    if (width < 8 || (width <= reported && width > reported - 8) || (width > reported && width < reported + 24)) return;
    const send = () => this.send("width", (this.width = width));
    if (this.width === undefined) send();
    else this.widthTimer = setTimeout(send, 200);
  }

  /** Report whether there is space for an answer where the setting stands. */
  reportWide() {
    const { heatmap } = this;
    const { data } = heatmap;
    const wide = window.innerWidth >= BESIDE_FROM;
    if (!data.fill || wide === (this.wide ?? data.wide)) return;
    heatmap.page.setStateValue("wide", (this.wide = wide));
    this.remember();
  }
}
