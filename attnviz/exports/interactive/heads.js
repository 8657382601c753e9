// All heads of all layers, a small picture of the weights of each: a press opens one.

/** @import { Scale } from "./types" */
import { make, paintDots } from "./canvas.js";
import { data, view, weightsOf, words } from "./run.js";

const MOST_DOTS = 64; // along a side; beyond, a dot is the largest weight of a block

/**
 * @param {HTMLCanvasElement} canvas
 * @param {number} layer
 * @param {number} head
 * @param {Scale} scale
 */
function paintHead(canvas, layer, head, scale) {
  const [n, m] = [data.queries.length, data.keys.length];
  const weight = weightsOf(layer), block = Math.ceil(Math.max(n, m) / MOST_DOTS);
  paintDots(canvas, Math.ceil(m / block), Math.ceil(n / block), scale, (x, y) => {
    /** @type {number | null} */
    let largest = null;
    for (let i = y * block; i < Math.min((y + 1) * block, n); i++)
      for (let j = x * block; j < Math.min((x + 1) * block, m); j++) {
        const number = weight(head, i, j);
        if (number !== null && (largest === null || number > largest)) largest = number;
      }
    return largest;
  });
}

/**
 * Draw a row of pictures a layer, all with one scale of colour.
 *
 * @param {HTMLElement} parent
 * @param {(layer: number, head: number) => void} open
 */
export function drawHeads(parent, open) {
  parent.replaceChildren();
  const scales = data.layers.flatMap((layer) => layer.stages.filter((each) => each.name === "weights").map((each) => each.scale));
  const scale = scales.reduce((a, b) => (b.high - b.low > a.high - a.low ? b : a));
  const heads = Math.max(...data.layers.map((layer) => layer.does.length));
  make("p", parent, words.each.replace("{low}", scale.said[0]).replace("{high}", scale.said[1]), "quiet");
  const grid = make("div", parent, undefined, "grid");
  grid.style.setProperty("--heads", String(heads));
  data.layers.forEach((layer, at) =>
    layer.does.forEach(([short, about], head) => {
      const button = make("button", grid), name = `${layer.number}.${head + 1}`;
      button.type = "button";
      if (!view.moved) button.title = about;
      button.setAttribute("aria-label", view.moved ? name : about);
      paintHead(make("canvas", button), at, head, scale);
      const text = make("span", button);
      make("b", text, name);
      if (short && !view.moved) make("bdi", text, ` ${short}`);
      button.addEventListener("click", () => open(at, head));
    }),
  );
}
