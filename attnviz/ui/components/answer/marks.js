// Which elements of the answer represent which cells of the maps.

/** @import { Mark } from "../../types" */

/**
 * Let an element represent cells of the maps.
 *
 * @param {HTMLElement} element
 * @param {Mark} mark
 * @param {boolean} [choosesKey]  whether a press on it chooses its key
 */
export function setMark(element, mark, choosesKey = false) {
  element.dataset.mark = JSON.stringify(mark);
  if (choosesKey) element.dataset.choosesKey = "";
}

/** The cells that an element represents; `choosesKey` is whether a press on it chooses its key. @param {EventTarget | null} target */
export function markOf(target) {
  const element = target instanceof Element ? target.closest("[data-mark]") : null;
  if (!(element instanceof HTMLElement) || !element.dataset.mark) return null;
  /** @type {Mark} */
  const mark = JSON.parse(element.dataset.mark);
  return { ...mark, choosesKey: element.dataset.choosesKey !== undefined };
}

/** Whether cells that are highlighted are those that an element represents. @param {Mark} represented @param {Mark} mark */
export function matches(represented, mark) {
  const position = mark[represented.axis];
  if (position === null || position === undefined || position !== represented[represented.axis]) return false;
  return ["query", "key"].every((axis) => {
    const [one, other] = axis === "query" ? [represented.query, mark.query] : [represented.key, mark.key];
    return one === null || one === undefined || other === null || other === undefined || one === other;
  });
}
