// Passes on what goes into the charts. It stands apart from bridge.js, as a component's code is sent anew with its data.

const CHANGED = "attnviz:pictures";

export default function ({ parentElement, data }) {
  const { key, pictures } = JSON.parse(new TextDecoder().decode(data));
  const host = parentElement.closest(".st-key-" + key);
  if (!host) return;
  host.attnPictures = pictures;
  host.dispatchEvent(new Event(CHANGED));
}
