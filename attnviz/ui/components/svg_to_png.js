// Draws an SVG onto a canvas and saves or copies it as PNG. An image cannot run a script or fetch anything, whatever is in it.

/** @import { Component, SnapshotData } from "../types" */
import { contextOf } from "./colours.js";

const PER_INCH = 96; // pixels of an SVG
const METRE = 39.37007874015748; // inches
const MOST = 64e6; // pixels that a canvas holds in all common browsers,
const LONGEST = 16000; // and along one side

const CHECKS = Uint32Array.from({ length: 256 }, (_, n) => {
  for (let bit = 0; bit < 8; bit++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
  return n;
});
/** @param {Uint8Array} bytes @returns {number} their CRC, as PNG has it */
const check = (bytes) => ~bytes.reduce((sum, byte) => CHECKS[(sum ^ byte) & 255] ^ (sum >>> 8), -1) >>> 0;

/**
 * Put a chunk after the first of a PNG that says how large it is on paper.
 *
 * @param {Uint8Array<ArrayBuffer>} png
 * @param {number} dpi
 */
function sized(png, dpi) {
  const chunk = new Uint8Array(21);
  const view = new DataView(chunk.buffer);
  view.setUint32(0, 9);
  chunk.set(new TextEncoder().encode("pHYs"), 4);
  [8, 12].forEach((at) => view.setUint32(at, Math.round(dpi * METRE)));
  chunk[16] = 1;
  view.setUint32(17, check(chunk.subarray(4, 17)));
  return new Blob([png.subarray(0, 33), chunk, png.subarray(33)], { type: "image/png" });
}

/** @param {SnapshotData} data */
async function png({ svg, dpi }) {
  const image = new Image();
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(svg);
  await image.decode();
  const [width, height] = [image.naturalWidth, image.naturalHeight];
  const zoom = Math.min(dpi / PER_INCH, Math.sqrt(MOST / (width * height)), LONGEST / Math.max(width, height));
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [Math.round(width * zoom), Math.round(height * zoom)];
  contextOf(canvas).drawImage(image, 0, 0, canvas.width, canvas.height);
  /** @type {Blob | null} */
  const blob = await new Promise((done) => canvas.toBlob(done, "image/png"));
  if (!blob) throw new Error("this browser made no PNG of the canvas");
  return sized(new Uint8Array(await blob.arrayBuffer()), zoom * PER_INCH);
}

/** @param {SnapshotData} data */
async function save(data) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await png(data));
  link.download = data.name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000); // long after the browser has read it
}

/**
 * Copy a picture and its link together: each program takes what it can paste. The picture is promised, as a browser
 * lets a page copy only in the moment of a click.
 *
 * @param {SnapshotData} data
 */
async function copy(data) {
  const text = new Blob([data.link], { type: "text/plain" });
  await navigator.clipboard.write([new ClipboardItem({ "image/png": png(data), "text/plain": text })]);
}

/** @param {Component<SnapshotData, {}, { attnvizButton?: HTMLButtonElement }>} component */
export default function ({ data, parentElement }) {
  const button = (parentElement.attnvizButton ??= parentElement.appendChild(document.createElement("button")));
  button.type = "button";
  button.style.cssText =
    "font:inherit;width:100%;padding:.35rem .75rem;border-radius:var(--st-button-radius,.5rem);cursor:pointer;" +
    "border:1px solid var(--st-border-color,rgba(128,128,128,.4));color:var(--st-text-color,inherit);background:transparent";
  button.textContent = data.label;
  button.onclick = async () => {
    button.disabled = true;
    try {
      await (data.link ? copy : save)(data);
      button.textContent = data.done;
    } catch {
      button.textContent = data.failed;
    }
    button.disabled = false;
  };
}
