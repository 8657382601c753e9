// What in the answer stands for which cells of the maps.

/** @import { Mark } from "../../types" */

/**
 * Let an element stand for cells of the maps.
 *
 * @param {HTMLElement} element
 * @param {Mark} mark
 * @param {boolean} [goes]  whether a press on it chooses its key
 */
export function stand(element, mark, goes = false) {
  element.dataset.mark = JSON.stringify(mark);
  if (goes) element.dataset.goes = "";
}

/** The cells that an element stands for; `goes` is whether a press on it chooses its key. @param {EventTarget | null} target */
export function standsFor(target) {
  const element = target instanceof Element ? target.closest("[data-mark]") : null;
  if (!(element instanceof HTMLElement) || !element.dataset.mark) return null;
  /** @type {Mark} */
  const mark = JSON.parse(element.dataset.mark);
  return { ...mark, goes: element.dataset.goes !== undefined };
}

/** Whether what is lit is what an element stands for. @param {Mark} own @param {Mark} mark */
export function meets(own, mark) {
  const place = own[own.own];
  const here = mark[own.own];
  if (here === null || here === undefined || here !== place) return false;
  return ["query", "key"].every((axis) => {
    const [one, other] = axis === "query" ? [own.query, mark.query] : [own.key, mark.key];
    return one === null || one === undefined || other === null || other === undefined || one === other;
  });
}
