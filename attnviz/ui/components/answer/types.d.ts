// What Python sends to be shown beside the maps.

import type { Answer as Lines, ChosenCells, Functions, StageOfCells } from "../../../pictures/answer/types";

export type { AnswerCells, AnswerLine, AnswerRow, AnswerTerms, ChosenCells as Chosen } from "../../../pictures/answer/types";

declare global {
  interface Window {
    /** The arrays of the layer that is shown, and the functions of a cell; null where Python explains every cell. */
    attnvizCells?: { stage: StageOfCells; functions: Functions } | null;
    /** Those arrays as the maps have them, the name of the facts that belong to them, the head that is spoken of; and where a run in the browser has computed them, its address and layer. */
    attnvizCellArrays?: { name: string; head: number; arrays: StageOfCells["arrays"]; is_computed?: boolean; address?: string | null } | null;
  }
}

/** How what was chosen came to be, and what can be played of it: what Python sends, a little later. */
export interface Answer extends Lines {
  /** What is said of another run beside it. */
  beside?: string;
  /** Whether its entries are numbers of the query times those of the key, where no arrays are here that tell. */
  has_products?: boolean;
  motion?: Motion | null;
  plays?: boolean;
}

/** What was picked in a map, or in the sentence: then there is no stage, and the row is the word. */
export interface Picked {
  stage: string | null;
  axes: string[];
  head: number | null;
  row: number | null;
  column: number | null;
}

/** The answer beside the maps, as `drawer.packed` sends it; none while nothing is chosen. */
export interface AnswerData {
  answer: Answer | null;
  words: Record<"answer" | "close" | "all" | "rounded" | "play" | "lines" | "pause" | "step" | "again" | "way" | "setting" | "product" | "aside" | "in_words" | "largest" | "without", string>;
  /** Whether it starts to play when the page is opened. */
  play: boolean;
  /** Whether all lines are there. */
  lines: boolean;
  /** The colours of signed numbers, on a light page and on a dark one. */
  scales: string[][];
  chips: Chip[];
  /** The head of the cell that was chosen last, and the one that is shown alone. */
  chosen: { head: number | null; focus: number | null };
  /** What the row attends to in the image that a model reads. */
  image: { head: number; query: number; src: string; alt: string } | null;
}

/** A field of the setting, and what it is set to. */
export interface Chip {
  name: string;
  label: string;
  value: string;
}

/** A matrix as a small picture: base64 of a byte for each cell, 128 for zero, 1 and 255 for `end` as its size. */
export interface MotionMap {
  rows: number;
  columns: number;
  cells: string;
  end: number;
  /** The row that is shown. */
  at: number;
}

/** Numbers, and those as text that are to be read; null is one that is not finite. */
export interface MotionNumbers {
  values: (number | null)[];
  texts: string[];
}

/** Rows one above the other, and which of them are numbers of the query and of the key. */
export interface MotionPair {
  parts: MotionNumbers[];
  named: boolean[];
}

/** One stop in the making of a cell, as `motion.py` says it. */
export type MotionFrame = { title: string; sentence: string } & (
  | { kind: "rows" }
  | ({ kind: "meet" } & MotionPair)
  | ({ kind: "entries" } & MotionPair & MotionNumbers)
  | { kind: "sum"; value: number | null; text: string; was: string }
  | ({ kind: "row"; level?: number | null; note?: string } & MotionNumbers)
  | { kind: "shares"; values: (number | null)[]; amount: string }
  | ({ kind: "mix"; names: string[]; entries: MotionNumbers } & MotionNumbers)
  | ({ kind: "output"; end: number } & MotionNumbers)
);

/** How a cell comes to be, step by step. */
export interface Motion {
  frames: MotionFrame[];
  maps: Partial<Record<"q" | "k" | "v", MotionMap>>;
  /** The words along which is normalised, and which of them is explained. */
  names: string[];
  at: number;
  query: string;
  key: string;
}
