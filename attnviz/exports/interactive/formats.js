// Numbers as text, and sums.

/** @param {number} n @returns {number[]} the numbers from 0 below n */
export const range = (n) => Array.from({ length: n }, (_, i) => i);
/** @param {number[]} terms */
export const sum = (terms) => terms.reduce((total, term) => total + term, 0);
let decimalSign = ".";
/** Write a comma in numbers from now on, as some languages do. */
export const writeComma = () => void (decimalSign = ",");
/** @param {string} text */
const minus = (text) => text.replace(/-/g, "−").replace(".", decimalSign);
/** @param {number} x @returns {string} all its digits */
export const exact = (x) => minus(String(x).replace("Infinity", "∞"));
/** @param {number} x @returns {string} six digits */
export const short = (x) => minus(Number.isFinite(x) ? String(Number(x.toPrecision(6))) : exact(x));
/** @param {number} x */
export const factor = (x) => (x < 0 ? `(${short(x)})` : short(x));
/** @param {number[]} xs */
export const list = (xs) => `(${xs.map(short).join(decimalSign === "," ? "; " : ", ")})`;
/** @param {number[]} xs */
export const total = (xs) => xs.map((x, i) => (i ? (x < 0 ? " − " + short(-x) : " + " + short(x)) : short(x))).join("");
/** @param {number[]} xs @param {number[]} ys */
export const products = (xs, ys) => xs.map((x, i) => `${i ? factor(x) : short(x)} × ${factor(ys[i])}`).join(" + ");
