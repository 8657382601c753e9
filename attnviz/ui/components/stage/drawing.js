// The cells of all maps as one picture: on a canvas at once, and by Plotly once nothing moves any more. Both have the same
// pixels, so nobody sees which of them it is.

/** @import { PlacedMap, PlotlyModule } from "./types" */
import { contextOf, parts } from "../colours.js";

const REST = 150; // milliseconds without a change
const GLIDE = 200; // milliseconds
const MOST_GLIDING = 10_000; // cells
const UNMOVED = matchMedia("(prefers-reduced-motion: reduce)");
const HIDDEN = { visible: false, fixedrange: true };
const CLEAR_PAPER = "transparent";

/** @type {Map<string, Promise<PlotlyModule | null>>} */
const LOADED = new Map();

/** Plotly, loaded once; null where the server does not have it. @param {string} address */
function loaded(address) {
  const load = () => import(new URL(address, document.baseURI).href).then(({ default: Plotly }) => Plotly, () => null);
  const known = LOADED.get(address) ?? load();
  LOADED.set(address, known);
  return known;
}

/**
 * What makes the bytes of a pixel of a number, between the colours at the stops of a scale as Plotly has it.
 *
 * @param {PlacedMap["map"]["trace"]} trace
 */
function painter({ zmin, zmax, colorscale }) {
  const stops = colorscale.map(([, colour]) => parts(colour));
  const scale = (stops.length - 1) / (zmax - zmin);
  return (/** @type {number} */ number) => {
    const at = Math.min(Math.max((number - zmin) * scale, 0), stops.length - 1);
    const [low, high, part] = [stops[Math.floor(at)], stops[Math.ceil(at)], at % 1];
    const [r, g, b] = [0, 1, 2].map((i) => Math.round(low[i] + (high[i] - low[i]) * part));
    return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
  };
}

export class Drawing {
  /** @type {PlacedMap[]} */
  maps = [];
  /** @type {[width: number, height: number]} */
  size = [0, 0];
  drawn = ""; // where the cells are
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  timer;

  /** @param {HTMLElement} parent */
  constructor(parent) {
    this.chart = parent.appendChild(document.createElement("div"));
    this.chart.className = "attn-chart";
    this.canvas = parent.appendChild(document.createElement("canvas"));
    this.canvas.className = "attn-canvas";
  }

  close() {
    clearTimeout(this.timer);
    this.maps = [];
  }

  /**
   * Draw maps, each at its pixels; those that are there already are left.
   *
   * @param {PlacedMap[]} maps
   * @param {[width: number, height: number]} size
   * @param {string} address  of Plotly
   * @param {boolean} glides  whether their colours glide from those before, if the cells are the same
   */
  draw(maps, size, address, glides) {
    const isSame = maps.length === this.maps.length && maps.every(({ map, x, y }, i) => map === this.maps[i].map && x === this.maps[i].x && y === this.maps[i].y);
    if (isSame && String(size) === String(this.size)) return;
    const cells = maps.reduce((all, { map }) => all + map.at.length, 0);
    const drawn = JSON.stringify(maps.map(({ map, x, y }) => [x, y, map.trace.x, map.trace.y]));
    if (glides && drawn === this.drawn && cells < MOST_GLIDING && !UNMOVED.matches) this.glide();
    const isPlaced = drawn === this.drawn && String(size) === String(this.size);
    const changed = isPlaced ? maps.filter(({ map }, at) => map !== this.maps[at].map) : maps;
    Object.assign(this, { maps, size, drawn });
    this.paint(changed, isPlaced);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.rest(address), REST);
  }

  /** Let the colours that are there fade, over those that come. */
  glide() {
    const old = document.createElement("canvas");
    Object.assign(old, { width: this.canvas.width, height: this.canvas.height, className: "attn-old" });
    contextOf(old).drawImage(this.canvas, 0, 0);
    this.canvas.after(old);
    old.animate([{ opacity: 1 }, { opacity: 0 }], { duration: GLIDE, easing: "ease-out" }).finished.then(() => old.remove());
  }

  /** @param {PlacedMap[]} maps  those that are not there @param {boolean} isPlaced  whether all stand where they stood */
  paint(maps, isPlaced) {
    const { canvas, size } = this;
    if (!isPlaced) Object.assign(canvas, { width: size[0], height: size[1] });
    Object.assign(canvas.style, { width: `${size[0]}px`, height: `${size[1]}px`, visibility: "visible" });
    this.chart.style.visibility = "hidden"; // it has other cells, which would be seen between these
    const context = contextOf(canvas);
    for (const { map, x, y } of maps) context.putImageData(pixels(map.trace), x, y);
  }

  /** @param {string} address */
  async rest(address) {
    const { maps } = this;
    const Plotly = address ? await loaded(address) : null;
    if (!Plotly || maps !== this.maps || !this.chart.isConnected) return;
    await Plotly.react(this.chart, maps.map(traceOf), this.layout(), { staticPlot: true, displayModeBar: false });
    if (maps !== this.maps) return;
    this.chart.style.visibility = "visible";
    this.canvas.style.visibility = "hidden";
  }

  /** Every map in the subplot of its pixels, so that a unit of each axis is a pixel. */
  layout() {
    const [width, height] = this.size;
    /** @type {Record<string, unknown>} */
    const layout = { template: "none", width, height, margin: { l: 0, t: 0, r: 0, b: 0, pad: 0 }, paper_bgcolor: CLEAR_PAPER, plot_bgcolor: CLEAR_PAPER, hovermode: false };
    this.maps.forEach(({ map, x, y }, at) => {
      const [wide, high] = [map.trace.x, map.trace.y].map((edges) => edges[edges.length - 1]);
      const n = at ? at + 1 : "";
      layout[`xaxis${n}`] = { ...HIDDEN, range: [0, wide], domain: [x / width, (x + wide) / width], anchor: `y${n}` };
      layout[`yaxis${n}`] = { ...HIDDEN, range: [high, 0], domain: [1 - (y + high) / height, 1 - y / height], anchor: `x${n}` };
    });
    return layout;
  }
}

/** @param {PlacedMap} placed @param {number} at */
function traceOf({ map }, at) {
  const n = at ? at + 1 : "";
  return { type: "heatmap", ...map.trace, xaxis: `x${n}`, yaxis: `y${n}`, showscale: false, hoverinfo: "skip" };
}

/** A heat map as an image, a pixel for each of the page's. @param {PlacedMap["map"]["trace"]} trace */
function pixels(trace) {
  const { x, y, z } = trace;
  const [width, height] = [x[x.length - 1], y[y.length - 1]];
  const image = new ImageData(width, height);
  const all = new Uint32Array(image.data.buffer);
  const colour = painter(trace);
  z.forEach((numbers, row) => {
    const first = y[row] * width;
    numbers.forEach((number, column) => {
      if (!Number.isNaN(number)) all.fill(colour(number), first + x[column], first + x[column + 1]);
    });
    for (let line = y[row] + 1; line < y[row + 1]; line++) all.copyWithin(line * width, first, first + width);
  });
  return image;
}
