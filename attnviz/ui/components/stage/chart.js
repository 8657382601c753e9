// The chart of a heat map, which Plotly draws.

/** @import { Heatmap } from "./heatmap.js" */
/** @import { ChartProps, Meta, Plot, Trace } from "./types" */
import { Cells, NUMBERS } from "./cells.js";

const GLIDE = 200; // milliseconds
const MOST_GLIDING = 10_000; // cells
const UNMOVED = matchMedia("(prefers-reduced-motion: reduce)");

export class Chart extends Cells {
  stale = true; // what is drawn over it
  /** @type {ChartProps | undefined} */
  props; // what the chart is to show,
  appearance = ""; // its revision and the theme,
  /** @type {Trace | undefined} */
  ready; // and the trace in the colours of the theme
  /** @type {Partial<Trace> | undefined} */
  shown;
  refitted = "";
  listens = false;
  /** @type {HTMLImageElement | null} */
  old = null; // the picture before, from which colours glide

  /** @param {Heatmap} heatmap @param {string} name @param {Plot} chart */
  constructor(heatmap, name, chart) {
    super(heatmap, name, chart);
    chart.on?.("plotly_afterplot", () => this.plotted());
  }

  /** Take the props that Python sent last, if they are for this chart. */
  updateProps() {
    const props = this.heatmap.host?.attnPictures?.[this.name];
    if (!props || props.trace.name !== this.trace?.name) return;
    this.setAlt(props.alt);
    const appearance = `${props.revision} ${this.heatmap.dark}`;
    if (appearance === this.appearance) return;
    this.props = props;
    this.appearance = appearance;
    this.ready = this.themed(props.trace);
    this.apply();
    if (!this.listens) setTimeout(() => this.apply());
  }

  /**
   * A trace in the colours of the page, each head on a scale of its own where that is asked for.
   *
   * @param {Trace} trace
   */
  themed(trace) {
    /** @type {Meta} */
    const { dark, ends, widths, across } = JSON.parse(trace.meta);
    const themed = { ...trace };
    if (this.heatmap.dark && dark.length) themed.colorscale = trace.colorscale.map(([at], i) => [at, dark[i]]);
    if (!ends) return themed;
    const [columns, lines] = [Math.max(...widths) + 1, (trace.z.length + 1) / Math.ceil(widths.length / across)];
    /** @param {number} row @param {number} column */
    const end = (row, column) => ends[Math.floor(row / lines) * across + Math.floor(column / columns)] || 1;
    const z = trace.z.map((numbers, row) => numbers.map((number, column) => number / end(row, column)));
    Object.assign(themed, { z, zmin: -1, zmax: 1 });
    NUMBERS.set(themed, trace.z);
    return themed;
  }

  /** Streamlit adopts the data of a chart when Plotly reports a redraw, and then draws it. The chart
   *  holds it for no longer than that: Plotly may be in the midst of drawing what it held before. */
  apply() {
    const { chart, props, ready } = this;
    if (!props || !ready || !this.trace || this.trace === ready) return;
    this.keepImage(ready);
    const { data, layout } = chart;
    const { xaxis, yaxis } = props.layout; // Plotly writes into those that it is passed
    const axes = { xaxis: { ...xaxis, domain: [0, 1] }, yaxis: { ...yaxis, domain: [0, 1] } };
    Object.assign(chart, { data: [ready], layout: { ...layout, ...props.layout, ...axes } });
    chart.emit("plotly_redraw");
    Object.assign(chart, { data, layout });
  }

  /**
   * Keep what the cells look like over the picture that comes, if it has the same cells: their colours glide to it.
   *
   * @param {Trace} coming
   */
  keepImage(coming) {
    this.old?.remove();
    this.old = null;
    const image = this.chart.querySelector(".heatmaplayer image");
    const { x, y } = coming;
    const same = this.trace?.x?.join() === x.join() && this.trace?.y?.join() === y.join();
    if (!image || !this.w || !same || x.length * y.length > MOST_GLIDING || UNMOVED.matches) return;
    this.old = document.createElement("img");
    this.old.src = image.getAttribute("href") ?? image.getAttributeNS("http://www.w3.org/1999/xlink", "href") ?? "";
    this.old.className = "attn-old";
    this.old.alt = "";
    const [left, top, width, height] = [this.x, this.y, this.kx * x[x.length - 1], this.ky * y[y.length - 1]].map((at) => `${at}px`);
    Object.assign(this.old.style, { left, top, width, height });
    this.layer.prepend(this.old);
  }

  /** Let the old colours go, now that the new ones are drawn under them. */
  glide() {
    const { old } = this;
    this.old = null;
    old?.animate([{ opacity: 1 }, { opacity: 0 }], { duration: GLIDE, easing: "ease-out" }).finished.then(() => old.remove());
  }

  /** A chart that is being built listens only once it has been plotted and the promises that wait for that are kept. */
  plotted() {
    this.listens = true;
    if (!this.trace?.z) this.w = 0; // there is nothing to point at
    if (this.trace !== this.shown) this.heatmap.leave(); // what the tip says may be true no longer
    if (this.old && this.trace === this.ready) this.glide();
    this.shown = this.trace;
    this.refit();
    setTimeout(() => this.apply());
    this.heatmap.draw(this);
  }

  /** Have a picture drawn again that is smaller than it was laid out though there is room for it: drawn while the chart
   *  still had another width, it took a part of that, and in the width that came then it took the same part. */
  refit() {
    const { props, appearance, trace, image } = this;
    const width = this.chart.querySelector(".svg-container")?.clientWidth;
    if (!props || !image || !trace?.x || trace !== this.ready || width === undefined || this.refitted === `${appearance} ${width}`) return;
    const { l = 0, r = 0 } = props.layout.margin ?? {};
    const planned = trace.x[trace.x.length - 1];
    if (image.getBoundingClientRect().width > planned - 1 || width < l + planned + r) return;
    this.refitted = `${appearance} ${width}`; // once: what is small for another reason stays so
    this.ready = this.themed(props.trace);
  }

  /** The text alternative; Streamlit would build a chart anew that it is told another one of. @param {string} alt */
  setAlt(alt) {
    const { words, names } = this.heatmap.data;
    this.focus.setAttribute("aria-label", `${names[this.name] ?? this.name}. ${words.keys}`);
    const figure = this.chart.closest(".stPlotlyChart");
    if (!figure || !alt) return;
    figure.setAttribute("role", "figure");
    figure.setAttribute("aria-label", alt);
  }
}
