// The lesson that is written in the editor, kept by the browser: a reload or another day finds it again.

/** @import { Component } from "../../types" */

const DRAFT = "attnviz:lesson-draft";
let ownDraft = ""; // what this page has kept itself, which is no news

/** @type {() => string} */
function keptDraft() {
  try {
    return localStorage.getItem(DRAFT) ?? "";
  } catch {
    return ""; // a browser that keeps nothing, as a private window may
  }
}

/** @param {Component<{ draft: string, isKnown: boolean }, { kept: string }>} component */
export default function ({ data: { draft, isKnown }, setTriggerValue }) {
  const kept = keptDraft();
  if (!isKnown && kept && kept !== ownDraft && kept !== draft) return void setTriggerValue("kept", kept);
  try {
    if (kept !== draft) localStorage.setItem(DRAFT, (ownDraft = draft));
  } catch {
    // the session alone has it then
  }
}
