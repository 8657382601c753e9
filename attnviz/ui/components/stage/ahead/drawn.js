// What is drawn in place of the stages of the page's last run: stages ahead of it, a value of a sweep, a picture that is
// pinned. Other views say what follows from these, as they do for what a hand holds.

/** @import { HeldArray, HeldNumbers, OtherPath } from "../../../types" */
/** @import { StageArray } from "../../../../pictures/stage_bytes.js" */
/** @import { Heatmap } from "../heatmap.js" */
/** @import { LiveKnob, Stage, StageAhead } from "../types" */
import { announceHeld } from "../../held_numbers.js";

const [WEIGHTS, MASKED] = ["weights", "masked"];
const PICTURED = "path."; // before the name of a step whose small picture an array is

/** @typedef {{ stages: Stage[], knobs: LiveKnob[] | null, path: OtherPath | null }} Other  stages, and what is known beside them */

/** The path of a setting as the route of the stage sends it. @param {StageAhead} sent @param {Record<string, StageArray>} arrays @returns {OtherPath | null} */
export function pathOf({ path, lengths }, arrays) {
  if (!path?.length || !path.every(({ name }) => PICTURED + name in arrays)) return null;
  const pictures = path.map(({ name }) => arrays[PICTURED + name]);
  return { nodes: path, sizes: pictures.map(({ shape }) => [shape[1], shape[0]]), pixels: pictures.map(({ values }) => Uint8Array.from(values)), words: lengths?.query ?? null };
}

/** The numbers of a stage as other views read them: of the words that it shows. @param {Stage | undefined} stage @returns {HeldArray | null} */
function arrayOf(stage) {
  return stage ? { axes: ["head", ...stage.axes], shape: stage.shape, values: Float64Array.from(stage.values), widths: stage.widths, isSingle: stage.values instanceof Float32Array, isMoved: true, isPart: true } : null;
}

/** What is masked in a stage, as minus infinity. @param {Stage | undefined} stage @returns {HeldArray | null} */
function maskedOf(stage) {
  if (!stage?.mask) return null;
  const [heads, rows, columns] = stage.shape;
  const values = Float64Array.from(stage.mask, (closed) => (closed ? -Infinity : 0));
  return { axes: ["head", ...stage.axes], shape: [stage.isShared ? 1 : heads, rows, columns], values, isMoved: true, isPart: true };
}

export class Drawn {
  last = { isOther: false, isAhead: false }; // whether other views were sent such stages, and whether those come from the server

  /** @param {Heatmap} heatmap */
  constructor(heatmap) {
    this.heatmap = heatmap;
  }

  /** Such stages; null where those of the last run are drawn, or what follows from them. @returns {Other | null} */
  get other() {
    const { pin, values, preview, data } = this.heatmap;
    if (pin.isFlipped && pin.kept) return { ...pin.kept, path: null };
    const reached = values.pointed === null ? null : values.reached[values.pointed];
    const swept = (data.live?.knobs ?? []).map((knob) => (reached && knob.name === data.swept?.name ? { ...knob, value: reached.value } : knob));
    if (reached) return { stages: reached.stages, knobs: swept, path: null };
    return preview.stages && { stages: preview.stages, knobs: data.live?.knobs ?? null, path: preview.path };
  }

  /** A number of the setting that is drawn, or as it is; null where it is not known. @param {string} name @param {number} value  of the last run */
  knob(name, value) {
    const { other } = this;
    return other ? (other.knobs?.find((knob) => knob.name === name)?.value ?? null) : value;
  }

  /** Tell other views what is drawn, or that what they were sent is. */
  announce() {
    const { other, last } = this, { holding, preview } = this.heatmap;
    this.last = { isOther: other !== null, isAhead: other !== null && other.stages === preview.stages };
    if (other) announceHeld(this.numbers(other));
    else if (last.isOther) announceHeld(null, last.isAhead);
    if (last.isOther && !other) holding.announce();
  }

  /** @param {Other} other @returns {HeldNumbers} */
  numbers({ stages, path }) {
    const { preview, values, data, pin, stages: now } = this.heatmap, isAhead = preview.stages !== null && values.pointed === null && !pin.isFlipped;
    const of = (/** @type {Stage[]} */ all) => all.find(({ name }) => name === WEIGHTS);
    const [weights, sent] = [of(stages), of(preview.late?.stages ?? now)];
    const hasSameWords = Boolean(weights && sent) && JSON.stringify([weights?.rows, weights?.columns]) === JSON.stringify([sent?.rows, sent?.columns]);
    return {
      changes: [],
      layer: data.live?.layer ?? 0,
      array: (name) => (name === MASKED ? maskedOf(weights) : arrayOf(stages.find((stage) => stage.name === name))),
      other: { hasSameWords, opening: isAhead ? data.opening : null, roles: (isAhead && preview.sent?.roles) || null, path },
    };
  }
}
