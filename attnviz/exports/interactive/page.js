// The page: its stages, the cell that is pointed at, and the one that is chosen.

/** @import { Cell, Marked } from "./types" */
import { lines } from "./cell.js";
import { make } from "./canvas.js";
import { exact } from "./formats.js";
import { arrange, Picture } from "./picture.js";
import { data, element, view, words } from "./run.js";

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
  return `${stage.title}, ${stage.heads[h]}, ${words.query} ${i + 1} ${quoted(data.queries[i])}, ${column}: ${number === null ? words.masked : exact(number)}`;
}

/** @param {Marked["stage"]} stage @param {Cell | null} cell @param {PointerEvent} [event] */
function point(stage, cell, event) {
  view.lit = cell && { stage, cell };
  const tip = element("tip", HTMLElement);
  tip.hidden = !cell;
  if (view.lit && event) {
    tip.textContent = said(view.lit);
    const [wide, high] = [tip.offsetWidth, tip.offsetHeight];
    tip.style.left = Math.max(4, Math.min(event.clientX + 14, innerWidth - wide - 4)) + "px";
    tip.style.top = (event.clientY + 18 + high > innerHeight ? event.clientY - high - 10 : event.clientY + 18) + "px";
  }
  pictures.forEach((each) => each.light());
}

/** @param {Marked["stage"]} stage @param {Cell | null} cell */
function choose(stage, cell) {
  if (!cell) return;
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
  pictures.forEach((each) => each.light());
}

function show() {
  const kept = view.chosen;
  [view.lit, view.chosen] = [null, null];
  const parent = element("stages", HTMLElement);
  parent.replaceChildren();
  pictures = data.layers[view.layer].stages.map((stage) => new Picture(stage, parent, { point, choose }));
  redraw();
  const name = kept ? kept.stage.name : data.first;
  const picture = pictures.find((each) => each.stage.name === name) ?? pictures[0];
  choose(picture.stage, picture.within(kept ? kept.cell : [0, 0, 0]));
}

function redraw() {
  const isLong = pictures.some((each) => each.rows > LONG || each.columns > LONG);
  element("stages", HTMLElement).classList.toggle("long", isLong);
  pictures.forEach((each) => each.measure());
  const most = Math.max(...pictures.filter((each) => each.stage.worded).map((each) => each.columns));
  const alike = isLong ? [] : pictures.filter((each) => each.columns <= most);
  if (alike.length) arrange(alike);
  pictures.filter((each) => !alike.includes(each)).forEach((each) => arrange([each]));
  pictures.forEach((each) => each.draw());
}

element("sentence", HTMLElement).textContent = data.sentence;
element("setting", HTMLElement).textContent = data.link;
if (data.layers.length > 1) {
  const select = element("layer", HTMLSelectElement);
  element("layers", HTMLElement).hidden = false;
  data.layers.forEach((_, n) => make("option", select, String(n + 1)));
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
show();
let width = innerWidth;
addEventListener("resize", () => {
  if (innerWidth === width) return;
  width = innerWidth;
  redraw();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
