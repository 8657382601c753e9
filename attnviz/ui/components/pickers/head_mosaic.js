// All heads of all layers: a small picture each, in order or by what they do. Words of a visitor are only set as text.

/** @import { Component } from "../../types" */
/** @import { MosaicData, Tile } from "./types" */
/** @typedef {"layers" | "kinds" | "test"} Order */
import { isDark, paint, shareColours, unpacked } from "../colours.js";

/**
 * @param {Tile} tile
 * @param {Uint8Array} bytes  of this head
 * @param {[rows: number, columns: number]} size
 * @param {number[][]} colours
 */
function picture(tile, bytes, [rows, columns], colours) {
  const button = document.createElement("button");
  button.type = "button";
  button.title = tile.tested ? `${tile.about}\n${tile.tested}` : tile.about;
  button.setAttribute("aria-label", button.title);
  button.dataset.kind = tile.kind;
  const canvas = button.appendChild(document.createElement("canvas"));
  paint(canvas, bytes, [columns, rows], colours);
  const text = button.appendChild(document.createElement("span"));
  text.appendChild(document.createElement("b")).textContent = tile.name;
  text.append(" ");
  text.appendChild(document.createElement("bdi"));
  return button;
}

/** @param {Component<Uint8Array, { head: number }>} component */
export default function ({ parentElement, data, setTriggerValue }) {
  /** @type {MosaicData} */
  const message = JSON.parse(new TextDecoder().decode(data));
  const previous = parentElement.querySelector(".mosaic");
  const before = previous instanceof HTMLElement ? previous.dataset.order : undefined;
  previous?.remove();
  const box = parentElement.appendChild(document.createElement("div"));
  box.className = "mosaic";
  box.style.setProperty("--heads", String(message.heads));
  box.style.setProperty("--layers", String(message.rows.length));
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
    const button = picture(tile, bytes.subarray(index * cells, (index + 1) * cells), message.size, colours);
    button.addEventListener("click", () => setTriggerValue("head", index));
    return button;
  });

  /** @type {Map<Order, number[]>} */
  const orders = new Map([["layers", message.tiles.map((_, index) => index)], ["kinds", message.sorted]]);
  if (message.by_test) orders.set("test", message.by_test);
  const choices = [...orders.keys()].map((order) => {
    const button = bar.appendChild(document.createElement("button"));
    button.type = "button";
    button.textContent = message.words[order];
    button.addEventListener("click", () => arrange(order));
    return { order, button };
  });
  bar.appendChild(document.createElement("span")).textContent = message.words.scale;

  /** Under the pictures stands what they are sorted by. @param {Order} order */
  function arrange(order) {
    box.dataset.order = order;
    for (const choice of choices) choice.button.setAttribute("aria-pressed", String(choice.order === order));
    message.tiles.forEach(({ kind, title, role }, index) => {
      const name = tiles[index].querySelector("bdi");
      if (name) name.textContent = order === "test" ? role : kind === "spread" ? "" : title;
    });
    grid.replaceChildren(...(orders.get(order) ?? []).map((index) => tiles[index]));
  }
  arrange(choices.find(({ order }) => order === before)?.order ?? "layers");
  return () => box.remove();
}
