// Tells where Back or Forward went.

/** @import { Component } from "../types" */

/** @param {Component<unknown, { gone: string }>} component */
export default function ({ setTriggerValue }) {
  const went = () => setTriggerValue("gone", location.search.slice(1));
  window.addEventListener("popstate", went, true);
  return () => window.removeEventListener("popstate", went, true);
}
