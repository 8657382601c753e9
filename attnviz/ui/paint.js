// A grid of cells that a stroke allows or forbids. All text enters through textContent or attributes.

const LARGEST_CELL = 28;
const SMALLEST_CELL = 8;
const GAPS_FROM = 11; // pixels of a cell from which cells stand apart, and every word has room

function make(tag, name, parent) {
  const node = document.createElement(tag);
  node.className = name;
  return parent.appendChild(node);
}

/** A template of ours with what stands between braces put in. */
function filled(template, values) {
  return template.replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

/** Every cell on the way from one to another, so that a fast stroke has no holes. */
function between([row, column], [toRow, toColumn]) {
  const steps = Math.max(Math.abs(toRow - row), Math.abs(toColumn - column), 1);
  const at = (from, to, i) => Math.round(from + ((to - from) * i) / steps);
  return Array.from({ length: steps + 1 }, (_, i) => [at(row, toRow, i), at(column, toColumn, i)]);
}

class Paint {
  constructor(root) {
    this.root = root;
    this.sent = [];
    this.at = [0, 0];
    this.wrap = make("div", "paint", root);
    this.frame = make("div", "frame", this.wrap);
    this.grid = make("div", "grid", this.frame);
    this.grid.setAttribute("role", "grid");
    this.grid.setAttribute("aria-multiselectable", "true");
    this.caption = make("div", "caption", this.wrap);
    this.live = make("div", "live", this.wrap);
    this.live.setAttribute("aria-live", "polite");
    this.listen();
    this.watch = new ResizeObserver(() => this.fit());
    this.watch.observe(this.wrap);
  }

  listen() {
    const { grid } = this;
    grid.addEventListener("pointerdown", (event) => this.start(event));
    grid.addEventListener("pointermove", (event) => this.move(event));
    for (const end of ["pointerup", "pointercancel", "lostpointercapture"]) grid.addEventListener(end, (event) => this.end(event));
    grid.addEventListener("pointerleave", () => this.stroke || this.tell(null));
    grid.addEventListener("keydown", (event) => this.key(event));
    grid.addEventListener("focusin", (event) => this.focused(event.target));
    grid.addEventListener("focusout", () => this.tell(null));
  }

  update(bytes, setTriggerValue) {
    this.send = (cells) => setTriggerValue("cells", cells);
    const data = JSON.parse(new TextDecoder().decode(bytes));
    if (this.stroke) this.late = data;
    else this.adopt(data);
  }

  /** Take the page's mask, unless it is the echo of one that was painted here and may be outdated. */
  adopt(data) {
    const same = this.data && JSON.stringify([data.queries, data.keys]) === JSON.stringify([this.data.queries, this.data.keys]);
    const [echo, refused] = [this.sent.indexOf(data.cells), this.data && data.refused !== this.data.refused];
    const before = this.data?.cells;
    this.data = data;
    if (!same) this.build();
    if (same && !refused && echo >= 0) this.sent.splice(0, echo + 1);
    else if (!same || refused || data.cells !== before) this.draw(data.cells);
  }

  build() {
    const { queries, keys, words, colours } = this.data;
    this.grid.replaceChildren();
    this.grid.setAttribute("aria-label", words.grid);
    for (const [name, value] of [["columns", keys.length], ["may", colours.may], ["may-not", colours.may_not]]) this.grid.style.setProperty(`--${name}`, value);
    const head = this.row();
    make("div", "corner", head);
    this.keys = keys.map((word, i) => this.word(head, "key", "columnheader", word, i));
    this.cells = [];
    this.queries = queries.map((word, i) => {
      const row = this.row();
      const header = this.word(row, "query", "rowheader", word, i);
      this.cells.push(keys.map((_, j) => this.cell(row, i, j)));
      return header;
    });
    this.at = [Math.min(this.at[0], queries.length - 1), Math.min(this.at[1], keys.length - 1)];
    this.cells[this.at[0]][this.at[1]].tabIndex = 0;
    this.fit();
    this.tell(null);
  }

  row() {
    const row = make("div", "", this.grid);
    row.setAttribute("role", "row");
    return row;
  }

  word(row, name, role, word, i) {
    const header = make("div", name, row);
    header.setAttribute("role", role);
    make("span", "number", header).textContent = i + 1;
    make("span", "word", header).textContent = word || this.data.words.empty;
    header.title = `${i + 1} ${word}`;
    return header;
  }

  cell(row, i, j) {
    const cell = make("div", "cell", row);
    cell.setAttribute("role", "gridcell");
    cell.tabIndex = -1;
    [cell.row, cell.column] = [i, j];
    return cell;
  }

  draw(text) {
    text.split("\n").forEach((row, i) => [...row].forEach((mark, j) => this.put(i, j, mark === "1")));
    this.sent = [];
    this.tell(this.told);
  }

  /** Allow or forbid one cell; whether that changed it. */
  put(i, j, may) {
    const cell = this.cells[i]?.[j];
    if (!cell || cell.may === may) return false;
    cell.may = may;
    cell.setAttribute("aria-selected", String(may));
    cell.setAttribute("aria-label", this.named(i, j));
    return true;
  }

  /** A cell in words: its query, its key and what it says. */
  named(i, j) {
    const { queries, keys, words } = this.data;
    const row = filled(words.row, { row: i + 1, query: queries[i] || words.empty });
    const column = filled(words.column, { column: j + 1, key: keys[j] || words.empty });
    return `${row}, ${column}: ${this.cells[i][j].may ? words.may : words.may_not}`;
  }

  /** Cells as large as there is room for; words thinned where they would not fit. */
  fit() {
    if (!this.cells) return;
    const n = this.data.keys.length;
    const left = this.queries.reduce((widest, header) => Math.max(widest, header.offsetWidth), 0);
    const room = (this.wrap.clientWidth - left - 6) / n;
    const cell = Math.max(SMALLEST_CELL, Math.min(LARGEST_CELL, Math.floor(room >= GAPS_FROM + 1 ? room - 1 : room)));
    const fine = cell < GAPS_FROM;
    this.grid.style.setProperty("--cell", `${cell}px`);
    this.grid.style.setProperty("--gap", fine ? "0px" : "1px");
    this.grid.classList.toggle("fine", fine);
    this.grid.classList.toggle("thin", cell < 16);
    const every = Math.ceil(12 / cell);
    for (const headers of [this.queries, this.keys]) headers.forEach((header, i) => header.classList.toggle("skipped", i % every > 0));
  }

  /** The place under the pointer, also outside the grid; in cells, counted from 0. */
  place(event) {
    const first = this.cells[0][0].getBoundingClientRect();
    const pitch = this.cells[0][1] ? this.cells[0][1].getBoundingClientRect().left - first.left : first.width + 1;
    return [Math.floor((event.clientY - first.top) / pitch), Math.floor((event.clientX - first.left) / pitch)];
  }

  start(event) {
    const cell = event.target;
    if (this.stroke || event.button !== 0 || cell.row === undefined) return;
    event.preventDefault();
    this.grid.setPointerCapture(event.pointerId);
    this.stroke = { id: event.pointerId, may: !cell.may, last: [cell.row, cell.column], changed: false };
    cell.focus({ preventScroll: true });
    this.paint([cell.row, cell.column]);
  }

  paint(to) {
    for (const [i, j] of between(this.stroke.last, to)) if (this.put(i, j, this.stroke.may)) this.stroke.changed = true;
    this.stroke.last = to;
    this.tell(to);
  }

  move(event) {
    if (!this.stroke) this.tell(this.place(event));
    else if (event.pointerId === this.stroke.id) {
      const between = event.getCoalescedEvents?.() ?? [];
      for (const each of between.length ? between : [event]) this.paint(this.place(each));
    }
  }

  /** The stroke is over: send the whole grid once, and only then look at what the page said meanwhile. */
  end(event) {
    if (event.pointerId !== this.stroke?.id) return;
    const [{ changed }, late] = [this.stroke, this.late];
    this.stroke = this.late = undefined;
    if (changed) this.tellPage();
    if (!late) return;
    const same = JSON.stringify([late.queries, late.keys]) === JSON.stringify([this.data.queries, this.data.keys]);
    if (changed && same) this.data = late;
    else this.adopt(late);
  }

  tellPage() {
    const cells = this.cells.map((row) => row.map((cell) => (cell.may ? "1" : "0")).join("")).join("\n");
    this.sent.push(cells);
    this.send(cells);
  }

  /** One line below: the cell under the pointer or in focus. */
  tell(place) {
    this.told = place;
    const [i, j] = place ?? [];
    const known = this.cells[i]?.[j];
    this.caption.textContent = known ? this.named(i, j) : this.data.words.hint;
    for (const hot of this.grid.querySelectorAll(".hot")) hot.classList.remove("hot");
    if (known) [this.queries[i], this.keys[j]].forEach((header) => header.classList.add("hot"));
  }

  focused(cell) {
    if (cell.row === undefined) return;
    this.cells[this.at[0]][this.at[1]].tabIndex = -1;
    this.at = [cell.row, cell.column];
    cell.tabIndex = 0;
    this.tell(this.at);
  }

  key(event) {
    const cell = event.target;
    if (event.metaKey || event.altKey || cell.row === undefined) return;
    if (event.key === " " || event.key === "Enter") {
      event.preventDefault();
      if (!this.stroke) this.toggle(cell.row, cell.column);
      return;
    }
    const [rows, columns] = [this.cells.length, this.cells[0].length];
    const far = event.ctrlKey;
    const to = {
      ArrowUp: [cell.row - 1, cell.column],
      ArrowDown: [cell.row + 1, cell.column],
      ArrowLeft: [cell.row, cell.column - 1],
      ArrowRight: [cell.row, cell.column + 1],
      Home: [far ? 0 : cell.row, 0],
      End: [far ? rows - 1 : cell.row, columns - 1],
    }[event.key];
    if (!to) return;
    event.preventDefault();
    this.cells[to[0]]?.[to[1]]?.focus();
  }

  toggle(i, j) {
    this.put(i, j, !this.cells[i][j].may);
    this.live.textContent = this.cells[i][j].may ? this.data.words.may : this.data.words.may_not;
    this.tell([i, j]);
    this.tellPage();
  }
}

export default function ({ parentElement, data, setTriggerValue }) {
  const paint = (parentElement.attnPaint ??= new Paint(parentElement));
  paint.update(data, setTriggerValue);
  return () => {
    paint.watch.disconnect();
    paint.wrap.remove();
    delete parentElement.attnPaint;
  };
}
