// A share in whole percent, rounded as `attnviz.text.cell_sentence.percent` does: one weight reads the same everywhere.

import { signOf } from "./signs.js";

/** What is not nothing never reads 0 %, what is not all never 100 %. @param {number} share */
export function percent(share) {
  const sign = signOf(" %");
  if (share > 0 && share < 0.01) return `< 1${sign}`;
  if (share > 0.99 && share < 1 - 1e-12) return `> 99${sign}`;
  return `${Math.round(100 * share)}${sign}`;
}
