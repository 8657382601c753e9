// Reports the address to which Back or Forward went. It is drawn before all else, so it also names the browser the
// language of the page: what is drawn after it joins words and writes numbers by that.

/** @import { Component } from "../types" */

/** @param {Component<{ language: string }, { gone: string }>} component */
export default function ({ data, setTriggerValue }) {
  document.documentElement.lang = data.language;
  const onPopState = () => setTriggerValue("gone", location.search.slice(1));
  window.addEventListener("popstate", onPopState, true);
  return () => window.removeEventListener("popstate", onPopState, true);
}
