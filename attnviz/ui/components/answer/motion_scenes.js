// The stops on the way of a cell as scenes: rectangles and words by name, between which the player moves.
// A scene is made from the numbers of the answer alone; nothing is computed here but the layout.

/** @import { Motion, MotionFrame, MotionNumbers, MotionPair } from "./types" */
/** @import { Palette, Piece, Scene, Size } from "./motion_parts.js" */
import { between, inkOn, parts } from "../colours.js";
import { rangeOf } from "./drawer_pictures.js";
import { EDGE, ROOMY, ROW, bytes, clamp, mapNumbers, painted } from "./motion_parts.js";

export class Scenes {
  /**
   * @param {Motion} motion
   * @param {Size} size
   * @param {string[]} scale  the colours of signed numbers
   * @param {Palette} palette
   */
  constructor(motion, size, scale, palette) {
    this.motion = motion;
    this.size = size;
    this.scale = scale;
    this.palette = palette;
    /** @type {Partial<Record<string, HTMLCanvasElement>>} */
    this.images = {};
  }

  /** @param {number} at  which stop @returns {Scene} */
  scene(at) {
    const frame = this.motion.frames[at];
    /** @type {Scene} */
    const scene = { pieces: new Map(), notes: new Map() };
    if (frame.kind === "rows") this.rows(scene);
    else if (frame.kind === "meet") this.meet(scene, frame);
    else if (frame.kind === "entries") this.entries(scene, frame);
    else if (frame.kind === "sum") this.sum(scene, at);
    else if (frame.kind === "row") this.row(scene, frame);
    else if (frame.kind === "shares") this.shares(scene, frame);
    else if (frame.kind === "mix") this.mix(scene, frame);
    else this.output(scene, frame);
    return scene;
  }

  /** The colour of a number. @param {number | null} value @param {number} end */
  colour(value, end) {
    return between(this.scale, 0.5 + (value ?? 0) / (2 * (end || 1)));
  }

  /** @param {"q" | "k" | "v"} name @returns {HTMLCanvasElement} */
  image(name) {
    const map = this.motion.maps[name];
    return (this.images[name] ??= painted(map, (value) => between(this.scale, value)));
  }

  // --- Q and K, and the two rows that leave them

  /** @param {Scene} scene @param {number} [alpha] */
  rows(scene, alpha = 1) {
    const { w, h } = this.size;
    const half = (w - 14) / 2;
    const high = Math.min(h * 0.52, 190);
    for (const [at, name] of /** @type {const} */ (["q", "k"]).entries()) {
      const map = this.motion.maps[name];
      if (!map) continue;
      const box = { x: at * (half + 14) + 50, y: 24, w: half - 50, h: Math.min(high, map.rows * 22) };
      const one = box.h / map.rows;
      const y = box.y + map.at * one;
      scene.pieces.set(`map.${name}`, { ...box, fill: this.palette.ground, image: this.image(name), alpha });
      scene.notes.set(`title.${name}`, { x: box.x, y: 10, text: name.toUpperCase(), size: 15, bold: true, align: "left" });
      if (alpha < 1) continue;
      this.cells(scene, at ? "b" : "a", { ...box, y, h: one }, mapNumbers(map));
      scene.pieces.set(`ring.${name}`, { x: box.x - 2, y: y - 2, w: box.w + 4, h: one + 4, fill: this.palette.accent, ring: true });
      this.word(scene, at, { x: box.x - 6, y: y + one / 2, maxWidth: 44 });
    }
  }

  /** The word of the query, or of the key. @param {Scene} scene @param {number} at @param {{ x: number, y: number, maxWidth: number }} anchor */
  word(scene, at, anchor) {
    const fill = at ? this.palette.ink : this.palette.accent;
    scene.notes.set(`word.${at}`, { ...anchor, text: at ? this.motion.key : this.motion.query, size: 13, bold: true, align: "right", fill });
  }

  /**
   * Numbers side by side as coloured cells, written where there is room.
   *
   * @param {Scene} scene
   * @param {string} name
   * @param {Piece | { x: number, y: number, w: number, h: number }} box
   * @param {MotionNumbers} numbers
   * @param {{ end?: number, alpha?: number }} [how]
   */
  cells(scene, name, { x, y, w, h }, { values, texts }, { end, alpha = 1 } = {}) {
    const width = w / values.length;
    const limit = end ?? Math.max(...values.map((value) => Math.abs(value ?? 0)));
    values.forEach((value, d) => {
      const fill = this.colour(value, limit);
      const gap = width > 8 ? 2 : 0;
      scene.pieces.set(`${name}.${d}`, { x: x + d * width, y, w: width - gap, h, fill, alpha, delay: d / values.length });
      if (!texts[d] || width < 29 || h < 16) return;
      const dimmed = alpha < 1 ? this.palette.muted : parts(inkOn(fill));
      const size = width < ROOMY ? 10 : 12, within = width - gap - 2;
      scene.notes.set(`${name}.${d}`, { x: x + d * width + (width - gap) / 2, y: y + h / 2, text: texts[d], size, within, fill: dimmed });
    });
  }

  /** @param {Scene} scene @param {MotionPair} pair */
  meet(scene, pair) {
    this.rows(scene, 0.3);
    this.pair(scene, pair, Math.min(this.size.h * 0.66, 250), this.size.h < 300 ? 8 : 22);
  }

  /**
   * Two rows under each other, or the one there is.
   *
   * @param {Scene} scene
   * @param {MotionPair} pair
   * @param {number} y
   * @param {number} apart
   * @param {number} [alpha]
   */
  pair(scene, { parts, named }, y, apart, alpha = 1) {
    const ends = this.ends(parts);
    parts.forEach((part, at) => {
      const box = { x: EDGE, y: y + at * (ROW + apart), w: this.size.w - EDGE, h: ROW };
      this.cells(scene, at ? "b" : "a", box, part, { end: ends[at], alpha });
      if (named[at]) this.word(scene, at, { x: EDGE - 8, y: box.y + ROW / 2, maxWidth: EDGE - 10 });
    });
  }

  /** Where the colours of two rows end: where those of their maps do, as long as they are rows of them. @param {MotionNumbers[]} parts */
  ends(parts) {
    const { q, k } = this.motion.maps;
    const met = this.motion.frames.find((frame) => frame.kind === "meet");
    return parts.map((part, at) => {
      const same = met?.kind === "meet" && met.parts[at].values.join() === part.values.join();
      return same ? (at ? k : q)?.end : undefined;
    });
  }

  // --- the entries, and what they come to

  /** @param {Scene} scene @param {MotionPair & MotionNumbers} frame */
  entries(scene, { parts, named, values, texts }) {
    this.pair(scene, { parts, named }, 2, 6);
    const top = parts.length * (ROW + 6) + 24;
    const box = { x: EDGE, y: top, w: this.size.w - EDGE, h: this.size.h - top - 20 };
    this.bars(scene, "e", box, { values, texts }, (_, value) => ((value ?? 0) < 0 ? this.palette.negative : this.palette.positive));
  }

  /**
   * Bars from a common line, with their numbers where there is room.
   *
   * @param {Scene} scene
   * @param {string} name
   * @param {{ x: number, y: number, w: number, h: number }} box
   * @param {MotionNumbers} numbers
   * @param {(at: number, value: number | null) => number[]} fill
   */
  bars(scene, name, { x, y, w, h }, { values, texts }, fill) {
    const [low, high] = rangeOf(values);
    const unit = (h - (low < 0 ? 18 : 0)) / (high - low || 1); // numbers stand below what is negative
    const zero = y + high * unit;
    const slot = w / values.length;
    const width = Math.min(slot * 0.82, 46);
    scene.pieces.set("axis", { x, y: zero - 0.5, w, h: 1, fill: this.palette.muted });
    values.forEach((value, at) => {
      const size = Math.max(Math.abs(value ?? 0) * unit, 1);
      const left = x + at * slot + (slot - width) / 2;
      const up = value === null || value < 0 ? zero : zero - size;
      const extent = value === null ? { y, h } : { y: up, h: size };
      const alpha = value === null ? 0.35 : 1;
      const delay = at / values.length;
      scene.pieces.set(`${name}.${at}`, { x: left, w: width, ...extent, fill: fill(at, value), alpha, base: zero, delay });
      const fits = slot >= 27 && texts[at].length * 6.4 < slot + 3;
      if (!texts[at] || value === null || !(fits || (name === "r" && at === this.motion.at))) return;
      const above = value < 0 ? zero + size + 9 : up - 8;
      scene.notes.set(`${name}.${at}`, { x: clamp(left + width / 2, 16, this.size.w - 16), y: above, text: texts[at], size: 12 });
    });
  }

  /** The cell that the entries fall into, and what becomes of its number. @param {Scene} scene @param {number} at */
  sum(scene, at) {
    const { w, h } = this.size;
    const { frames } = this.motion;
    const frame = frames[at];
    if (frame.kind !== "sum") return;
    const last = frames.slice(0, at).reverse().find((each) => each.kind === "entries");
    if (last?.kind === "entries") this.pair(scene, last, 2, 6, 0.35);
    const row = frames.find((each) => each.kind === "row");
    const end = Math.max(Math.abs(frame.value ?? 0), ...(row?.kind === "row" ? row.values.map((each) => Math.abs(each ?? 0)) : []));
    const fill = this.colour(frame.value, end);
    const box = { x: w / 2 - 52, y: h * 0.52, w: 104, h: 46 };
    scene.pieces.set("cell", { ...box, fill });
    const text = parts(inkOn(fill));
    scene.notes.set(`sum.${at}`, { x: w / 2, y: box.y + 23, text: frame.text, size: 20, bold: true, fill: text });
    if (frame.was) {
      scene.notes.set(`was.${at}`, { x: box.x - 8, y: box.y + 23, text: `${frame.was} →`, size: 13, align: "right", fill: this.palette.muted });
    }
    scene.into = (id) => (id.startsWith("e.") ? "cell" : "");
  }

  // --- the row, and its shares

  /** @param {Scene} scene @param {Extract<MotionFrame, { kind: "row" }>} frame */
  row(scene, { values, texts, level, note }) {
    const { w, h } = this.size;
    const box = { x: 4, y: 46, w: w - 8, h: h - 46 - 64 };
    this.bars(scene, "r", box, { values, texts }, (at) => (at === this.motion.at ? this.palette.accent : this.palette.others));
    const chosen = scene.pieces.get(`r.${this.motion.at}`);
    if (chosen) chosen.from = "cell";
    const [low, high] = rangeOf(values);
    if (level !== null && level !== undefined) {
      const y = box.y + ((high - level) / (high - low || 1)) * (box.h - (low < 0 ? 18 : 0));
      scene.pieces.set("level", { ...box, y: y - 0.75, h: 1.5, fill: this.palette.ink });
    }
    if (note) scene.notes.set(`note.${note}`, { x: w - 4, y: 10, text: note, size: 12, align: "right", fill: this.palette.muted });
    this.names(scene, values.length, h - 50);
  }

  /** The words under a row: level or rotated where they fit, else the one that is explained. @param {Scene} scene @param {number} n @param {number} y */
  names(scene, n, y) {
    const { names, at } = this.motion;
    const slot = (this.size.w - 8) / n;
    const longest = Math.max(...names.map((name) => name.length)) * 6.6;
    names.forEach((text, i) => {
      const level = longest < slot;
      if (i !== at && !level && slot < 13) return;
      const rotated = !level && slot >= 13;
      const middle = 4 + (i + 0.5) * slot;
      const x = level || rotated ? middle : clamp(middle, text.length * 3.5, this.size.w - text.length * 3.5);
      const fill = i === at ? this.palette.accent : this.palette.muted;
      scene.notes.set(`name.${i}`, { x, y, text, size: rotated ? 11 : 12, bold: i === at, fill, rotated, maxWidth: rotated ? 48 : 120 });
    });
  }

  /** @param {Scene} scene @param {Extract<MotionFrame, { kind: "shares" }>} frame */
  shares(scene, { values, amount }) {
    const { w, h } = this.size;
    const { at, names, key } = this.motion;
    let x = 0;
    values.forEach((value, i) => {
      const width = Math.max(value ?? 0, 0) * w;
      const gap = width > 4 ? 1 : 0;
      const fill = i === at ? this.palette.accent : this.palette.others;
      scene.pieces.set(`r.${i}`, { x, y: h * 0.4, w: width - gap, h: 46, fill });
      const middle = x + width / 2;
      if (i === at) {
        scene.notes.set("share", { x: clamp(middle, 40, w - 40), y: h * 0.4 - 14, text: `${key} ${amount}`, size: 15, bold: true, fill: this.palette.accent });
      } else if (names[i].length * 7 + 8 < width) {
        scene.notes.set(`name.${i}`, { x: middle, y: h * 0.4 + 23, text: names[i], size: 12 });
      }
      x += width;
    });
  }

  // --- the values, and the output

  /** @param {Scene} scene @param {Extract<MotionFrame, { kind: "mix" }>} frame */
  mix(scene, { values, texts, names, entries }) {
    const map = this.motion.maps.v;
    if (!map) return;
    const { w, h } = this.size;
    const cells = bytes(map);
    const all = values.reduce((/** @type {number} */ sum, value) => sum + Math.abs(value ?? 0), 0) || 1;
    const width = (w - EDGE) / map.columns;
    let y = 8;
    values.forEach((value, row) => {
      const high = (Math.abs(value ?? 0) / all) * (h - 24);
      const gap = high > 4 ? 1.5 : 0;
      for (let d = 0; d < map.columns && high > 0.2; d++) {
        const fill = between(this.scale, (cells[row * map.columns + d] - 1) / 254);
        const box = { x: EDGE + d * width, y, w: width - (width > 8 ? 2 : 0), h: high - gap };
        scene.pieces.set(`v.${row}.${d}`, { ...box, fill, from: `r.${row}`, part: [d, map.columns], delay: row / values.length });
        if (row !== map.at || width < 29 || high < 17 || !entries.texts[d]) continue;
        const text = parts(inkOn(fill));
        scene.notes.set(`v.${d}`, { x: box.x + box.w / 2, y: y + (high - gap) / 2, text: entries.texts[d], size: 12, fill: text });
      }
      if (high >= 15) this.valueLabel(scene, row, { y: y + high / 2, high }, names[row], texts[row]);
      y += high;
    });
  }

  /** Whose value it is, and what share it has. @param {Scene} scene @param {number} row @param {{ y: number, high: number }} place @param {string} name @param {string} amount */
  valueLabel(scene, row, { y, high }, name, amount) {
    const isChosen = row === this.motion.maps.v?.at;
    const both = high >= 30;
    const fill = isChosen ? this.palette.accent : this.palette.ink;
    scene.notes.set(`of.${row}`, { x: EDGE - 8, y: both ? y - 8 : y, text: name, size: 12, bold: isChosen, align: "right", fill, maxWidth: EDGE - 10 });
    if (both) scene.notes.set(`share.${row}`, { x: EDGE - 8, y: y + 8, text: amount, size: 12, align: "right", fill: this.palette.muted });
  }

  /** @param {Scene} scene @param {Extract<MotionFrame, { kind: "output" }>} frame */
  output(scene, { values, texts, end }) {
    const box = { x: EDGE, y: this.size.h * 0.5, w: this.size.w - EDGE, h: 40 };
    this.cells(scene, "z", box, { values, texts }, { end });
    scene.notes.set("z", { x: EDGE - 8, y: box.y + 12, text: "z", size: 13, align: "right", fill: this.palette.muted });
    this.word(scene, 0, { x: EDGE - 8, y: box.y + 29, maxWidth: EDGE - 10 });
    scene.into = (id) => (id.startsWith("v.") ? `z.${id.split(".")[2]}` : "");
  }
}
