// Passes on what goes into the charts. It stands apart from heatmap.js, as a component's code is sent anew with its data.

const CHANGED = "attnviz:pictures";
const KINDS = { float32: Float32Array, float64: Float64Array };

export default function ({ parentElement, data }) {
  const end = data.indexOf(0);
  const { key, pictures } = JSON.parse(new TextDecoder().decode(data.subarray(0, end)));
  const host = parentElement.closest(".st-key-" + key);
  if (!host) return;
  let at = end + 1;
  for (const { trace } of Object.values(pictures)) {
    const { dtype, shape } = trace.z;
    const bytes = data.slice(at, (at += shape[0] * shape[1] * KINDS[dtype].BYTES_PER_ELEMENT)); // a place of their own, aligned
    const numbers = new KINDS[dtype](bytes.buffer);
    trace.z = Array.from({ length: shape[0] }, (_, row) => numbers.subarray(row * shape[1], (row + 1) * shape[1]));
  }
  host.attnPictures = pictures;
  host.dispatchEvent(new Event(CHANGED));
}
