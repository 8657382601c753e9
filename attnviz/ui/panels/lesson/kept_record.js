// What was answered in practice, kept by the browser: a line for each answer, the oldest first.

/** @import { Component } from "../../types" */

const RECORD = "attnviz:practice";
let ownRecord = ""; // what this page has kept itself, which is no news

/** @type {() => string} */
function keptRecord() {
  try {
    return localStorage.getItem(RECORD) ?? "";
  } catch {
    return ""; // a browser that keeps nothing, as a private window may
  }
}

/** @param {Component<{ record: string, isKnown: boolean }, { kept: string }>} component */
export default function ({ data: { record, isKnown }, setTriggerValue }) {
  const kept = keptRecord();
  if (!isKnown && kept && kept !== ownRecord) return void setTriggerValue("kept", kept);
  try {
    if (kept !== record) localStorage.setItem(RECORD, (ownRecord = record));
  } catch {
    // the session alone has it then
  }
}
