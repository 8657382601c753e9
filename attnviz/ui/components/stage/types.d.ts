import type { Knob, Program } from "../../../live/types";
import type { OtherPath, Reported } from "../../types";
import type { WeightsFormula } from "../../../pictures/weights_formula.js";
import type { StageArray, StageFacts as Packed, StageNumbers } from "../../../pictures/stage_bytes.js";

// The heat maps: what Python sends, what Plotly offers, and what is said of their cells.

/** The words that are written over the maps or said of them. */
export type StageWords = Record<
  | "masked"
  | "nan"
  | "decimal"
  | "mark"
  | "question"
  | "empty"
  | "wide"
  | "word"
  | "to"
  | "dimension"
  | "total"
  | "spread"
  | "reads_key"
  | "above_key"
  | "below_key"
  | "apart_key"
  | "total_key"
  | "zero"
  | "was"
  | "row_sum"
  | "hold"
  | "paint"
  | "paint_hint"
  | "keys_held"
  | "head_off"
  | "head_on"
  | "knob"
  | "others"
  | "painted"
  | "painted_keys"
  | "pin"
  | "pinned"
  | "pinned_now"
  | "pinned_same"
  | "unpin"
  | "flip"
  | "flip_hint"
  | "flipped"
  | "flipped_same"
  | "pin_hint"
  | "differs"
  | "unlike"
  | "close"
  | "row_says"
  | "number"
  | "no_number"
  | "out_of_range"
  | "not_whole"
  | "keys"
  | "may"
  | "may_not"
  | "range"
  | "apart"
  | "common"
  | "apart_hint"
  | "common_hint"
  | "blocks"
  | "blocks_shorter"
  | "fold"
  | "fold_shorter",
  string
>;

/** A cell of a stage, or a whole row or column of it where the rest is null; all count from 0. */
export interface Pick {
  stage: string;
  head: number | null;
  row: number | null;
  column: number | null;
}

/** A stage as `stage_message.described` says it; its numbers are the array of its name, (heads, rows, columns). */
export interface StageFacts {
  name: string;
  title: string;
  symbol: string;
  phrase: string;
  /** The phrase in fewer words. */
  shorter: string[];
  formula: string;
  alt: string;
  kind: "signed" | "share" | "allowed";
  axes: [down: string, across: string];
  leads: boolean;
  sums: boolean;
  /** What the legend calls masked cells, where they are not only those. */
  grey: string;
  large: boolean;
  apart: boolean;
  /** The size that all colours reach to, where stages are compared. */
  reach: number | null;
  margin: number;
  rows: string[];
  /** None where columns are only counted. */
  columns: string[] | null;
  heads: string[];
  /** What each head does. */
  roles: string[] | null;
  /** What each head was measured to do on other sentences; empty for one that does none of it. */
  tested: string[] | null;
  /** True columns of every head. */
  widths: number[];
  /** Head, row and column of the cells that were changed by hand, and of those that should be large. */
  edited: number[][];
  wanted: number[][];
  /** The array of the cells that are masked. */
  masked: string | null;
  scale: { low: number; high: number; colours: string[]; dark: string[] };
  /** The size of the largest number of each head. */
  ends: number[];
  /** The positions along each axis that are shown, where only some are. */
  positions: [rows: number[] | null, columns: number[] | null];
  /** The positions along each axis among those of all stages, where these have others. */
  common?: [rows: number[] | null, columns: number[] | null];
}

/** The part of a message that stages are read from. */
export interface StagesSent extends Packed {
  stages: StageFacts[];
}

/** A stage with its numbers. */
export interface Stage extends StageFacts {
  shape: [heads: number, rows: number, columns: number];
  values: StageNumbers;
  /** 1 where a cell is masked, of all heads or of one that all share. */
  mask: StageNumbers | null;
  isShared: boolean;
  /** What columns add to and over what part of the keys rows spread. */
  total: StageNumbers | null;
  spread: StageNumbers | null;
  /** The head of which it is, where it was more. */
  only: number | null;
  /** Head, row and column of the weights that are larger, or smaller, than in the picture that is pinned. */
  differs?: { more: number[][]; less: number[][] } | null;
  /** Of which heads `roles` was said while they had other numbers. */
  former?: boolean[];
  /** The facts as JSON, by which two messages are compared. */
  text?: string;
}

/** How the window is shared, as `View` says it. */
export interface Sharing {
  fit: boolean;
  fill: boolean;
  one_by_one: boolean;
  beside: boolean;
  first: string;
  reserved: number;
  least: number;
  large: boolean;
  one_line: boolean;
}

/** Pixels for the maps and for what stands around them; `one` where there is room for one stage at a time. */
export interface Room {
  width: number;
  height: number;
  heading: number;
  fill: boolean;
  isNarrow: boolean;
  one: boolean;
  overview: number;
  over: number;
  film: number;
  below: number;
}

/** What belongs to the maps of a page, as `heatmap.py` sends it. */
export interface StageData extends StagesSent {
  key: string;
  words: StageWords;
  /** What the axes are called on the page. */
  axes: Record<string, string>;
  /** Whether negative cells that are too small for their number have a minus. */
  signs: boolean;
  /** A cell is to be found by its row and its column, so the tip names neither. */
  unnamed: boolean;
  view: Sharing;
  /** The head that is shown alone; of how many. */
  focus: number | null;
  heads: number;
  /** Whether heads of one number belong together in stages that have others of them. */
  by_number: boolean;
  /** The head and the row that are highlighted while nothing is pointed at. */
  opening: [head: number, row: number] | null;
  picked: Pick | null;
  /** Where Plotly is. */
  plotly: string;
  /** How numbers can be held; null where they cannot. */
  live: Holdable | null;
  /** The facts that belong to the numbers of a cell, the head that is spoken of while none is chosen, and whether the numbers are those of the run that a hand computes with. */
  cells: { name: string; head: number; shared?: string[]; is_computed?: boolean } | null;
  /** The name of the stages, where they are at the address of `follow` and not sent; the arrays in `shared` are there, too. */
  there?: string | null;
  /** Whether they are in a message of their own. */
  is_sent?: boolean;
  /** The fields that the maps follow while they are held. */
  follow: Follow | null;
  /** The number of the setting that moves by itself, or has moved. */
  swept: Swept | null;
}

/** A message of Python, read. */
export interface Message {
  header: StageData;
  arrays: Record<string, StageArray>;
}

/** A number of the setting that moves by itself, or has moved: what the stages are of beside it, its value in them, and all
 *  values in their order. */
export interface Swept {
  of: string;
  /** Of its field. */
  name: string;
  label: string;
  value: number;
  values: number[];
  /** Whether it moves. */
  moves: boolean;
}

/** How a field stands in an address: under its key or another name, behind some text, as one of so many texts, or by a
 *  word where it is empty; and what it says in the setting that is drawn. */
export interface HeldField {
  now: string | number;
  empty?: string;
  name?: string;
  before?: string;
  stops?: string[];
}

/** What another view says of a field: what it would say, null where that is taken back, and whether it is held. */
export interface HeldElsewhere {
  key: string;
  text: string | null;
  isHeld: boolean;
}

/** Where the stages of other settings are, the setting that is drawn as an address, and the fields by their keys. */
export interface Follow {
  address: string;
  setting: Record<string, string>;
  fields: Record<string, HeldField>;
  /** Where the stages are that the link has pinned. */
  pinned?: string | null;
}

/** Stages that are drawn ahead of the server's message, and what the route of the stage says beside them. */
export interface StageAhead extends StagesSent {
  name?: string;
  /** That of the stages themselves, whatever is chosen in them. */
  maps?: string;
  heads?: number;
  /** Head, query and key that the page opens on, counted among all. */
  opening?: [head: number, query: number, key: number] | null;
  /** What each head does. */
  roles?: string[];
  /** The numbers of the setting that headings show. */
  handles?: LiveKnob[];
  positions?: { query: number[] | null; key: number[] | null };
  /** The steps from the words to the output, whose small pictures are arrays; how many words there are. */
  path?: OtherPath["nodes"];
  lengths?: { query: number; key: number };
}

/** The same, read. */
export interface SentAhead {
  header: StageAhead;
  arrays: Record<string, StageArray>;
}

/** A picture that is pinned, and the numbers of its setting, where they are known. */
export interface Pinned {
  stages: Stage[];
  knobs: LiveKnob[] | null;
}

/** How the numbers of the maps can be held, as `Holding` says it. */
export interface Holdable {
  address: string;
  layer: number;
  confirmed: number;
  paints: boolean | null;
  knobs: LiveKnob[];
  formula: WeightsFormula;
  /** The heads of the layer that are switched off; null where none can be. */
  off: number[] | null;
}

/** What the server answers at that address. */
export interface LiveSent extends Packed {
  program: Omit<Program, "edits"> & { edits: { step: string; at: number; value: string }[] };
  lines: Record<string, string>;
}

/** A number of the setting that may be moved, with a letter or a short word for it. */
export interface LiveKnob extends Knob {
  sign: string;
  /** Whether what follows has to be asked for: the length of an axis. */
  reruns?: boolean;
}

/** What a hand has let go of. */
export type Kept = { step: string; at: number[]; value: number } | { cells: string } | { setting: string; value: number } | { head: number; off: boolean } | { undo: boolean };

/** The values that the maps send to Python. */
export interface StageValues extends Reported {
  held: Kept & { id: number };
  swept: number | null;
}

/** The element around the maps: stages are drawn ahead of the message of the server that has them, too. */
export type Previewed = HTMLElement & { preview?: (bytes: Uint8Array) => void };

/** The scripts of all components, by their names. */
interface Shelf {
  /** What draws each component; it returns what ends that. */
  parts: Partial<Record<string, { draw(component: object): () => void }>>;
  /** What several components show, by the messages that bring it. */
  messages?: {
    take(owner: HTMLElement, data: Uint8Array): void;
    leave(owner: HTMLElement): void;
    follow(address: string, where: HTMLElement, draw: (data: Uint8Array) => void): () => void;
  };
}

/** What the heading of a stage depends on beside it. */
export interface Heading {
  /** Pixels by which it stands in from the left, so that it begins where the cells do. */
  left: number;
  /** How many words share a drawn cell, and how many columns that are only counted. */
  block: number;
  fold: number;
  /** Whether it offers one scale for all heads and one for each. */
  switches: boolean;
  /** Whether a press paints the mask; null where none is painted. */
  paints: boolean | null;
  /** Whether all of it stands in one line. */
  isOneLine: boolean;
  /** The typed lines that stand there with their numbers as handles. */
  lines: string[];
  /** Pixels for all of it; for its phrase, and those that are left free of it. */
  height: number;
  room: number;
  gap: number;
  /** Names and titles of the stages to turn over to, where there is room for one at a time. */
  turns: [name: string, title: string][];
  /** Whether the legend has the masked cells, which need be said over one stage only. */
  saysMasked: boolean;
}

/** How the heads of a stage are laid out, and what is written beside them. */
export interface Meta {
  rows: string[];
  columns: string[] | null;
  heads: string[];
  roles: string[] | null;
  tested: string[] | null;
  axes: [down: string, across: string];
  /** How many cells a row of each head is drawn with, */
  widths: number[];
  /** and how many it has. */
  true: number[];
  /** Heads side by side. */
  across: number;
  /** How many rows and columns share a drawn cell. */
  block: [rows: number, columns: number];
  positions: [rows: number[] | null, columns: number[] | null];
  common?: [rows: number[] | null, columns: number[] | null];
  /** Pixels beside and over the heads. */
  room: [left: number, right: number, top: number];
  large: boolean;
  leads: boolean;
  /** The size of the largest number of each head, where each has a scale of its own. */
  ends: number[] | null;
  /** For each head what its columns add to, and over which part of all keys its rows spread. */
  sums: { columns: number[][]; rows: number[][] } | null;
  share: boolean;
  masked: boolean;
  /** Whether a number is not finite. */
  odd: boolean;
}

/** A heat map as Plotly takes it: the edges of cells are in pixels. */
export interface Trace {
  x: number[];
  y: number[];
  z: Float64Array[];
  zmin: number;
  zmax: number;
  colorscale: [position: number, colour: string][];
}

/** A stage in its tiles; `at` says where in its numbers each drawn cell has its own. */
export interface DrawnMap {
  meta: Meta;
  at: Int32Array;
  trace: Trace;
}

/** A map and where its cells begin. */
export interface PlacedMap {
  map: DrawnMap;
  x: number;
  y: number;
}

/** What is used of Plotly. */
export interface PlotlyModule {
  react(root: HTMLElement, traces: object[], layout: object, config: object): Promise<unknown>;
}

/** A drawn cell, counted from 0. */
export interface Cell {
  head: number;
  row: number;
  column: number;
}

/** What is under a point of a map: a cell, the word of a row or of a column alone, or the name of a head. */
export type Spot = Partial<Cell> & { name?: number };

/** Cells that are highlighted in all stages: by their positions along named axes, which other stages may have too. */
export interface Highlight {
  /** Where they are pointed at, if in a map. */
  stage?: string;
  head: number | null;
  /** Of how many heads it is one. */
  heads: number;
  at: Partial<Record<string, number | null>>;
  /** Whether these cells alone are meant, not their whole rows and columns in every head. */
  exact?: boolean;
}

declare global {
  interface Window {
    attnvizScripts?: Shelf;
    /** The picture that is pinned. */
    attnvizPinned?: Pinned | null;
    attnvizStages?: Map<string, SentAhead>;
    /** Those that a run has sent. */
    attnvizStagesSent?: Map<HTMLElement, SentAhead>;
  }
}
