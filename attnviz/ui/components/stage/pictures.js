// Passes on what goes into the charts. It stands apart from heatmap.js, as a component's code is sent anew with its data.

/** @import { Component } from "../../types" */
/** @import { Given, Host, PicturesData } from "./types" */

const CHANGED = "attnviz:pictures";
const KINDS = { float32: Float32Array, float64: Float64Array };

/** @param {Component<Uint8Array>} component */
export default function ({ parentElement, data }) {
  const end = data.indexOf(0);
  /** @type {PicturesData} */
  const { key, pictures } = JSON.parse(new TextDecoder().decode(data.subarray(0, end)));
  /** @type {Host | null} */
  const host = parentElement instanceof Element ? parentElement.closest(".st-key-" + key) : null;
  if (!host) return;
  let at = end + 1;
  /** @type {Record<string, Given>} */
  const found = {};
  for (const [name, given] of Object.entries(pictures)) {
    const { dtype, shape } = given.trace.z;
    const bytes = data.slice(at, (at += shape[0] * shape[1] * KINDS[dtype].BYTES_PER_ELEMENT)); // a place of their own, aligned
    const numbers = new KINDS[dtype](bytes.buffer);
    const z = Array.from({ length: shape[0] }, (_, row) => numbers.subarray(row * shape[1], (row + 1) * shape[1]));
    found[name] = { ...given, trace: { ...given.trace, z } };
  }
  host.attnPictures = found;
  host.dispatchEvent(new Event(CHANGED));
}
