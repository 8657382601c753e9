const GLIDE = 200; // milliseconds
const MOST_GLIDING = 10_000; // cells
const UNMOVED = matchMedia("(prefers-reduced-motion: reduce)");

/** One heat map of the page as Plotly draws it: what goes into its chart, and where on the screen its cells are. */
class Chart {
  constructor(bridge, name, chart) {
    Object.assign(this, { bridge, name, chart });
    this.layer = document.createElement("div");
    this.layer.className = "attn-layer";
    this.words = svg(this.layer, "svg", { "aria-hidden": true });
    this.light = svg(this.layer, "svg", { "aria-hidden": true });
    this.stale = true;
    this.focus = this.layer.appendChild(document.createElement("div"));
    this.focus.className = "attn-focus";
    this.focus.tabIndex = 0;
    this.focus.setAttribute("role", "application");
    this.listen();
  }

  listen() {
    const { bridge, chart, focus } = this;
    chart.on("plotly_afterplot", () => this.plotted());
    chart.addEventListener("pointermove", (event) => bridge.hover(this, event));
    chart.addEventListener("pointerdown", (event) => event.pointerType === "touch" && bridge.hover(this, event));
    chart.addEventListener("pointerleave", () => bridge.leave());
    chart.addEventListener("click", (event) => bridge.click(this, event));
    focus.addEventListener("keydown", (event) => bridge.key(this, event));
    focus.addEventListener("focus", () => {
      bridge.held = this.name;
      bridge.enter(this);
    });
    focus.addEventListener("blur", () => bridge.leave());
  }

  /** Have the chart show what it is to show, if that fits it. */
  give() {
    const given = this.bridge.host?.attnPictures?.[this.name];
    if (!given || given.trace.name !== this.trace?.name) return;
    this.describe(given.alt);
    const look = `${given.revision} ${this.bridge.dark}`;
    if (look === this.look) return;
    Object.assign(this, { given, look, ready: this.dressed(given.trace) });
    this.hand();
    if (!this.listens) setTimeout(() => this.hand());
  }

  /** A trace in the colours of the page, each head on a scale of its own where that is asked for. */
  dressed(trace) {
    const { dark, ends, widths, across } = JSON.parse(trace.meta);
    const worn = { ...trace };
    if (this.bridge.dark && dark.length) worn.colorscale = trace.colorscale.map(([at], i) => [at, dark[i]]);
    if (!ends) return worn;
    const [columns, lines] = [Math.max(...widths) + 1, (trace.z.length + 1) / Math.ceil(widths.length / across)];
    const end = (row, column) => ends[Math.floor(row / lines) * across + Math.floor(column / columns)] || 1;
    const z = trace.z.map((numbers, row) => numbers.map((number, column) => number / end(row, column)));
    Object.assign(worn, { z, zmin: -1, zmax: 1 });
    NUMBERS.set(worn, trace.z);
    return worn;
  }

  /** Streamlit takes over what a chart holds when Plotly says that it has redrawn one, and then has it drawn. The chart
   *  holds it for no longer than that: Plotly may be in the midst of drawing what it held before. */
  hand() {
    const { chart, given } = this;
    if (!given || !this.trace || this.trace === this.ready) return;
    this.keep();
    const { data, layout } = chart;
    const { xaxis, yaxis } = given.layout; // Plotly writes into those that it is handed
    const axes = { xaxis: { ...xaxis, domain: [0, 1] }, yaxis: { ...yaxis, domain: [0, 1] } };
    Object.assign(chart, { data: [this.ready], layout: { ...layout, ...given.layout, ...axes, shapes: this.shapes } });
    chart.emit("plotly_redraw");
    Object.assign(chart, { data, layout });
  }

  /** Keep what the cells look like over the picture that comes, if it has the same cells: their colours glide to it. */
  keep() {
    this.old?.remove();
    this.old = null;
    const image = this.chart.querySelector(".heatmaplayer image");
    const { x, y } = this.trace;
    const same = x?.join() === this.ready.x.join() && y?.join() === this.ready.y.join();
    if (!image || !this.w || !same || x.length * y.length > MOST_GLIDING || UNMOVED.matches) return;
    this.old = document.createElement("img");
    this.old.src = image.getAttribute("href") ?? image.getAttributeNS("http://www.w3.org/1999/xlink", "href");
    this.old.className = "attn-old";
    this.old.alt = "";
    const [left, top, width, height] = [this.x, this.y, this.kx * x.at(-1), this.ky * y.at(-1)].map((at) => `${at}px`);
    Object.assign(this.old.style, { left, top, width, height });
    this.layer.prepend(this.old);
  }

  /** Let the old colours go, now that the new ones are drawn under them. */
  glide() {
    const { old } = this;
    this.old = null;
    old?.animate([{ opacity: 1 }, { opacity: 0 }], { duration: GLIDE, easing: "ease-out" }).finished.then(() => old.remove());
  }

  /** What lies under and over the cells; grey is fainter on a dark page, where it would be the lightest of all. */
  get shapes() {
    const { shapes } = this.given.layout;
    return this.bridge.dark ? shapes.map((shape) => (shape.fillcolor ? { ...shape, fillcolor: MASKED_IN_THE_DARK } : shape)) : shapes;
  }

  /** A chart that is being built listens only once it has been plotted and the promises that wait for that are kept. */
  plotted() {
    this.listens = true;
    if (!this.trace?.z) this.w = 0; // there is nothing to point at
    if (this.trace !== this.shown) this.bridge.leave(); // what the tip says may be true no longer
    if (this.old && this.trace === this.ready) this.glide();
    this.shown = this.trace;
    this.refit();
    setTimeout(() => this.hand());
    this.bridge.draw(this);
  }

  /** Have a picture drawn again that is smaller than it was laid out though there is room for it: drawn while the chart
   *  still had another width, it took a part of that, and in the width that came then it took the same part. */
  refit() {
    const { given, look, trace, image } = this;
    const width = this.chart.querySelector(".svg-container")?.clientWidth;
    if (!given || !image || !trace?.x || trace !== this.ready || this.refitted === `${look} ${width}`) return;
    const { l = 0, r = 0 } = given.layout.margin ?? {};
    const planned = trace.x[trace.x.length - 1];
    if (image.getBoundingClientRect().width > planned - 1 || width < l + planned + r) return;
    this.refitted = `${look} ${width}`; // once: what is small for another reason stays so
    this.ready = this.dressed(given.trace);
  }

  /** The text alternative; Streamlit would build a chart anew that it is told another one of. */
  describe(alt) {
    const { words, names } = this.bridge.data;
    this.focus.setAttribute("aria-label", `${names[this.name] ?? this.name}. ${words.keys}`);
    const figure = this.chart.closest(".stPlotlyChart");
    if (!figure || !alt) return;
    figure.setAttribute("role", "figure");
    figure.setAttribute("aria-label", alt);
  }

  /** What shows where the cells are: their image, or where no cell is drawn, its ground; null while there is neither. */
  get image() {
    return this.chart.querySelector(".heatmaplayer image") ?? this.chart.querySelector(".shapelayer path");
  }

  get trace() {
    return this.chart.data?.[0]; // nothing once Plotly has taken the chart away
  }

  get meta() {
    const { meta } = this.trace;
    if (this.read !== meta) {
      [this.read, this.parsed] = [meta, JSON.parse(meta)];
      this.parsed.nan &&= Uint8Array.from(atob(this.parsed.nan), (c) => c.charCodeAt(0));
    }
    return this.parsed;
  }

  get columns() {
    return Math.max(...this.meta.widths);
  }

  get rows() {
    return Math.ceil(this.meta.rows.length / this.meta.block[0]);
  }

  /** Where the image is, in pixels of the chart; false while there is none. */
  measure() {
    const paper = this.chart.querySelector(".svg-container");
    const { image } = this;
    if (!paper || !image || !this.trace?.meta) return false;
    if (this.layer.parentNode !== paper) paper.append(this.layer);
    const outer = paper.getBoundingClientRect();
    const inner = image.getBoundingClientRect();
    if (!inner.width) return false;
    const { x, y } = this.trace;
    this.x = inner.left - outer.left;
    this.y = inner.top - outer.top;
    this.kx = inner.width / x[x.length - 1];
    this.ky = inner.height / y[y.length - 1];
    this.w = (x[this.columns] / this.columns) * this.kx;
    this.h = (y[this.rows] / this.rows) * this.ky;
    this.height = outer.height;
    return true;
  }

  /** The left edge of a column of a head, or the right one of the column before. */
  edgeX(head, column) {
    return this.x + this.trace.x[(head % this.meta.across) * (this.columns + 1) + column] * this.kx;
  }

  edgeY(head, row) {
    return this.y + this.trace.y[Math.floor(head / this.meta.across) * (this.rows + 1) + row] * this.ky;
  }

  corner(head) {
    return { x: this.edgeX(head, 0), y: this.edgeY(head, 0) };
  }

  /** x, y, width and height of a run of cells. */
  box(head, row, column, rows = 1, columns = 1) {
    const [x, y] = [this.edgeX(head, column), this.edgeY(head, row)];
    return [x, y, this.edgeX(head, column + columns) - x, this.edgeY(head, row + rows) - y];
  }

  /** The place among all words of one along an axis of the array, of which only some may be shown. */
  place(axis, at) {
    return at === null ? null : (this.meta.places?.[axis]?.[at] ?? at);
  }

  /** Where along an axis of the array a place among all words is; null where it is not shown. */
  index(axis, place) {
    const shown = this.meta.places?.[axis];
    const at = shown && place !== null ? shown.indexOf(place) : place;
    return at < 0 ? null : at;
  }

  /** The last head of a column of heads: the words stand under it. */
  lowest(tile) {
    const { heads, across } = this.meta;
    return tile + across * Math.floor((heads.length - 1 - tile) / across);
  }

  /** The cell under a point of the screen, the row or column whose word is there, or the head whose name; else null. */
  locate(event) {
    if (!this.w) return null;
    const outer = this.layer.getBoundingClientRect();
    const { across, widths, room } = this.meta;
    const [px, py] = [event.clientX - outer.left, event.clientY - outer.top];
    const at = (edges, length) => edges.reduce((found, edge, i) => (edge <= length ? i : found), -1);
    const x = at(this.trace.x, (px - this.x) / this.kx);
    const y = at(this.trace.y, (py - this.y) / this.ky);
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

  /** What the picture that is drawn shows, row by row: the next one may be on its way already. */
  get numbers() {
    return NUMBERS.get(this.trace) ?? this.trace.z;
  }

  /** The number in a cell; null where it is masked, NaN where it is not a number. */
  value({ head, row, column }) {
    const { across, nan } = this.meta;
    const x = (head % across) * (this.columns + 1) + column;
    const y = Math.floor(head / across) * (this.rows + 1) + row;
    const number = this.numbers[y][x];
    const bit = (head * this.rows + row) * this.columns + column;
    return Number.isNaN(number) && !(nan && (nan[bit >> 3] >> (7 - (bit & 7))) & 1) ? null : number;
  }

  /** What a cell says: its number, that it is masked, or that it is no number. */
  say(cell, digits) {
    const { words } = this.bridge.data;
    const number = this.value(cell);
    if (number === null) return words.masked;
    if (Number.isNaN(number)) return words.nan;
    return digits && Number.isFinite(number) ? String(Number(number.toPrecision(digits))) : full(number, this.numbers[0] instanceof Float32Array);
  }

  /** The word of a row of cells: the first of those that share it, or the one at a place of the array. */
  rowWord(row, place = null) {
    const { rows, axes, block } = this.meta;
    const word = rows[place ?? row * block[0]];
    return word === "" && axes[0] === "row" ? "" : visible(word, this.bridge.data.words); // a vector's row has no word
  }

  columnWord(column, place = null) {
    const { columns, block } = this.meta;
    const at = place ?? column * block[1];
    return columns ? visible(columns[at], this.bridge.data.words) : String(at + 1);
  }

  /** The places of the array that share a row or a column of cells, counted from 1; a single one where none do. */
  places(at, axis) {
    const { block, rows, columns, true: widths } = this.meta;
    const length = axis === 0 ? rows.length : columns ? columns.length : Math.max(...widths);
    const [first, last] = [at * block[axis], Math.min((at + 1) * block[axis], length) - 1].map((i) => this.place(axis, i) + 1);
    return first === last ? String(first) : `${first}–${last}`;
  }
}
