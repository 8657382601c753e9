// Words as elements of which one can be reached with Tab.

/**
 * Append an element of a class; a word enters it as text only.
 *
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Node} parent
 * @param {Tag} tag
 * @param {string} [name]
 * @param {string} [text]
 */
export function make(parent, tag, name, text) {
  const element = parent.appendChild(document.createElement(tag));
  if (name) element.className = name;
  if (text !== undefined) element.textContent = text;
  return element;
}

/**
 * Let one of several elements be reached with Tab; arrow keys move between them.
 *
 * @param {HTMLElement[]} elements
 * @param {number} index
 */
export function rove(elements, index) {
  elements.forEach((element, i) => (element.tabIndex = i === index ? 0 : -1));
}

/** Which of several elements an event is in; -1 if none. @param {HTMLElement[]} elements @param {Event} event */
export function within(elements, { target }) {
  return elements.findIndex((element) => target instanceof Node && element.contains(target));
}

/** Whether the focus came with the keyboard, so that it is to be seen. @param {FocusEvent} event */
export const isFocusSeen = ({ target }) => target instanceof Element && target.matches(":focus-visible");

const LETTER = /\p{Letter}/u;
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u; // what Unicode keeps for it

/**
 * The direction in which a sentence is read: that of most of its words.
 *
 * @param {string[]} tokens
 * @returns {"ltr" | "rtl"}
 */
export function readingDirection(tokens) {
  const words = tokens.filter((token) => LETTER.test(token));
  return words.filter((word) => RIGHT_TO_LEFT.test(word)).length > words.length / 2 ? "rtl" : "ltr";
}

/** What an arrow key means where the words run that way. @param {string} key @param {string} direction */
export function alongReading(key, direction) {
  if (direction !== "rtl") return key;
  return { ArrowLeft: "ArrowRight", ArrowRight: "ArrowLeft" }[key] ?? key;
}

/** The centre of a word along its line, and the top of that line. @param {HTMLElement} word */
const anchor = (word) => ({ x: word.offsetLeft + word.offsetWidth / 2, y: word.offsetTop });

/**
 * Which word is the nearest on the line above (-1) or below (1); the word itself if there is no such line.
 *
 * @param {HTMLElement[]} words
 * @param {number} index
 * @param {1 | -1} direction
 */
export function beside(words, index, direction) {
  const { x, y } = anchor(words[index]);
  const anchors = words.map(anchor);
  const tops = anchors.map((each) => each.y).filter((top) => (top - y) * direction > 8);
  if (!tops.length) return index;
  const line = direction > 0 ? Math.min(...tops) : Math.max(...tops);
  const distances = anchors.map((each) => (Math.abs(each.y - line) < 8 ? Math.abs(each.x - x) : Infinity));
  return distances.indexOf(Math.min(...distances));
}
