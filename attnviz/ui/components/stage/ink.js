// Writes words, head names and numbers over the heat maps, and follows the pointer and the arrow keys.
//
// The numbers come apart from the charts (pictures.js) and are put into them here, so that a chart that is there draws
// them; a trace's `meta` says how its heads are laid out; the pixels are read off the drawn image. Words of a visitor are
// only ever drawn on a canvas or set as text. Everything else is drawn here, so a click redraws no chart.

const GRAPHEMES = new Intl.Segmenter(undefined, { granularity: "grapheme" });
const BIDI = /[\u202a-\u202e\u2066-\u2069]/g;
const BLANK = /^[\s\p{C}\p{Z}]*$/u;
const GAP_FROM = 9; // pixels of a cell
const NUMBERS_FROM = [26, 14]; // pixels of a cell that its number fits into,
const SHARES_FROM = [18, 14]; // and of one that holds a share, which is shorter
const NUMBERS = new WeakMap(); // the numbers as they are of a trace that holds them in parts of its own scales
const BARE = 20; // pixels left of a map in which no word fits
const MASKED_IN_THE_DARK = "rgba(128,128,128,.24)";
const BRING_BELOW = 12; // a click on a smaller cell brings its head forward
const SWIPE = 48; // pixels that a finger has to move sideways
const PICTURES = "attnviz:pictures"; // the host has other `attnPictures`
const BESIDE_FROM = 1100; // pixels of a window in which an answer stands beside the pictures
const LIT = "attnviz:lit"; // detail: the cells that are pointed at in some view, or null
const ROW = "attnviz:row"; // detail {row, head}: a query is pointed at in some view, or none (row null)
const ODD = { ground: "#f5c518", ink: "#111" }; // on neither colour scale

/** A token as it can be seen: a blank one shows what it is made of. */
function visible(token, words) {
  if (token === "") return words.empty;
  if (/^\s+$/.test(token)) return [...token].map((c) => ({ "\n": "↵", "\t": "→" })[c] || "·").join("");
  if (BLANK.test(token)) return [...token].map((c) => "U+" + c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")).join(" ");
  return token.replace(BIDI, "").replace(/\s/g, " ");
}

const pen = document.createElement("canvas").getContext("2d"); // never shown: it measures words

/** `text` cut by whole graphemes to `room` pixels in the pen's font. */
function cut(text, room) {
  if (text.length < 60 && pen.measureText(text).width <= room) return text;
  let kept = "";
  for (const { segment } of GRAPHEMES.segment(text.slice(0, 400))) {
    if (pen.measureText(kept + segment + "…").width > room) break;
    kept += segment;
  }
  return kept + "…";
}

/** An element of an SVG drawing; a word enters it as text only. */
function svg(parent, kind, attributes, word) {
  const element = parent.appendChild(document.createElementNS("http://www.w3.org/2000/svg", kind));
  for (const name in attributes) element.setAttribute(name, attributes[name]);
  if (word !== undefined) element.textContent = word;
  return element;
}

const minus = (text) => text.replace(/-/g, "−");

/** All the digits a number has: 17 at most in double precision, 9 in single. */
function full(number, single) {
  if (!Number.isFinite(number)) return minus(String(number).replace("Infinity", "∞"));
  if (!single) return minus(String(number));
  for (let digits = 6; ; digits++) {
    const short = Number(number.toPrecision(digits));
    if (digits > 8 || Math.fround(short) === number) return "≈ " + minus(String(short));
  }
}

/** A share in two places and without its zero; nothing for one that is none, or too small for so narrow a cell. */
function share(number, room) {
  if (number >= 0.995) return "1";
  return number < (room < 24 ? 0.05 : 0.005) ? "" : number.toFixed(2).slice(1);
}

/** How many decimals all of the numbers have room for in the pen's font, two at most; -1 where not even none have. */
function decimals(numbers, room) {
  const high = numbers.reduce((most, number) => Math.max(most, Math.abs(number)), 0);
  const whole = numbers.every((number) => Number.isInteger(number));
  return (whole ? [0] : [2, 1, 0]).find((n) => high < 1e5 && pen.measureText("−" + high.toFixed(n)).width <= room) ?? -1;
}

/** A number with so many decimals; one that is not zero but would read so is only about zero. */
function short(number, places) {
  const text = number.toFixed(places);
  return Number(text) === 0 ? (number === 0 ? "0" : "≈0") : minus(text);
}

function rgb(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

/** Black or white, whichever reads better on the colour at a place from 0 to 1 of a scale: never under 4.5 to 1. */
function contrast(scale, place) {
  const at = Math.min(Math.max(place, 0), 1) * (scale.length - 1);
  const [low, high] = [rgb(scale[Math.floor(at)]), rgb(scale[Math.ceil(at)])];
  const [r, g, b] = low.map((part, i) => ((part + (high[i] - part) * (at % 1)) / 255) ** 2.2);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? "#000000" : "#ffffff";
}

/** The colour at a place from 0 to 1 of a scale. */
function mixed(scale, place) {
  const at = Math.min(Math.max(place, 0), 1) * (scale.length - 1);
  const [low, high] = [rgb(scale[Math.floor(at)]), rgb(scale[Math.ceil(at)])];
  return `rgb(${low.map((part, i) => Math.round(part + (high[i] - part) * (at % 1))).join(",")})`;
}

/** Whether a colour of the page is a dark one. */
function isDark(colour) {
  pen.fillStyle = "#fff";
  pen.fillStyle = colour.trim();
  return contrast([pen.fillStyle, pen.fillStyle], 0) === "#ffffff";
}
