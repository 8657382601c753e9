// The run that Python writes into the file (`described` in interactive_html.py), and what the script makes of it.

import type { Entry, Knob, Program, Settings, Tree } from "../../live/types";
import type { TypedScore } from "../../pictures/answer/types";
import type { WeightsFormula } from "../../pictures/weights_formula.js";

/** A step of a layer in base64, little end first, decoded when its numbers are first asked for. */
export interface Step {
  shape: number[];
  /** As float64, as float16 times two to the power of `power`, or a bit that says where a query may not attend. */
  form: "exact" | "rounded" | "closed";
  base64: string;
  power?: number;
  /** The size from which a rounded number holds three decimal digits. */
  least?: number;
  numbers?: Float64Array;
}

export interface Scale {
  low: number;
  high: number;
  colours: string[];
  /** Both ends in words. */
  said: string[];
}

export interface Stage {
  name: string;
  title: string;
  phrase: string;
  formula: string;
  alt: string;
  /** The name of each head, */
  heads: string[];
  /** and how many columns it has. */
  widths: number[];
  /** Whether the columns are keys. */
  worded: boolean;
  masked: boolean;
  scale: Scale;
}

export interface Layer {
  /** Its place in the run, counted from 1: there may be more layers than are held. */
  number: number;
  stages: Stage[];
  /** What each head does on this sentence: in a word, and in a line. */
  does: [short: string, about: string][];
  steps: Partial<Record<string, Step>>;
  /** What the steps of attention are made of; missing where only weights are held. */
  plan?: Record<string, Tree>;
}

export interface Setting {
  /** The factor of the scores, for each head. */
  scale: number[];
  softcap: number;
  temperature: number;
  over: string;
  /** How many heads share one head of keys and values. */
  group: number;
  d_k: number[];
  d_v: number[];
  /** The width that stands for every width of a typed formula that follows from nothing else. */
  d_a: number;
  typed: { score?: TypedScore & Named; normaliser?: { text: string } & Named };
  /** The numbers of the lines by the names of their settings; some with one for each head. */
  knobs: Record<string, number | number[]>;
}

/** The settings of the names that a line has for its numbers. */
export interface Named {
  keys: Record<string, string>;
}

/** The numbers that are added up, or the two rows whose products are; nothing where neither is so. */
export type Terms = (number | boolean)[][];

/** What a formula makes of one cell: its named lines, and its result. */
export interface Computation {
  lines: [name: string, made: number | boolean | (number | boolean)[], terms: Terms][];
  value: number;
  terms: Terms;
}

export type Word =
  | "scaled" | "capped" | "keys" | "masked" | "forbidden" | "given" | "edited" | "query" | "key" | "entry" | "Query" | "Key" | "Entry"
  | "score" | "bias" | "mask" | "row" | "column" | "largest" | "below" | "threshold" | "weight" | "values"
  | "quoted" | "cells" | "lines" | "all" | "average" | "each" | "nearer"
  | "undo" | "as_saved" | "paint" | "paint_hint" | "painted" | "painted_keys"
  | "number_hint" | "was" | "forbid" | "allow" | "back" | "head_off" | "head_on"
  | "apart" | "common" | "apart_hint" | "common_hint" | "comma" | "colon" | "semicolon";

export interface Run {
  sentence: string;
  queries: string[];
  keys: string[];
  /** Whether numbers have a comma for their point. */
  has_comma: boolean;
  words: Record<Word, string>;
  /** The stage whose first cell is chosen at the start. */
  first: string;
  link: string;
  setting: Setting;
  live: Movable | null;
  layers: Layer[];
}

/** A number that was changed by hand, which may be infinite: JSON has no such number. */
export type EditAsText = Omit<Entry, "value"> & { value: string };

/** What may be moved, and what computes what follows; the lines of the rows stand in the script. */
export interface Movable {
  program: Omit<Program, "settings" | "edits"> & { settings: Settings; edits: EditAsText[] };
  knobs: Knob[];
  /** What the formula of the weights is made of. */
  formula: WeightsFormula;
  /** What the program reads that is not drawn. */
  arrays: Record<string, Step>;
}

/** A cell, counted from 0; the column is a key, or an entry of a vector. */
export type Cell = [head: number, row: number, column: number];

export interface Marked {
  stage: Stage;
  cell: Cell;
}

/** The ways to look at a run: its cells, lines between words, or all heads of all layers. */
export type View = "cells" | "lines" | "all";

/** One line of the arithmetic: its title, and its text. */
export type Line = [title: string, text: string];

/**
 * What an entry is made of, in its numbers; rounding is judged by `size`. What has a title has lines of its own, and nothing
 * new is said of what is only looked up or multiplied by 1.
 */
export interface Said {
  text: string;
  value: number;
  size: number;
  title?: string;
  isNew: boolean;
  /** The operation that joined it from two. */
  op?: string;
}

/** What leads to a weight, and the weight. */
export type Normalised = [lines: Line[], text: string, value: number, size?: number];

/** What a picture tells the page. */
export interface Listener {
  point(stage: Stage, cell: Cell | null, event?: PointerEvent): void;
  choose(stage: Stage, cell: Cell | null): void;
}
