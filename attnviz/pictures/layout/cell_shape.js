// The shape that a cell of a heat map may have, and how well it can be read: lengths are CSS pixels.

/** The width from which a cell has to be no flatter than is legible; smaller ones are shared by several words. */
export const LEAST_FLAT_FROM = 4;

const [TALL, TALLER, FLAT] = [1.35, 1.6, 0.75]; // a cell's height over its width: at most, at most in focus, at least
const TALL_FOR_A_WORD = 2.2; // at most where that gives its row a word
const [FLATTER, FLATTEST] = [0.5, 0.3]; // at least in a stage by itself, and in one head of it: there is width to spare
const [LEGIBLE, WORDS_WORTH] = [11, 1.26]; // the height of the smallest type, so that each row has its word; what that is worth
const [PRINTED, NUMBERS_WORTH] = [[17, 14], 1.1]; // the size from which a share is printed in a cell, and what that is worth

/** The height that a cell of a width may have; a narrow one is higher where that gives its row a word. @param {number} width @param {boolean} focused */
export const tallest = (width, focused) => (focused ? width * TALLER : Math.max(width * TALL, Math.min(LEGIBLE, width * TALL_FOR_A_WORD)));

/** The least height over its width of a cell, with so many stages beside each other and heads in each. @param {number} stages @param {number} heads */
export const flattest = (stages, heads) => (stages > 1 ? FLAT : heads > 1 ? FLATTER : FLATTEST);

/** The shorter side of a cell, and more where every row has its word beside it and every share its number. @param {number} width @param {number} height */
export function worth(width, height) {
  const words = height >= LEGIBLE ? WORDS_WORTH : 1;
  const numbers = width >= PRINTED[0] && height >= PRINTED[1] ? NUMBERS_WORTH : 1;
  return Math.min(width, height) * words * numbers;
}

/** A cell's height in whole pixels, small ones in halves and tenths. @param {number} high */
export function whole(high) {
  if (high >= 8) return Math.floor(high);
  return high >= 3 ? Math.floor(high * 2) / 2 : Math.floor(high * 10) / 10;
}
