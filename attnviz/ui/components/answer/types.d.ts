// What Python sends to be shown beside the maps.

/** The scores or weights of a row; null is one that is no finite number. */
export interface AnswerRow {
  values: (number | null)[];
  /** The one that is explained. */
  at: number | null;
  axis: "key" | "query";
  names: string[];
  whole?: string;
}

/** What is added up: of each entry its name, its two parts, what it comes to, and the same as text. */
export interface AnswerTerms {
  axis: "d_k" | "d_v" | "key";
  rows: [name: string, left: string, right: string, value: number | null, text: string][];
  /** What is shown of many entries: beside the maps, and on a sheet. */
  folds: { shown: number[]; more: string; value: number | null; rest: string }[];
  /** The sign between the two parts, if not ×. */
  sign?: string;
  /** Numbers of which those of the rows are parts. */
  whole?: (number | null)[];
}

export interface AnswerCells {
  values: (number | null)[];
  texts: string[];
  label: string;
  at: number | null;
  /** Where the colour scale ends. */
  end: number;
}

export interface AnswerLine {
  name: string;
  title: string;
  value: string;
  note: string;
  terms?: AnswerTerms;
  columns?: AnswerRow;
  shares?: AnswerRow;
  cells?: AnswerCells;
}

/** How what was chosen came to be, as `explanation.py` says it. */
export interface Answer {
  title: [name: string, text: string][];
  sentence: string;
  head: number;
  query: number;
  key: number | null;
  lines: AnswerLine[];
  /** What can be played of it. */
  motion?: Motion | null;
}

/** The answer beside the maps, as `drawer.packed` sends it; none while nothing is chosen. */
export interface AnswerData {
  answer: Answer | null;
  words: Record<"answer" | "close" | "all" | "rounded" | "play" | "lines" | "pause" | "step" | "again" | "way" | "setting", string>;
  /** Whether it starts to play when the page is opened. */
  play: boolean;
  /** The colours of signed numbers, on a light page and on a dark one. */
  scales: string[][];
  chips: Chip[];
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
