// The numbers and facts of the cells of a layer, as they follow from what is held in the maps.

/** @import { AnswerFacts, StageOfCells } from "../../../pictures/answer/types" */
/** @import { HeldNumbers } from "../../types" */

const BETWEEN = ["scaled", "capped", "masked"]; // steps that are computed anew from the scores, as browser_facts.py has them
const OF_FACTS = ["temperature", "softcap", "scale"]; // settings that the facts hold
const OF_ARRAYS = ["bias_slope", "reach", "dilation", "block_size", "prefix_length", "n_global"]; // and those of a bias or a mask

/** Whether no line says how a cell comes to be with these changes. @param {HeldNumbers} held */
function isUnsaid({ changes, layer, other }) {
  return other !== undefined || changes.some((change) => ("setting" in change ? !isFollowed(change.setting) : BETWEEN.some((name) => change.step === `${name}.${layer}`)));
}

/** @param {string} setting */
const isFollowed = (setting) => OF_FACTS.includes(setting) || OF_ARRAYS.includes(setting) || /^(bias|mask)_formula/.test(setting);

/** @param {AnswerFacts} facts @param {HeldNumbers} held @returns {AnswerFacts} */
function factsOf(facts, { changes, layer }) {
  const found = { ...facts };
  for (const change of changes)
    if ("setting" in change) {
      const value = /** @type {number} */ (change.value);
      if (change.setting === "temperature") found.temperature = value;
      else if (change.setting === "softcap") found.softcap = value;
      else if (change.setting === "scale") Object.assign(found, { scale: facts.scale.map(() => value), by_width: false });
    } else if (change.step === `allowed.${layer}`) Object.assign(found, { masks: [facts.painted], is_masked: true });
  return found;
}

/**
 * What explains any cell while something is held; null where that is left to a run.
 *
 * @param {StageOfCells} stage
 * @param {HeldNumbers} held
 * @returns {StageOfCells | null}
 */
export function heldStage({ header, arrays }, held) {
  if (isUnsaid(held)) return null;
  /** @type {StageOfCells["arrays"]} */
  const moved = {};
  for (const [name, array] of Object.entries(arrays)) {
    const now = held.array(name);
    moved[name] = now?.isMoved ? { shape: array.shape, values: now.values.slice() } : array;
  }
  const answer = factsOf(header.answer, held), allowed = held.array("allowed");
  if (allowed?.isMoved) {
    const values = allowed.values.slice(), shape = allowed.shape[0] > 1 ? allowed.shape : allowed.shape.slice(1);
    moved.allowed = { shape, values };
    if (answer.masks.length > 1) return null; // which of them says no is not known
    moved.forbidden_by = { shape, values: values.map((may) => (may ? 0 : 1)) };
  }
  return { header: { ...header, answer }, arrays: moved };
}
