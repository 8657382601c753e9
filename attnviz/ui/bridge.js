// Writes words, head names and numbers over the heat maps, and follows the pointer and the arrow keys.
//
// The numbers come apart from the charts (pictures.js) and are put into them here, so that a chart that is there draws
// them; a trace's `meta` says how its heads are laid out; the pixels are read off the drawn image. Words of a visitor are
// only ever drawn on a canvas or set as text. Everything else is drawn here, so a click redraws no chart.

const GRAPHEMES = new Intl.Segmenter(undefined, { granularity: "grapheme" });
const BIDI = /[\u202a-\u202e\u2066-\u2069]/g;
const BLANK = /^[\s\p{C}\p{Z}]*$/u;
const GAP_FROM = 14; // pixels of a cell
const PICTURES = "attnviz:pictures"; // the host has other `attnPictures`
const ROW = "attnviz:row"; // detail {row, head}: a query is pointed at in some view, or none (row null)
const ODD = { ground: "#f5c518", ink: "#111" }; // on neither colour scale

/** A token as it can be seen: a blank one shows what it is made of. */
function visible(token, words) {
  if (token === "") return words.empty;
  if (/^\s+$/.test(token)) return [...token].map((c) => ({ "\n": "↵", "\t": "→" })[c] || "·").join("");
  if (BLANK.test(token)) return [...token].map((c) => "U+" + c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")).join(" ");
  return token.replace(BIDI, "").replace(/\s/g, " ");
}

const pen = document.createElement("canvas").getContext("2d"); // never shown: it measures words

/** `text` cut by whole graphemes to `room` pixels in the pen's font. */
function cut(text, room) {
  if (text.length < 60 && pen.measureText(text).width <= room) return text;
  let kept = "";
  for (const { segment } of GRAPHEMES.segment(text.slice(0, 400))) {
    if (pen.measureText(kept + segment + "…").width > room) break;
    kept += segment;
  }
  return kept + "…";
}

/** An element of an SVG drawing; a word enters it as text only. */
function svg(parent, kind, attributes, word) {
  const element = parent.appendChild(document.createElementNS("http://www.w3.org/2000/svg", kind));
  for (const name in attributes) element.setAttribute(name, attributes[name]);
  if (word !== undefined) element.textContent = word;
  return element;
}

const minus = (text) => text.replace(/-/g, "−");

/** All the digits a number has: 17 at most in double precision, 9 in single. */
function full(number, single) {
  if (!Number.isFinite(number)) return minus(String(number).replace("Infinity", "∞"));
  if (!single) return minus(String(number));
  for (let digits = 6; ; digits++) {
    const short = Number(number.toPrecision(digits));
    if (digits > 8 || Math.fround(short) === number) return "≈ " + minus(String(short));
  }
}

/** As many digits as fit into `room`, or null; an integer is written as one. */
function fitting(number, room) {
  const ways = Number.isInteger(number) && Math.abs(number) < 1e4 ? [String(number)] : [3, 2, 1].map((n) => number.toPrecision(n));
  return ways.map(minus).find((text) => pen.measureText(text).width <= room) ?? null;
}

function rgb(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

class Picture {
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
    this.focus.setAttribute("aria-label", bridge.data.words.keys);
    this.listen();
  }

  listen() {
    const { bridge, chart, focus } = this;
    chart.on("plotly_afterplot", () => this.plotted());
    chart.addEventListener("pointermove", (event) => bridge.hover(this, event));
    chart.addEventListener("pointerleave", () => bridge.leave());
    chart.addEventListener("click", (event) => bridge.click(this, event));
    focus.addEventListener("keydown", (event) => bridge.key(this, event));
    focus.addEventListener("focus", () => bridge.enter(this));
    focus.addEventListener("blur", () => bridge.leave());
  }

  /** Have the chart show what it is to show, if that fits it. */
  give() {
    const given = this.bridge.host?.attnPictures?.[this.name];
    if (!given || given.trace.name !== this.trace?.name) return;
    this.describe(given.alt);
    if (given.revision === this.given?.revision) return;
    this.given = given;
    this.hand();
    if (!this.listens) setTimeout(() => this.hand());
  }

  /** Streamlit takes over what a chart holds when Plotly says that it has redrawn one, and then has it drawn. The chart
   *  holds it for no longer than that: Plotly may be in the midst of drawing what it held before. */
  hand() {
    const { chart, given } = this;
    if (!given || !this.trace || this.trace === given.trace) return;
    const { data, layout } = chart;
    Object.assign(chart, { data: [given.trace], layout: { ...layout, ...given.layout } });
    chart.emit("plotly_redraw");
    Object.assign(chart, { data, layout });
  }

  /** A chart that is being built listens only once it has been plotted and the promises that wait for that are kept. */
  plotted() {
    this.listens = true;
    if (!this.trace?.z) this.w = 0; // there is nothing to point at
    if (this.trace !== this.shown) this.bridge.leave(); // what the tip says may be true no longer
    this.shown = this.trace;
    setTimeout(() => this.hand());
    this.bridge.draw(this);
  }

  /** The text alternative; Streamlit would build a chart anew that it is told another one of. */
  describe(alt) {
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
    return this.meta.rows.length;
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
    this.x = inner.left - outer.left;
    this.y = inner.top - outer.top;
    this.w = inner.width / this.meta.size[0];
    this.h = inner.height / this.meta.size[1];
    this.height = outer.height;
    return true;
  }

  corner(head) {
    const { across, gap } = this.meta;
    return {
      x: this.x + (head % across) * (this.columns + gap[0]) * this.w,
      y: this.y + Math.floor(head / across) * (this.rows + gap[1]) * this.h,
    };
  }

  /** The cell under a point of the screen, or the row or column whose word is there; null elsewhere. */
  locate(event) {
    if (!this.w) return null;
    const outer = this.layer.getBoundingClientRect();
    const { across, gap, size, widths } = this.meta;
    const x = (event.clientX - outer.left - this.x) / this.w;
    const y = (event.clientY - outer.top - this.y) / this.h;
    const tileX = Math.floor(x / (this.columns + gap[0]));
    const tileY = Math.floor(y / (this.rows + gap[1]));
    const column = Math.floor(x - tileX * (this.columns + gap[0]));
    const row = Math.floor(y - tileY * (this.rows + gap[1]));
    const inRows = y >= 0 && y < size[1] && row < this.rows;
    const inColumns = x >= 0 && x < size[0] && column < this.columns;
    const head = tileY * across + tileX;
    if (inRows && inColumns) return column < widths[head] ? { head, row, column } : null;
    if (inRows && x < 0) return { row };
    return inColumns && y >= size[1] ? { column } : null;
  }

  /** The number in a cell; null where it is masked, NaN where it is not a number. */
  value({ head, row, column }) {
    const { across, gap, nan } = this.meta;
    const x = (head % across) * (this.columns + gap[0]) + column;
    const y = Math.floor(head / across) * (this.rows + gap[1]) + row;
    const number = this.trace.z[y][x];
    const bit = (head * this.rows + row) * this.columns + column;
    return Number.isNaN(number) && !(nan && (nan[bit >> 3] >> (7 - (bit & 7))) & 1) ? null : number;
  }

  /** What a cell says: its number, that it is masked, or that it is no number. */
  say(cell, digits) {
    const { words } = this.bridge.data;
    const number = this.value(cell);
    if (number === null) return words.masked;
    if (Number.isNaN(number)) return words.nan;
    return digits && Number.isFinite(number) ? String(Number(number.toPrecision(digits))) : full(number, this.trace.z[0] instanceof Float32Array);
  }

  rowWord(row) {
    const { rows, axes } = this.meta;
    return rows[row] === "" && axes[0] === "row" ? "" : visible(rows[row], this.bridge.data.words); // a vector's row has no word
  }

  columnWord(column) {
    return this.meta.columns ? visible(this.meta.columns[column], this.bridge.data.words) : String(column + 1);
  }

  draw() {
    this.family = this.layer.style.fontFamily = getComputedStyle(this.chart).fontFamily;
    this.size = this.meta.large && this.h >= 26 ? 18 : this.h >= 20 ? 13 : this.h >= 14 ? 12 : 10;
    this.drawWords();
    this.drawLight();
  }

  /** Whether cells are large enough for their numbers, or for their signs where these are asked for. */
  get written() {
    return {
      numbers: this.w >= 28 && this.h >= 18,
      signs: this.bridge.signs && this.trace.zmin < 0 && Math.min(this.w, this.h) >= 5,
    };
  }

  /** Everything that stands over the cells, unless all that it depends on is as it was. */
  drawWords() {
    const { x, y, w, h, height, family, bridge, meta } = this;
    const { numbers, signs } = this.written;
    const inside = numbers || signs || meta.odd || meta.masked ? this.given?.revision : null;
    const drawn = JSON.stringify([x, y, w, h, height, family, bridge.ground, bridge.data.words, numbers, signs, inside, this.trace.meta]);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    this.words.replaceChildren();
    this.drawGaps();
    this.drawFrames();
    this.drawNames();
    this.drawRowWords(this.words);
    this.drawColumnWords(this.words);
    this.drawCells();
  }

  /** A group in which words of one size are written. */
  group(parent, size, weight, anchor) {
    pen.font = `${weight} ${size}px ${this.family}`;
    return svg(parent, "g", { "font-size": size, "font-weight": weight, "text-anchor": anchor });
  }

  /** Thin gaps around every cell that is not masked, while cells are large; masked ones stay one shape. */
  drawGaps() {
    if (Math.min(this.w, this.h) < GAP_FROM) return;
    const lines = [];
    const line = (at, from, to, level) => lines.push(level ? `M${from},${at}H${to}` : `M${at},${from}V${to}`);
    this.meta.widths.forEach((width, head) => {
      const { x, y } = this.corner(head);
      const shown = (row, column) => !this.meta.masked || this.value({ head, row, column }) !== null;
      for (let row = 1; row < this.rows; row++)
        this.runs(width, (at) => shown(row, at) || shown(row - 1, at), (from, to) => line(y + row * this.h, x + from * this.w, x + to * this.w, true));
      for (let column = 1; column < width; column++)
        this.runs(this.rows, (at) => shown(at, column) || shown(at, column - 1), (from, to) => line(x + column * this.w, y + from * this.h, y + to * this.h));
    });
    svg(this.words, "path", { d: lines.join(""), stroke: this.bridge.ground, "stroke-width": 1, fill: "none" });
  }

  /** Calls `found(from, to)` for every run of places below `length` that pass. */
  runs(length, passes, found) {
    for (let from = 0, at = 0; at <= length; at++)
      if (at === length || !passes(at)) {
        if (at > from) found(from, at);
        from = at + 1;
      }
  }

  drawFrames() {
    const boxes = this.meta.widths.map((width, head) => {
      const { x, y } = this.corner(head);
      const [w, h] = [Math.round(width * this.w) + 1, Math.round(this.rows * this.h) + 1];
      return `M${Math.round(x) - 0.5},${Math.round(y) - 0.5}h${w}v${h}h${-w}Z`;
    });
    svg(this.words, "path", { d: boxes.join(""), stroke: "rgba(128,128,128,.45)", fill: "none" });
  }

  drawNames() {
    const { heads, widths, gap } = this.meta;
    const ragged = new Set(widths).size > 1;
    const room = (this.columns + gap[0]) * this.w - 4;
    const group = this.group(this.words, this.meta.large ? 15 : 12, 600, "start");
    heads.forEach((name, head) => {
      const { x, y } = this.corner(head);
      const wide = ragged ? ` · ${widths[head]} ${this.bridge.data.words.wide}` : "";
      const number = name.match(/\d+/)?.[0] ?? "";
      const short = name.split(" · ")[0];
      const ways = [name + wide, name, short, number + (ragged ? ` · ${widths[head]}` : ""), number];
      svg(group, "text", { x, y: y - 5 }, ways.find((way) => pen.measureText(way).width <= room) ?? "");
    });
  }

  /** The words left of every row of heads, as many as there is room for; or `only` one of them, over the others. */
  drawRowWords(parent, only = null) {
    const every = Math.ceil(this.size / this.h);
    const { heads, across } = this.meta;
    const group = this.group(parent, this.size, only === null ? 400 : 600, "end");
    for (let head = 0; head < heads.length; head += across) {
      const { y } = this.corner(head);
      for (let row = only ?? 0; row < (only === null ? this.rows : only + 1); row += every) {
        const word = cut(this.rowWord(row), this.x - 8);
        const place = { x: this.x - 6, y: y + (row + 0.5) * this.h };
        if (only !== null) this.wipe(group, row, every, y, this.h, this.size, (y, height) => ({ x: 0, y, width: this.x - 2, height }));
        svg(group, "text", { ...place, "dominant-baseline": "central" }, word);
      }
    }
  }

  /** Whether the words under the columns can stand level, in the pen's font. */
  get level() {
    if (!this.meta.columns) return true;
    return this.w > 26 && this.meta.columns.every((_, at) => pen.measureText(this.columnWord(at)).width <= this.w - 4);
  }

  drawColumnWords(parent, only = null) {
    const size = Math.min(this.size, this.w >= 26 ? 18 : this.w >= 20 ? 13 : this.w >= 14 ? 12 : 10);
    const { heads, across, widths, columns } = this.meta;
    const group = this.group(parent, size, only === null ? 400 : 600, "end");
    const level = this.level;
    if (level) group.setAttribute("text-anchor", "middle");
    const wide = columns ? size : pen.measureText(String(this.columns)).width + 5;
    const every = level && columns ? 1 : Math.ceil(wide / this.w);
    for (let tile = 0; tile < Math.min(across, heads.length); tile++) {
      const head = tile + across * Math.floor((heads.length - 1 - tile) / across);
      const { x, y } = this.corner(head);
      const last = only === null ? widths[head] : Math.min(only + 1, widths[head]);
      for (let column = only ?? 0; column < last; column += every) {
        const [middle, bottom] = [x + (column + 0.5) * this.w, y + this.rows * this.h];
        const room = level ? size + 6 : this.height - bottom - 2;
        if (only !== null) this.wipe(group, column, every, x, this.w, wide, (x, width) => ({ x, y: bottom + 2, width, height: room }));
        this.drawColumnWord(group, this.columnWord(column), middle, bottom, size, level);
      }
    }
  }

  drawColumnWord(group, word, x, y, size, level) {
    if (level) {
      svg(group, "text", { x, y: y + 5 + size / 2, "dominant-baseline": "central" }, word);
    } else {
      const room = this.height - y - 8;
      svg(group, "text", { transform: `translate(${x},${y + 6})rotate(-90)`, "dominant-baseline": "central" }, cut(word, room));
    }
  }

  /** Make room for a word that is to stand out; one that stands between two others, of which `every` so many is
   *  written, hides both. */
  wipe(group, at, every, start, cell, size, box) {
    const first = at - (at % every);
    const last = Math.ceil(at / every) * every;
    const length = (last - first) * cell + size + 2;
    svg(group, "rect", { ...box(start + (first + 0.5) * cell - size / 2 - 1, length), fill: this.bridge.ground });
  }

  /** Numbers where they fit, the sign where it is asked for, and whatever is not a finite number. */
  drawCells() {
    const { numbers, signs } = this.written;
    if (!numbers && !signs && !this.meta.odd) return;
    const group = this.group(this.words, Math.min(this.meta.large ? 18 : 13, Math.round(this.w * 0.32)), 400, "middle");
    this.meta.widths.forEach((width, head) => {
      const { x, y } = this.corner(head);
      for (let row = 0; row < this.rows; row++)
        for (let column = 0; column < width; column++) {
          const number = this.value({ head, row, column });
          if (number !== null) this.drawCell(group, number, x + column * this.w, y + row * this.h, numbers, signs);
        }
    });
  }

  drawCell(group, number, x, y, numbers, signs) {
    const write = (text, fill) =>
      svg(group, "text", { x: x + this.w / 2, y: y + this.h / 2, style: `fill:${fill}`, "dominant-baseline": "central" }, text);
    if (!Number.isFinite(number)) {
      svg(group, "rect", { x, y, width: this.w, height: this.h, fill: ODD.ground });
      const text = Number.isNaN(number) ? "NaN" : minus(String(number).replace("Infinity", "∞"));
      if (pen.measureText(text).width <= this.w && this.h >= 9) write(text, ODD.ink);
      return;
    }
    const much = Math.abs(number) >= 1e-3 * this.trace.zmax;
    const text = numbers && (fitting(number, this.w - 7) ?? (much ? "…" : "≈0")); // a blank would read as nothing there
    if (text) write(text, this.contrast(number));
    else if (signs && number < 0)
      svg(group, "rect", { x: x + this.w * 0.28, y: y + this.h / 2 - 0.5, width: this.w * 0.44, height: Math.max(1, this.h * 0.07), fill: this.contrast(number) });
  }

  /** Black or white, whichever reads better on the colour of a number. */
  contrast(number) {
    const { zmin, zmax, colorscale } = this.trace;
    const at = Math.min(Math.max((number - zmin) / (zmax - zmin), 0), 1) * (colorscale.length - 1);
    const low = rgb(colorscale[Math.floor(at)][1]);
    const high = rgb(colorscale[Math.ceil(at)][1]);
    const [r, g, b] = low.map((part, i) => ((part + (high[i] - part) * (at % 1)) / 255) ** 2.2);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.3 ? "#16181d" : "#fff";
  }

  /** The lit rows, columns and cells: under the pointer thin, chosen ones thick and their words in the accent colour. */
  drawLight() {
    const { lit, picked } = this.bridge;
    if (!this.w) return;
    this.light.replaceChildren();
    if (lit) this.drawMark(this.own(lit), 1, true);
    if (picked) this.drawMark(this.own(picked), 2, picked.column === null || picked.row === null);
  }

  /** A mark in this picture's own rows and columns; axes of other names do not concern it. */
  own(mark) {
    const [row, column] = this.meta.axes.map((axis) => mark[axis] ?? null);
    const head = mark.heads === this.meta.heads.length ? mark.head : null; // key/value heads have other numbers
    return { head, row: row !== null && row < this.rows ? row : null, column: column !== null && column < this.columns ? column : null };
  }

  drawMark({ head, row, column }, line, everywhere) {
    const words = svg(this.light, "g", line > 1 ? { class: "attn-chosen" } : {});
    if (row !== null) this.drawRowWords(words, row);
    if (column !== null) this.drawColumnWords(words, column);
    const rings = [];
    this.meta.widths.forEach((width, at) => {
      const { x, y } = this.corner(at);
      const inside = column !== null && column < width;
      const here = at === head;
      if (row !== null && (everywhere || (here && !inside))) rings.push([x, y + row * this.h, width * this.w, this.h]);
      if (inside && everywhere) rings.push([x + column * this.w, y, this.w, this.rows * this.h]);
      if (row !== null && inside && here) this.drawRings([[x + column * this.w, y + row * this.h, this.w, this.h]], 2);
    });
    if (rings.length) this.drawRings(rings, line);
  }

  /** Boxes that stand out on any cell: thick ones by an edge in the colour of the page, thin ones by inversion. */
  drawRings(boxes, line) {
    const d = boxes.map(([x, y, w, h]) => `M${x - 0.5},${y - 0.5}h${w + 1}v${h + 1}h${-w - 1}Z`).join("");
    if (line > 1) svg(this.light, "path", { d, stroke: this.bridge.ground, "stroke-width": line + 2, fill: "none" });
    svg(this.light, "path", { d, class: line > 1 ? "" : "attn-thin", stroke: "currentColor", "stroke-width": line, fill: "none" });
  }
}

class Bridge {
  constructor(root) {
    this.root = root;
    this.pictures = new Map();
    this.sent = [];
    this.tip = root.appendChild(document.createElement("div"));
    this.tip.className = "attn-tip";
    this.live = root.appendChild(document.createElement("div"));
    this.live.className = "attn-live";
    this.live.setAttribute("aria-live", "polite");
    this.stop = new AbortController();
    const { signal } = this.stop;
    window.addEventListener("resize", () => this.redraw(), { signal });
    window.addEventListener("scroll", () => this.leave(), { signal, capture: true });
    window.addEventListener("beforeprint", () => this.print(true), { signal });
    window.addEventListener("afterprint", () => this.print(false), { signal });
    window.addEventListener(ROW, ({ detail }) => this.hear(detail), { signal });
    document.fonts.ready.then(() => this.redraw());
  }

  update(bytes, setStateValue, setTriggerValue) {
    const data = JSON.parse(new TextDecoder().decode(bytes));
    const first = !this.data;
    Object.assign(this, { data, setStateValue, setTriggerValue });
    this.adopt(data.picked, first);
    const host = this.root.closest(".st-key-" + data.key);
    if (host && host !== this.host) this.follow(host);
    this.bind();
    this.pictures.forEach((picture) => this.draw(picture));
  }

  /** Take the page's selection, unless it is an echo of a choice that has been made here and may be outdated. */
  adopt(picked, first) {
    const echo = this.sent.indexOf(JSON.stringify(picked));
    if (echo >= 0) this.sent.splice(0, echo + 1);
    else if (first || JSON.stringify(picked) !== this.given) [this.chosen, this.sent] = [picked, []];
    this.given = JSON.stringify(picked);
  }

  follow(host) {
    this.host = host;
    host.classList.add("attn-host");
    host.addEventListener(PICTURES, () => this.pictures.forEach((picture) => picture.give()), { signal: this.stop.signal });
    this.observer?.disconnect();
    this.observer = new MutationObserver(() => this.bind());
    this.observer.observe(host, { childList: true, subtree: true });
    this.resizer?.disconnect();
    this.resizer = new ResizeObserver(() => this.tellSize());
    this.resizer.observe(host);
    this.block = host.closest("[data-testid=stMainBlockContainer]");
    if (this.data.fit && this.block) this.resizer.observe(this.block);
  }

  close() {
    this.stop.abort();
    this.observer?.disconnect();
    this.resizer?.disconnect();
    clearTimeout(this.timer);
    clearTimeout(this.later);
    cancelAnimationFrame(this.frame);
    this.pictures.forEach((picture) => picture.layer.remove());
  }

  /** Tell the page how wide it is, and how much room is left, after a pause where it is not for the first time. */
  tellSize() {
    this.tellWidth();
    if (this.data.fit) this.tellRoom();
  }

  /** The height that the window leaves for the pictures: what it has less all that stands above and below them. */
  tellRoom() {
    clearTimeout(this.later);
    const main = this.block?.closest("[data-testid=stMain]");
    const last = this.block?.querySelector("[data-testid=stVerticalBlock]");
    if (!main || !last) return;
    const [own, all] = [this.host, last].map((element) => element.getBoundingClientRect());
    const around = own.top - this.block.getBoundingClientRect().top + all.bottom - own.bottom;
    const room = Math.floor((main.clientHeight - around - parseFloat(getComputedStyle(this.block).paddingBottom)) / 8) * 8;
    if (room === this.room || room < this.data.fit) return; // opened lines below may well be scrolled to
    const tell = () => this.setStateValue("room", (this.room = room));
    this.room === undefined ? tell() : (this.later = setTimeout(tell, 200));
  }

  /** Tell the page how wide it is, if that would make another picture; never twice, so that it cannot swing. */
  tellWidth() {
    clearTimeout(this.timer);
    const width = Math.floor(this.host.clientWidth / 8) * 8;
    const told = this.told ?? this.data.width;
    if (width < 8 || (width <= told && width > told - 8) || (width > told && width < told + 24)) return;
    const tell = () => this.setStateValue("width", (this.told = width));
    this.told === undefined ? tell() : (this.timer = setTimeout(tell, 200));
  }

  bind() {
    for (const [name, picture] of this.pictures)
      if (!this.data.stages.includes(name) && this.pictures.delete(name)) picture.layer.remove();
    for (const name of this.data.stages) {
      const chart = this.host?.querySelector(`.st-key-${this.data.key}-${name} .js-plotly-plot`);
      const known = this.pictures.get(name);
      if (!chart?.on || !chart.data?.length || known?.chart === chart) continue;
      const focused = known && document.activeElement === known.focus;
      known?.layer.remove();
      this.leave(); // what the tip says may be true no longer
      const picture = new Picture(this, name, chart);
      this.pictures.set(name, picture);
      picture.give();
      this.draw(picture);
      if (focused) this.refocus = picture;
    }
  }

  colours() {
    const style = getComputedStyle(this.root);
    this.ground = style.getPropertyValue("--st-background-color") || "#fff";
    const accent = style.getPropertyValue("--st-primary-color");
    this.pictures.forEach(({ layer }) => layer.style.setProperty("--attn-accent", accent));
  }

  /** Draw a picture at the next frame, once, however often it is asked for. */
  draw(picture) {
    picture.stale = true;
    this.frame ??= requestAnimationFrame(() => this.drawStale());
  }

  drawStale() {
    this.frame = undefined;
    this.colours();
    const ready = [...this.pictures.values()].filter((picture) => picture.stale && picture.measure());
    for (const picture of ready) {
      picture.stale = false;
      picture.draw();
    }
    if (this.refocus?.layer.isConnected) this.refocus = this.refocus.focus.focus();
  }

  /** Draw everything anew: fonts may have come, or the window has another size. */
  redraw() {
    this.pictures.forEach((picture) => {
      picture.drawn = null;
      this.draw(picture);
    });
  }

  print(printing) {
    this.printing = printing;
    this.redraw();
    this.drawStale();
  }

  get signs() {
    return this.printing || this.data.signs;
  }

  get picked() {
    const cell = this.chosen;
    const picture = cell && this.pictures.get(cell.stage);
    return picture?.w ? this.mark(picture, cell) : null;
  }

  /** A cell by the names of its axes, so that other stages know what of it concerns them. */
  mark(picture, { head = null, row = null, column = null }) {
    const { axes, heads } = picture.meta;
    return { stage: picture.name, head, row, column, heads: heads.length, [axes[0]]: row, [axes[1]]: column };
  }

  /** Tell other views which query is pointed at; they tell this one in the same way. */
  tell(row, head = null) {
    this.telling = true;
    window.dispatchEvent(new CustomEvent(ROW, { detail: { row, head } }));
    this.telling = false;
  }

  hear({ row }) {
    if (!this.telling) this.light(row === null ? null : { query: row });
  }

  /** Light a mark in all stages; null puts the light out. */
  light(mark) {
    this.lit = mark;
    this.pictures.forEach((picture) => picture.drawLight());
  }

  show(picture, cell, x, y) {
    const mark = this.mark(picture, cell);
    if (JSON.stringify(mark) !== JSON.stringify(this.lit)) {
      this.light(mark);
      this.tell(mark.query ?? null, mark.head);
      this.fillTip(picture, cell);
    }
    const { width, height } = this.tip.getBoundingClientRect();
    this.tip.style.left = Math.max(4, x + 14 + width > window.innerWidth ? x - width - 10 : x + 14) + "px";
    this.tip.style.top = Math.max(4, y + 16 + height > window.innerHeight ? y - height - 10 : y + 16) + "px";
  }

  /** What an axis is called on the page. */
  axis(name) {
    return this.data.axes[name] ?? name;
  }

  fillTip(picture, cell) {
    const { axes, heads } = picture.meta;
    const lines = [];
    if (heads[cell.head]) lines.push(["", heads[cell.head]]);
    if (cell.row !== undefined) lines.push([this.axis(axes[0]), picture.rowWord(cell.row), cell.row + 1]);
    if (cell.column !== undefined) lines.push([this.axis(axes[1]), picture.columnWord(cell.column), picture.meta.columns && cell.column + 1]);
    if (cell.head !== undefined) lines.push(["value", picture.say(cell)]);
    this.tip.replaceChildren(...lines.map((line) => this.tipLine(...line)));
    this.tip.style.display = "block";
  }

  tipLine(label, text, place) {
    const line = document.createElement("div");
    const bold = document.createElement("bdi");
    const cells = [...GRAPHEMES.segment(text.slice(0, 400))].map(({ segment }) => segment);
    bold.textContent = cells.length > 48 ? cells.slice(0, 47).join("") + "…" : text;
    if (label === "value") line.className = "attn-value";
    else if (label) line.append(label + " ");
    line.append(bold);
    if (place) line.appendChild(document.createElement("small")).textContent = place;
    return line;
  }

  hover(picture, event) {
    const cell = picture.locate(event);
    picture.chart.style.cursor = cell ? "crosshair" : "";
    cell ? this.show(picture, cell, event.clientX, event.clientY) : this.leave();
  }

  leave() {
    if (!this.lit) return;
    this.tip.style.display = "none";
    this.light(null);
    this.tell(null);
  }

  click(picture, event) {
    const cell = picture.locate(event);
    if (!cell) return;
    this.pick(picture, cell);
    if (event.pointerType === "touch") this.show(picture, cell, event.clientX, event.clientY);
  }

  pick(picture, { head = null, row = null, column = null }) {
    this.chosen = { stage: picture.name, head, row, column };
    this.sent.push(JSON.stringify(this.chosen));
    this.light(this.lit);
    this.setTriggerValue("picked", this.chosen);
  }

  /** The keyboard has come to a picture: start at the chosen cell, or at the first. */
  enter(picture) {
    if (!picture.w) return;
    const { stage, ...cell } = this.chosen ?? {};
    if (stage === picture.name && cell.head !== null && cell.row !== null && cell.column !== null) picture.cursor = cell;
    picture.cursor ??= { head: 0, row: 0, column: 0 };
    if (picture.focus.matches(":focus-visible")) this.visit(picture);
  }

  visit(picture) {
    const { cursor, meta } = picture;
    const { x, y } = picture.corner(cursor.head);
    const outer = picture.layer.getBoundingClientRect();
    this.show(picture, cursor, outer.left + x + (cursor.column + 1) * picture.w, outer.top + y + (cursor.row + 1) * picture.h);
    const where = [meta.heads[cursor.head], `${this.axis(meta.axes[0])} ${picture.rowWord(cursor.row)}`, `${this.axis(meta.axes[1])} ${picture.columnWord(cursor.column)}`];
    this.live.textContent = `${where.filter(Boolean).join(", ")}: ${picture.say(cursor, 4)}`;
  }

  key(picture, event) {
    if (!picture.w) return;
    const { head, row, column } = (picture.cursor ??= { head: 0, row: 0, column: 0 });
    const { across, widths } = picture.meta;
    const [right, bottom] = [widths[head] - 1, picture.rows - 1];
    const to = (h, r, c) => h >= 0 && h < widths.length && { head: h, row: r, column: Math.min(c, widths[h] - 1) };
    const besides = (step) => Math.floor((head + step) / across) === Math.floor(head / across) ? head + step : -1;
    const moves = {
      ArrowLeft: () => (column > 0 ? to(head, row, column - 1) : to(besides(-1), row, Infinity)),
      ArrowRight: () => (column < right ? to(head, row, column + 1) : to(besides(1), row, 0)),
      ArrowUp: () => (row > 0 ? to(head, row - 1, column) : to(head - across, bottom, column)),
      ArrowDown: () => (row < bottom ? to(head, row + 1, column) : to(head + across, 0, column)),
      Home: () => to(head, row, 0),
      End: () => to(head, row, right),
      PageUp: () => to(head - 1, row, column),
      PageDown: () => to(head + 1, row, column),
    };
    if (event.key === "Enter" || event.key === " ") this.pick(picture, picture.cursor);
    else if (event.key === "Escape") this.leave();
    else if (!moves[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    else picture.cursor = moves[event.key]() || picture.cursor;
    event.preventDefault();
    if (event.key !== "Escape") this.visit(picture);
  }
}

export default function ({ parentElement, data, setStateValue, setTriggerValue }) {
  const bridge = (parentElement.attn ??= new Bridge(parentElement));
  bridge.update(data, setStateValue, setTriggerValue);
  return () => {
    bridge.close();
    delete parentElement.attn;
  };
}
