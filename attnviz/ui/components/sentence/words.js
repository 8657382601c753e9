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
 * @param {number} at
 */
export function rove(elements, at) {
  elements.forEach((element, i) => (element.tabIndex = i === at ? 0 : -1));
}

/** Which of several elements an event is in; -1 if none. @param {HTMLElement[]} elements @param {Event} event */
export function within(elements, { target }) {
  return elements.findIndex((element) => target instanceof Node && element.contains(target));
}

/** Whether the focus came with the keyboard, so that it is to be seen. @param {FocusEvent} event */
export const isFocusSeen = ({ target }) => target instanceof Element && target.matches(":focus-visible");

/** The middle of a word along its line, and where that line begins. @param {HTMLElement} word */
const place = (word) => ({ x: word.offsetLeft + word.offsetWidth / 2, y: word.offsetTop });

/**
 * Which word is the nearest on the line above (-1) or below (1); the word itself if there is no such line.
 *
 * @param {HTMLElement[]} words
 * @param {number} at
 * @param {1 | -1} way
 */
export function beside(words, at, way) {
  const { x, y } = place(words[at]);
  const places = words.map(place);
  const tops = places.map((each) => each.y).filter((top) => (top - y) * way > 8);
  if (!tops.length) return at;
  const line = way > 0 ? Math.min(...tops) : Math.max(...tops);
  const distances = places.map((each) => (Math.abs(each.y - line) < 8 ? Math.abs(each.x - x) : Infinity));
  return distances.indexOf(Math.min(...distances));
}
