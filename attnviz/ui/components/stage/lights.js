// What lights up in all maps of a page, and what other views hear of it and say.

/** @import { Mark, Row } from "../../types" */
/** @import { Bridge } from "./heatmap.js" */
/** @import { Picture } from "./picture.js" */
/** @import { Lit, Spot } from "./types" */

const LIT = "attnviz:lit"; // detail: the cells that are pointed at in some view, or null
const ROW = "attnviz:row"; // detail: a `Row`

export class Lights {
  /** @type {Lit | null} */
  lit = null;
  telling = false;
  hearing = false;

  /** @param {Bridge} bridge */
  constructor(bridge) {
    this.bridge = bridge;
  }

  /** @param {AbortSignal} signal */
  listen(signal) {
    window.addEventListener(ROW, (event) => event instanceof CustomEvent && this.hear(event.detail), { signal });
    window.addEventListener(LIT, (event) => event instanceof CustomEvent && this.hearLit(event.detail), { signal });
  }

  /**
   * A drawn cell by the names of its axes and by its places in them, so that other stages know what concerns them.
   *
   * @param {Picture} picture
   * @param {Spot} spot
   * @returns {Lit}
   */
  mark(picture, { head, row, column }) {
    const { axes, heads, block } = picture.meta;
    const down = row === undefined ? null : picture.place(0, row * block[0]);
    const across = column === undefined ? null : picture.place(1, column * block[1]);
    return { stage: picture.name, head: head ?? null, heads: heads.length, at: { [axes[0]]: down, [axes[1]]: across } };
  }

  /**
   * Light what is pointed at in a map; whether that is another place than before.
   *
   * @param {Picture} picture
   * @param {Spot} spot
   */
  point(picture, spot) {
    const lit = this.mark(picture, spot);
    if (JSON.stringify(lit) === JSON.stringify(this.lit)) return false;
    this.light(lit);
    this.tell(lit.at.query ?? null, lit.head);
    return true;
  }

  leave() {
    this.light(null);
    this.tell(null);
  }

  /**
   * Light a mark in all stages; null puts the light out. What else shows the same cells lights them too.
   *
   * @param {Lit | null} lit
   */
  light(lit) {
    this.lit = lit;
    this.bridge.pictures.forEach((picture) => picture.drawLight());
    if (this.hearing) return;
    const detail = lit && { ...lit.at, head: this.numbered(lit.head), from: "maps" };
    window.dispatchEvent(new CustomEvent(LIT, { detail }));
  }

  /**
   * Tell other views which query is pointed at, and what it takes in a head; they tell this one in the same way.
   *
   * @param {number | null} row
   * @param {number | null} [head]
   */
  tell(row, head = null) {
    this.telling = true;
    /** @type {Row} */
    const detail = { row, head: this.numbered(head), shares: this.shares(row, head) };
    window.dispatchEvent(new CustomEvent(ROW, { detail }));
    this.telling = false;
  }

  /**
   * What a query takes from each key, where that can be read off a picture.
   *
   * @param {number | null} row
   * @param {number | null} head
   */
  shares(row, head) {
    if (row === null || head === null) return null;
    const there = [...this.bridge.pictures.values()].filter(({ w, trace }) => w && trace?.z);
    const picture = there.find(({ meta }) => meta.share && meta.axes.join() === "query,key" && meta.block[1] === 1);
    const at = picture?.index(0, row) ?? null;
    if (!picture || head >= picture.meta.heads.length || at === null || at >= picture.rows) return null;
    return Array.from({ length: picture.columns }, (_, column) => picture.value({ head, row: at, column }));
  }

  /** A head's number among all heads, where only one is shown. @param {number | null} head */
  numbered(head) {
    return head === null ? null : (this.bridge.data.focus ?? head);
  }

  /** @param {Row} told */
  hear({ row }) {
    if (!this.telling) this.light(row === null ? null : { head: null, heads: 0, at: { query: row } });
  }

  /**
   * Light the cells that something else stands for: in their own head alone, as it says so exactly which they are.
   *
   * @param {(Mark & { from: string }) | null} mark
   */
  hearLit(mark) {
    const { data } = this.bridge;
    if (mark?.from === "maps" || !data.fill) return;
    const alone = data.focus !== null;
    const head = alone ? (mark?.head === data.focus ? 0 : null) : (mark?.head ?? null);
    this.hearing = true;
    this.light(mark && { head, heads: alone ? 1 : data.heads, at: places(mark), exact: true });
    this.hearing = false;
  }
}

/** @param {Mark} mark @returns {Lit["at"]} */
const places = ({ query = null, key = null, d_k = null, d_v = null }) => ({ query, key, d_k, d_v });
