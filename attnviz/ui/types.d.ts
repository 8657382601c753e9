// What Streamlit hands to a component, and what Python sends to each of ours.

import type { Change } from "../live/types";

/**
 * The argument of a component's function, which Streamlit calls whenever there is something new to show; what the
 * function returns is called when the component is taken off the page.
 *
 * `Data` is what Python passes as `data`: bytes arrive as a Uint8Array, a mapping as an object.
 * `Values` are the names and types of the values that the component sends to Python.
 * `State` is what the component itself keeps on its root between two calls.
 * `Root` is that root: a ShadowRoot, or an element of the page if it was registered as not isolated.
 */
export interface Component<Data = unknown, Values extends object = {}, State extends object = {}, Root = ShadowRoot> {
  name: string;
  key: string;
  data: Data;
  parentElement: Root & State;
  /** Send Python a value that stays until another one is sent. */
  setStateValue<Name extends keyof Values>(name: Name, value: Values[Name]): void;
  /** Send Python a value for one run only. */
  setTriggerValue<Name extends keyof Values>(name: Name, value: Values[Name]): void;
}

/** A component that is one of several in one element of the page; both its key and its container name the place it is drawn in. */
export interface PartOfPage {
  key: string;
  name: string;
  container: string;
  is_isolated: boolean;
}

/** What a part has said under a name, a number that grows, and the session to which it was said. */
export interface Said {
  number: number;
  session: string;
  part: string;
  name: string;
  value: unknown;
}

/** A click in a part of the stage, as `stage_events.py` reads it. All count from 0, `row` and `column` among what is shown. */
export type StageEvent =
  | { kind: "panel"; panel: string }
  | { kind: "pair"; row: number | null; column: number | null }
  | { kind: "open"; layer: number; head: number | null }
  | { kind: "pick"; stage: string; head: number | null; row: number | null; column: number | null }
  | { kind: "lines"; is_on: boolean }
  | { kind: "scale" }
  | { kind: "close"; head: number | null }
  | { kind: "key"; key: number }
  | { kind: "focus"; head: number | null }
  | { kind: "card"; head: number }
  | { kind: "show"; stage: string }
  | { kind: "pin"; is_on: boolean }
  | { kind: "word"; query: number }
  | { kind: "window"; row: number; column: number }
  | { kind: "whole" };

/** The value that such a part sends to Python. */
export interface Reported {
  event: StageEvent;
}

/** A mask as `mask_painter.packed` sends it; its cells as lines of 0 and 1, a line for each query. */
export interface PaintData {
  queries: string[];
  keys: string[];
  cells: string;
  /** How often a painted mask was refused. */
  refused: number;
  /** The colour of an allowed cell. */
  may: string;
  /** Pixels that a cell has at most. */
  largest: number;
  words: Record<"grid" | "row" | "column" | "may" | "may_not" | "empty" | "hint", string>;
}

/** How much may be pasted into each field, by its widget key, as `paste_guard.guard` sends it. */
export interface PasteData {
  limits: Partial<Record<string, number>>;
  words: Record<"refused", string>;
  /** Streamlit's own words, each with what it is in the language of the page; none in English. */
  streamlit: Record<string, string>;
  /** As HTML names it. */
  language: string;
}

/** A picture to be saved, as `svg_to_png.button` sends it. */
export interface SnapshotData {
  svg: string;
  /** Of the file. */
  name: string;
  dpi: number;
  /** What is copied with the picture; without one it is saved as a file. */
  link: string;
  label: string;
  /** What the button says once it is done. */
  done: string;
  failed: string;
}

/** What is handed to another program, as `share_code.py` sends it. */
export interface ShareData {
  text: string;
  title: string;
  label: string;
  /** What the button says where nothing could be shared. */
  failed: string;
}

/** What is being computed, as `interrupted.py` sends it; nothing is where `key` is empty. */
export interface UnfinishedData {
  /** The name of the note. */
  cookie: string;
  key: string;
  /** When it was sent, in seconds: the latest counts, in whatever order they are drawn. */
  at: number;
}

/**
 * Cells of the maps that an element represents: a position along each axis, counted from 0, and the axis along which
 * elements of its kind differ.
 */
export interface Mark {
  axis: "query" | "key" | "d_k" | "d_v";
  head?: number | null;
  query?: number | null;
  key?: number | null;
  d_k?: number | null;
  d_v?: number | null;
}

/** A query that is pointed at in some view, or none; `shares` is what it takes from each key in a head. */
export interface Row {
  row: number | null;
  head?: number | null;
  shares?: (number | null)[] | null;
}

/** The numbers of a step as heads, rows and columns. */
export interface HeldArray {
  axes: string[];
  shape: number[];
  values: Float64Array;
  /** Whether they are not what they were. */
  isMoved: boolean;
  /** Whether they are those of the words that are shown alone, and of how many columns in each head. */
  isPart?: boolean;
  widths?: number[];
  /** Whether they were sent as float32. */
  isSingle?: boolean;
}

/** The path from the words to the output in another setting: its steps, what is seen of each, and how many words. */
export interface OtherPath {
  nodes: { name: string; symbol: string; shape: string; meaning: string; before: [word: string, step: string]; colours: string[]; dark: string[] }[];
  sizes: [width: number, height: number][];
  pixels: Uint8Array[];
  words: number | null;
}

/** What follows from what is held in the maps. Its arrays are to be read at once: their memory is used again. */
export interface HeldNumbers {
  /** All changes since the run was sent, those that are kept among them. */
  changes: Change[];
  /** The layer that is shown, counted from 0. */
  layer: number;
  /** A step of that layer, or before the first; null for none. */
  array(name: string): HeldArray | null;
  /** Where they are no change of the last run but stages of another setting, of which nothing else is known: whether the
   *  words are the same, the head and the row that are spoken of, and what each head does and the path, where they have
   *  come. */
  other?: { hasSameWords: boolean; opening: [head: number, row: number] | null; roles: string[] | null; path: OtherPath | null };
}

/** The script of the worker that learns, as a text. */
declare global {
  const WORKER: string;
}

/** A value of a plan: its operation, what that reads, and its axes; a name where it is made, and where it is read. */
export interface PlanValue {
  op: string;
  name: string;
  axes: string[];
  number: number;
  args: PlanValue[];
}

/** What is to be learned, as `exchange.packed` sends it; numbers and token ids follow after it. */
export interface LearningJob {
  key: string;
  /** Those whose frames are kept. */
  steps: number[];
  last: number;
  /** What each layer computes, step after step; the one that is compared with the right words; and with what numbers. */
  plan: PlanValue[];
  written: string;
  settings: Record<string, number>;
  score: string;
  normaliser: string;
  cross: boolean;
  rate: number;
  batch: number;
  held_out: number;
  at_once: number;
  /** The length of each axis. */
  sizes: Record<string, number>;
  /** The names and lengths of the parameters of each layer, and of the arrays that follow. */
  parameters: [name: string, length: number][][];
  constants: [name: string, length: number][];
  ids: [name: string, length: number][];
  words: Record<"here" | "layer" | "weights" | "loss", string>;
  /** The colours of shares, on a light page and on a dark one. */
  colours: string[][];
}

/** A film that was learned: of each frame its step, loss, right and crisp, exponents, and three bytes a number. */
export interface LearnedFilm {
  key: string;
  steps: number[];
  figures: number[][];
  exponents: number[][];
  numbers: string;
}

/** A message of the worker: how far it is, and in the end the film. */
export interface LearningProgress {
  step: number;
  loss: number;
  weights: Float64Array[];
  film?: LearnedFilm;
}
