// All heads of all layers: a small picture each, in order or by what they do. Words of a visitor are only set as text.

/** @import { Component } from "../../types" */
/** @import { MosaicData, Tile } from "./types" */
import { isDark, paint, shareColours, unpacked } from "../colours.js";

/**
 * @param {Tile} tile
 * @param {Uint8Array} bytes  of this head
 * @param {[rows: number, columns: number]} size
 * @param {number[][]} table
 */
function picture(tile, bytes, [rows, columns], table) {
  const button = document.createElement("button");
  button.type = "button";
  button.title = tile.about;
  button.setAttribute("aria-label", tile.about);
  button.dataset.kind = tile.kind;
  const canvas = button.appendChild(document.createElement("canvas"));
  paint(canvas, bytes, [columns, rows], table);
  const text = button.appendChild(document.createElement("span"));
  text.appendChild(document.createElement("b")).textContent = tile.name;
  if (tile.kind !== "spread") {
    text.append(" ");
    text.appendChild(document.createElement("bdi")).textContent = tile.title;
  }
  return button;
}

/** @param {Component<Uint8Array, { head: number }>} component */
export default function ({ parentElement, data, setTriggerValue }) {
  /** @type {MosaicData} */
  const told = JSON.parse(new TextDecoder().decode(data));
  const before = parentElement.querySelector(".mosaic");
  const wasSorted = before instanceof HTMLElement && before.dataset.order === "kinds";
  before?.remove();
  const box = parentElement.appendChild(document.createElement("div"));
  box.className = "mosaic";
  box.style.setProperty("--heads", String(told.heads));
  box.style.setProperty("--layers", String(told.rows.length));
  const bar = box.appendChild(document.createElement("div"));
  bar.className = "bar";
  const grid = box.appendChild(document.createElement("div"));
  grid.className = told.heads > 16 ? "grid many" : "grid";
  grid.setAttribute("role", "group");
  grid.setAttribute("aria-label", told.words.label);

  const table = shareColours(told.scales[isDark(box) ? 1 : 0]);
  const bytes = unpacked(told.pixels);
  const each = told.size[0] * told.size[1];
  const tiles = told.tiles.map((tile, at) => {
    const button = picture(tile, bytes.subarray(at * each, (at + 1) * each), told.size, table);
    button.addEventListener("click", () => setTriggerValue("head", at));
    return button;
  });

  const choices = /** @type {const} */ (["layers", "kinds"]).map((order) => {
    const button = bar.appendChild(document.createElement("button"));
    button.type = "button";
    button.textContent = told.words[order];
    button.addEventListener("click", () => arrange(order));
    return { order, button };
  });
  bar.appendChild(document.createElement("span")).textContent = told.words.scale;

  /** @param {string} order */
  function arrange(order) {
    box.dataset.order = order;
    for (const choice of choices) choice.button.setAttribute("aria-pressed", String(choice.order === order));
    grid.replaceChildren(...(order === "kinds" ? told.sorted.map((at) => tiles[at]) : tiles));
  }
  arrange(wasSorted ? "kinds" : "layers");
  return () => box.remove();
}
