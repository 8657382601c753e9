// What stands beside the maps: the strip of all heads and the overview of a long text, each a component of its own.

/** @import { StageArray } from "../../../pictures/stage_bytes.js" */
/** @import { Heatmap, Page } from "./heatmap.js" */
/** @import { Room } from "./types" */

export class Beside {
  /** @type {{ film?: ArrayLike<number>, overview?: ArrayLike<number> }} */
  parts = {}; // the bytes of both

  /** @param {Heatmap} heatmap */
  constructor(heatmap) {
    this.heatmap = heatmap;
    const make = (/** @type {HTMLElement} */ parent, /** @type {string} */ name) => Object.assign(parent.appendChild(document.createElement("div")), { className: name });
    this.over = make(heatmap.host, "attn-overview");
    this.row = make(heatmap.host, "attn-row");
    this.film = make(this.row, "attn-film");
    this.frame = make(this.row, "attn-maps"); // the maps themselves
  }

  /** @param {Record<string, StageArray>} arrays  of a message */
  take(arrays) {
    this.parts = { film: arrays[".film"]?.values, overview: arrays[".overview"]?.values };
  }

  get hasOverview() {
    return Boolean(this.parts.overview);
  }

  /** The strip of all heads and the overview of a long text, each a component of its own. @param {Room} room @param {boolean | undefined} dark */
  draw(room, dark) {
    const high = room.height + room.heading;
    this.row.classList.toggle("attn-upright", room.below > 0);
    const parent = room.overview ? this.row : this.heatmap.host;
    if (this.over.parentNode !== parent) parent.prepend(this.over);
    this.part(this.over, "overview", room.overview || room.over ? { width: room.overview, height: room.over || high } : null, dark);
    this.part(this.film, "film_strip", room.film || room.below ? { width: room.film, height: room.below || high } : null, dark);
  }

  /**
   * @param {HTMLElement & { drawn?: unknown[] }} host
   * @param {"film_strip" | "overview"} name
   * @param {{ width: number, height: number } | null} size  where there is room for it; no width is all of it
   * @param {boolean | undefined} dark
   */
  part(host, name, size, dark) {
    const data = name === "overview" ? this.parts.overview : this.parts.film;
    host.hidden = !size || !data;
    if (!size || !(data instanceof Uint8Array)) return;
    const drawn = [data.join(), size.width, size.height, dark];
    Object.assign(host.style, { width: size.width ? `${size.width}px` : "100%", height: `${size.height}px` });
    if (String(drawn) === String(host.drawn)) return;
    host.drawn = drawn;
    const parentElement = host.shadowRoot ?? host.attachShadow({ mode: "open" });
    const { page } = this.heatmap;
    /** @type {Page["setTriggerValue"]} */
    const setTriggerValue = (name, value) => page.setTriggerValue(name, value);
    window.attnvizScripts?.parts[`attnviz_${name}`]?.draw({ parentElement, data, setTriggerValue });
  }
}
