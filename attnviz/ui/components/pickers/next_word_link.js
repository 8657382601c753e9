// The next word, the question whom it is owed to, and the head that it is owed to: a press opens a part of the page and
// goes there.

/** @import { Component, Reported } from "../../types" */
/** @import { WaysData } from "./types" */
import { goToPart } from "./go_to_part.js";

/** @param {Component<Uint8Array, Reported>} component */
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
      setTriggerValue("event", way.event);
      goToPart(way.to);
    });
  }
  return () => box.remove();
}
