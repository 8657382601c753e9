// The tiles of a heat map, one for each head: where their cells are on the screen.

/** @import { Tiling } from "../../../../pictures/layout/tiling.js" */
/** @import { Heatmap } from "../heatmap.js" */
/** @import { DrawnMap, Spot, Stage, StageWords } from "../types" */
import { svg } from "../ink.js";
import { mapOf } from "../maps.js";
import { signOf } from "../../signs.js";

export class Tiles {
  // in pixels of the box: where its cells begin, how large one is, and how wide and high all of it is
  x = 0;
  y = 0;
  w = 0;
  h = 0;
  width = 0;
  height = 0;
  revision = 0; // of the numbers
  lettering = 0; // of what is said beside them, and of where there are some
  said = "";
  titled = "";
  placed = ""; // what the elements over the cells depend on
  /** @type {Stage | undefined} */
  known;
  /** @type {Tiling | undefined} */
  tiles;
  /** @type {DrawnMap | undefined} */
  drawnMap;
  dark = false; // the colours of that

  /** @param {Heatmap} heatmap @param {string} name */
  constructor(heatmap, name) {
    this.heatmap = heatmap;
    this.name = name;
    this.figure = document.createElement("figure");
    this.figure.className = "attn-stage";
    this.figure.dataset.stage = name;
    Object.assign(this.figure, { picture: this }); // for who looks a map up in the page
    this.head = this.figure.appendChild(document.createElement("div"));
    this.box = this.figure.appendChild(document.createElement("div"));
    this.box.className = "attn-box";
    this.maps = this.box.appendChild(document.createElement("div"));
    this.maps.className = "attn-cells";
    this.layer = this.box.appendChild(document.createElement("div"));
    this.layer.className = "attn-layer";
    this.words = svg(this.layer, "svg", { "aria-hidden": true });
    this.figures = svg(this.words, "g", {});
    /** @type {SVGSVGElement} */
    this.light = svg(this.layer, "svg", { "aria-hidden": true });
    this.focus = this.layer.appendChild(document.createElement("div"));
    this.focus.className = "attn-focus";
    this.focus.tabIndex = 0;
    this.focus.setAttribute("role", "application");
  }

  /**
   * Take a stage in its tiles, and the size of the box around them; return whether anything is another.
   *
   * @param {Stage} stage
   * @param {Tiling} tiling
   * @param {[width: number, height: number]} size
   */
  take(stage, tiling, [width, height]) {
    const isSame = stage === this.known && JSON.stringify(tiling) === JSON.stringify(this.tiles) && this.dark === this.heatmap.dark;
    if (isSame && width === this.width && height === this.height) return false;
    if (!isSame) {
      this.revision++;
      this.dark = Boolean(this.heatmap.dark);
      this.drawnMap = mapOf(stage, tiling, this.dark);
      this.compare(stage);
    }
    const known = JSON.stringify([tiling, stage.only, stage.shape]);
    Object.assign(this, { known: stage, tiles: tiling, x: tiling.left, y: tiling.top, width, height });
    this.w = tiling.x[this.columns] / this.columns;
    this.h = tiling.y[this.rows] / this.rows;
    if (known !== this.placed) this.positionMaps();
    this.placed = known;
    return true;
  }

  /** Whether more is another than the numbers. @param {Stage} stage */
  compare(stage) {
    const { ends, sums, ...meta } = this.meta;
    const said = JSON.stringify([meta, Boolean(ends), Boolean(sums), this.dark, stage.former]);
    if (said !== this.said || stage.mask !== this.known?.mask || stage.kind === "allowed") this.lettering++;
    this.said = said;
  }

  /** Set the heading, and what is said of the map to those who cannot see it. @param {string} html @param {StageWords} words */
  entitle(html, words) {
    if (this.titled !== html) this.head.innerHTML = this.titled = html;
    const { alt, title } = this.stage;
    if (alt) this.figure.setAttribute("aria-label", alt);
    this.focus.setAttribute("aria-label", `${title}${signOf(". ")}${words.keys}${this.heatmap.data.live ? ` ${words.keys_held}` : ""}`);
  }

  /** Draw highlights anew; those that are there stay where they are the same, as after most runs. @param {() => void} draw  them into `light` */
  relight(draw) {
    const before = this.light;
    this.light = /** @type {SVGSVGElement} */ (before.cloneNode(false));
    draw();
    if (this.light.isEqualNode(before)) this.light = before;
    else before.replaceWith(this.light);
  }

  /** An element over the cells of each head, by which it is found, and one over its name: a finger is taken to mean the
   *  element that it covers most of, and would else choose a cell below the name. */
  positionMaps() {
    const { x, y } = this.tiling;
    const pixels = (/** @type {number[]} */ [left, top, width, height]) => ({ left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px` });
    Object.assign(this.maps.style, pixels([this.x, this.y, x[x.length - 1], y[y.length - 1]]));
    const first = this.stage.only ?? 0;
    this.maps.replaceChildren(
      ...this.meta.widths.flatMap((width, head) => {
        const [map, name] = [document.createElement("div"), document.createElement("div")];
        const [left, top, wide, high] = this.boxInside(head, width);
        Object.assign(map.dataset, { map: this.name, head: first + head, rows: this.stage.shape[1], columns: this.meta.true[head] });
        Object.assign(map.style, pixels([left, top, wide, high]));
        Object.assign(name.style, pixels([left, top - this.meta.room[2], wide, this.meta.room[2]]));
        this.offer(name, first + head);
        return [map, name];
      }),
    );
  }

  /** What stands in the name of a head. @param {HTMLElement} _name @param {number} _head  among all */
  offer(_name, _head) {}

  /** @param {number} head @param {number} width */
  boxInside(head, width) {
    const [x, y, w, h] = this.cells(head, 0, 0, this.rows, width);
    return [x - this.x, y - this.y, w, h];
  }

  /** What is drawn; a picture is made only for what it is given at once. */
  get stage() {
    return /** @type {Stage} */ (this.known);
  }

  get tiling() {
    return /** @type {Tiling} */ (this.tiles);
  }

  get map() {
    return /** @type {DrawnMap} */ (this.drawnMap);
  }

  get filled() {
    return this.map.trace;
  }

  get meta() {
    return this.map.meta;
  }

  get columns() {
    return this.tiling.columns;
  }

  get rows() {
    return this.tiling.lines;
  }

  /**
   * The left edge of a column of a head, or the right one of the column before.
   *
   * @param {number} head
   * @param {number} column
   */
  edgeX(head, column) {
    return this.x + this.tiling.x[(head % this.meta.across) * (this.columns + 1) + column];
  }

  /** @param {number} head @param {number} row */
  edgeY(head, row) {
    return this.y + this.tiling.y[Math.floor(head / this.meta.across) * (this.rows + 1) + row];
  }

  /** @param {number} head */
  corner(head) {
    return { x: this.edgeX(head, 0), y: this.edgeY(head, 0) };
  }

  /**
   * x, y, width and height of a run of cells.
   *
   * @param {number} head
   * @param {number} row
   * @param {number} column
   * @returns {[x: number, y: number, width: number, height: number]}
   */
  cells(head, row, column, rows = 1, columns = 1) {
    const [x, y] = [this.edgeX(head, column), this.edgeY(head, row)];
    return [x, y, this.edgeX(head, column + columns) - x, this.edgeY(head, row + rows) - y];
  }

  /** The last head of a column of heads: the words stand under it. @param {number} tile */
  lowest(tile) {
    const { heads, across } = this.meta;
    return tile + across * Math.floor((heads.length - 1 - tile) / across);
  }

  /**
   * The cell under a point of the screen, the row or column whose word is there, or the head whose name; else null.
   *
   * @param {PointerEvent} event
   * @returns {Spot | null}
   */
  locate(event) {
    const outer = this.layer.getBoundingClientRect();
    const { across, widths, room } = this.meta;
    const [px, py] = [event.clientX - outer.left, event.clientY - outer.top];
    /** @param {number[]} edges @param {number} length */
    const at = (edges, length) => edges.reduce((found, edge, i) => (edge <= length ? i : found), -1);
    const x = at(this.filled.x, px - this.x);
    const y = at(this.filled.y, py - this.y);
    const [tileX, column] = [Math.floor(x / (this.columns + 1)), x % (this.columns + 1)];
    const [tileY, row] = [Math.floor(y / (this.rows + 1)), y % (this.rows + 1)];
    const inRows = y >= 0 && row < this.rows;
    const inColumns = x >= 0 && column < this.columns;
    const head = tileY * across + tileX;
    if (inRows && inColumns) return column < widths[head] ? { head, row, column } : null;
    if (inRows && x < 0) return { row };
    if (!inColumns) return null;
    const named = Array.from({ length: Math.ceil(widths.length / across) }, (_, down) => down * across + tileX);
    const name = named.find((each) => each < widths.length && py < this.edgeY(each, 0) && py >= this.edgeY(each, 0) - room[2]);
    if (name !== undefined) return { name };
    const last = this.lowest(tileX);
    return tileX < Math.min(across, widths.length) && py >= this.edgeY(last, this.rows) ? { column } : null;
  }
}
