// The props of the charts, as `heatmap.py` sends them: JSON, a zero byte, and the numbers as they lie in memory.

/** @import { ChartProps, PicturesData } from "./types" */

/** The event of a host that has other `attnPictures`. */
export const CHANGED = "attnviz:pictures";

const KINDS = { float32: Float32Array, float64: Float64Array };

/**
 * Return the key of the host and what goes into each of its charts.
 *
 * @param {Uint8Array} data
 */
export function opened(data) {
  const end = data.indexOf(0);
  /** @type {PicturesData} */
  const { key, pictures } = JSON.parse(new TextDecoder().decode(data.subarray(0, end)));
  let at = end + 1;
  /** @type {Record<string, ChartProps>} */
  const found = {};
  for (const [name, props] of Object.entries(pictures)) {
    const { dtype, shape } = props.trace.z;
    const bytes = data.slice(at, (at += shape[0] * shape[1] * KINDS[dtype].BYTES_PER_ELEMENT)); // a buffer of their own, aligned
    const numbers = new KINDS[dtype](bytes.buffer);
    const z = Array.from({ length: shape[0] }, (_, row) => numbers.subarray(row * shape[1], (row + 1) * shape[1]));
    found[name] = { ...props, trace: { ...props.trace, z } };
  }
  return { key, found };
}
