// Hands a text to whatever program its reader chooses, where the browser can do that; elsewhere there is nothing to press.

/** @import { Component, ShareData } from "../../types" */

/** @param {Component<ShareData, {}, { attnvizShare?: HTMLButtonElement }>} component */
export default function ({ data, parentElement }) {
  if (!navigator.share) return;
  const button = (parentElement.attnvizShare ??= parentElement.appendChild(document.createElement("button")));
  button.type = "button";
  button.style.cssText =
    "font:inherit;padding:.35rem .75rem;border-radius:var(--st-button-radius,.5rem);cursor:pointer;" +
    "border:1px solid var(--st-border-color,currentColor);color:var(--st-text-color,inherit);background:transparent";
  button.textContent = data.label;
  button.onclick = async () => {
    try {
      await navigator.share({ title: data.title, text: data.text });
    } catch (error) {
      // who closes the list of programs wants nothing to be shared
      if (!(error instanceof DOMException && error.name === "AbortError")) button.textContent = data.failed;
    }
  };
}
