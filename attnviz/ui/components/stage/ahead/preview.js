// Stages that are drawn ahead of the message of the server that has them.

/** @import { OtherPath } from "../../../types" */
/** @import { Heatmap } from "../heatmap.js" */
/** @import { SentAhead, Stage, StageAhead, StageData } from "../types" */
/** @typedef {{ stages: Stage[], header: StageData, cells: Window["attnvizCellArrays"] }} Sent  by the server */
import { announce } from "../../answer/cell_arrays.js";
import { announceRun } from "../hand/run_cells.js";
import { stagesOf } from "../maps.js";
import { pathOf } from "./drawn.js";

const LATEST = 10_000; // milliseconds for the server to begin a run of what was drawn ahead of it, however many ask at once
const RUNNING = "[data-test-script-state=running]"; // the page, during one

/**
 * What is said of the maps while such stages are in them: how many heads, which of them is shown alone, the
 * row that is highlighted, and the numbers of the setting over them.
 *
 * @param {Pick<StageData, "heads" | "focus" | "opening" | "live">} data  of the last message
 * @param {StageAhead} sent
 */
export function dataAhead(data, { heads = data.heads, opening, positions, handles: knobs }) {
  const among = (/** @type {number | null} */ head) => (head !== null && head < heads ? head : null);
  const row = opening ? (positions?.query?.indexOf(opening[1]) ?? opening[1]) : -1;
  /** @type {StageData["opening"]} */
  const highlighted = data.opening && opening && row >= 0 ? [opening[0], row] : data.opening;
  const live = data.live && knobs ? { ...data.live, knobs } : data.live;
  return { heads, focus: among(data.focus), opening: highlighted, live };
}

export class Preview {
  /** @type {Stage[] | null} */
  stages = null; // what is drawn ahead of the server
  isFollowed = false; // whether it follows what fields say
  /** @type {StageAhead | null} */
  sent = null; // what is said of them
  /** @type {OtherPath | null} */
  path = null; // from their words to their output
  /** @type {Sent | null} */
  late = null; // what the server has sent last
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  waiting;

  /** @param {Heatmap} heatmap */
  constructor(heatmap) {
    this.heatmap = heatmap;
  }

  /**
   * Draw them while a field is held. What the server has sent comes back if it does not hear of them, or refuses them.
   *
   * @param {SentAhead} sent
   * @param {boolean} isHeld  whether it is still
   */
  follow(sent, isHeld) {
    const { stages, data } = this.heatmap;
    if (!this.stages) this.late = { stages, header: data, cells: window.attnvizCellArrays };
    this.draw(sent, !isHeld);
    this.isFollowed = true;
    if (isHeld) this.close();
  }

  /** Draw them, of which the server knows. @param {SentAhead} sent @param {boolean} [glides] */
  draw({ header, arrays }, glides = false) {
    const { heatmap } = this;
    this.isFollowed = false;
    this.stages = stagesOf(header.stages, arrays, heatmap.stages);
    this.sent = header;
    this.path = pathOf(header, arrays);
    this.put(heatmap.data);
    if (heatmap.data.cells) announce(null); // those of a cell are of another setting
    this.expect();
    heatmap.lay(glides);
  }

  /** Put them into the maps, in place of those that belong to what the server has said. @param {StageData} data */
  put(data) {
    const { heatmap, stages, sent } = this;
    if (stages && sent) Object.assign(heatmap, { stages, header: { ...data, ...dataAhead(data, sent) } });
  }

  /** The server will send them, as soon as it has nothing else to do. */
  expect() {
    this.close();
    this.waiting = setTimeout(() => (document.querySelector(RUNNING) ? this.expect() : this.settle()), LATEST);
  }

  /** The server has sent stages: those of a setting that the visitor has left meanwhile wait, as long as others follow. @param {Stage[]} sent */
  answered(sent) {
    const { stages, heatmap } = this;
    if (!stages) return;
    this.late = { stages: sent, header: heatmap.data, cells: heatmap.data.cells && window.attnvizCellArrays };
    const isSame = sent.length === stages.length && sent.every((stage, at) => stage === stages[at]);
    if (isSame || (this.isFollowed && !heatmap.ahead.said.size)) this.end(); // the message is drawn anyway
    else this.put(heatmap.data);
  }

  /** Show what the server has sent last. */
  settle() {
    const { heatmap, stages } = this;
    this.end(true);
    if (stages) heatmap.lay(false);
  }

  /** What the server has sent last is to be drawn. @param {boolean} [isLast]  nothing else will come */
  end(isLast = false) {
    const { heatmap, late } = this;
    this.close();
    this.stages = this.sent = this.late = this.path = null;
    if (late) {
      Object.assign(heatmap, { stages: late.stages, header: late.header });
      if (late.cells !== window.attnvizCellArrays) announce(late.cells);
      announceRun(heatmap);
    }
    heatmap.ahead.take(heatmap.data.follow, isLast);
    if (heatmap.ahead.expected.size) this.expect();
  }

  close() {
    clearTimeout(this.waiting);
  }
}
