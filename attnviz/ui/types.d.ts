// What Streamlit hands to a component, and what Python sends to each of ours.

/**
 * The argument of a component's function, which Streamlit calls whenever there is something new to show; what the
 * function returns is called when the component is taken off the page.
 *
 * `Data` is what Python gave as `data`: bytes arrive as a Uint8Array, a mapping as an object.
 * `Values` are the names and types of what the component tells Python.
 * `Kept` is what the component itself keeps at its place between two calls.
 */
export interface Component<Data = unknown, Values extends object = {}, Kept extends object = {}> {
  name: string;
  key: string;
  data: Data;
  /** A ShadowRoot, unless the component was registered with `isolate_styles=False`. */
  parentElement: (HTMLElement | ShadowRoot) & Kept;
  /** Tells Python a value that stays until another is told. */
  setStateValue<Name extends keyof Values>(name: Name, value: Values[Name]): void;
  /** Tells Python a value for one run only. */
  setTriggerValue<Name extends keyof Values>(name: Name, value: Values[Name]): void;
}

/** A mask as `paint.packed` sends it; its cells as lines of 0 and 1, a line for each query. */
export interface PaintData {
  queries: string[];
  keys: string[];
  cells: string;
  /** How often a painted mask was not taken. */
  refused: number;
  colours: { may: string; may_not: string };
  words: Record<"grid" | "row" | "column" | "may" | "may_not" | "empty" | "hint", string>;
}

/** How much may be pasted into each field, by its widget key, as `paste.guard` sends it. */
export interface PasteData {
  limits: Partial<Record<string, number>>;
  words: Record<"refused", string>;
  language: string;
}

/** A picture to be saved, as `snapshot.button` sends it. */
export interface SnapshotData {
  svg: string;
  /** Of the file. */
  name: string;
  dpi: number;
  label: string;
  failed: string;
}

/** What is being computed, as `unfinished.py` sends it; nothing is where `key` is empty. */
export interface UnfinishedData {
  /** The name of the note. */
  cookie: string;
  key: string;
  /** How often something was sent, so that each time differs from the one before. */
  n: number;
}

/** Cells of the maps that something stands for: a place along each axis, counted from 0; `own` is its own axis. */
export interface Mark {
  own: "query" | "key" | "d_k" | "d_v";
  head?: number | null;
  query?: number | null;
  key?: number | null;
  d_k?: number | null;
  d_v?: number | null;
}

/** Scores or weights that stand together; null is one that is no finite number. */
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
  /** What stands between the two parts, if not ×. */
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
  said: string;
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
  words: Record<"answer" | "close" | "all" | "play" | "lines" | "pause" | "step" | "again" | "way", string>;
  /** Whether it starts to play when the page is opened. */
  play: boolean;
  /** The colours of signed numbers, on a light page and on a dark one. */
  scales: string[][];
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

/** What stands over each other, and which of it are numbers of the query and of the key. */
export interface MotionPair {
  parts: MotionNumbers[];
  named: boolean[];
}

/** One stop on the way of a cell, as `motion.py` says it. */
export type MotionFrame = { title: string; said: string } & (
  | { kind: "rows" }
  | ({ kind: "meet" } & MotionPair)
  | ({ kind: "entries" } & MotionPair & MotionNumbers)
  | { kind: "sum"; value: number | null; text: string; was: string }
  | ({ kind: "row"; level?: number | null; note?: string } & MotionNumbers)
  | { kind: "shares"; values: (number | null)[]; amount: string }
  | ({ kind: "mix"; names: string[]; own: MotionNumbers } & MotionNumbers)
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

/** The script of the worker that learns, as a text. */
declare global {
  const WORKER: string;
}

/** What is to be learned, as `exchange.packed` sends it; numbers and places of sentences follow after it. */
export interface LearningJob {
  key: string;
  /** Those whose frames are kept. */
  steps: number[];
  last: number;
  score: string;
  normaliser: string;
  temperature: number;
  scale: number;
  softcap: number;
  residual: boolean;
  cross: boolean;
  rate: number;
  batch: number;
  held_out: number;
  at_once: number;
  /** Tokens of queries and keys, widths and heads. */
  n: number;
  m: number;
  d_model: number;
  d_k: number;
  d_v: number;
  heads: number;
  kv_heads: number;
  /** The names and lengths of the parameters of each layer, and of the arrays that follow. */
  parameters: [name: string, length: number][][];
  constants: [name: string, length: number][];
  places: [name: string, length: number][];
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

/** What the worker says: how far it is, and in the end the film. */
export interface LearningTold {
  step: number;
  loss: number;
  weights: Float64Array[];
  film?: LearnedFilm;
}
