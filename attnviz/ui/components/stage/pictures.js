// Passes the props of the charts on. It stands apart from heatmap.js, as a component's code is sent anew with its data.

/** @import { Component } from "../../types" */
/** @import { Host } from "./types" */
import { CHANGED, opened } from "./picture_data.js";

/** @param {Component<Uint8Array>} component */
export default function ({ parentElement, data }) {
  const { key, found } = opened(data);
  /** @type {Host | null} */
  const host = parentElement instanceof Element ? parentElement.closest(".st-key-" + key) : null;
  if (!host) return;
  host.attnPictures = found;
  host.dispatchEvent(new Event(CHANGED));
}
