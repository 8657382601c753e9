// A card for each head: a small picture of its weights and what it does, in words. Words of a visitor are only ever set
// as text.

/** @import { Component, Reported } from "../../types" */
/** @import { Card, CardsData } from "./types" */
import { isDark, paint, shareColours, unpacked } from "../colours.js";

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
  for (const [tag, word] of [["i", card.name], ["b", card.title], ...card.lines.filter(Boolean).map((line) => ["small", line])])
    text.appendChild(document.createElement(tag)).appendChild(document.createElement("bdi")).textContent = word;
  return { button, canvas };
}

/** @param {Component<Uint8Array, Reported>} component */
export default function ({ parentElement, data, setTriggerValue }) {
  /** @type {CardsData} */
  const message = JSON.parse(new TextDecoder().decode(data));
  parentElement.querySelector(".cards")?.remove();
  const box = parentElement.appendChild(document.createElement("div"));
  box.className = "cards";
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", message.label);
  const [rows, columns] = message.size;
  const colours = shareColours(message.scales[isDark(box) ? 1 : 0]);
  for (const card of message.cards) {
    const { button, canvas } = element(card, card.head === message.focus);
    paint(canvas, unpacked(card.pixels), [columns, rows], colours);
    button.addEventListener("click", () => {
      setTriggerValue("event", { kind: "card", head: card.head });
      document.querySelector(".st-key-stage")?.scrollIntoView();
    });
    box.append(button);
  }
  return () => box.remove();
}
