// The cells that are highlighted in all maps of a page, shared with the other views by events.

/** @import { Mark, Row } from "../../types" */
/** @import { Heatmap } from "./heatmap.js" */
/** @import { Picture } from "./picture/picture.js" */
/** @import { Highlight, Spot } from "./types" */

const HIGHLIGHT = "attnviz:highlight"; // detail: the cells that are pointed at in some view, or null
const ROW = "attnviz:row"; // detail: a `Row`

export class Highlights {
  /** @type {Highlight | null} */
  highlight = null;
  isSendingRow = false;
  isReceiving = false;

  /** @param {Heatmap} heatmap */
  constructor(heatmap) {
    this.heatmap = heatmap;
  }

  /** @param {AbortSignal} signal */
  listen(signal) {
    window.addEventListener(ROW, (event) => event instanceof CustomEvent && this.onRow(event.detail), { signal });
    window.addEventListener(HIGHLIGHT, (event) => event instanceof CustomEvent && this.onHighlight(event.detail), { signal });
  }

  /**
   * Return a drawn cell by the names of its axes and its positions along them, which other stages may share.
   *
   * @param {Picture} picture
   * @param {Spot} spot
   * @returns {Highlight}
   */
  highlightOf(picture, { head, row, column }) {
    const { axes, heads, block } = picture.meta;
    const down = row === undefined ? null : picture.position(0, row * block[0]);
    const across = column === undefined ? null : picture.position(1, column * block[1]);
    return { stage: picture.name, head: head ?? null, heads: heads.length, at: { [axes[0]]: down, [axes[1]]: across } };
  }

  /**
   * Highlight what is pointed at in a map; return whether that is another cell than before.
   *
   * @param {Picture} picture
   * @param {Spot} spot
   */
  point(picture, spot) {
    const highlight = this.highlightOf(picture, spot);
    if (JSON.stringify(highlight) === JSON.stringify(this.highlight)) return false;
    this.set(highlight);
    this.sendRow(highlight.at.query ?? null, highlight.head);
    return true;
  }

  clear() {
    this.set(null);
    this.sendRow(null);
  }

  /**
   * Highlight cells in all stages, or none with null, and in the other views that show them.
   *
   * @param {Highlight | null} highlight
   */
  set(highlight) {
    this.highlight = highlight;
    this.heatmap.pictures.forEach((picture) => picture.drawHighlight());
    if (this.isReceiving) return;
    const detail = highlight && { ...this.translated(highlight.at, "index"), head: this.numbered(highlight.head), from: "maps" };
    window.dispatchEvent(new CustomEvent(HIGHLIGHT, { detail }));
  }

  /**
   * Send other views the query that is pointed at, and its weights in a head; they send theirs in the same way.
   *
   * @param {number | null} row
   * @param {number | null} [head]
   */
  sendRow(row, head = null) {
    this.isSendingRow = true;
    /** @type {Row} */
    const detail = { row, head: this.numbered(head), shares: this.shares(row, head) };
    window.dispatchEvent(new CustomEvent(ROW, { detail }));
    this.isSendingRow = false;
  }

  /**
   * Return the weights of a query, where a picture has them.
   *
   * @param {number | null} row
   * @param {number | null} head
   */
  shares(row, head) {
    if (row === null || head === null) return null;
    const picture = [...this.heatmap.pictures.values()].find(({ meta }) => meta.share && meta.axes.join() === "query,key");
    const at = picture?.index(0, row) ?? null;
    if (!picture || head >= picture.meta.heads.length || at === null || at >= picture.meta.rows.length) return null;
    return picture.rowOf(head, at);
  }

  /**
   * Positions among the words of what is explained as those of all stages, where these have others, or the other way
   * round. The words of a part are known by their positions among all.
   *
   * @param {Highlight["at"]} at
   * @param {"index" | "position"} way
   */
  translated(at, way) {
    const { picking } = this.heatmap, picture = picking.chosen && picking.pictureFor(picking.chosen.stage);
    if (!picture?.meta.common) return at;
    const found = { ...at };
    picture.meta.axes.forEach((axis, i) => {
      const position = at[axis] ?? null;
      if (position !== null) found[axis] = picture[way](i ? 1 : 0, position);
    });
    return found;
  }

  /** A head's number among all heads, where only one is shown. @param {number | null} head */
  numbered(head) {
    return head === null ? null : (this.heatmap.alone ?? head);
  }

  /** @param {Row} detail */
  onRow({ row }) {
    if (!this.isSendingRow) this.set(row === null ? null : { head: null, heads: 0, at: { query: row } });
  }

  /**
   * Highlight the cells that an element of another view represents, in their own head alone.
   *
   * @param {(Mark & { from: string }) | null} mark
   */
  onHighlight(mark) {
    const { alone, data } = this.heatmap;
    if (mark?.from === "maps" || !data.view.fill) return;
    const head = alone === null ? (mark?.head ?? null) : mark?.head === alone ? 0 : null;
    this.isReceiving = true;
    this.set(mark && { head, heads: alone === null ? data.heads : 1, at: this.translated(positions(mark), "position"), exact: true });
    this.isReceiving = false;
  }
}

/** @param {Mark} mark @returns {Highlight["at"]} */
const positions = ({ query = null, key = null, d_k = null, d_v = null }) => ({ query, key, d_k, d_v });
