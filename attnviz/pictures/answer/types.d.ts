// The answer to what was chosen, and what it is made from.

import type { Tree } from "../../live/types";

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
  axis: "d_k" | "d_v" | "key" | "query" | "entry";
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

/** How what was chosen came to be, as `explanation.py` and `explanation.js` say it. */
export interface Answer {
  title: [name: string, text: string][];
  sentence: string;
  head: number;
  query: number | null;
  key: number | null;
  /** The entry of an output. */
  dimension: number | null;
  lines: AnswerLine[];
  /** The number of a map of no scores and no weights that it is about, which a browser cannot explain by itself. */
  number?: { stage: string; head: number; row: number; column: number };
}

/** What an answer is about, counted from 0: a cell; without its key a row, or an entry of its output; without its query a column. */
export interface ChosenCells {
  head: number;
  query: number | null;
  key: number | null;
  dimension?: number | null;
}

// --- what a browser makes it from ------------------------------------------------------------------------------------

/** A parameter of a typed score: the step that holds it, how a cell uses it, and the names of its widths. */
export interface Parameter {
  name: string;
  step: string;
  role: string;
  axes: string[];
}

export interface TypedScore {
  text: string;
  sizes: Record<string, string>;
  parameters: Parameter[];
}

/** Looks up the numbers of a layer. */
export interface Read {
  has(name: string): boolean;
  at(name: string, ...place: number[]): number;
}

/** How many queries, keys and heads there are, and the width that stands for all that follow from nothing else. */
export interface Shape {
  n: number;
  m: number;
  heads: number;
  hidden: number;
}

export interface Percents {
  share: string;
  below: string;
  above: string;
}

/** The last line of a row: in a few symbols, where it divides by 0, the numbers in it, and by what it divides. */
export interface LastLine {
  brief: string;
  zero: string;
  numbers: string[];
  divisors: string[];
}

export interface ScoreFacts extends TypedScore {
  /** What is added up to the score and is made of two rows, by the names of lines; the score itself has no name. */
  match: { name: string; left: string | null; right: string | null; total: string; sign: string; brief: string } | null;
  last: LastLine | null;
}

export interface NormaliserFacts {
  text: string;
  last: LastLine | null;
  exponent: string[];
  sentences: { weight: string; loser: string };
}

/** All words of an answer, in the language of the page. */
export interface AnswerWords {
  titles: Record<string, string>;
  notes: Record<string, string>;
  parts: Record<string, string>;
  typed_match: string;
  attends: Record<string, string>;
  rank: Record<string, string>;
  why: Record<string, string>;
  and: string;
  comma: string;
  /** How the place of a word is said that stands more than once. */
  again: string;
  percent: Percents;
  weight: Record<"emptied" | "weight_of_formula", string>;
  line: Record<"keys" | "queries", string>;
  has_comma: boolean;
}

/** What `browser_facts.py` says of a layer. */
export interface AnswerFacts {
  over: string;
  group: number;
  d_k: number[];
  d_v: number[];
  d_a: number;
  scale: number[];
  /** What the steps from the scores to the normaliser are made of. */
  plan: Record<string, Tree>;
  by_width: boolean;
  softcap: number;
  temperature: number;
  is_indifferent: boolean;
  sums_to_one: boolean;
  judges_alone: boolean;
  leaves_a_rest: boolean;
  is_masked: boolean;
  masks: string[];
  /** What a mask is called that was painted. */
  painted: string;
  reach: number | null;
  visible: Record<"query" | "key", string[]>;
  score: ScoreFacts;
  normaliser: NormaliserFacts;
  /** The source of a module with the functions of a cell. */
  functions: string;
  words: AnswerWords;
}

/** The bytes of a stage, as far as an answer reads them; `head` is the one that is spoken of while none is chosen. */
export interface StageOfCells {
  header: { words: Record<"query" | "key", string[]>; answer: AnswerFacts; head: number | null; is_computed?: boolean };
  arrays: Record<string, { shape: number[]; values: ArrayLike<number> & Iterable<number> }>;
}

type Made = number | boolean | (number | boolean)[];
type Computed = { lines: [name: string, made: Made, terms: unknown][]; value: number | boolean };

/** What leads to a weight: numbers by their names, or what a normaliser that sorts finds. */
export interface Reason {
  named: Record<string, number>;
  above?: { u: number; threshold: number; isSquared: boolean };
  winners?: number;
}

type Finds<Last> = (x: number[], place: number, last: Last) => Partial<Reason>;

/** The functions of one cell that Python writes, as `row_functions.py` says them. */
export interface Functions {
  score(given: Record<string, unknown>): Computed;
  normaliser: ((given: Record<string, unknown>) => Computed) | null;
  written: ((above: Finds<1 | 2>, winners: Finds<number>) => (x: number[], place: number, head: number) => Partial<Reason>) | null;
}

export interface SumOfTerms {
  left: number[] | null;
  right: number[] | null;
  values: number[];
  total: number;
  /** Whether that is the score itself. */
  isScore?: boolean;
}

/** A step of a score on its way: `by` is the scale, the cap, the bias or the temperature; `made` comes out. */
export interface Change {
  name: string;
  by: number;
  made: number;
}
