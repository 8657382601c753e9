// Reports the address to which Back or Forward went.

/** @import { Component } from "../types" */

/** @param {Component<unknown, { gone: string }>} component */
export default function ({ setTriggerValue }) {
  const onPopState = () => setTriggerValue("gone", location.search.slice(1));
  window.addEventListener("popstate", onPopState, true);
  return () => window.removeEventListener("popstate", onPopState, true);
}
