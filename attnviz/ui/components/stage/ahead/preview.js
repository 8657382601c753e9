// Stages that are drawn ahead of the message of the server that has them.

/** @import { StageArray } from "../../../../pictures/stage_bytes.js" */
/** @import { Heatmap } from "../heatmap.js" */
/** @import { Stage, StageAhead, StageData } from "../types" */
import { unpackStage } from "../../../../pictures/stage_bytes.js";
import { announceArrays } from "../../answer/cell_arrays.js";
import { stagesOf } from "../maps.js";

const LATEST = 1500; // milliseconds for the server to send what was drawn ahead of it

/**
 * What is said of the maps while such stages are in them: how many heads, which of them is shown alone or explained, and
 * the row that is highlighted.
 *
 * @param {Pick<StageData, "heads" | "focus" | "answered" | "opening">} data  of the last message
 * @param {StageAhead} sent
 */
export function dataAhead(data, { heads = data.heads, opening, positions }) {
  const among = (/** @type {number | null} */ head) => (head !== null && head < heads ? head : null);
  const row = opening ? (positions?.query?.indexOf(opening[1]) ?? opening[1]) : -1;
  /** @type {StageData["opening"]} */
  const highlighted = data.opening && opening && row >= 0 ? [opening[0], row] : data.opening;
  return { heads, focus: among(data.focus), answered: among(data.answered), opening: highlighted };
}

export class Preview {
  /** @type {Stage[] | null} */
  stages = null; // what is drawn ahead of the server
  /** @type {Stage[] | null} */
  late = null; // what it has sent meanwhile
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  waiting;

  /** @param {Heatmap} heatmap */
  constructor(heatmap) {
    this.heatmap = heatmap;
  }

  /**
   * @param {Uint8Array} bytes  as those of a message, of which the stages are read and what is highlighted in them
   * @param {boolean} [isHeld]  whether the server does not know of them yet
   */
  draw(bytes, isHeld = false) {
    const { heatmap } = this;
    /** @type {{ header: StageAhead, arrays: Record<string, StageArray> }} */
    const { header, arrays } = unpackStage(bytes);
    heatmap.stages = this.stages = stagesOf(header.stages, arrays, heatmap.stages);
    heatmap.header = { ...heatmap.data, ...dataAhead(heatmap.data, header) };
    if (heatmap.data.cells) announceArrays(null, {}); // those of a cell are of another setting
    this.close();
    if (!isHeld) this.expect();
    heatmap.lay(false);
  }

  /** The server knows of them, and will send them. */
  expect() {
    this.close();
    this.waiting = setTimeout(() => this.settle(), LATEST);
  }

  /** The server has sent stages: those of a setting that the visitor has left meanwhile wait, as others follow. @param {Stage[]} sent */
  answered(sent) {
    const { stages } = this;
    if (!stages) return;
    this.late = sent;
    if (sent.length === stages.length && sent.every((stage, at) => stage === stages[at])) this.settle();
    else this.heatmap.stages = stages;
  }

  /** Show what the server has sent last. */
  settle() {
    this.close();
    this.stages = null;
    if (this.late) [this.heatmap.stages, this.late] = [this.late, null];
    this.heatmap.lay(false);
  }

  close() {
    clearTimeout(this.waiting);
  }
}
