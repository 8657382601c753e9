// The next word, the question whom it is owed to, and the head that it is owed to: a press opens a part of the page and
// goes there.

/** @import { Component } from "../../types" */
/** @import { WaysData } from "./types" */

const FOLLOWED = 4000; // milliseconds in which what is drawn in the panel may still push it down

/**
 * Bring a container to the top of the window, and keep it there while it is drawn, unless the visitor moves on.
 * @param {string} key
 */
function goToPart(key) {
  const panel = document.querySelector(`.st-key-${key}`);
  if (!(panel instanceof HTMLElement)) return;
  panel.style.scrollMarginTop = "3rem"; // the page's own buttons stand above it
  const show = () => panel.scrollIntoView({ block: "start", behavior: "instant" });
  const grown = new ResizeObserver(show);
  const end = () => grown.disconnect();
  for (const moved of ["wheel", "touchstart", "keydown", "pointerdown"])
    window.addEventListener(moved, end, { once: true, passive: true });
  setTimeout(end, FOLLOWED);
  grown.observe(panel);
  show();
}

/** @param {Component<Uint8Array, { panel: string }>} component */
export default function ({ parentElement, data, setTriggerValue }) {
  /** @type {WaysData} */
  const message = JSON.parse(new TextDecoder().decode(data));
  parentElement.querySelector(".ways")?.remove();
  const box = parentElement.appendChild(document.createElement("div"));
  box.className = "ways";
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", message.label);
  for (const way of message.ways) {
    const button = box.appendChild(document.createElement("button"));
    button.type = "button";
    button.dir = "auto";
    button.textContent = way.text;
    button.addEventListener("click", () => {
      setTriggerValue("panel", way.panel);
      goToPart(way.to);
    });
  }
  return () => box.remove();
}
