// @ts-check
// All heads of all layers: a small picture each, in order or by what they do. Words of a visitor are only set as text.

/** @typedef {{ name: string, about: string, title: string, kind: string }} Tile */
/** @typedef {{ tiles: Tile[], sorted: number[], heads: number, size: [number, number], pixels: string,
 *    words: Record<string, string>, rows: string[], scales: string[][] }} MosaicData */

/** @param {string} hex */
function parts(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

/**
 * The colours of all bytes: 0 is masked, 1 to 255 are shares from 0 to the largest.
 *
 * @param {string[]} stops
 */
function colours(stops) {
  const known = stops.map(parts);
  return Array.from({ length: 256 }, (_, byte) => {
    if (!byte) return [128, 128, 128, 97];
    const at = ((byte - 1) / 254) * (known.length - 1);
    const [low, high] = [known[Math.floor(at)], known[Math.ceil(at)]];
    return [...low.map((part, i) => part + (high[i] - part) * (at % 1)), 255];
  });
}

/** @param {Element} root */
function isDark(root) {
  const pen = document.createElement("canvas").getContext("2d");
  if (!pen) return false;
  pen.fillStyle = getComputedStyle(root).getPropertyValue("--st-background-color").trim() || "#fff";
  return parts(String(pen.fillStyle)).reduce((sum, part) => sum + part, 0) < 384;
}

/**
 * @param {Tile} tile
 * @param {string} pixels  the bytes of this head
 * @param {[rows: number, columns: number]} size
 * @param {number[][]} table
 */
function picture(tile, pixels, [rows, columns], table) {
  const button = document.createElement("button");
  button.type = "button";
  button.title = tile.about;
  button.setAttribute("aria-label", tile.about);
  button.dataset.kind = tile.kind;
  const canvas = button.appendChild(document.createElement("canvas"));
  Object.assign(canvas, { width: columns, height: rows });
  const image = new ImageData(columns, rows);
  [...pixels].forEach((byte, at) => image.data.set(table[byte.charCodeAt(0)], 4 * at));
  canvas.getContext("2d")?.putImageData(image, 0, 0);
  const text = button.appendChild(document.createElement("span"));
  text.appendChild(document.createElement("b")).textContent = tile.name;
  if (tile.kind !== "spread") {
    text.append(" ");
    text.appendChild(document.createElement("bdi")).textContent = tile.title;
  }
  return button;
}

/** @type {(component: import("../../types").Component<Uint8Array, { head: number }>) => () => void} */
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

  const table = colours(told.scales[isDark(box) ? 1 : 0]);
  const bytes = atob(told.pixels), each = told.size[0] * told.size[1];
  const tiles = told.tiles.map((tile, at) => {
    const button = picture(tile, bytes.slice(at * each, (at + 1) * each), told.size, table);
    button.addEventListener("click", () => setTriggerValue("head", at));
    return button;
  });

  const choices = ["layers", "kinds"].map((order) => {
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
