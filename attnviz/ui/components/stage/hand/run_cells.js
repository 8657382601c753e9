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
function arraysOf(run, layer) {
  const { array } = run.numbers([], layer), end = `.${layer}`;
  const ofScore = run.program.steps.filter(({ name }) => name.startsWith(OF_SCORE) && name.endsWith(end)).map(({ name }) => name.slice(0, -end.length));
  /** @type {StageOfCells["arrays"]} */
  const found = {};
  for (const name of [...READ, ...ofScore, "allowed"]) {
    const each = array(name);
    if (each) found[name] = { shape: lengthsOf(each), values: each.values };
  }
  const { allowed, ...others } = found;
  if (!allowed || [...allowed.values].every(Boolean)) return others;
  const closed = Float64Array.from(allowed.values, (may) => (may ? 0 : 1)); // by the one mask that there is, whose bit is the first
  return { ...found, forbidden_by: { shape: allowed.shape, values: closed } };
}

/**
 * Tell who explains cells the numbers of the run of the setting, as it was fetched, once it is there; before that, that
 * there are none. A run that a hand has changed may not be what the server made of it: another is fetched.
 *
 * @param {Heatmap} heatmap
 */
export function announceRun({ data: { cells, live }, holding: { run, asked, isAhead, latest } }) {
  if (!cells?.is_computed) return;
  const known = window.attnvizCellArrays, address = live && `${live.address}#${live.layer}`;
  if (known && known.address === address) return announce({ ...known, ...cells }); // also where the maps were laid out anew
  const isOfSetting = run && live && [run.address, asked].every((each) => each === live.address);
  if (isOfSetting && !run.changes.length && !isAhead && !latest) announce({ ...cells, address, arrays: arraysOf(run, live.layer) });
  else if (known) announce(null);
}
