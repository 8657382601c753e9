// Small pictures of all heads, one of which is chosen: by a press, or with the arrow keys.

const ALL = -1;

function colour(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

/** The colours of all bytes: 0 is masked, 1 to 255 are shares from 0 to 1. */
function table(stops) {
  const known = stops.map(colour);
  return Array.from({ length: 256 }, (_, byte) => {
    if (!byte) return [128, 128, 128, 97];
    const at = ((byte - 1) / 254) * (known.length - 1);
    const [low, high] = [known[Math.floor(at)], known[Math.ceil(at)]];
    return [...low.map((part, i) => part + (high[i] - part) * (at % 1)), 255];
  });
}

function paint(canvas, pixels, [rows, columns], colours) {
  Object.assign(canvas, { width: columns, height: rows });
  const image = new ImageData(columns, rows);
  pixels.forEach((byte, at) => image.data.set(colours[byte], 4 * at));
  canvas.getContext("2d").putImageData(image, 0, 0);
}

function isDark(root) {
  const pen = document.createElement("canvas").getContext("2d");
  pen.fillStyle = getComputedStyle(root).getPropertyValue("--st-background-color").trim() || "#fff";
  const [r, g, b] = colour(pen.fillStyle);
  return r + g + b < 384;
}

export default function ({ parentElement, data, setTriggerValue }) {
  const told = JSON.parse(new TextDecoder().decode(data));
  const { head, height, words, size, scales } = told;
  const bytes = Uint8Array.from(atob(told.pixels), (c) => c.charCodeAt(0));
  const [rows, columns] = size;
  const n = bytes.length / (rows * columns);
  const held = parentElement.querySelector(".film")?.contains(parentElement.activeElement ?? document.activeElement);
  parentElement.querySelector(".film")?.remove();
  const film = parentElement.appendChild(document.createElement("div"));
  film.className = "film";
  const level = parentElement.host ? parentElement.host.clientWidth > 200 : film.clientWidth > 200;
  film.classList.toggle("level", level);
  film.setAttribute("role", "radiogroup");
  film.setAttribute("aria-label", words.heads);
  const side = level ? Math.max(22, Math.min(34, Math.floor((film.clientWidth - 40) / n) - 6)) : Math.min(32, Math.floor((height - 30) / n) - 5);
  film.style.height = level ? "" : `${height}px`;
  const colours = table(scales[isDark(film) ? 1 : 0]);
  const choose = (at) => setTriggerValue("head", at);
  const buttons = Array.from({ length: n }, (_, at) => {
    const button = film.appendChild(document.createElement("button"));
    button.type = "button";
    button.setAttribute("role", "radio");
    button.setAttribute("aria-checked", at === head);
    button.setAttribute("aria-label", words.head.replace("{n}", at + 1));
    button.tabIndex = at === head ? 0 : -1;
    button.appendChild(document.createElement("span")).textContent = at + 1;
    const canvas = button.appendChild(document.createElement("canvas"));
    paint(canvas, bytes.subarray(at * rows * columns, (at + 1) * rows * columns), size, colours);
    const unit = side / Math.max(rows, columns);
    Object.assign(canvas.style, { width: `${Math.max(2, unit * columns)}px`, height: `${Math.max(2, unit * rows)}px` });
    button.addEventListener("click", () => choose(at));
    return button;
  });
  const all = film.appendChild(document.createElement("button"));
  all.type = "button";
  all.className = "all";
  all.appendChild(document.createElement("span")).textContent = words.all;
  all.addEventListener("click", () => choose(ALL));
  film.addEventListener("keydown", (event) => {
    const step = { ArrowUp: -1, ArrowLeft: -1, ArrowDown: 1, ArrowRight: 1 }[event.key];
    if (event.key === "Escape") choose(ALL);
    else if (step) choose((head + step + n) % n);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  if (level && buttons[head]) film.scrollLeft = buttons[head].offsetLeft - film.clientWidth / 2;
  if (held) buttons[head]?.focus();
}
