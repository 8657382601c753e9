// Places along a line of words.

/** The middle of a word along its line. @typedef {[word: number, x: number]} Middle */

/**
 * Where words have their middle along the line, all but one.
 *
 * @param {HTMLElement} line
 * @param {HTMLElement[]} buttons
 * @param {(number | null)[]} of  the word of each button, which is the whole of it or a piece
 * @param {number} but
 * @returns {Middle[]}
 */
export function middlesOf(line, buttons, of, but) {
  const { left } = line.getBoundingClientRect();
  /** @type {Map<number, { left: number, right: number }>} */
  const boxes = new Map();
  buttons.forEach((button, at) => {
    const word = of[at], box = button.getBoundingClientRect();
    if (word === null || word === but) return;
    const known = boxes.get(word) ?? box;
    boxes.set(word, { left: Math.min(known.left, box.left), right: Math.max(known.right, box.right) });
  });
  return [...boxes].map(([word, box]) => [word, (box.left + box.right) / 2 - left]);
}

/**
 * The place of a word among the others: behind all whose middle lies before a point; of a long sentence, only some are shown.
 *
 * @param {Middle[]} middles
 * @param {number} held
 * @param {number} x
 * @param {boolean} isLeftward  whether the line is read from the right
 */
export function positionOf(middles, held, x, isLeftward) {
  const among = (/** @type {number} */ word) => word - Number(word > held);
  const passed = middles.filter(([, middle]) => (isLeftward ? middle > x : middle < x)).map(([word]) => among(word) + 1);
  const first = Math.min(...middles.map(([word]) => among(word)));
  return passed.length ? Math.max(...passed) : Number.isFinite(first) ? first : 0;
}
