// A few cells at the pointer, large and with their words and numbers, wherever cells are too small to be read. All text
// is set as text.

/** @import { Cell } from "./types" */
/** @import { Picture } from "./picture/picture.js" */
import { inkOn } from "../colours.js";
import { inLanguage } from "../number_format.js";
import { NOT_A_NUMBER, context, decimals, hatch, minus, share, short, svg, truncate } from "./ink.js";

export class Lens {
  static BELOW = 11; // pixels of a cell
  static CELLS = 7; // each way
  static HEIGHT = 22; // pixels of a cell of the lens
  static WIDTH = 30;
  static REST = 120; // milliseconds that the pointer stays over a map before there is a lens
  static LEFT = 62; // pixels for the words beside the rows
  static UNDER = 48; // and for those under the columns
  static OVER = 20; // and for the head's name

  /** @param {Element} parent */
  constructor(parent) {
    this.box = parent.appendChild(document.createElement("div"));
    this.box.className = "attn-lens";
    this.box.setAttribute("aria-hidden", "true"); // the cell is said by the tip and by the live region
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    this.kept = false;
  }

  /**
   * Show what is around a cell as soon as the pointer rests, at once if the lens is there already.
   *
   * @param {Picture} map
   * @param {Partial<Cell>} cell
   * @param {{ x: number, y: number, low: number }} pointer  its position, and the lower edge of the tip
   */
  follow(map, { head, row, column }, pointer) {
    if (this.kept) return;
    const small = Math.min(map.w, map.h) < Lens.BELOW;
    if (!small || head === undefined || row === undefined || column === undefined) return this.leave();
    const show = () => this.show(map, { head, row, column }, pointer);
    clearTimeout(this.timer);
    if (this.isOpen) show();
    else this.timer = setTimeout(show, Lens.REST);
  }

  get isOpen() {
    return this.box.style.display === "block";
  }

  /** @param {boolean} kept  whether it stays as it is wherever the pointer goes */
  keep(kept) {
    this.kept = kept && this.isOpen;
  }

  leave() {
    if (this.kept) return;
    clearTimeout(this.timer);
    this.box.style.display = "none";
  }

  /**
   * @param {Picture} map
   * @param {Cell} cell
   * @param {{ x: number, y: number, low: number }} pointer
   */
  show(map, cell, { x, y, low }) {
    const rows = Lens.around(cell.row, map.rows);
    const columns = Lens.around(cell.column, map.meta.widths[cell.head]);
    const [width, height] = [Lens.LEFT + Lens.WIDTH * columns.length + 6, Lens.OVER + Lens.HEIGHT * rows.length + Lens.UNDER];
    this.draw(map, cell, rows, columns, width, height);
    Object.assign(this.box.style, { display: "block", width: `${width}px`, height: `${height}px` });
    const below = Math.max(low + 6, y + 16);
    const fits = below + height < window.innerHeight;
    this.box.style.top = `${Math.max(4, fits ? below : y - 14 - height)}px`;
    this.box.style.left = `${Math.max(4, Math.min(x + 14, window.innerWidth - width - 8))}px`;
  }

  /**
   * The indices around one, as many as the lens has, all of them inside a length.
   *
   * @param {number} index
   * @param {number} length
   */
  static around(index, length) {
    const n = Math.min(Lens.CELLS, length);
    const first = Math.max(0, Math.min(index - Math.floor(Lens.CELLS / 2), length - n));
    return Array.from({ length: n }, (_, i) => first + i);
  }

  /**
   * @param {Picture} map
   * @param {Cell} cell
   * @param {number[]} rows
   * @param {number[]} columns
   * @param {number} width
   * @param {number} height
   */
  draw(map, cell, rows, columns, width, height) {
    this.box.replaceChildren();
    const picture = svg(this.box, "svg", { width, height, "font-family": map.family, "font-size": 12 });
    context.font = `400 12px ${map.family}`;
    const name = { x: Lens.LEFT, y: 14, "font-weight": 600 };
    if (map.meta.heads[cell.head]) svg(picture, "text", name, truncate(map.meta.heads[cell.head], width - Lens.LEFT));
    rows.forEach((row, i) => {
      const at = { x: Lens.LEFT - 5, y: Lens.OVER + (i + 0.5) * Lens.HEIGHT, "text-anchor": "end", "dominant-baseline": "central" };
      svg(picture, "text", { ...at, "font-weight": row === cell.row ? 700 : 400 }, truncate(map.rowWord(row), Lens.LEFT - 8));
    });
    columns.forEach((column, i) => {
      const [x, y] = [Lens.LEFT + (i + 0.5) * Lens.WIDTH, Lens.OVER + rows.length * Lens.HEIGHT + 5];
      const at = { transform: `translate(${x},${y})rotate(-90)`, "text-anchor": "end", "dominant-baseline": "central" };
      svg(picture, "text", { ...at, "font-weight": column === cell.column ? 700 : 400 }, truncate(map.columnWord(column), Lens.UNDER - 8));
    });
    this.drawCells(picture, map, cell, rows, columns);
  }

  /**
   * @param {Element} picture
   * @param {Picture} map
   * @param {Cell} chosen
   * @param {number[]} rows
   * @param {number[]} columns
   */
  drawCells(picture, map, { head, row, column }, rows, columns) {
    const found = rows.map((row) => columns.map((column) => map.value({ head, row, column })));
    const finite = found.flat().flatMap((number) => (number !== null && Number.isFinite(number) ? [number] : []));
    const digits = map.isShare ? 0 : Math.max(0, decimals(finite, Lens.WIDTH - 3));
    const masked = hatch(picture);
    found.forEach((numbers, i) =>
      numbers.forEach((number, j) => {
        const [x, y] = [Lens.LEFT + j * Lens.WIDTH, Lens.OVER + i * Lens.HEIGHT];
        const [fill, ink] = number === null ? [masked, "currentColor"] : Lens.colours(map, head, number);
        svg(picture, "rect", { x, y, width: Lens.WIDTH - 1, height: Lens.HEIGHT - 1, fill });
        const text = Lens.text(map, number, digits);
        const at = { x: x + Lens.WIDTH / 2, y: y + Lens.HEIGHT / 2, "text-anchor": "middle", "dominant-baseline": "central" };
        if (text) svg(picture, "text", { ...at, style: `fill:${ink}`, "font-size": context.measureText(text).width > Lens.WIDTH - 2 ? 11 : 12 }, text);
      }),
    );
    const [x, y] = [Lens.LEFT + columns.indexOf(column) * Lens.WIDTH, Lens.OVER + rows.indexOf(row) * Lens.HEIGHT];
    svg(picture, "rect", { x, y, width: Lens.WIDTH - 1, height: Lens.HEIGHT - 1, fill: "none", stroke: "currentColor", "stroke-width": 2 });
  }

  /**
   * @param {Picture} map
   * @param {number} head
   * @param {number} number
   * @returns {[ground: string, ink: string]}
   */
  static colours(map, head, number) {
    if (!Number.isFinite(number)) return [NOT_A_NUMBER.ground, NOT_A_NUMBER.ink];
    const colour = map.colour(head, number);
    return [`rgb(${colour.join()})`, inkOn(colour)];
  }

  /**
   * @param {Picture} map
   * @param {number | null} number
   * @param {number} digits
   */
  static text(map, number, digits) {
    if (number === null) return "";
    if (Number.isNaN(number)) return "NaN";
    if (!Number.isFinite(number)) return number > 0 ? "∞" : "−∞";
    const { words } = map.heatmap.data;
    if (map.isShare) return inLanguage(share(number, Lens.WIDTH), words);
    return Math.abs(number) < 1000 ? inLanguage(short(number, digits), words) : minus(number.toExponential(0).replace("e+", "e"));
  }
}
