// One run to point at, without a server: pictures on canvases, and the arithmetic of a cell from the numbers here.
// Words of a visitor are only ever drawn on a canvas or set as text.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("run").textContent);
  const { words, setting } = data;
  const $ = (id) => document.getElementById(id);
  const LARGEST_CELL = 34, TALLEST = 620, GAP = 14, NAME = 18, LETTERS = 12, SMALL = 10, LONG = 24;
  let layer = 0, lit = null, chosen = null, pictures = [];

  // numbers -------------------------------------------------------------------------------------------------------

  /** A step of the layer: its shape, and its numbers as they were sent, bit for bit. */
  function step(name) {
    const found = data.layers[layer].steps[name];
    if (found && !found.numbers)
      found.numbers = new Float64Array(Uint8Array.from(atob(found.base64), (c) => c.charCodeAt(0)).buffer);
    return found;
  }
  function at(name, ...place) {
    const { shape, numbers } = step(name);
    return numbers[place.reduce((sum, index, axis) => sum * shape[axis] + index, 0)];
  }
  const range = (n) => Array.from({ length: n }, (_, i) => i);
  const vector = (name, head, row, width) => range(width).map((d) => at(name, head, row, d));
  const sum = (terms) => terms.reduce((total, term) => total + term, 0);
  const minus = (text) => text.replace(/-/g, "−");
  const exact = (x) => minus(String(x).replace("Infinity", "∞"));
  const short = (x) => minus(Number.isFinite(x) ? String(Number(x.toPrecision(6))) : exact(x));
  const factor = (x) => (x < 0 ? `(${short(x)})` : short(x));
  const list = (xs) => `(${xs.map(short).join(", ")})`;
  const total = (xs) => xs.map((x, i) => (i ? (x < 0 ? " − " + short(-x) : " + " + short(x)) : short(x))).join("");
  const products = (xs, ys) => xs.map((x, i) => `${i ? factor(x) : short(x)} × ${factor(ys[i])}`).join(" + ");

  /** What was computed beside what the run holds: the same but for rounding, or changed by hand. */
  function held(computed, recorded, size = Math.abs(computed)) {
    const near = computed === recorded || (Number.isNaN(computed) && Number.isNaN(recorded));
    if (near || Math.abs(computed - recorded) <= 1e-11 * size + 1e-300) return exact(recorded);
    return `${exact(computed)}; ${words.edited} ${exact(recorded)}`;
  }

  // arithmetic ----------------------------------------------------------------------------------------------------

  const times = (xs, head, name, width) => range(width).map((b) => sum(xs.map((x, a) => x * at(name, head, a, b))));
  const length = (xs) => Math.hypot(...xs);
  const pair = (left, right, names) => ({ left, right, names });

  /** The two rows whose products add up to the score. */
  const FACTORS = {
    scaled_dot: (q, k) => pair(q, k, "q · k"),
    dot: (q, k) => pair(q, k, "q · k"),
    general: (q, k, h) => pair(times(q, h, "score_w", k.length), k, "(q W) · k"),
    location: (q, k, h, j) => pair(q, q.map((_, a) => at("score_w", h, a, j)), `q · W[:, ${j + 1}]`),
    additive(q, k, h) {
      const width = step("score_v").shape[1];
      const [left, right] = [times(q, h, "score_w_q", width), times(k, h, "score_w_k", width)];
      const b = step("score_b") ? range(width).map((d) => at("score_b", h, d)) : range(width).fill(0);
      const inside = left.map((x, d) => x + right[d] + b[d]);
      return pair(range(width).map((d) => at("score_v", h, d)), inside.map(Math.tanh), "v · tanh(q W_q + k W_k + b)");
    },
  };
  const OTHERS = {
    cosine(q, k) {
      const lengths = length(q) * length(k);
      const dot = sum(q.map((x, d) => x * k[d]));
      return [`q · k / (|q| |k|) = ${short(dot)} / (${short(length(q))} × ${short(length(k))})`, lengths ? dot / lengths : 0, 1];
    },
    gaussian(q, k) {
      const squared = sum(q.map((x, d) => (x - k[d]) ** 2));
      return [`−½ |q − k|² = −½ × ${short(squared)}`, -0.5 * squared];
    },
    negative_distance(q, k) {
      const apart = q.map((x, d) => x - k[d]);
      return [`−|q − k| = −√${short(sum(apart.map((x) => x * x)))}`, -length(apart)];
    },
  };

  function scoreLines([h, i, j]) {
    const recorded = at("scores", h, i, j);
    if (!step("queries")) return [[words.score, `${words.given}: ${exact(recorded)}`]];
    const width = setting.d_k[h];
    const [q, k] = [vector("queries", h, i, width), vector("keys", Math.floor(h / setting.group), j, width)];
    const lines = [[`${words.Query} ${i + 1}`, `q = ${list(q)}`], [`${words.Key} ${j + 1}`, `k = ${list(k)}`]];
    if (FACTORS[setting.score]) {
      const { left, right, names } = FACTORS[setting.score](q, k, h, j);
      const terms = left.map((x, d) => x * right[d]);
      const own = names === "q · k" ? "" : `${list(left)} · ${list(right)} = `;
      const size = sum(left.map((x, d) => Math.abs(x) * (1 + Math.abs(right[d])))) + sum(q.map(Math.abs)) * sum(k.map(Math.abs));
      lines.push([words.products, `${names} = ${own}${products(left, right)}`]);
      lines.push([words.score, `${total(terms)} = ${held(sum(terms), recorded, size)}`]);
    } else if (OTHERS[setting.score]) {
      const [text, made, size] = OTHERS[setting.score](q, k);
      lines.push([words.score, `${text} = ${held(made, recorded, size)}`]);
    } else lines.push([words.score, exact(recorded)]);
    return lines;
  }

  /** From the score to what enters the normaliser. */
  function passageLines([h, i, j]) {
    let s = at("scores", h, i, j);
    const lines = [];
    const next = (name, text, made, size) => {
      const recorded = step(name) ? at(name, h, i, j) : made;
      lines.push([words[name], `${text} = ${held(made, recorded, size)}`]);
      s = recorded;
    };
    const c = setting.scale[h];
    if (c !== 1 || step("scaled")) next("scaled", `${short(c)} × ${factor(s)}`, c * s);
    const cap = setting.softcap;
    if (cap || step("capped")) next("capped", `${short(cap)} × tanh(${short(s)} / ${short(cap)})`, cap ? cap * Math.tanh(s / cap) : s);
    const size = Math.abs(s) + (step("bias") ? Math.abs(at("bias", h, i, j)) : 0);
    if (step("bias")) {
      const b = at("bias", h, i, j);
      lines.push([words.bias, `${short(s)} + ${factor(b)} = ${exact(s + b)}`]);
      s += b;
    }
    const masked = at("masked", h, i, j);
    if (masked === -Infinity) lines.push([words.mask, words.forbidden]);
    else if (held(s, masked, size) !== exact(masked)) lines.push([words.mask, held(s, masked, size)]);
    return lines;
  }

  function exponentials(x, m, extra) {
    const T = setting.temperature;
    const e = x.map((v) => Math.exp((v - m) / T));
    const all = extra === undefined ? e : [...e, extra];
    const of = T === 1 ? `e^(s − ${factor(m)})` : `e^((s − ${factor(m)}) / ${short(T)})`;
    return { e, sum: sum(all), lines: [[words.largest, exact(m)], [words.exponentials, `${of} = ${list(e)}`], [words.sum, `${total(all)} = ${exact(sum(all))}`]] };
  }
  const quotient = (a, b) => [`${short(a)} / ${short(b)}`, a / b];

  /** The support, and the threshold above which its entries add to one. */
  function threshold(x, half) {
    const m = Math.max(...x);
    const z = x.map((v) => (v - m) / (setting.temperature * half));
    const falling = [...z].filter((v) => v !== -Infinity).sort((a, b) => b - a);
    let tau = 0;
    falling.forEach((v, place) => {
      const n = place + 1;
      const first = falling.slice(0, n);
      const mean = sum(first) / n;
      const spread = sum(first.map((u) => u * u)) - n * mean * mean;
      const made = half === 1 ? mean - 1 / n : mean - Math.sqrt(Math.max((1 - spread) / n, 0));
      if (made <= v && (half === 2 || 1 + n * v > sum(first))) tau = made;
    });
    const of = `${half === 1 ? "" : "½ "}(s − ${factor(m)})${setting.temperature === 1 ? "" : " / " + short(setting.temperature)}`;
    return { z, tau, lines: [[words.largest, exact(m)], [words.below, `${of} = ${list(z)}`], [words.threshold, `τ = ${exact(tau)}`]] };
  }

  /** Lines, then the text and the number of the weight. */
  const NORMALISERS = {
    softmax(x, place) {
      const { e, sum: all, lines } = exponentials(x, Math.max(...x));
      return [lines, ...quotient(e[place], all)];
    },
    quiet_softmax(x, place) {
      const m = Math.max(...x, 0);
      const { e, sum: all, lines } = exponentials(x, m, Math.exp(-m / setting.temperature));
      return [lines, ...quotient(e[place], all)];
    },
    sigmoid(x, place) {
      const z = x[place] / setting.temperature;
      return [[], `1 / (1 + e^(−${factor(z)}))`, z >= 0 ? 1 / (1 + Math.exp(-z)) : Math.exp(z) / (1 + Math.exp(z))];
    },
    hardmax(x, place) {
      const m = Math.max(...x);
      const n = x.filter((v) => v === m).length;
      return [[[words.largest, exact(m)]], x[place] === m ? `1 / ${n}` : "0", x[place] === m ? 1 / n : 0];
    },
    linear(x, place) {
      const p = x.map((v) => Math.max(v, 0));
      const all = sum(p);
      const lines = [[words.positive, list(p)], [words.sum, exact(all)]];
      return all ? [lines, ...quotient(p[place], all)] : [lines, "0", 0];
    },
    sparsemax(x, place) {
      const { z, tau, lines } = threshold(x, 1);
      return [lines, `max(${short(z[place])} − ${factor(tau)}, 0)`, Math.max(z[place] - tau, 0), 1];
    },
    entmax15(x, place) {
      const { z, tau, lines } = threshold(x, 2);
      return [lines, `max(${short(z[place])} − ${factor(tau)}, 0)²`, Math.max(z[place] - tau, 0) ** 2, 1];
    },
  };

  function weightLines([h, i, j]) {
    const recorded = at("weights", h, i, j);
    if (!step("masked")) return [[words.weight, `${words.given}: ${exact(recorded)}`]];
    const over = setting.over === "keys";
    const x = range(over ? data.keys.length : data.queries.length).map((l) => (over ? at("masked", h, i, l) : at("masked", h, l, j)));
    const place = over ? j : i;
    const rows = [[over ? words.row : words.column, list(x)]];
    if (x.every((v) => v === -Infinity)) return [...rows, [words.weight, held(0, recorded)]];
    if (x.some((v) => Number.isNaN(v) || v === Infinity) || !NORMALISERS[setting.normaliser]) return [...rows, [words.weight, exact(recorded)]];
    const [lines, text, made, size] = NORMALISERS[setting.normaliser](x, place);
    return [...rows, ...lines, [words.weight, `${text} = ${held(made, recorded, size)}`]];
  }

  function outputLines([h, i, d]) {
    const recorded = at("heads", h, i, d);
    if (!step("values")) return [[words.output, exact(recorded)]];
    const group = Math.floor(h / setting.group);
    const open = range(data.keys.length).filter((j) => !step("masked") || at("masked", h, i, j) !== -Infinity || at("weights", h, i, j));
    const [a, v] = [open.map((j) => at("weights", h, i, j)), open.map((j) => at("values", group, j, d))];
    const terms = a.map((x, l) => x * v[l]);
    const text = open.length ? `${products(a, v)} = ${total(terms)}` : "0";
    return [[words.values, `${text} = ${held(sum(terms), recorded, sum(terms.map(Math.abs)))}`]];
  }

  function lines(stage, cell) {
    if (stage.name === "heads") return outputLines(cell);
    const before = step("scores") ? [...scoreLines(cell), ...passageLines(cell)] : [];
    return step("weights") ? [...before, ...weightLines(cell)] : before;
  }

  // pictures ------------------------------------------------------------------------------------------------------

  const rgb = (hex) => [1, 3, 5].map((from) => parseInt(hex.slice(from, from + 2), 16));
  function shade({ low, high, colours }, x) {
    if (!Number.isFinite(x)) return "#f5c518";
    const where = Math.min(Math.max((x / 2 - low / 2) / (high / 2 - low / 2), 0), 1) * (colours.length - 1);
    const [from, to] = [rgb(colours[Math.floor(where)]), rgb(colours[Math.ceil(where)])];
    return `rgb(${from.map((part, n) => Math.floor(part + (to[n] - part) * (where % 1) + 0.5)).join(",")})`;
  }
  function make(tag, parent, text, name) {
    const element = parent.appendChild(document.createElement(tag));
    if (text !== undefined) element.textContent = text;
    if (name) element.className = name;
    return element;
  }
  function sharp(canvas, width, height) {
    const dots = window.devicePixelRatio || 1;
    [canvas.width, canvas.height] = [Math.ceil(width * dots), Math.ceil(height * dots)];
    [canvas.style.width, canvas.style.height] = [width + "px", height + "px"];
    const pen = canvas.getContext("2d");
    pen.scale(dots, dots);
    pen.font = `${LETTERS}px system-ui, sans-serif`;
    return pen;
  }
  function cut(pen, text, room) {
    if (pen.measureText(text).width <= room) return text;
    const clusters = [...new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(text.slice(0, 200))];
    let kept = "";
    for (const { segment } of clusters) {
      if (pen.measureText(kept + segment + "…").width > room) break;
      kept += segment;
    }
    return kept + "…";
  }

  /** Heads of all these pictures side by side in the same number, with cells of one size, the largest there is. */
  function arrange(some) {
    const ways = (tall) => range(Math.max(...some.map((each) => each.heads))).map((n) => [Math.min(...some.map((each) => each.fits(n + 1, tall))), n + 1]);
    const best = (tall) => ways(tall).reduce((a, b) => (b[0] > a[0] ? b : a));
    let [cell, across] = best(TALLEST);
    if (cell < SMALL) [cell, across] = best(3 * TALLEST);
    some.forEach((each) => each.place(across, cell));
  }

  class Picture {
    constructor(stage, parent) {
      this.stage = stage;
      const section = make("section", parent);
      make("h2", section, stage.title);
      make("p", section, stage.phrase, "quiet");
      make("p", section, stage.formula, "quiet");
      this.legend(make("div", section, undefined, "legend"));
      this.box = make("div", section, undefined, "picture");
      this.box.tabIndex = 0;
      this.box.setAttribute("role", "application");
      this.box.setAttribute("aria-label", `${stage.alt} ${words.keys}`);
      [this.base, this.over] = [make("canvas", this.box), make("canvas", this.box)];
      this.box.addEventListener("pointermove", (event) => point(this, this.locate(event), event));
      this.box.addEventListener("pointerleave", () => point(this, null));
      this.box.addEventListener("click", (event) => choose(this, this.locate(event)));
      this.box.addEventListener("keydown", (event) => this.key(event));
    }
    get heads() { return this.stage.widths.length; }
    get rows() { return data.queries.length; }
    get columns() { return Math.max(...this.stage.widths); }
    columnWord(column) { return this.stage.worded ? data.keys[column] : String(column + 1); }
    legend(parent) {
      const { scale } = this.stage;
      make("span", parent, scale.said[0]);
      const pen = make("canvas", parent).getContext("2d");
      [pen.canvas.width, pen.canvas.height] = [56, 1];
      range(56).forEach((x) => {
        pen.fillStyle = shade(scale, scale.low + (scale.high - scale.low) * (x / 55));
        pen.fillRect(x, 0, 1, 1);
      });
      make("span", parent, scale.said[1]);
      if (!this.stage.masked) return;
      make("i", parent);
      make("span", parent, words.masked);
    }
    measure() {
      const pen = sharp(this.base, 1, 1);
      const longest = (list, most) => Math.min(Math.max(...list.map((word) => pen.measureText(word.slice(0, 60)).width)) + 10, most);
      this.left = longest(data.queries, 90);
      this.below = this.stage.worded ? longest(data.keys, 90) : 20;
      this.room = this.box.clientWidth - this.left - 2;
    }
    /** The size of a cell with so many heads side by side, in a picture of so much height. */
    fits(across, tall) {
      const down = Math.ceil(this.heads / across);
      const wide = (this.room - (across - 1) * GAP) / (across * this.columns);
      return Math.min(wide, (tall - down * NAME - this.below) / (down * this.rows), LARGEST_CELL);
    }
    place(across, cell) {
      this.across = across;
      this.cell = Math.max(cell >= 4 ? Math.floor(cell) : cell, 0.5);
      this.width = this.left + across * (this.columns * this.cell + GAP);
      this.height = Math.ceil(this.heads / across) * (this.rows * this.cell + NAME) + this.below;
    }
    corner(head) {
      const [down, across] = [Math.floor(head / this.across), head % this.across];
      return [this.left + across * (this.columns * this.cell + GAP), NAME + down * (this.rows * this.cell + NAME)];
    }
    value([h, i, j]) {
      const hidden = this.stage.masked && step("masked") && at("masked", h, i, j) === -Infinity;
      return hidden ? null : at(this.stage.name, h, i, j);
    }
    draw() {
      const pen = sharp(this.base, this.width, this.height);
      sharp(this.over, this.width, this.height);
      const ink = getComputedStyle(this.box).color;
      const gap = this.cell >= 10 ? 1 : 0;
      this.stage.widths.forEach((width, h) => {
        const [x, y] = this.corner(h);
        for (let i = 0; i < this.rows; i++)
          for (let j = 0; j < width; j++) {
            const number = this.value([h, i, j]);
            pen.fillStyle = number === null ? "rgba(128,128,128,.38)" : shade(this.stage.scale, number);
            const side = number === null ? this.cell : this.cell - gap; // what is masked stays one shape
            pen.fillRect(x + j * this.cell, y + i * this.cell, side, side);
          }
        pen.fillStyle = ink;
        this.name(pen, h, x, y);
        this.labels(pen, h, width, x, y);
      });
      this.light();
    }
    name(pen, h, x, y) {
      const room = this.columns * this.cell + GAP - 4;
      const ways = [this.stage.heads[h], this.stage.heads[h].split(" · ")[0], String(h + 1)];
      pen.textAlign = "left";
      pen.textBaseline = "alphabetic";
      pen.fillText(ways.find((way) => pen.measureText(way).width <= room) ?? "", x, y - 4);
    }
    labels(pen, h, width, x, y) {
      pen.textBaseline = "middle";
      pen.textAlign = "right";
      const every = Math.ceil(13 / this.cell);
      if (h % this.across === 0)
        for (let i = 0; i < this.rows; i += every) pen.fillText(cut(pen, data.queries[i], this.left - 8), x - 5, y + (i + 0.5) * this.cell);
      if (h + this.across < this.heads) return;
      const step = this.stage.worded ? every : Math.ceil((pen.measureText(String(width)).width + 4) / this.cell);
      for (let j = 0; j < width; j += step) {
        pen.save();
        pen.translate(x + (j + 0.5) * this.cell, y + this.rows * this.cell + 5);
        if (this.stage.worded) pen.rotate(-Math.PI / 2);
        else pen.textAlign = "center";
        pen.fillText(cut(pen, this.columnWord(j), this.stage.worded ? this.below - 8 : 60), 0, this.stage.worded ? 0 : 6);
        pen.restore();
      }
    }
    locate(event) {
      const box = this.box.getBoundingClientRect();
      const [x, y] = [event.clientX - box.left, event.clientY - box.top];
      for (let h = 0; h < this.heads; h++) {
        const [left, top] = this.corner(h);
        const [i, j] = [Math.floor((y - top) / this.cell), Math.floor((x - left) / this.cell)];
        if (i >= 0 && j >= 0 && i < this.rows && j < this.stage.widths[h]) return [h, i, j];
      }
      return null;
    }
    /** The row and the column of what is pointed at or chosen, over every head; the cell itself framed. */
    light() {
      const pen = this.over.getContext("2d");
      pen.clearRect(0, 0, this.over.width, this.over.height);
      [[chosen, 2], [lit, 1]].forEach(([mark, line]) => mark && this.mark(pen, mark, line));
    }
    mark(pen, { stage, cell: [h, i, j] }, line) {
      const same = stage.worded === this.stage.worded;
      const frame = (x, y, w, height) => {
        pen.strokeStyle = getComputedStyle(document.body).backgroundColor;
        pen.lineWidth = line + 2;
        pen.strokeRect(x, y, w, height);
        pen.strokeStyle = getComputedStyle(document.body).color;
        pen.lineWidth = line;
        pen.strokeRect(x, y, w, height);
      };
      this.stage.widths.forEach((width, head) => {
        const [x, y] = this.corner(head);
        frame(x, y + i * this.cell, width * this.cell, this.cell);
        if (same && j < width) frame(x + j * this.cell, y, this.cell, this.rows * this.cell);
        if (same && head === h && j < width) frame(x + j * this.cell, y + i * this.cell, this.cell, this.cell);
      });
    }
    key(event) {
      const moves = { ArrowUp: [0, -1, 0], ArrowDown: [0, 1, 0], ArrowLeft: [0, 0, -1], ArrowRight: [0, 0, 1], PageUp: [-1, 0, 0], PageDown: [1, 0, 0] };
      const move = moves[event.key];
      if (!move && event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      const here = chosen && chosen.stage === this.stage ? chosen.cell : null;
      choose(this, this.within(here && move ? here.map((index, axis) => index + move[axis]) : here ?? [0, 0, 0]));
    }
    within([h, i, j]) {
      const to = (index, n) => Math.min(Math.max(index, 0), n - 1);
      const head = to(h, this.heads);
      return [head, to(i, this.rows), to(j, this.stage.widths[head])];
    }
  }

  // the page ------------------------------------------------------------------------------------------------------

  const quoted = (word) => words.quoted.replace("{token}", () => word);
  /** Where a cell is, in words, and its number with all its digits. */
  function said(picture, cell) {
    const [h, i, j] = cell;
    const column = picture.stage.worded ? `${words.key} ${j + 1} ${quoted(data.keys[j])}` : `${words.entry} ${j + 1}`;
    const number = picture.value(cell);
    return `${picture.stage.heads[h]}, ${words.query} ${i + 1} ${quoted(data.queries[i])}, ${column}: ${number === null ? words.masked : exact(number)}`;
  }
  function point(picture, cell, event) {
    lit = cell && { stage: picture.stage, cell };
    const tip = $("tip");
    tip.hidden = !cell;
    if (cell) {
      tip.textContent = `${picture.stage.title}, ${said(picture, cell)}`;
      const [wide, high] = [tip.offsetWidth, tip.offsetHeight];
      tip.style.left = Math.max(4, Math.min(event.clientX + 14, innerWidth - wide - 4)) + "px";
      tip.style.top = (event.clientY + 18 + high > innerHeight ? event.clientY - high - 10 : event.clientY + 18) + "px";
    }
    pictures.forEach((each) => each.light());
  }
  function choose(picture, cell) {
    if (!cell) return;
    chosen = { stage: picture.stage, cell };
    $("said").textContent = `${picture.stage.title}, ${said(picture, cell)}`;
    ["head", "query", "key"].forEach((name, axis) => ($(name).value = cell[axis] + 1));
    $("column").textContent = picture.stage.worded ? words.Key : words.Entry;
    $("lines").replaceChildren();
    for (const [title, text] of lines(picture.stage, cell)) {
      make("dt", $("lines"), title);
      make("dd", $("lines"), text);
    }
    pictures.forEach((each) => each.light());
  }
  function show() {
    const kept = chosen;
    [lit, chosen] = [null, null];
    $("stages").replaceChildren();
    pictures = data.layers[layer].stages.map((stage) => new Picture(stage, $("stages")));
    redraw();
    const name = kept ? kept.stage.name : data.first;
    const picture = pictures.find((each) => each.stage.name === name) ?? pictures[0];
    choose(picture, picture.within(kept ? kept.cell : [0, 0, 0]));
  }
  function redraw() {
    const isLong = pictures.some((each) => each.rows > LONG || each.columns > LONG);
    $("stages").classList.toggle("long", isLong);
    pictures.forEach((each) => each.measure());
    const most = Math.max(...pictures.filter((each) => each.stage.worded).map((each) => each.columns));
    const alike = isLong ? [] : pictures.filter((each) => each.columns <= most);
    if (alike.length) arrange(alike);
    pictures.filter((each) => !alike.includes(each)).forEach((each) => arrange([each]));
    pictures.forEach((each) => each.draw());
  }

  $("sentence").textContent = data.sentence;
  $("setting").textContent = data.link;
  if (data.layers.length > 1) {
    $("layers").hidden = false;
    data.layers.forEach((_, n) => make("option", $("layer"), String(n + 1)));
    $("layer").addEventListener("change", (event) => {
      layer = Number(event.target.value) - 1;
      show();
    });
  }
  $("choose").addEventListener("change", () => {
    const picture = pictures.find((each) => each.stage === chosen.stage);
    choose(picture, picture.within(["head", "query", "key"].map((name) => (Math.floor(Number($(name).value)) || 1) - 1)));
  });
  $("page").hidden = false;
  show();
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth !== width) [width] = [innerWidth, redraw()];
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
})();
