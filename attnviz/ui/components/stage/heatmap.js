/** All pictures that belong together: what is pointed at, chosen and brought forward, and the way back to the page. */
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
    this.lens = new Lens(root);
    this.stop = new AbortController();
    const { signal } = this.stop;
    window.addEventListener("resize", () => this.redraw(), { signal });
    const moves = ({ target }) => !this.host || target.contains(this.host); // a long sentence scrolls by itself
    window.addEventListener("scroll", (event) => moves(event) && this.leave(), { signal, capture: true });
    window.addEventListener("keydown", (event) => this.shortcut(event), { signal });
    const elsewhere = ({ target }) => target.className !== "attn-focus" && (this.held = undefined);
    for (const kind of ["focusin", "pointerdown"]) window.addEventListener(kind, elsewhere, { signal });
    for (const kind of ["keydown", "keyup"])
      window.addEventListener(kind, (event) => event.key === "Shift" && this.keepLens(kind === "keydown"), { signal });
    window.addEventListener("beforeprint", () => this.print(true), { signal });
    window.addEventListener("afterprint", () => this.print(false), { signal });
    window.addEventListener(ROW, ({ detail }) => this.hear(detail), { signal });
    window.addEventListener(LIT, ({ detail }) => this.hearLit(detail), { signal });
    document.fonts.ready.then(() => this.redraw());
  }

  update(bytes, setStateValue, setTriggerValue) {
    const data = JSON.parse(new TextDecoder().decode(bytes));
    const first = !this.data;
    Object.assign(this, { data, setStateValue, setTriggerValue });
    this.adopt(data.picked, first);
    this.colours();
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
    host.addEventListener("click", ({ target }) => this.press(target), { signal: this.stop.signal });
    host.addEventListener("pointerdown", (event) => (this.from = event.pointerType === "touch" ? event : null), { signal: this.stop.signal });
    host.addEventListener("pointerup", (event) => this.swipe(event), { signal: this.stop.signal });
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

  /** A press on a button of a heading. */
  press(target) {
    if (target.closest?.(".attn-scale")) this.setTriggerValue("scale", true);
    const step = target.closest?.(".attn-turn")?.dataset.step;
    if (step) this.setTriggerValue("shown", step);
  }

  /** A swipe over the maps goes on to the next head in focus, and else to the next stage where they come one by one. */
  swipe(event) {
    const from = this.from;
    this.from = null;
    if (!from || event.pointerType !== "touch") return;
    const [dx, dy] = [event.clientX - from.clientX, event.clientY - from.clientY];
    if (Math.abs(dx) < SWIPE || Math.abs(dx) < 2 * Math.abs(dy)) return;
    this.leave();
    const { focus, heads, turns, stages } = this.data;
    const by = dx < 0 ? 1 : -1;
    if (focus !== null) return this.bring((focus + by + heads) % heads);
    const next = turns[turns.indexOf(stages[0]) + by];
    if (next) this.setTriggerValue("shown", next);
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

  /** The height that the window leaves for the pictures: what it has less all that stands above and below them; where
   *  they are to fill the window, what is below them does not count and is scrolled to. */
  tellRoom() {
    clearTimeout(this.later);
    const main = this.block?.closest("[data-testid=stMain]");
    const last = this.block?.querySelector("[data-testid=stVerticalBlock]");
    if (!main || !last) return;
    const [own, all] = [this.host, last].map((element) => element.getBoundingClientRect());
    const above = own.top - this.block.getBoundingClientRect().top;
    const below = this.data.fill ? 0 : all.bottom - own.bottom + parseFloat(getComputedStyle(this.block).paddingBottom);
    const room = Math.floor((main.clientHeight - above - below) / 8) * 8;
    const told = this.room ?? this.data.fill;
    if (room === told || room < this.data.fit) return; // opened lines below may well be scrolled to
    const tell = () => this.setStateValue("room", (this.room = room));
    this.room === undefined ? tell() : (this.later = setTimeout(tell, 200));
  }

  /** Tell the page how wide it is, if that would make another picture; never twice, so that it cannot swing. */
  tellWidth() {
    clearTimeout(this.timer);
    this.tellWide();
    const width = Math.floor(this.wholeWidth() / 8) * 8;
    const told = this.told ?? this.data.width;
    if (width < 8 || (width <= told && width > told - 8) || (width > told && width < told + 24)) return;
    const tell = () => this.setStateValue("width", (this.told = width));
    this.told === undefined ? tell() : (this.timer = setTimeout(tell, 200));
  }

  /** The width that there is for pictures; where an answer stands beside them the page takes its part off. */
  wholeWidth() {
    if (!this.data.fill || !this.block) return this.host.clientWidth;
    return this.block.clientWidth - 2 * parseFloat(getComputedStyle(this.block).paddingLeft);
  }

  /** Tell the page whether an answer stands beside the pictures, or below them. */
  tellWide() {
    const wide = window.innerWidth >= BESIDE_FROM;
    if (this.data.fill && wide !== (this.wide ?? this.data.wide)) this.setStateValue("wide", (this.wide = wide));
  }

  bind() {
    for (const [name, picture] of this.pictures)
      if (!this.data.stages.includes(name) && this.pictures.delete(name)) picture.layer.remove();
    for (const name of this.data.stages) {
      const chart = this.host?.querySelector(`.st-key-${this.data.key}-${name} .js-plotly-plot`);
      const known = this.pictures.get(name);
      if (!chart?.on || !chart.data?.length || known?.chart === chart) continue;
      const lost = this.held === name && document.activeElement === document.body; // it went with the chart
      const focused = known && (lost || document.activeElement === known.focus);
      known?.layer.remove();
      this.leave(); // what the tip says may be true no longer
      const picture = new Picture(this, name, chart);
      this.pictures.set(name, picture);
      picture.give();
      this.draw(picture);
      if (focused) this.refocus = picture;
    }
  }

  /** The colours of the page; where it has become a dark one, or a light one, the pictures change theirs. */
  colours() {
    const style = getComputedStyle(this.root);
    const before = this.dark;
    this.ground = style.getPropertyValue("--st-background-color") || "#fff";
    this.dark = isDark(this.ground);
    const accent = style.getPropertyValue("--st-primary-color");
    this.pictures.forEach(({ layer }) => layer.style.setProperty("--attn-accent", accent));
    if (before !== undefined && before !== this.dark) this.pictures.forEach((picture) => picture.give());
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
    if (this.refocus?.layer.isConnected) this.refocus = this.refocus.focus.focus({ preventScroll: true });
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
    if (!picture?.w || !picture.trace?.meta) return null;
    const { axes, heads } = picture.meta;
    const [row, column] = [cell.row, cell.column].map((at, i) => picture.place(i, at));
    return { ...cell, heads: heads.length, [axes[0]]: row, [axes[1]]: column };
  }

  /** A drawn cell by the names of its axes and by its places in them, so that other stages know what concerns them. */
  mark(picture, { head = null, row = null, column = null }) {
    const { axes, heads, block } = picture.meta;
    const [down, across] = [row, column].map((at, i) => (at === null ? null : picture.place(i, at * block[i])));
    return { stage: picture.name, head, row, column, heads: heads.length, [axes[0]]: down, [axes[1]]: across };
  }

  /** Tell other views which query is pointed at, and what it takes in a head; they tell this one in the same way. */
  tell(row, head = null) {
    this.telling = true;
    window.dispatchEvent(new CustomEvent(ROW, { detail: { row, head: this.numbered(head), shares: this.shares(row, head) } }));
    this.telling = false;
  }

  /** What a query takes from each key, where that can be read off a picture. */
  shares(row, head) {
    if (row === null || head === null) return null;
    const there = [...this.pictures.values()].filter(({ w, trace }) => w && trace?.z);
    const picture = there.find(({ meta }) => meta.share && meta.axes.join() === "query,key" && meta.block[1] === 1);
    const at = picture && picture.index(0, row);
    if (!picture || head >= picture.meta.heads.length || at === null || at >= picture.rows) return null;
    return Array.from({ length: picture.columns }, (_, column) => picture.value({ head, row: at, column }));
  }

  /** A head's number among all heads, where only one is shown. */
  numbered(head) {
    return head === null ? null : (this.data.focus ?? head);
  }

  hear({ row }) {
    if (!this.telling) this.light(row === null ? null : { query: row });
  }

  /** Light a mark in all stages; null puts the light out. What else shows the same cells lights them too. */
  light(mark) {
    this.lit = mark;
    this.pictures.forEach((picture) => picture.drawLight());
    if (this.hearing) return;
    const detail = mark && { ...mark, head: this.numbered(mark.head ?? null), from: "maps" };
    window.dispatchEvent(new CustomEvent(LIT, { detail }));
  }

  /** Light the cells that something else stands for: in their own head alone, as it says so exactly which they are. */
  hearLit(mark) {
    if (mark?.from === "maps" || !this.data?.fill) return;
    const { focus, heads } = this.data;
    const head = mark && (focus === null ? mark.head : mark.head === focus ? 0 : null);
    this.hearing = true;
    this.light(mark && { ...mark, head, heads: focus === null ? heads : 1, exact: true });
    this.hearing = false;
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
    const top = Math.max(4, y + 16 + height > window.innerHeight ? y - height - 10 : y + 16);
    this.tip.style.top = top + "px";
    this.lens.ask(picture, cell, { x, y, low: top + height });
  }

  /** What an axis is called on the page. */
  axis(name) {
    return this.data.axes[name] ?? name;
  }

  fillTip(picture, cell) {
    const { axes, heads } = picture.meta;
    const lines = [];
    if (heads[cell.head]) lines.push(["", heads[cell.head]]);
    if (cell.row !== undefined) lines.push([this.axis(axes[0]), picture.rowWord(cell.row), picture.places(cell.row, 0)]);
    if (cell.column !== undefined) lines.push([this.axis(axes[1]), picture.columnWord(cell.column), picture.meta.columns && picture.places(cell.column, 1)]);
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
    const named = cell?.name !== undefined;
    picture.chart.style.cursor = named ? (this.data.heads > 1 ? "pointer" : "") : cell ? "crosshair" : "";
    cell && !named ? this.show(picture, cell, event.clientX, event.clientY) : this.leave();
  }

  /** Shift keeps the lens where it is; once it is let go, the lens follows the pointer again. */
  keepLens(kept) {
    this.lens.keep(kept);
    if (!kept && !this.lit) this.lens.leave();
  }

  leave() {
    this.lens.leave();
    if (!this.lit) return;
    this.tip.style.display = "none";
    this.light(null);
    this.tell(null);
  }

  click(picture, event) {
    const cell = picture.locate(event);
    if (!cell) return;
    if (cell.name !== undefined) return this.bring(cell.name);
    this.pick(picture, cell);
    if (event.pointerType === "touch") this.show(picture, cell, event.clientX, event.clientY);
  }

  /** Choose a cell; where cells are too small to be hit with intent, its head comes forward. */
  pick(picture, { head = null, row = null, column = null }) {
    const { block } = picture.meta;
    const [down, across] = [row, column].map((at, i) => (at === null ? null : at * block[i]));
    this.chosen = { stage: picture.name, head, row: down, column: across };
    this.sent.push(JSON.stringify(this.chosen));
    this.light(this.lit);
    const small = head !== null && this.data.heads > 1 && this.data.focus === null && Math.min(picture.w, picture.h) < BRING_BELOW;
    this.setTriggerValue("picked", small ? { ...this.chosen, bring: true } : this.chosen);
  }

  /** Show one head by itself, or with null all of them again. */
  bring(head) {
    if (this.data.heads < 2 || head === this.data.focus) return;
    this.setTriggerValue("focus", head === null ? -1 : head);
  }

  /** Whether keys are for the pictures: they are in focus, or nothing that takes keys itself is. */
  hears(target) {
    const nothing = target === document.body || target.matches?.("[data-testid=stMain]");
    return Boolean(this.data && this.data.heads > 1 && (nothing || this.host?.contains(target)));
  }

  /** F brings the head forward that is pointed at or chosen, Escape all of them; arrows go on from head to head. */
  shortcut(event) {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || !this.hears(event.target)) return;
    const { focus, heads } = this.data;
    if (event.key.toLowerCase() === "f" && focus === null) this.bring(this.lit?.head ?? this.chosen?.head ?? 0);
    else if (focus === null) return;
    else if (event.key === "Escape") this.bring(null);
    else if (event.key === "ArrowLeft") this.bring((focus + heads - 1) % heads);
    else if (event.key === "ArrowRight") this.bring((focus + 1) % heads);
    else return;
    event.preventDefault();
  }

  /** The keyboard has come to a picture: start at the chosen cell, or at the first. */
  enter(picture) {
    if (!picture.w) return;
    const { stage, ...cell } = this.chosen ?? {};
    if (stage === picture.name && cell.head !== null && cell.row !== null && cell.column !== null)
      picture.cursor = { head: cell.head, ...picture.own(this.picked) };
    picture.cursor ??= { head: 0, row: 0, column: 0 };
    if (picture.focus.matches(":focus-visible")) this.visit(picture);
  }

  visit(picture) {
    const { cursor, meta } = picture;
    const outer = picture.layer.getBoundingClientRect();
    this.show(picture, cursor, outer.left + picture.edgeX(cursor.head, cursor.column + 1), outer.top + picture.edgeY(cursor.head, cursor.row + 1));
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
    else if (event.key === "Escape" && this.lit) this.leave();
    else if (event.key.toLowerCase() === "f") this.bring(this.data.focus ?? head);
    else if (event.key === "PageUp" && this.data.focus) this.bring(this.data.focus - 1);
    else if (event.key === "PageDown" && this.data.focus !== null && this.data.focus < this.data.heads - 1) this.bring(this.data.focus + 1);
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
