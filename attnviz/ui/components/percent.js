// A share in whole percent, rounded as `attnviz.text.cell_sentence.percent` does: one weight reads the same everywhere.

/** What is not nothing never reads 0 %, what is not all never 100 %. @param {number} share */
export function percent(share) {
  if (share > 0 && share < 0.01) return "< 1 %";
  if (share > 0.99 && share < 1 - 1e-12) return "> 99 %";
  return `${Math.round(100 * share)} %`;
}
