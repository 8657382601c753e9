// All heads of all layers: a small picture each, in order, by what they do, or by what one word gives another. Words of
// a visitor are only set as text.

/** @import { Component, Reported } from "../../types" */
/** @import { MosaicData, Tile } from "./types" */
/** @typedef {"layers" | "kinds" | "test" | "pair"} Order */
import { isDark, paint, shareColours, unpacked } from "../colours.js";
import { drawPair } from "./mosaic_pair.js";

/**
 * @param {Tile} tile
 * @param {Uint8Array} bytes  of this head
 * @param {MosaicData} message
 * @param {number[][]} colours
 */
function picture(tile, bytes, { size: [rows, columns], queries, keys, pair }, colours) {
  const button = document.createElement("button");
  button.type = "button";
  button.title = tile.tested ? `${tile.about}\n${tile.tested}` : tile.about;
  button.setAttribute("aria-label", button.title);
  button.dataset.kind = tile.kind;
  const map = button.appendChild(document.createElement("div"));
  map.className = "map";
  paint(map.appendChild(document.createElement("canvas")), bytes, [columns, rows], colours);
  if (pair) {
    const [down, across] = [queries.length, (keys ?? queries).length];
    const frame = map.appendChild(document.createElement("i"));
    Object.assign(frame.style, {
      top: `${(100 * pair[0]) / down}%`,
      height: `${100 / down}%`,
      left: `${(100 * pair[1]) / across}%`,
      width: `${100 / across}%`,
    });
  }
  const text = button.appendChild(document.createElement("span"));
  text.appendChild(document.createElement("b")).textContent = tile.name;
  text.append(" ");
  text.appendChild(document.createElement("bdi"));
  return button;
}

/** The colours of the pictures, from nothing to the most. @param {MosaicData} message @param {number[][]} colours */
function colourBar({ words: { high } }, colours) {
  const bar = document.createElement("span");
  bar.className = "colours";
  bar.append("0");
  const shades = bar.appendChild(document.createElement("i"));
  const every = [0, 0.25, 0.5, 0.75, 1].map((part) => `rgb(${colours[1 + Math.round(254 * part)].slice(0, 3).join()})`);
  shades.style.background = `linear-gradient(90deg, ${every.join()})`;
  bar.append(high);
  return bar;
}

/** @param {Component<Uint8Array, Reported>} component */
export default function ({ parentElement, data, setTriggerValue }) {
  /** @type {MosaicData} */
  const message = JSON.parse(new TextDecoder().decode(data));
  const previous = parentElement.querySelector(".mosaic");
  const { order: before, pair: pairBefore } = previous instanceof HTMLElement ? previous.dataset : /** @type {DOMStringMap} */ ({});
  previous?.remove();
  const box = parentElement.appendChild(document.createElement("div"));
  box.className = "mosaic";
  box.dataset.pair = String(message.pair);
  box.style.setProperty("--heads", String(message.heads));
  box.style.setProperty("--layers", String(message.rows.length));
  drawPair(box, message, (row, column) => setTriggerValue("event", { kind: "pair", row, column }));
  const bar = box.appendChild(document.createElement("div"));
  bar.className = "bar";
  const grid = box.appendChild(document.createElement("div"));
  grid.className = message.heads > 16 ? "grid many" : "grid";
  grid.setAttribute("role", "group");
  grid.setAttribute("aria-label", message.words.label);

  const colours = shareColours(message.scales[isDark(box) ? 1 : 0]);
  const bytes = unpacked(message.pixels);
  const cells = message.size[0] * message.size[1];
  const tiles = message.tiles.map((tile, index) => {
    const button = picture(tile, bytes.subarray(index * cells, (index + 1) * cells), message, colours);
    button.addEventListener("click", () => setTriggerValue("event", { kind: "open", layer: Math.floor(index / message.heads), head: index % message.heads }));
    return button;
  });

  /** @type {Map<Order, number[]>} */
  const orders = new Map([["layers", message.tiles.map((_, index) => index)], ["kinds", message.sorted]]);
  if (message.by_test) orders.set("test", message.by_test);
  if (message.by_pair) orders.set("pair", message.by_pair);
  const choices = [...orders.keys()].map((order) => {
    const button = bar.appendChild(document.createElement("button"));
    button.type = "button";
    button.dir = "auto";
    button.textContent = message.words[order];
    button.addEventListener("click", () => arrange(order));
    return { order, button };
  });
  bar.append(colourBar(message, colours));

  /** Under the pictures stands what they are sorted by. @param {Order} order */
  function arrange(order) {
    box.dataset.order = order;
    for (const choice of choices) choice.button.setAttribute("aria-pressed", String(choice.order === order));
    message.tiles.forEach(({ kind, title, role, amount }, index) => {
      const name = tiles[index].querySelector("bdi");
      if (name) name.textContent = { layers: kind === "spread" ? "" : title, kinds: kind === "spread" ? "" : title, test: role, pair: amount }[order];
    });
    const sorted = (orders.get(order) ?? []).map((index) => tiles[index]);
    grid.replaceChildren(...(order === "layers" ? withAxes(sorted, message) : sorted));
  }
  const isNew = message.pair && pairBefore !== box.dataset.pair;
  const wanted = isNew ? "pair" : before;
  arrange(choices.find(({ order }) => order === wanted)?.order ?? "layers");
  return () => box.remove();
}

/** The tiles in order, with the numbers of heads over them and those of layers beside. @param {HTMLElement[]} tiles @param {MosaicData} message */
function withAxes(tiles, { heads, rows, words }) {
  const axis = (/** @type {string} */ name, /** @type {string} */ text) => {
    const label = document.createElement("small");
    label.className = name;
    label.textContent = text;
    return label;
  };
  const over = Array.from({ length: heads }, (_, head) => axis("over", words.head.replace("{n}", String(head + 1))));
  return [axis("over", ""), ...over, ...rows.flatMap((row, at) => [axis("beside", row), ...tiles.slice(at * heads, (at + 1) * heads)])];
}
