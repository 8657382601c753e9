// A line of words in the room that it has: how close they stand, and which of them are in sight.

const CLOSEST = 6; // pixels between words of their full size
const FADES = 16; // pixels at either end of the line, in which words cannot be read
const SHORT = 64; // pixels that a word is not cut below, while there is another way

export class WordLine {
  /** @type {number | null} */
  left = null; // where it stood before it followed another view

  /** @param {HTMLElement} box  what scrolls @param {HTMLElement} words  all of them, inside */
  constructor(box, words) {
    this.box = box;
    this.words = words;
  }

  /** Move the words closer together where they would be cut, and make them smaller where that is not enough; they stay
   *  so while they and their room are the same. */
  fit() {
    const over = this.box.scrollWidth - this.box.clientWidth;
    const gaps = this.words.querySelectorAll("button, .at-gap").length - 1;
    if (over <= 1 || !gaps) return;
    const gap = parseFloat(getComputedStyle(this.words).columnGap) - over / gaps;
    if (gap >= CLOSEST) this.words.style.columnGap = `${gap}px`;
    else this.words.classList.add("at-tight");
  }

  loosen() {
    this.words.classList.remove("at-tight");
    this.words.style.columnGap = "";
  }

  /** Scroll to a word. @param {HTMLElement | undefined} word */
  centre(word) {
    this.left = null;
    if (!word) return;
    const [at, line] = [word, this.box].map((element) => element.getBoundingClientRect());
    this.box.scrollLeft += at.left + at.width / 2 - line.left - line.width / 2;
  }

  /** Have a word in sight that another view points at; with none, the line goes back to where it was.
   *  @param {HTMLElement | null} word */
  follow(word) {
    const { box, left } = this;
    if (!word) {
      if (left !== null) box.scrollLeft = left;
      this.left = null;
      return;
    }
    const [at, line] = [word, box].map((element) => element.getBoundingClientRect());
    if (at.left >= line.left + FADES && at.right <= line.right - FADES) return;
    const before = left ?? box.scrollLeft;
    this.centre(word);
    this.left = before;
  }
}

/**
 * Shorten the words of a line that is so many pixels too long, the longest first: what is said of them stays whole.
 *
 * @param {HTMLElement[]} words
 * @param {number} over
 */
function shorten(words, over) {
  if (over <= 0) return;
  const widths = words.map((word) => Math.ceil(word.getBoundingClientRect().width));
  let room = widths.reduce((sum, width) => sum + width, 0) - over - 1 - widths.length; // each was rounded up
  const most = [...widths].sort((a, b) => a - b).reduce((most, width, at) => {
    const share = room / (widths.length - at);
    room -= Math.min(width, share);
    return Math.max(most, Math.min(width, share));
  }, 0);
  for (const word of words) word.style.maxWidth = `${Math.max(0, most)}px`;
}

/**
 * Fit a line that is said into its room: in smaller letters, with long words cut, or else in two lines.
 *
 * @param {HTMLElement} line
 * @param {HTMLElement[]} words  those of it that may be cut
 */
export function fitWords(line, words) {
  const said = document.createRange();
  said.selectNodeContents(line);
  const over = () => Math.ceil(said.getBoundingClientRect().width - line.getBoundingClientRect().width);
  line.className = "";
  if (over() > 0) line.className = "at-small";
  const spare = words.reduce((sum, word) => sum + Math.max(word.getBoundingClientRect().width - SHORT, 0), 0);
  if (over() <= 0) return;
  if (over() < spare) return shorten(words, over());
  shorten(words, over() - line.clientWidth + 2 * SHORT); // a line ends before a word that has no room in it
  line.className = "at-small at-two";
}
