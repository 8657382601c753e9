// How much room a window has for the maps, told to the page whenever that would make other pictures.

/** @import { Bridge } from "./heatmap.js" */

const BESIDE_FROM = 1100; // pixels of a window in which an answer stands beside the pictures

export class RoomReport {
  // what was told last
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
  telling;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  tellingHeight;

  /** @param {Bridge} bridge */
  constructor(bridge) {
    this.bridge = bridge;
    this.observer = new ResizeObserver(() => this.tell());
  }

  /** @param {HTMLElement} host */
  follow(host) {
    this.host = host;
    this.block = host.closest("[data-testid=stMainBlockContainer]");
    this.observer.disconnect();
    this.observer.observe(host);
    if (this.bridge.data.fit && this.block) this.observer.observe(this.block);
  }

  close() {
    this.observer.disconnect();
    clearTimeout(this.telling);
    clearTimeout(this.tellingHeight);
  }

  /** Tell the page how wide it is, and how much room is left, after a pause where it is not for the first time. */
  tell() {
    if (matchMedia("print").matches) return; // paper takes the pictures as they are
    this.tellWidth();
    if (this.bridge.data.fit) this.tellHeight();
  }

  /** Tell the page of another size, for which it will have other charts. @param {"room" | "width"} name @param {number} size */
  say(name, size) {
    this.bridge.afterimage.expect();
    this.bridge.page.setStateValue(name, size);
  }

  /** The height that the window leaves for the pictures: what it has less all that stands above and below them; where
   *  they are to fill the window, what is below them does not count and is scrolled to. */
  tellHeight() {
    clearTimeout(this.tellingHeight);
    const { bridge, host, block } = this;
    const { data } = bridge;
    const main = block?.closest("[data-testid=stMain]");
    const last = block?.querySelector("[data-testid=stVerticalBlock]");
    if (!host || !block || !main || !last) return;
    const [own, all] = [host, last].map((element) => element.getBoundingClientRect());
    const above = own.top - block.getBoundingClientRect().top;
    const below = data.fill ? 0 : all.bottom - own.bottom + parseFloat(getComputedStyle(block).paddingBottom);
    const height = Math.floor((main.clientHeight - above - below) / 8) * 8;
    const told = this.height ?? data.fill;
    if (height === told || height < data.fit) return; // opened lines below may well be scrolled to
    const tell = () => this.say("room", (this.height = height));
    if (this.height === undefined) tell();
    else this.tellingHeight = setTimeout(tell, 200);
  }

  /** Tell the page how wide it is, if that would make another picture; never twice, so that it cannot swing. */
  tellWidth() {
    clearTimeout(this.telling);
    this.tellWide();
    const { bridge } = this;
    const { data } = bridge;
    const width = Math.floor(this.wholeWidth() / 8) * 8;
    const told = this.width ?? data.width;
    if (width < 8 || (width <= told && width > told - 8) || (width > told && width < told + 24)) return;
    const tell = () => this.say("width", (this.width = width));
    if (this.width === undefined) tell();
    else this.telling = setTimeout(tell, 200);
  }

  /** The width that there is for pictures; where an answer stands beside them the page takes its part off. */
  wholeWidth() {
    if (!this.bridge.data.fill || !this.block) return this.host?.clientWidth ?? 0;
    return this.block.clientWidth - 2 * parseFloat(getComputedStyle(this.block).paddingLeft);
  }

  /** Tell the page whether an answer stands beside the pictures, or below them. */
  tellWide() {
    const { bridge } = this;
    const { data } = bridge;
    const wide = window.innerWidth >= BESIDE_FROM;
    if (data.fill && wide !== (this.wide ?? data.wide)) bridge.page.setStateValue("wide", (this.wide = wide));
  }
}
