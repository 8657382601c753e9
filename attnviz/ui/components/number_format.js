// A number in words beside the maps, written as `attnviz.text.format.number_format.short` does.

import { numberInLanguage } from "./signs.js";

const WRITTEN_OUT = [1e-4, 1e6]; // numbers between these; others have powers of ten
const AS_GOOD_AS_ZERO = 1e-12;

/** Four digits of a number, without zeros at its end. @param {number} number */
export function fourDigits(number) {
  if (Number.isNaN(number)) return "–";
  if (!Number.isFinite(number)) return number > 0 ? "∞" : "−∞";
  if (Math.abs(number) < AS_GOOD_AS_ZERO) return number ? "~0" : "0";
  const [mantissa, power] = number.toExponential(3).split("e");
  const size = Math.abs(Number(`${mantissa}e${power}`));
  const isWrittenOut = size >= WRITTEN_OUT[0] && size < WRITTEN_OUT[1];
  const text = isWrittenOut ? withoutZeros(number.toFixed(Math.max(3 - Number(power), 0))) : `${withoutZeros(mantissa)}e${Number(power)}`;
  return text.replace(/-/g, "−");
}

/** Four digits of a number as the language of the page writes it. @param {number} number */
export const asWritten = (number) => numberInLanguage(fourDigits(number));

/** @param {string} decimal */
const withoutZeros = (decimal) => (decimal.includes(".") ? decimal.replace(/0+$/, "").replace(/\.$/, "") : decimal);

/** A number as the language of the page writes it. @param {string} text @param {{ decimal: string }} words */
export const inLanguage = (text, words) => text.replace(".", words.decimal);
