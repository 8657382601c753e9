// The arrays of the layer that is shown, by which the answer explains any cell without asking.

/** @import { Component } from "../../types" */
/** @import { Functions, StageOfCells } from "../../../pictures/answer/types" */
import { unpackStage } from "../../../pictures/stage_bytes.js";

const CELLS = "attnviz:cells";

/** @type {Map<string, Promise<Functions>>} */
const compiled = new Map(); // by their source, the last one

/**
 * Return the functions of a module that Python wrote. It is loaded as one, as a policy that forbids to evaluate text lets
 * scripts from a blob pass, from which Streamlit loads every component.
 *
 * @param {string} source
 */
function functionsOf(source) {
  const found = compiled.get(source);
  if (found) return found;
  const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  const made = import(url).then((module) => module.default).finally(() => URL.revokeObjectURL(url));
  compiled.clear();
  compiled.set(source, made);
  return made;
}

let turn = 0;

/** @param {Component<Uint8Array, {}, {}, HTMLElement>} component */
export default function ({ data }) {
  const mine = ++turn;
  const announce = (/** @type {Window["attnvizCells"]} */ known) => {
    if (mine !== turn) return;
    window.attnvizCells = known;
    window.dispatchEvent(new CustomEvent(CELLS));
  };
  if (!data?.length) return announce(null);
  const stage = /** @type {StageOfCells} */ (/** @type {unknown} */ (unpackStage(data)));
  functionsOf(stage.header.answer.functions).then(
    (functions) => announce({ stage, functions }),
    () => announce(null), // every answer is then Python's
  );
}
