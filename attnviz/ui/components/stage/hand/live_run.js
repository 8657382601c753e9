// The program of the run that is shown: what follows from a number that is held, computed in the browser.

/** @import { Arrays, Change, Source, Step } from "../../../../live/types" */
/** @import { StageArray } from "../../../../pictures/stage_bytes.js" */
/** @import { HeldNumbers } from "../../../types" */
/** @import { LiveSent } from "../types" */
import { compile } from "../../../../live/live.js";
import { unpackStage } from "../../../../pictures/stage_bytes.js";

const MOST_RUNS = 4; // that are kept, for who goes back and forth

/** @type {Map<string, Promise<Record<string, Source>>>} */
const LINES_LOADED = new Map();

/** The lines as functions, as a module: the page may not compile a text. @param {Record<string, string>} lines */
function linesOf(lines) {
  const text = `export default {\n${Object.entries(lines).map(([name, source]) => `${JSON.stringify(name)}: ${source}`).join(",\n")}\n};`;
  const load = async () => {
    const address = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
    try {
      return (await import(address)).default;
    } finally {
      URL.revokeObjectURL(address);
    }
  };
  const known = LINES_LOADED.get(text) ?? load();
  LINES_LOADED.set(text, known);
  return known;
}

export class LiveRun {
  /** @type {Change[]} */
  changes = []; // that the setting has kept since the run was sent
  /** @type {Arrays} */
  spare = {};

  /**
   * @param {string} address  of the setting
   * @param {LiveSent["program"]} sent
   * @param {Record<string, Source>} lines
   * @param {Arrays} parameters
   */
  constructor(address, sent, lines, parameters) {
    this.address = address;
    const edits = sent.edits.map((edit) => ({ ...edit, value: Number(edit.value) }));
    this.program = { ...sent, edits, settings: { ...sent.settings, ...lines } };
    this.live = compile(this.program);
    const whole = Object.entries(parameters).map(([step, array]) => ({ step, array }));
    this.arrays = { ...parameters, ...this.live.follow(parameters, whole) };
  }

  /** The same run, in which nothing is changed. */
  anew() {
    return Object.assign(Object.create(LiveRun.prototype), this, { changes: [], spare: {} });
  }

  /**
   * Compute what follows from changes beside those that are kept; the arrays hold until this is asked again.
   *
   * @param {Change[]} changes
   * @returns {Arrays}
   */
  follow(changes) {
    const all = [...this.changes, ...changes];
    this.spare = all.length ? this.live.follow(this.arrays, all, this.spare) : {};
    return this.spare;
  }

  /**
   * What follows from changes beside those that are kept, for other views.
   *
   * @param {Change[]} changes
   * @param {number} layer
   * @returns {HeldNumbers}
   */
  numbers(changes, layer) {
    const made = this.follow(changes);
    return {
      changes: [...this.changes, ...changes],
      layer,
      array: (name) => {
        const step = this.stepOf(name, layer), values = step && (made[step.name] ?? this.arrays[step.name]);
        return step && values ? { axes: step.axes, shape: step.shape, values, isMoved: step.name in made } : null;
      },
    };
  }

  /** A step by its name in a layer, or before the first. @param {string} name @param {number} layer @returns {Step | undefined} */
  stepOf(name, layer) {
    const { steps } = this.program;
    return steps.find((step) => step.name === `${name}.${layer}`) ?? steps.find((step) => step.name === name);
  }

  /** A number of the setting as it is now. @param {string} name @returns {number | undefined} */
  setting(name) {
    const kept = [...this.changes].reverse().find((change) => "setting" in change && change.setting === name);
    const value = kept && "setting" in kept ? kept.value : this.program.settings[name];
    return typeof value === "number" ? value : Array.isArray(value) ? value[0] : undefined;
  }
}

/** @type {Map<string, Promise<LiveRun>>} */
const RUNS = new Map();

/** Ask the server for a run. @param {string} address @returns {Promise<LiveRun>} */
async function askedFor(address) {
  const answer = await fetch(new URL(address, document.baseURI));
  if (!answer.ok) throw new Error(String(answer.status));
  /** @type {{ header: LiveSent, arrays: Record<string, StageArray> }} */
  const { header, arrays } = unpackStage(await answer.arrayBuffer());
  const parameters = Object.fromEntries(Object.entries(arrays).map(([name, { values }]) => [name, Float64Array.from(values)]));
  return new LiveRun(address, header.program, await linesOf(header.lines), parameters);
}

/** The run of an address, whose changes and later address are the asker's alone; one that could not be had is asked for again. @param {string} address @returns {Promise<LiveRun>} */
export async function runOf(address) {
  const known = RUNS.get(address) ?? askedFor(address);
  RUNS.delete(address);
  RUNS.set(address, known);
  known.catch(() => RUNS.delete(address));
  for (const [oldest] of RUNS) if (RUNS.size > MOST_RUNS) RUNS.delete(oldest);
  return (await known).anew();
}
