// The program of a run that Python writes (`program.py`), and how a page asks what follows from a change.

/** Every array by the name of its step: those around the layers as they are called, `scores.0` in the first layer. */
export type Arrays = Record<string, Float64Array>;

/** A line as a function of `help`, or its text, which is compiled when it is first needed. */
export type Source = string | ((help: Help) => unknown);

/** Numbers of the setting by name, some with one for each head, and the lines of its rows. */
export type Settings = Record<string, number | number[] | Source>;

/** What is made anew of some arrays: heads or rows, the first and the one behind the last; an axis not named is whole. */
export type Region = Partial<Record<string, [from: number, to: number]>>;

/** The same for one array of three axes: heads, rows. */
export type Box = [firstHead: number, endHead: number, firstRow: number, endRow: number];

export interface Made {
  /** The names of the axes, and their lengths as heads, rows and columns. */
  axes: string[];
  shape: [heads: number, rows: number, columns: number];
  args: Value[];
  /** The settings that the operation reads. */
  settings?: string[];
}

type Nothing = Record<never, never>;

/** What each operation knows beside what it reads. */
interface Facts {
  step: { name: string };
  setting: { name: string };
  number: { number: number };
  "+": Nothing;
  "*": Nothing;
  "/": Nothing;
  "@": Nothing;
  tanh: Nothing;
  as_keys: Nothing;
  only_where: Nothing;
  norm: { centred: boolean; epsilon: number };
  norm_of_heads: { epsilon: number };
  route: { chosen: number; addsUp: boolean };
  each_unit: { units: number };
  activation: { activation: Activation };
  rope: { widths: number[]; frequencies: number[] | null };
  score: { own: string[]; widths: number[]; group: number; hidden: number; line: string };
  normalise: { own: string[]; over: string; group: number };
  mix: { group: number };
  side_by_side: { widths: number[] };
  /** A matrix that is another one, where keys are made as queries are. */
  tied: { group: number };
  mask: { lines: string[] };
  bias: { lines: string[] };
}

export type Operation<Name extends keyof Facts> = Made & { op: Name } & Facts[Name];

/** One operation of the plan on others, or the name of a step, a setting, a number. */
export type Value = { [Name in keyof Facts]: Operation<Name> }[keyof Facts];

/** Fills a box of what an operation makes of the arrays that it reads. */
export type Fill<Made> = (value: Made, x: Float64Array[], out: Float64Array, box: Box, around: Around) => void;

export type Activation = "relu" | "gelu" | "gelu_tanh" | "silu" | "clamped_silu" | "clipped";

/** A step of the run: what it is made of, nothing for what is given: weights, embeddings, a mask that no line says. */
export interface Step {
  name: string;
  axes: string[];
  shape: number[];
  made: Value | null;
  /** How many heads in a row have one matrix, of which a change is one of all. */
  shared?: number;
}

export interface Program {
  /** In the order in which the run records them, all layers one after the other. */
  steps: Step[];
  settings: Settings;
  /** Numbers that were changed by hand: they stay, whatever is computed. */
  edits: Entry[];
  queries: string[];
  keys: string[];
}

/** One number of a step, by its place in the array. */
export interface Entry {
  step: string;
  at: number;
  value: number;
}

/** A number of a step, a whole step, or a number of the setting or a line in place of its own. */
export type Change = Entry | { step: string; array: Float64Array } | { setting: string; value: number | number[] | Source };

export interface Live {
  /**
   * Compute what follows from changes of a run, and return the arrays that are not what they were; nothing is changed
   * in those that are given. What is missing there is computed where it is needed.
   *
   * `spare` are arrays of an earlier answer that nobody reads any more: their memory is used again.
   */
  follow(arrays: Arrays, changes: Change[], spare?: Arrays): Arrays;
}

/** What an operation knows beside its arrays. */
export interface Around {
  settings: Settings;
  queries: string[];
  keys: string[];
  line(setting: string): unknown;
}

/** Fills the scores, the mask or the bias of some heads and queries; see `javascript_loops.py`. */
export type FillPairs = (
  given: Record<string, Float64Array>,
  sizes: {
    n: number;
    m: number;
    D: number;
    A: number;
    heads: number;
    group: number;
    widths: number[];
    set: Settings;
    queries: string[];
    keys: string[];
  },
  out: Float64Array,
  ...box: Box
) => void;

/** Computes the weights of a row into `w`, from its n open scores. */
export type FillRow = (x: Float64Array, w: Float64Array, n: number, cell: RowPlace) => void;

export interface RowPlace {
  i: number;
  h: number;
  n_query: number;
  n_key: number;
  n_heads: number;
  /** Where in the row each open score stands. */
  places: Int32Array;
  /** How large the numbers are whose sums the scores are; 0 where that is not asked for. */
  size: number;
  set: Settings;
  /** The learned numbers of the line, one a head, beside the scores. */
  own: Record<string, Float64Array>;
}

export interface Help {
  exp(x: number): number;
  each(value: number | number[], head: number): number;
  square(x: number): number;
  products(
    left: Float64Array,
    leftFirst: number,
    leftStride: number,
    right: Float64Array,
    rightFirst: number,
    rightStride: number,
    from: number,
    to: number,
    keys: number,
    width: number,
    out: Float64Array,
    first: number,
  ): void;
  above(x: Float64Array, w: Float64Array, n: number, power: 1 | 2): void;
  winners(x: Float64Array, w: Float64Array, n: number, size: number): void;
}

/** A number of the setting that may be moved: where it stands, where its slider ends, and what may be typed. */
export interface Knob {
  name: string;
  label: string;
  value: number;
  low: number;
  high: number;
  whole: boolean;
  least: number;
  most: number;
  /** For a number in a typed line: the field of the line, what stands before it, itself, and after the last the rest. */
  line?: string;
  before?: string;
  text?: string;
  after?: string;
}

/** What an entry of a step is made of: an operation and what it reads, the name of a step, or a number. */
export type Tree = number | string | Node;
type Node = [operation: string, ...read: Tree[]];
