// Colours as numbers: between those of a scale, and the ink that reads best on one.

/** Red, green and blue of a colour such as #ff8000, each from 0 to 255. @param {string} colour */
export const parts = (colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));

/**
 * The colour at a share from 0 to 1 of a scale of equal steps.
 *
 * @param {readonly string[]} scale
 * @param {number} share
 */
export function between(scale, share) {
  const at = Math.min(Math.max(share, 0), 1) * (scale.length - 1);
  const [low, high] = [parts(scale[Math.floor(at)]), parts(scale[Math.ceil(at)])];
  return low.map((part, i) => Math.round(part + (high[i] - part) * (at % 1)));
}

/** Black or white, whichever reads better on a colour: never under 4.5 to 1. @param {number[]} colour */
export function inkOn(colour) {
  const [r, g, b] = colour.map((part) => (part / 255) ** 2.2);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? "#000000" : "#ffffff";
}

/** The 2D context of a canvas, which every browser that runs Streamlit has. @param {HTMLCanvasElement} canvas */
export function contextOf(canvas) {
  const context = canvas.getContext("2d");
  if (!context) throw new Error("this browser draws on no canvas");
  return context;
}

const reader = contextOf(document.createElement("canvas")); // never shown: it makes #rrggbb of any colour

/** Whether an element stands on a dark page. @param {Element} element */
export function isDark(element) {
  reader.fillStyle = "#fff";
  reader.fillStyle = getComputedStyle(element).getPropertyValue("--st-background-color").trim(); // if it is a colour
  return inkOn(parts(String(reader.fillStyle))) === "#ffffff";
}

export const CLEAR = [0, 0, 0, 0];

/**
 * The colours of all bytes of a small picture: 0 is masked and clear, 1 to 255 are shares from 0 to 1.
 *
 * @param {readonly string[]} scale
 */
export const shareColours = (scale) =>
  Array.from({ length: 256 }, (_, byte) => (byte ? [...between(scale, (byte - 1) / 254), 255] : CLEAR));

/**
 * Paint a small picture from its bytes, a pixel for each.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {ArrayLike<number>} bytes
 * @param {[width: number, height: number]} size
 * @param {readonly ArrayLike<number>[]} colours  red, green, blue and alpha of each byte
 */
export function paint(canvas, bytes, [width, height], colours) {
  Object.assign(canvas, { width, height });
  const image = new ImageData(width, height);
  for (let at = 0; at < bytes.length; at++) image.data.set(colours[bytes[at]], 4 * at);
  contextOf(canvas).putImageData(image, 0, 0);
}

/** Bytes from base64. @param {string} text */
export const unpacked = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
