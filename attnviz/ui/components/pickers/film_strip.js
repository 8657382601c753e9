// Small pictures of all heads, one of which is chosen: by a press, or with the arrow keys.

/** @import { Component } from "../../types" */
/** @import { FilmData, FilmValues } from "./types" */
import { isDark, paint, shareColours, unpacked } from "../colours.js";

const MOST_APART = 32; // pixels between two pictures
/** @type {Partial<Record<string, number>>} */
const STEPS = { ArrowUp: -1, ArrowLeft: -1, ArrowDown: 1, ArrowRight: 1 };

/** @param {Component<Uint8Array, FilmValues>} component */
export default function ({ parentElement, data, setTriggerValue }) {
  /** @type {FilmData} */
  const { head, words, size, scales, pixels, labels } = JSON.parse(new TextDecoder().decode(data));
  const bytes = unpacked(pixels);
  const [rows, columns] = size;
  const n = bytes.length / (rows * columns);
  const hadFocus = parentElement.querySelector(".film")?.contains(parentElement.activeElement);
  parentElement.querySelector(".film")?.remove();
  const film = parentElement.appendChild(document.createElement("div"));
  film.className = "film";
  const { clientWidth, clientHeight: height } = parentElement.host;
  const isLevel = clientWidth > 200;
  film.classList.toggle("level", isLevel);
  film.classList.toggle("values", Boolean(labels));
  film.setAttribute("role", "radiogroup");
  film.setAttribute("aria-label", words.heads);
  const largest = isLevel ? Math.max(22, Math.min(34, Math.floor((film.clientWidth - 40) / n) - 6)) : Math.min(32, Math.floor((height - 30) / n) - 5);
  film.style.height = isLevel ? "" : `${height}px`;
  film.style.gap = isLevel ? "" : `${Math.max(4, Math.min(MOST_APART, Math.floor((height - 30) / n) - largest))}px`; // beside all of the maps
  const colours = shareColours(scales[isDark(film) ? 1 : 0]);
  /** @param {number | null} index */
  const choose = (index) => setTriggerValue("event", { kind: "focus", head: index });
  const buttons = Array.from({ length: n }, (_, index) => {
    const button = film.appendChild(document.createElement("button"));
    button.type = "button";
    button.setAttribute("role", "radio");
    button.setAttribute("aria-checked", String(index === head));
    button.setAttribute("aria-label", words.head.replace("{n}", labels?.[index] ?? String(index + 1)));
    button.tabIndex = index === Math.max(head, 0) ? 0 : -1;
    button.appendChild(document.createElement("span")).textContent = labels?.[index] ?? String(index + 1);
    const canvas = button.appendChild(document.createElement("canvas"));
    paint(canvas, bytes.subarray(index * rows * columns, (index + 1) * rows * columns), [columns, rows], colours);
    const unit = largest / Math.max(rows, columns);
    Object.assign(canvas.style, { width: `${Math.max(2, unit * columns)}px`, height: `${Math.max(2, unit * rows)}px` });
    button.addEventListener("click", () => choose(index));
    if (labels) for (const kind of ["pointerenter", "focus"]) button.addEventListener(kind, () => setTriggerValue("pointed", index));
    return button;
  });
  const all = film.appendChild(document.createElement("button"));
  all.type = "button";
  all.className = "all";
  all.appendChild(document.createElement("span")).textContent = words.all;
  all.addEventListener("click", () => choose(null));
  film.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    const step = STEPS[event.key];
    const focused = buttons.findIndex((button) => button.matches(":focus"));
    if (event.key === "Escape") choose(null);
    else if (step && labels) buttons[(focused + step + n) % n].focus(); // to be seen, and kept by Enter
    else if (step) choose((head + step + n) % n);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  if (isLevel && buttons[head]) film.scrollLeft = buttons[head].offsetLeft - film.clientWidth / 2;
  if (hadFocus) buttons[head]?.focus();
}
