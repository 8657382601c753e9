// The words of a sentence, of which two are pressed: one that attends, and one that is attended to. Only set as text.

/** @import { MosaicData } from "./types" */

/**
 * Draw the words and what is to be pressed next; a press on the second word of a pair reports both.
 *
 * @param {HTMLElement} box
 * @param {MosaicData} message
 * @param {(row: number | null, column: number | null) => void} onPair  with none when the pair is let go of
 */
export function drawPair(box, { words, queries, keys, pair }, onPair) {
  const lines = keys ? [queries, keys] : [queries];
  /** @type {number | null} */
  let from = null;
  const groups = lines.map((tokens, at) => {
    const line = box.appendChild(document.createElement("div"));
    line.className = "words";
    line.setAttribute("role", "group");
    line.setAttribute("aria-label", words[at ? "keys" : "queries"]);
    return tokens.map((token, index) => {
      const button = line.appendChild(document.createElement("button"));
      button.type = "button";
      button.dir = "auto";
      button.textContent = token;
      button.addEventListener("click", () => press(index, at));
      return button;
    });
  });
  const said = box.appendChild(document.createElement("div"));
  said.className = "said";
  const text = said.appendChild(document.createElement("span"));
  text.setAttribute("role", "status");
  const away = said.appendChild(document.createElement("button"));
  away.type = "button";
  away.textContent = words.away;
  away.addEventListener("click", () => onPair(null, null));

  /** @param {number} index @param {number} at  of the line of words */
  function press(index, at) {
    if (keys ? at === 0 : from === null) from = index;
    else if (from !== null) return onPair(from, index);
    show();
  }

  function show() {
    const [query, key] = from === null ? (pair ?? [-1, -1]) : [from, -1];
    const second = groups[groups.length - 1];
    groups.flat().forEach((button) => button.removeAttribute("data-part"));
    groups[0][query]?.setAttribute("data-part", "query");
    second[key]?.setAttribute("data-part", query === key && !keys ? "both" : "key");
    groups.forEach((group, at) => group.forEach((button, index) => {
      const isPart = (at === 0 && index === query) || (at === groups.length - 1 && index === key);
      button.setAttribute("aria-pressed", String(isPart));
    }));
    text.textContent = from !== null ? words.second.replace("{word}", () => queries[from ?? 0]) : pair ? words.framed : words.first;
    away.hidden = from !== null || !pair;
  }
  show();
}
