// @ts-check
// A card for each head: a small picture of its weights and what it does, in words. Words of a visitor are only ever set
// as text.

/** @typedef {{ head: number, name: string, title: string, lines: string[], pixels: string }} Card */
/** @typedef {{ cards: Card[], size: [number, number], focus: number | null, label: string, scales: string[][] }} CardsData */

/** @param {string} hex */
function parts(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

/**
 * The colours of all bytes: 0 is masked, 1 to 255 are shares from 0 to 1.
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

/**
 * @param {HTMLCanvasElement} canvas
 * @param {string} pixels  bytes in base64
 * @param {[rows: number, columns: number]} size
 * @param {number[][]} table
 */
function paint(canvas, pixels, [rows, columns], table) {
  Object.assign(canvas, { width: columns, height: rows });
  const image = new ImageData(columns, rows);
  [...atob(pixels)].forEach((byte, at) => image.data.set(table[byte.charCodeAt(0)], 4 * at));
  canvas.getContext("2d")?.putImageData(image, 0, 0);
}

/** @param {Element} root */
function isDark(root) {
  const pen = document.createElement("canvas").getContext("2d");
  if (!pen) return false;
  pen.fillStyle = getComputedStyle(root).getPropertyValue("--st-background-color").trim() || "#fff";
  return parts(String(pen.fillStyle)).reduce((sum, part) => sum + part, 0) < 384;
}

/**
 * @param {Card} card
 * @param {boolean} pressed
 */
function element(card, pressed) {
  const button = document.createElement("button");
  button.type = "button";
  button.setAttribute("aria-pressed", String(pressed));
  const canvas = button.appendChild(document.createElement("canvas"));
  canvas.setAttribute("aria-hidden", "true");
  const text = button.appendChild(document.createElement("span"));
  for (const [tag, word] of [["i", card.name], ["b", card.title], ...card.lines.map((line) => ["small", line])])
    text.appendChild(document.createElement(tag)).appendChild(document.createElement("bdi")).textContent = word;
  return { button, canvas };
}

/** @type {(component: import("../../types").Component<Uint8Array, { head: number }>) => () => void} */
export default function ({ parentElement, data, setTriggerValue }) {
  /** @type {CardsData} */
  const told = JSON.parse(new TextDecoder().decode(data));
  parentElement.querySelector(".cards")?.remove();
  const box = parentElement.appendChild(document.createElement("div"));
  box.className = "cards";
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", told.label);
  const table = colours(told.scales[isDark(box) ? 1 : 0]);
  for (const card of told.cards) {
    const { button, canvas } = element(card, card.head === told.focus);
    paint(canvas, card.pixels, told.size, table);
    button.addEventListener("click", () => {
      setTriggerValue("head", card.head);
      document.querySelector(".st-key-stage")?.scrollIntoView();
    });
    box.append(button);
  }
  return () => box.remove();
}
