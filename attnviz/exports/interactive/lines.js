// The weights of one head, or on average over all, as lines from each query to the keys that it reads.

/** @import { Cell } from "./types" */
import { make } from "./canvas.js";
import { range, short } from "./formats.js";
import { data, digitsOf, weightsOf, words } from "./run.js";

const ROW = 24, WIDE = 240, THICKEST = 6; // pixels
const MOST_LINES = 2500; // more are drawn for one word at a time
const FAINTEST = 0.01; // the part of the largest weight from which there is a line

/**
 * @param {(...cell: Cell) => number | null} weight
 * @param {number} head  -1 for the average over all
 * @param {number} heads
 * @param {number} i
 * @param {number} j
 * @returns {number | null} null where every one of them is masked
 */
function value(weight, head, heads, i, j) {
  if (head >= 0) return weight(head, i, j);
  const each = range(heads).map((h) => weight(h, i, j));
  return each.every((x) => x === null) ? null : each.reduce((/** @type {number} */ sum, x) => sum + (x ?? 0), 0) / heads;
}

/** @type {number | null} */
let kept = null; // the query whose lines stay

/**
 * Draw the words twice and the lines between them.
 *
 * @param {HTMLElement} parent
 * @param {number} head  -1 for the average over all
 * @param {number} heads
 * @param {(cell: Cell) => void} choose  called with the head, the query and the key that were pressed
 */
export function drawLines(parent, head, heads, choose) {
  const [left, right] = [".queries", ".keys"].map((name) => /** @type {HTMLElement} */ (parent.querySelector(name)));
  const picture = /** @type {SVGSVGElement} */ (parent.querySelector("svg"));
  left.replaceChildren();
  right.replaceChildren();
  const [n, m] = [data.queries.length, data.keys.length];
  const weight = weightsOf();
  const rows = range(n).map((i) => range(m).map((j) => value(weight, head, heads, i, j)));
  const most = Math.max(...rows.map((row) => Math.max(...row.map((x) => Math.abs(x ?? 0))))) || 1;

  picture.setAttribute("viewBox", `0 0 ${WIDE} ${ROW * Math.max(n, m)}`);
  picture.setAttribute("width", String(WIDE));
  picture.setAttribute("height", String(ROW * Math.max(n, m)));

  const asked = data.queries.map((word, i) => {
    const button = make("button", left, word);
    button.type = "button";
    button.addEventListener("pointerenter", () => light(i));
    button.addEventListener("focus", () => light(i));
    button.addEventListener("click", () => light((kept = kept === i ? null : i) ?? i));
    return button;
  });
  left.onpointerleave = () => light(kept); // one, however often this is drawn
  const read = data.keys.map((word, j) => {
    const button = make("button", right);
    button.type = "button";
    make("bdi", button, word);
    const number = make("span", button);
    button.addEventListener("click", () => kept !== null && head >= 0 && choose([head, kept, j]));
    return { button, number };
  });

  /** @param {number} i @param {number} j */
  function line(i, j) {
    const x = rows[i][j];
    if (x === null || Math.abs(x) < FAINTEST * most) return;
    const made = picture.appendChild(/** @type {SVGElement} */ (document.createElementNS(picture.namespaceURI, "path")));
    const [from, to] = [(i + 0.5) * ROW, (j + 0.5) * ROW];
    made.setAttribute("d", `M0,${from}C${WIDE / 2},${from} ${WIDE / 2},${to} ${WIDE},${to}`);
    const share = Math.min(Math.abs(x) / most, 1);
    made.setAttribute("stroke-opacity", (0.1 + 0.8 * share).toFixed(3));
    made.setAttribute("stroke-width", (0.5 + (THICKEST - 0.5) * share).toFixed(2));
    if (x < 0) made.setAttribute("stroke-dasharray", "4 3");
    made.dataset.cell = `${i} ${j}`;
  }

  /** @param {number | null} query  the only one whose lines are drawn; all are without one */
  function light(query) {
    picture.replaceChildren();
    const shown = query !== null ? [query] : n * m > MOST_LINES ? [] : range(n);
    for (const i of shown) for (let j = 0; j < m; j++) line(i, j);
    asked.forEach((button, i) => {
      button.classList.toggle("lit", i === query);
      button.setAttribute("aria-pressed", String(i === kept));
    });
    read.forEach(({ button, number }, j) => {
      const x = query === null ? undefined : rows[query][j];
      number.textContent = x === undefined ? "" : x === null ? words.masked : digitsOf("weights", x, short, head < 0 ? 2 : 3);
      button.disabled = kept === null || head < 0;
    });
  }
  light(kept);
}
