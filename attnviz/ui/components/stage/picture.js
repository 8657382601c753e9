/** A heat map on which rows, columns and cells light up: those pointed at, chosen, or told of by the page. */
class Picture extends Lettered {
  /** The lit rows, columns and cells: under the pointer thin, chosen ones thick and their words in the accent colour. */
  drawLight() {
    const { lit, picked } = this.bridge;
    if (!this.w || !this.trace?.meta) return; // Plotly may have taken the chart away
    this.light.replaceChildren();
    if (lit) this.drawMark(this.own(lit), lit.exact ? 1.5 : 1, !lit.exact);
    if (!lit && !picked) this.drawOpening();
    const now = (lit ? this.own(lit) : picked ? this.own(picked) : {}).head ?? (lit || picked ? null : this.bridge.data.opening?.[0]);
    this.words.querySelectorAll("[data-head]").forEach((name) => name.classList.toggle("attn-now", Number(name.dataset.head) === now));
    if (picked) this.drawMark(this.own(picked), 2, picked.column === null || picked.row === null);
  }

  /** The row that the page opens on, in its head alone, while nothing is pointed at or chosen. */
  drawOpening() {
    const { opening } = this.bridge.data;
    const { heads, axes, block } = this.meta;
    if (!opening || axes[0] !== "query" || opening[0] >= heads.length) return;
    const mark = { head: opening[0], row: Math.floor(opening[1] / block[0]), column: null, places: [opening[1], null] };
    this.drawMark(mark, 1.5, false);
  }

  /** A mark in this picture's own cells; axes of other names do not concern it. */
  own(mark) {
    const places = this.meta.axes.map((axis, i) => this.index(i, mark[axis] ?? null));
    const [row, column] = places.map((place, i) => (place === null ? null : Math.floor(place / this.meta.block[i])));
    const n = this.meta.heads.length;
    const shared = mark.exact && mark.head !== null ? Math.floor((mark.head * n) / mark.heads) : null;
    const head = mark.heads === n ? mark.head : shared; // key/value heads have other numbers
    const inside = (at, length) => (at !== null && at < length ? at : null);
    return { head, row: inside(row, this.rows), column: inside(column, this.columns), places };
  }

  drawMark({ head, row, column, places }, line, everywhere) {
    const words = svg(this.light, "g", line > 1 ? { class: "attn-chosen" } : {});
    if (row !== null) this.drawRowWords(words, row, everywhere ? null : head, places[0]);
    if (column !== null) this.drawColumnWords(words, column, places[1]);
    const rings = [];
    this.meta.widths.forEach((width, at) => {
      const inside = column !== null && column < width;
      const here = at === head;
      if (row !== null && (everywhere || (here && !inside))) rings.push(this.box(at, row, 0, 1, width));
      if (inside && everywhere) rings.push(this.box(at, 0, column, this.rows, 1));
      if (row !== null && inside && here) this.drawRings([this.box(at, row, column)], 2);
    });
    if (rings.length) this.drawRings(rings, line, "attn-ring");
  }

  /** Boxes that stand out on any cell: thick ones by an edge in the colour of the page, thin ones by inversion. */
  drawRings(boxes, line, name = "") {
    const d = boxes.map(([x, y, w, h]) => `M${x - 0.5},${y - 0.5}h${w + 1}v${h + 1}h${-w - 1}Z`).join("");
    if (line > 1) svg(this.light, "path", { d, stroke: this.bridge.ground, "stroke-width": line + 2, fill: "none" });
    svg(this.light, "path", { d, class: line > 1 ? name : "attn-thin", stroke: "currentColor", "stroke-width": line, fill: "none" });
  }
}
