// The player of a cell: it moves between its stops, pauses at each, and goes step by step where motion is not wanted.

/** @import { Motion } from "./types" */
/** @import { Note, Piece, Scene } from "./motion_parts.js" */
import { append } from "./drawer_pictures.js";
import { paletteOf } from "./motion_parts.js";
import { Scenes } from "./motion_scenes.js";

/** @typedef {{ from: Piece, to: Piece, delay: number }} Moving */
/** @typedef {{ dark: boolean, sheet: boolean, scales: string[][] }} Look */
/** @typedef {Record<"play" | "pause" | "step" | "again" | "way", string>} Words */

const STILL = matchMedia("(prefers-reduced-motion: reduce)");
const REST = 2500; // milliseconds at each stop: its caption is read
const FIRST = 1000; // and at the one that it stands at when it begins
const MOVES = { rows: 600, meet: 1100, entries: 800, sum: 700, row: 650, shares: 800, mix: 1000, output: 1000 };
const LONGEST = 50; // milliseconds that one frame may count for: after a pause of the window it goes on where it was

export class Player {
  /**
   * @param {HTMLElement} parent
   * @param {Motion} motion
   * @param {Look} look
   * @param {Words} words
   * @param {(kind: string) => void} onStop  called with the kind of stop that is shown
   */
  constructor(parent, motion, look, words, onStop) {
    this.motion = motion;
    this.words = words;
    this.onStop = onStop;
    this.at = 0;
    this.progress = 1;
    this.rested = 0;
    this.playing = false;
    /** @type {Moving[]} */
    this.moving = [];
    this.box = append(parent, "div", "ad-motion");
    this.canvas = document.createElement("canvas");
    this.button = document.createElement("button");
    this.slider = document.createElement("input");
    this.canvas.setAttribute("role", "img");
    this.box.append(this.canvas);
    this.caption = append(this.box, "p", "ad-caption");
    this.drawControls();
    const { width, height } = this.canvas.getBoundingClientRect();
    this.size = { w: Math.round(width) || 280, h: Math.round(height) || 260 };
    this.scenes = new Scenes(motion, this.size, look.scales[look.dark ? 1 : 0], paletteOf(this.box, look.dark));
    this.context = this.context2d();
    this.font = getComputedStyle(this.box).fontFamily;
    this.show(0);
  }

  drawControls() {
    const row = append(this.box, "div", "ad-controls");
    row.append(this.button, this.slider);
    this.button.className = "ad-toggle";
    this.button.type = "button";
    this.button.addEventListener("click", () => this.toggle());
    const { slider } = this;
    Object.assign(slider, { className: "ad-stops", type: "range", min: "0", max: String(this.motion.frames.length - 1), step: "1" });
    slider.setAttribute("aria-label", this.words.way);
    slider.addEventListener("input", () => this.go(Number(slider.value)));
  }

  /** A context in the screen's own pixels. */
  context2d() {
    const sharp = Math.min(window.devicePixelRatio || 1, 2);
    this.canvas.width = this.size.w * sharp;
    this.canvas.height = this.size.h * sharp;
    const context = this.canvas.getContext("2d");
    context?.scale(sharp, sharp);
    return context;
  }

  /** Stand at a stop. @param {number} at */
  show(at) {
    this.at = at;
    this.progress = 1;
    this.next = this.scenes.scene(at);
    this.before = this.next;
    this.moving = [...this.next.pieces.values()].map((piece) => ({ from: piece, to: piece, delay: 0 }));
    this.describe();
    this.draw();
  }

  /** Move on to the next stop. */
  move() {
    this.before = this.scenes.scene(this.at);
    this.at++;
    this.next = this.scenes.scene(this.at);
    this.moving = moves(this.before, this.next);
    this.progress = this.rested = 0;
    this.describe();
    this.run();
  }

  describe() {
    const { title, sentence, kind } = this.motion.frames[this.at];
    this.caption.replaceChildren();
    append(this.caption, "b", "", title);
    this.caption.append(sentence);
    this.caption.setAttribute("aria-live", this.playing ? "off" : "polite");
    this.canvas.setAttribute("aria-label", `${title}. ${sentence}`);
    this.slider.value = String(this.at);
    this.slider.setAttribute("aria-valuetext", title);
    this.slider.style.setProperty("--done", `${(100 * this.at) / (this.motion.frames.length - 1)}%`);
    this.onStop(kind);
    this.labelButton();
  }

  /** Label the button by what it does now. */
  labelButton() {
    const end = this.at === this.motion.frames.length - 1;
    const action = this.playing ? "pause" : end ? "again" : STILL.matches ? "step" : "play";
    this.button.dataset.action = action;
    this.button.setAttribute("aria-label", this.words[action]);
    this.button.title = this.words[action];
    this.box.dataset.at = String(this.at);
    this.box.dataset.playing = String(this.playing);
  }

  /** Go to a stop: to the next one in motion, to any other at once. @param {number} to */
  go(to) {
    this.playing = false;
    if (to === this.at + 1 && !STILL.matches) this.move();
    else this.show(Math.min(Math.max(to, 0), this.motion.frames.length - 1));
  }

  toggle() {
    const last = this.motion.frames.length - 1;
    if (STILL.matches) return this.show(this.at === last ? 0 : this.at + 1);
    if (this.at === last && this.progress === 1) this.show(0);
    this.playing = !this.playing;
    this.rested = REST - FIRST;
    this.labelButton();
    this.run();
  }

  /** Start, unless motion is not wanted: then it stands at its first stop. */
  start() {
    if (!STILL.matches && !this.playing) this.toggle();
  }

  /** Draw frame after frame as long as something moves. */
  run() {
    if (this.frame) return;
    let last = performance.now();
    /** @param {number} now */
    const step = (now) => {
      this.frame = 0;
      const passed = Math.min(Math.max(now - last, 0), LONGEST);
      last = now;
      if (!this.box.isConnected) return;
      if (this.advance(passed)) this.frame ||= requestAnimationFrame(step); // the next stop may have begun it
    };
    this.frame = requestAnimationFrame(step);
  }

  /** Whether there is more to come. @param {number} passed  milliseconds */
  advance(passed) {
    if (this.progress < 1) {
      this.progress = Math.min(this.progress + passed / MOVES[this.motion.frames[this.at].kind], 1);
      this.draw();
      return this.progress < 1 || this.playing;
    }
    if (!this.playing) return false;
    this.rested += passed;
    if (this.at === this.motion.frames.length - 1) {
      this.playing = false;
      this.labelButton();
      return false;
    }
    if (this.rested >= REST) this.move();
    return true;
  }

  /** A key that was pressed here or on the page; whether it was for the player. @param {KeyboardEvent} event */
  onKeydown(event) {
    const arrows = { ArrowRight: 1, ArrowLeft: -1 };
    const pressed = event.target instanceof HTMLButtonElement;
    if (event.key === " " && !pressed) this.toggle();
    else if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
      this.go(Math.min(Math.max(this.at + arrows[event.key], 0), this.motion.frames.length - 1));
    } else return false;
    return true;
  }

  draw() {
    const { context, next, before } = this;
    if (!context || !next || !before) return;
    context.clearRect(0, 0, this.size.w, this.size.h);
    for (const each of this.moving) this.drawPiece(context, each);
    context.textBaseline = "middle";
    for (const [id, note] of before.notes) {
      const kept = next.notes.get(id);
      if (!kept || kept.text !== note.text) this.drawNote(context, note, Math.max(1 - 3 * this.progress, 0));
    }
    for (const [id, note] of next.notes) {
      const previous = before.notes.get(id);
      const same = previous && previous.text === note.text && previous.rotated === note.rotated;
      if (same) this.drawNote(context, { ...note, ...along(previous, note, eased(this.progress)) }, 1);
      else this.drawNote(context, note, Math.max(3 * this.progress - 2, 0));
    }
  }

  /** @param {CanvasRenderingContext2D} context @param {Moving} moving */
  drawPiece(context, { from, to, delay }) {
    const part = eased(Math.min(Math.max((this.progress - 0.35 * delay) / 0.65, 0), 1));
    const { x, y } = along(from, to, part);
    const w = from.w + (to.w - from.w) * part;
    const h = from.h + (to.h - from.h) * part;
    const alpha = (from.alpha ?? 1) + ((to.alpha ?? 1) - (from.alpha ?? 1)) * part;
    if (alpha <= 0 || w <= 0 || h <= 0) return;
    context.globalAlpha = alpha;
    const colour = `rgb(${from.fill.map((each, at) => Math.round(each + (to.fill[at] - each) * part)).join()})`;
    if (to.image) {
      context.imageSmoothingEnabled = false;
      context.drawImage(to.image, x, y, w, h);
    } else if (to.ring) {
      context.strokeStyle = colour;
      context.lineWidth = 2;
      context.strokeRect(x, y, w, h);
    } else {
      context.fillStyle = colour;
      context.fillRect(x, y, w, h);
    }
    context.globalAlpha = 1;
  }

  /** @param {CanvasRenderingContext2D} context @param {Note} note @param {number} alpha */
  drawNote(context, { x, y, text, size = 12, bold, fill, align = "center", rotated, maxWidth, within }, alpha) {
    if (alpha <= 0) return;
    context.save();
    context.globalAlpha = alpha;
    context.font = `${bold ? 600 : 400} ${size}px ${this.font}`;
    context.fillStyle = `rgb(${(fill ?? this.scenes.palette.ink).join()})`;
    context.translate(x, rotated ? y - 8 : y);
    if (rotated) context.rotate(-Math.PI / 2);
    context.textAlign = rotated ? "right" : align;
    context.fillText(fitted(context, text, maxWidth), 0, 0, within);
    context.restore();
  }

  end() {
    if (this.frame) cancelAnimationFrame(this.frame);
    this.frame = 0;
    this.box.remove();
  }
}

/** Slow at both ends. @param {number} part */
const eased = (part) => (part < 0.5 ? 4 * part ** 3 : 1 - (2 - 2 * part) ** 3 / 2);

/** @param {{ x: number, y: number }} one @param {{ x: number, y: number }} other @param {number} part */
const along = (one, other, part) => ({ x: one.x + (other.x - one.x) * part, y: one.y + (other.y - one.y) * part });

/** A text as far as there is room for it. @param {CanvasRenderingContext2D} context @param {string} text @param {number} [maxWidth] */
function fitted(context, text, maxWidth) {
  if (!maxWidth || context.measureText(text).width <= maxWidth) return text;
  let kept = [...text];
  while (kept.length > 1 && context.measureText(`${kept.join("")}…`).width > maxWidth) kept = kept.slice(0, -1);
  return `${kept.join("")}…`;
}

/** From where to where each piece goes; what vanishes is drawn first. @param {Scene} before @param {Scene} next @returns {Moving[]} */
function moves(before, next) {
  /** @type {Moving[]} */
  const moving = [];
  for (const [id, from] of before.pieces) {
    if (next.pieces.has(id)) continue;
    const target = next.pieces.get(next.into?.(id) ?? "");
    moving.push({ from, to: { ...(target ?? from), alpha: 0, ring: from.ring, image: from.image }, delay: from.delay ?? 0 });
  }
  for (const [id, to] of next.pieces) moving.push({ from: source(before, id, to), to, delay: to.delay ?? 0 });
  return moving;
}

/** Where a piece comes from: its own position, another piece or a column of it, its base line, or nowhere. @param {Scene} before @param {string} id @param {Piece} to @returns {Piece} */
function source(before, id, to) {
  const origin = before.pieces.get(id) ?? (to.from ? before.pieces.get(to.from) : undefined);
  if (origin && to.part && !before.pieces.has(id)) {
    const width = origin.w / to.part[1];
    return { ...origin, x: origin.x + to.part[0] * width, w: width };
  }
  if (origin) return origin;
  return to.base === undefined ? { ...to, alpha: 0 } : { ...to, y: to.base, h: 0 };
}
