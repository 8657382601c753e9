// The numbers by which a cell is explained, from the run that a hand computes with: where they are too many to be sent.

/** @import { StageOfCells } from "../../../../pictures/answer/types" */
/** @import { HeldArray } from "../../../types" */
/** @import { Heatmap } from "../heatmap.js" */
/** @import { LiveRun } from "./live_run.js" */
import { announce } from "../../answer/cell_arrays.js";

const READ = ["queries", "keys", "values", "scores", "bias", "weights", "heads"]; // as browser_facts.py has them,
const OF_SCORE = "score_"; // with the parameters of the score

/** The lengths of an array along its axes; a program has three for each: heads, rows and columns. @param {HeldArray} array */
function lengthsOf({ axes, shape }) {
  const heads = axes[0]?.endsWith("head") ? [shape[0]] : [];
  return [...heads, ...shape.slice(3 - axes.length + heads.length)];
}

/** What an answer reads of a layer. @param {LiveRun} run @param {number} layer */
export function cellArrays(run, layer) {
  const { array } = run.numbers([], layer), end = `.${layer}`;
  const ofScore = run.program.steps.filter(({ name }) => name.startsWith(OF_SCORE) && name.endsWith(end)).map(({ name }) => name.slice(0, -end.length));
  /** @type {StageOfCells["arrays"]} */
  const found = {};
  for (const name of [...READ, ...ofScore, "allowed"]) {
    const each = array(name);
    if (each) found[name] = { shape: lengthsOf(each), values: each.isMoved ? each.values.slice() : each.values };
  }
  const { allowed, ...others } = found;
  if (!allowed || [...allowed.values].every(Boolean)) return others;
  const closed = Float64Array.from(allowed.values, (may) => (may ? 0 : 1)); // there is one mask, whose bit is the first
  return { ...found, forbidden_by: { shape: allowed.shape, values: closed } };
}

/** Tell who explains cells the numbers of the run, once it is there, or that there are none; ask for it where a cell is chosen. @param {Heatmap} heatmap */
export function announceRun({ data: { cells, live, picked }, holding }) {
  if (!cells?.is_computed) return;
  const { run, isAhead, latest } = holding, address = live?.address;
  if (run && live && run.address === address && !isAhead && !latest) announce({ ...cells, address, arrays: cellArrays(run, live.layer) });
  else if (window.attnvizCellArrays && window.attnvizCellArrays.address !== address) announce(null); // those of the same run stay where the maps are laid out anew
  if (!run && picked) holding.prepare();
}
