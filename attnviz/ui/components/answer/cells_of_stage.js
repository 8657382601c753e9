// The facts of the layer that is shown: with the numbers of the maps the answer explains any cell without asking.

/** @import { Component } from "../../types" */
/** @import { Functions, StageOfCells } from "../../../pictures/answer/types" */
import { unpackStage } from "../../../pictures/stage_bytes.js";
import { ARRAYS } from "./cell_arrays.js";

/** @typedef {Omit<StageOfCells["header"], "head"> & { name: string }} Facts  and the name by which numbers say that they belong to them */

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

class Known {
  /** @type {Facts | null} */
  facts = null; // and their functions, once they are compiled
  /** @type {Functions | null} */
  functions = null;
  stop = new AbortController();

  constructor() {
    window.addEventListener(ARRAYS, () => this.announce(), { signal: this.stop.signal });
  }

  /** @param {Uint8Array} data */
  async take(data) {
    const facts = (this.facts = data?.length ? /** @type {{ header: Facts }} */ (/** @type {unknown} */ (unpackStage(data))).header : null);
    this.functions = null;
    const functions = facts && (await functionsOf(facts.answer.functions).catch(() => null)); // without them every answer is Python's
    if (facts !== this.facts) return;
    this.functions = functions;
    this.announce();
  }

  /** Say what is known, if the numbers that are here belong to the facts. */
  announce() {
    const { facts, functions } = this;
    const numbers = window.attnvizCellArrays;
    const isWhole = facts && functions && numbers?.name === facts.name;
    window.attnvizCells = isWhole ? { stage: { header: { ...facts, head: numbers.head, is_computed: numbers.is_computed }, arrays: numbers.arrays }, functions } : null;
    window.dispatchEvent(new CustomEvent(CELLS));
  }
}

/** @param {Component<Uint8Array, {}, { known?: Known }, HTMLElement>} component */
export default function ({ data, parentElement }) {
  const known = (parentElement.known ??= new Known());
  known.take(data);
  return () => {
    known.stop.abort();
    delete parentElement.known;
  };
}
