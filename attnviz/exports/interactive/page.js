// The page: its stages, the cell that is pointed at, and the one that is chosen.

/** @import { Cell, Marked, View } from "./types" */
import { lines } from "./cell.js";
import { make } from "./canvas.js";
import { range } from "./formats.js";
import { drawHeads } from "./heads.js";
import { makeHoldable, offerTyping } from "./hold.js";
import { before, offerKnobs, offerNumber, offerSwitch, showHeld, showWhatHolds } from "./knobs.js";
import { drawLines } from "./lines.js";
import { isPainted, offerPaint } from "./paint.js";
import { arrange, Picture } from "./picture.js";
import { data, digitsOf, element, headName, view, words } from "./run.js";

const LONG = 24; // rows or columns from which each picture has the whole width
const FIELDS = ["head", "query", "key"].map((id) => element(id, HTMLInputElement));
/** @type {Picture[]} */
let pictures = [];

/** @param {Marked["stage"]} stage */
const pictureOf = (stage) => pictures.find((each) => each.stage === stage) ?? pictures[0];
/** @param {string} word */
const quoted = (word) => words.quoted.replace("{token}", () => word);

/** @param {Marked} marked @returns {string} where a cell is, in words, and its number with all its digits */
function said({ stage, cell }) {
  const [h, i, j] = cell;
  const column = stage.worded ? `${words.key} ${j + 1} ${quoted(data.keys[j])}` : `${words.entry} ${j + 1}`;
  const number = pictureOf(stage).value(cell);
  return `${stage.title}, ${headName(stage, h)}, ${words.query} ${i + 1} ${quoted(data.queries[i])}, ${column}: ${number === null ? words.masked : digitsOf(stage.name, number)}${before({ stage, cell })}`;
}

/** @param {Marked["stage"]} stage @param {Cell | null} cell @param {PointerEvent} [event] */
function point(stage, cell, event) {
  if (view.held) return; // that is spoken of
  view.lit = cell && { stage, cell };
  const tip = element("tip", HTMLElement);
  tip.hidden = !cell;
  if (view.lit && event) {
    tip.textContent = tipOf(view.lit);
    placeTip(event.clientX, event.clientY);
  }
  pictures.forEach((each) => each.light());
}

/** @param {Marked} marked */
const tipOf = (marked) => said(marked) + (isPainted(marked.stage) ? ` · ${words.painted}; ${words.painted_keys}` : "");

/** @param {number} x @param {number} y */
function placeTip(x, y) {
  const tip = element("tip", HTMLElement), [wide, high] = [tip.offsetWidth, tip.offsetHeight];
  tip.style.left = Math.max(4, Math.min(x + 14, innerWidth - wide - 4)) + "px";
  tip.style.top = (y + 18 + high > innerHeight ? y - high - 10 : y + 18) + "px";
}

/** Speak of the number that is held, beside its cell. @param {Marked} held */
function pointAtHeld(held) {
  view.lit = held;
  const tip = element("tip", HTMLElement);
  tip.hidden = false;
  tip.textContent = said(held);
  placeTip(...pictureOf(held.stage).foot(held.cell));
}

/** @param {Marked["stage"]} stage @param {Cell | null} cell */
function choose(stage, cell) {
  if (!cell) return;
  if (view.chosen && view.chosen.cell[0] !== cell[0]) follow(cell[0]);
  view.chosen = { stage, cell };
  element("said", HTMLElement).textContent = said(view.chosen);
  FIELDS.forEach((field, axis) => (field.value = String(cell[axis] + 1)));
  element("column", HTMLElement).textContent = stage.worded ? words.Key : words.Entry;
  const list = element("lines", HTMLElement);
  list.replaceChildren();
  for (const [title, text] of lines(stage, cell)) {
    make("dt", list, title);
    make("dd", list, text);
  }
  showHeld(view.chosen);
  pictures.forEach((each) => each.light());
}

const VIEWS = /** @type {const} */ (["cells", "lines", "all"]);
const TITLES = { cells: words.cells, lines: words.lines, all: words.all };
const weightStage = () => data.layers[view.layer].stages.find((each) => each.name === "weights");

/** Draw the lines of the head that is chosen above them. */
function connect() {
  const stage = weightStage();
  if (!stage) return;
  const head = Number(element("of-head", HTMLSelectElement).value);
  drawLines(element("between", HTMLElement), head, stage.widths.length, (cell) => choose(stage, cell));
}

/** @param {number} head  whose lines are to be seen, as one of its cells was chosen */
function follow(head) {
  const select = element("of-head", HTMLSelectElement);
  if (select.value === String(head)) return;
  select.value = String(head);
  if (!element("as-lines", HTMLElement).hidden) connect();
}

let headsDrawn = false; // of all layers, which takes long in a large file

/** @param {View} wanted */
function look(wanted) {
  for (const name of VIEWS) element(`as-${name}`, HTMLElement).hidden = name !== wanted;
  document.querySelectorAll("#views button").forEach((button, at) => button.setAttribute("aria-pressed", String(VIEWS[at] === wanted)));
  element("layers", HTMLElement).hidden = wanted === "all" || data.layers.length < 2;
  if (wanted === "cells") redraw();
  if (wanted === "lines") connect();
  if (wanted === "all" && !headsDrawn) {
    drawHeads(element("as-all", HTMLElement), open);
    headsDrawn = true;
  }
}

/** @param {number} layer @param {number} head */
function open(layer, head) {
  view.layer = layer;
  element("layer", HTMLSelectElement).value = String(layer + 1);
  const cell = view.chosen?.stage.worded ? view.chosen.cell : [0, 0, 0];
  look("cells");
  show();
  element("of-head", HTMLSelectElement).value = String(head);
  const stage = weightStage();
  if (stage) choose(stage, pictureOf(stage).within([head, cell[1], cell[2]]));
}

function offer() {
  const stage = weightStage();
  if (!stage) return;
  const [views, select] = [element("views", HTMLElement), element("of-head", HTMLSelectElement)];
  make("option", select, words.average).value = "-1";
  range(stage.widths.length).forEach((h) => (make("option", select, String(h + 1)).value = String(h)));
  select.value = "0";
  select.addEventListener("change", connect);
  views.hidden = false;
  VIEWS.forEach((name) => {
    if (name === "all" && data.layers.length * stage.widths.length === 1) return;
    const button = make("button", views, TITLES[name]);
    button.type = "button";
    button.addEventListener("click", () => look(name));
  });
  look("cells");
}

function show() {
  const kept = view.chosen;
  [view.lit, view.chosen] = [null, null];
  const parent = element("stages", HTMLElement);
  parent.replaceChildren();
  pictures = data.layers[view.layer].stages.map((stage) => new Picture(stage, parent, { point, choose }));
  pictures.forEach((each) => makeHoldable(each.box, each.stage, (event) => each.locate(event), (cell) => choose(each.stage, cell), moved));
  for (const each of pictures) for (const offerOf of [offerSwitch, offerPaint, offerTyping]) offerOf(each, moved);
  redraw();
  const name = kept ? kept.stage.name : data.first;
  const picture = pictures.find((each) => each.stage.name === name) ?? pictures[0];
  choose(picture.stage, picture.within(kept ? kept.cell : [0, 0, 0]));
  if (!element("as-lines", HTMLElement).hidden) connect();
}

function redraw() {
  if (element("as-cells", HTMLElement).hidden) return; // what is hidden has no width
  const isLong = pictures.some((each) => each.rows > LONG || each.columns > LONG);
  element("stages", HTMLElement).classList.toggle("long", isLong);
  pictures.forEach((each) => each.measure());
  const most = Math.max(...pictures.filter((each) => each.stage.worded).map((each) => each.columns));
  const alike = isLong ? [] : pictures.filter((each) => each.columns <= most);
  if (alike.length) arrange(alike);
  pictures.filter((each) => !alike.includes(each)).forEach((each) => arrange([each]));
  pictures.forEach((each) => each.draw());
}

let isWaiting = false; // for the next frame

/** Draw what follows from a move, once a frame. */
function moved() {
  if (isWaiting) return;
  isWaiting = true;
  requestAnimationFrame(() => {
    isWaiting = false;
    headsDrawn = false;
    showWhatHolds();
    if (view.held) pointAtHeld(view.held);
    else if (view.lit) element("tip", HTMLElement).textContent = tipOf(view.lit);
    pictures.forEach((each) => each.renew());
    if (view.chosen) choose(view.chosen.stage, view.chosen.cell);
    const shown = VIEWS.find((name) => !element(`as-${name}`, HTMLElement).hidden) ?? "cells";
    if (shown !== "cells") look(shown);
  });
}

element("sentence", HTMLElement).textContent = data.sentence;
element("setting", HTMLElement).textContent = data.link;
if (data.layers.length > 1) {
  const select = element("layer", HTMLSelectElement);
  element("layers", HTMLElement).hidden = false;
  data.layers.forEach(({ number }, n) => (make("option", select, String(number)).value = String(n + 1)));
  select.addEventListener("change", () => {
    view.layer = Number(select.value) - 1;
    show();
  });
}
element("choose", HTMLElement).addEventListener("change", () => {
  if (!view.chosen) return;
  const [head, row, column] = FIELDS.map((field) => (Math.floor(Number(field.value)) || 1) - 1);
  choose(view.chosen.stage, pictureOf(view.chosen.stage).within([head, row, column]));
});
element("page", HTMLElement).hidden = false;
// A frame of a notebook may run this before it has its own width, and tells no listener of "resize" when it gets it.
let width = document.documentElement.clientWidth;
offer();
offerKnobs(moved);
offerNumber(moved);
showWhatHolds();
show();
new ResizeObserver(() => {
  if (document.documentElement.clientWidth === width) return;
  width = document.documentElement.clientWidth;
  redraw();
}).observe(document.documentElement);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
