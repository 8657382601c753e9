// A text that the browser keeps by a name: a lesson that is written, answers in practice. A reload or another day finds
// it again.

/** @import { Component } from "../../types" */

/** @type {Map<string, string>} */
const ownTexts = new Map(); // what this page has kept itself, which is no news

/** @type {(name: string) => string} */
function keptText(name) {
  try {
    return localStorage.getItem(name) ?? "";
  } catch {
    return ""; // a browser that keeps nothing, as a private window may
  }
}

/** @param {Component<{ name: string, text: string, isKnown: boolean }, { kept: string }>} component */
export default function ({ data: { name, text, isKnown }, setTriggerValue }) {
  const kept = keptText(name);
  if (!isKnown && kept && kept !== ownTexts.get(name) && kept !== text) return void setTriggerValue("kept", kept);
  ownTexts.set(name, text);
  try {
    if (kept !== text) localStorage.setItem(name, text);
  } catch {
    // the session alone has it then
  }
}
