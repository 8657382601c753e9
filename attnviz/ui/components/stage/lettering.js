/** A heat map with all that stands over its cells: names, words, bars and numbers. */
class Lettered extends Chart {
  draw() {
    this.family = this.layer.style.fontFamily = getComputedStyle(this.chart).fontFamily;
    this.size = this.meta.large && this.h >= 26 ? 18 : this.h >= 20 ? 13 : this.h >= 13 ? 12 : 11;
    this.drawWords();
    this.drawLight();
  }

  /** Whether cells are large enough for their numbers, or for their signs where these are asked for. */
  get written() {
    const [w, h] = this.isShare ? SHARES_FROM : NUMBERS_FROM;
    return {
      numbers: this.w >= w && this.h >= h,
      signs: this.bridge.signs && this.trace.zmin < 0 && Math.min(this.w, this.h) >= 5,
    };
  }

  /** Whether the numbers are shares of one. */
  get isShare() {
    return this.meta.share && this.trace.zmin === 0 && this.trace.zmax <= 1;
  }

  /** Everything that stands over the cells, unless all that it depends on is as it was. */
  drawWords() {
    const { x, y, w, h, height, family, bridge, meta } = this;
    const { numbers, signs } = this.written;
    const inside = numbers || signs || meta.odd || meta.masked ? this.given?.revision : null;
    const drawn = JSON.stringify([x, y, w, h, height, family, bridge.ground, bridge.data.words, bridge.dark, numbers, signs, inside, this.trace.meta]);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    this.words.replaceChildren();
    this.drawGaps();
    this.drawFrames();
    this.drawNames();
    this.drawBars();
    this.drawAxes();
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
    this.meta.widths.forEach((width, head) => {
      const [x, y] = [(column) => this.edgeX(head, column), (row) => this.edgeY(head, row)];
      const shown = (row, column) => !this.meta.masked || this.value({ head, row, column }) !== null;
      for (let row = 1; row < this.rows; row++)
        this.runs(width, (at) => shown(row, at) || shown(row - 1, at), (from, to) => lines.push(`M${x(from)},${y(row)}H${x(to)}`));
      for (let column = 1; column < width; column++)
        this.runs(this.rows, (at) => shown(at, column) || shown(at, column - 1), (from, to) => lines.push(`M${x(column)},${y(from)}V${y(to)}`));
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
      const [x, y, w, h] = this.box(head, 0, 0, this.rows, width).map(Math.round);
      return `M${x - 0.5},${y - 0.5}h${w + 1}v${h + 1}h${-w - 1}Z`;
    });
    svg(this.words, "path", { d: boxes.join(""), stroke: "rgba(128,128,128,.35)", fill: "none" });
  }

  /** Over each head its name, and what it does where there is room for that. */
  drawNames() {
    const { heads, widths, roles, room, large, across, true: all } = this.meta;
    const ragged = new Set(all).size > 1;
    const pitch = across > 1 ? this.edgeX(1, 0) - this.edgeX(0, 0) - 4 : this.columns * this.w + room[1];
    const group = this.group(this.words, large ? 15 : 12, 600, "start");
    heads.forEach((name, head) => {
      const { x, y } = this.corner(head);
      const wide = ragged ? ` · ${all[head]} ${this.bridge.data.words.wide}` : "";
      const number = name.match(/\d+/)?.[0] ?? "";
      const plain = name.split(" · ")[0];
      const role = roles?.[head];
      const ways = role ? [[plain, role], [number, role], [plain], [number]] : [[name + wide], [name], [plain], [number + (ragged ? ` · ${all[head]}` : "")], [number]];
      const last = head % across === across - 1 && room[1] ? this.columns * this.w + room[1] - this.spreadRoom : pitch;
      const way = ways.find((way) => pen.measureText(way.join("  ")).width <= last) ?? [""];
      const word = svg(group, "text", { x, y: y - 5, "data-head": head }, way[0]);
      if (way[1]) svg(word, "tspan", { dx: 6, class: "attn-soft" }, way[1]);
    });
  }

  /** The pixels that the title over the bars of the last heads takes from their names. */
  get spreadRoom() {
    return this.meta.sums && this.columns * this.w >= 150 ? pen.measureText(this.bridge.data.words.spread).width - this.meta.room[1] + 10 : 0;
  }

  /** What each column adds to, under its head, and over how much of all keys each row spreads, beside it. */
  drawBars() {
    const { sums, widths, room } = this.meta;
    if (!sums) return;
    const bars = [];
    const inset = (length) => (length >= GAP_FROM ? [length * 0.15, length * 0.7] : [0, length]);
    widths.forEach((width, head) => {
      const [right, bottom] = [this.edgeX(head, width) + 3, this.edgeY(head, this.rows) + 2];
      sums.rows[head].forEach((part, row) => {
        const [, y, , h] = this.box(head, row, 0);
        const [off, high] = inset(h);
        bars.push(`M${right},${y + off}h${Math.max(1, (room[1] - 5) * part)}v${high}h${-Math.max(1, (room[1] - 5) * part)}Z`);
      });
      const most = Math.max(...sums.columns[head], 1e-9);
      sums.columns[head].forEach((total, column) => {
        const [x, , w] = this.box(head, 0, column);
        const [off, wide] = inset(w);
        bars.push(`M${x + off},${bottom}h${wide}v${Math.max(1, (8 * total) / most)}h${-wide}Z`);
      });
    });
    svg(this.words, "path", { d: bars.join(""), class: "attn-bars" });
  }

  /** What the rows and the columns are, in small words where they begin. */
  drawAxes() {
    const { axes, heads, across, columns, sums, rows } = this.meta;
    const { words } = this.bridge.data;
    if (rows.length === 1 && axes[0] === "row") return;
    const group = this.group(this.words, 11, 400, "end");
    group.setAttribute("class", "attn-soft attn-axes");
    const [x, last] = [this.x - 6, this.lowest(0)];
    const bottom = this.edgeY(last, this.rows);
    const ofWords = (axis) => axis === "query" || axis === "key";
    const [asks, read] = axes[0] === "key" && axes[1] === "query" ? [words.from, words.word] : [words.word, words.from]; // turned
    const [down, along] = [ofWords(axes[0]) && asks, !columns ? words.dimension : ofWords(axes[1]) && read];
    if (down && this.meta.room[0] >= BARE) svg(group, "text", { x, y: this.y - 5 }, cut(down + " ↓", x));
    if (columns && sums) svg(group, "text", { x, y: bottom + 9 }, cut(words.total, x));
    if (columns && along) svg(group, "text", { x, y: bottom + (sums ? 22 : 16) }, cut(along + " →", x));
    if (!columns) svg(group, "text", { x: this.x, y: bottom + 32, "text-anchor": "start" }, along + " →");
    if (!this.spreadRoom) return;
    for (let head = Math.min(across, heads.length) - 1; head < Math.min(across, heads.length); head++)
      svg(group, "text", { x: this.edgeX(head, this.columns) + 2 + this.meta.room[1], y: this.y - 5 }, words.spread);
  }

  /** The words left of every row of heads, as many as there is room for; or `only` one of them, over the others. */
  drawRowWords(parent, only = null, beside = null, place = null) {
    if (this.meta.room[0] < BARE) return;
    const every = Math.ceil(this.size / this.h);
    const { heads, across } = this.meta;
    const group = this.group(parent, this.size, only === null ? 400 : 600, "end");
    for (let head = 0; head < heads.length; head += across) {
      if (beside !== null && Math.floor(beside / across) !== head / across) continue;
      const { y } = this.corner(head);
      for (let row = only ?? 0; row < (only === null ? this.rows : only + 1); row += every) {
        const word = cut(this.rowWord(row, place), this.x - 8);
        const at = { x: this.x - 6, y: y + (row + 0.5) * this.h };
        if (only !== null) this.wipe(group, row, every, y, this.h, this.size, (y, height) => ({ x: 0, y, width: this.x - 2, height }));
        svg(group, "text", { ...at, "dominant-baseline": "central" }, word);
      }
    }
  }

  /** Whether the words under the columns can stand level, in the pen's font. */
  get level() {
    if (!this.meta.columns) return true;
    return this.w > 26 && this.meta.columns.every((_, at) => pen.measureText(this.columnWord(at)).width <= this.w - 4);
  }

  drawColumnWords(parent, only = null, place = null) {
    const size = Math.min(this.size, this.w >= 26 ? 18 : this.w >= 20 ? 13 : this.w >= 14 ? 12 : 11);
    const { heads, across, widths, columns, sums } = this.meta;
    const group = this.group(parent, size, only === null ? 400 : 600, "end");
    const level = this.level;
    if (level) group.setAttribute("text-anchor", "middle");
    const wide = columns ? size : pen.measureText(this.columnWord(this.columns - 1)).width + 5;
    const every = level && columns ? 1 : Math.ceil(wide / this.w);
    for (let tile = 0; tile < Math.min(across, heads.length); tile++) {
      const head = this.lowest(tile);
      const bottom = this.edgeY(head, this.rows) + (sums ? 11 : 2);
      const last = only === null ? widths[head] : Math.min(only + 1, widths[head]);
      for (let column = only ?? 0; column < last; column += every) {
        const [left, , w] = this.box(head, 0, column);
        const room = level ? size + 6 : this.below(bottom);
        if (only !== null) this.wipe(group, column, every, this.edgeX(head, 0), this.w, wide, (x, width) => ({ x, y: bottom, width, height: room }));
        this.drawColumnWord(group, this.columnWord(column, place), left + w / 2, bottom - 2, size, level);
      }
    }
  }

  /** Pixels for a word under a column, down to the next head or the foot of the box. */
  below(bottom) {
    return Math.min(this.meta.large ? 60 : 40, this.height - bottom - 2);
  }

  drawColumnWord(group, word, x, y, size, level) {
    if (level) {
      svg(group, "text", { x, y: y + 5 + size / 2, "dominant-baseline": "central" }, word);
    } else {
      const room = this.below(y) - 4;
      svg(group, "text", { transform: `translate(${x},${y + 4})rotate(-90)`, "dominant-baseline": "central" }, cut(word, room));
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
    if (!numbers && !signs && !this.meta.odd) return this.drawEmpty();
    const size = this.meta.large && this.w >= 50 ? (this.w >= 80 ? 26 : 18) : this.w >= 34 ? 13 : 11.5;
    const group = this.group(this.words, size, 400, "middle");
    const cells = this.meta.widths.flatMap((width, head) =>
      Array.from({ length: this.rows * width }, (_, at) => ({ head, row: Math.floor(at / width), column: at % width })),
    );
    const found = cells.map((cell) => this.value(cell));
    const places = this.isShare ? 0 : decimals(found.filter(Number.isFinite), this.w - 5);
    const text = (number) => (!numbers || places < 0 ? "" : this.isShare ? share(number, this.w) : short(number, places));
    cells.forEach((cell, at) => found[at] !== null && this.drawCell(group, cell, found[at], text, signs));
  }

  /** In a head all of whose numbers are zero nothing can be seen, so it is said. */
  drawEmpty() {
    const { ends, widths } = this.meta;
    if (!ends || this.columns * this.w < 60) return;
    const group = this.group(this.words, 11, 400, "middle");
    group.setAttribute("class", "attn-soft");
    widths.forEach((width, head) => {
      if (ends[head] > 0) return;
      const [x, y, w, h] = this.box(head, 0, 0, this.rows, width);
      svg(group, "text", { x: x + w / 2, y: y + h / 2, "dominant-baseline": "central" }, cut(this.bridge.data.words.zero, w - 4));
    });
  }

  drawCell(group, { head, row, column }, number, text, signs) {
    const [x, y, w, h] = this.box(head, row, column);
    const write = (word, fill) =>
      svg(group, "text", { x: x + w / 2, y: y + h / 2, style: `fill:${fill}`, "dominant-baseline": "central" }, word);
    if (!Number.isFinite(number)) {
      svg(group, "rect", { x, y, width: w, height: h, fill: ODD.ground });
      const word = Number.isNaN(number) ? this.bridge.data.words.mark : minus(String(number).replace("Infinity", "∞"));
      if (pen.measureText(word).width <= w && h >= 9) write(word, ODD.ink);
      return;
    }
    const word = text(number);
    if (word && pen.measureText(word).width <= w - 2) write(word, this.contrast(head, number));
    else if (signs && number < 0)
      svg(group, "rect", { x: x + w * 0.28, y: y + h / 2 - 0.5, width: w * 0.44, height: Math.max(1, h * 0.07), fill: this.contrast(head, number) });
  }

  /** Black or white, whichever reads better on the colour of a number. */
  contrast(head, number) {
    const { zmin, zmax, colorscale } = this.trace;
    const shown = this.meta.ends ? number / (this.meta.ends[head] || 1) : number;
    return contrast(colorscale.map(([, colour]) => colour), (shown - zmin) / (zmax - zmin));
  }
}
