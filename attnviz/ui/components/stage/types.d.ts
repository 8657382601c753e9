// The heat maps: what Python sends, what Plotly offers, and what is said of their cells.

/** The words that are written over the maps or said of them. */
export type StageWords = Record<
  | "masked"
  | "nan"
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
  | "keys",
  string
>;

/** A cell of a stage, or a whole row or column of it where the rest is null; all count from 0. */
export interface Pick {
  stage: string;
  head: number | null;
  row: number | null;
  column: number | null;
}

/** What belongs to the maps of a page, as `heatmap.py` sends it. */
export interface StageData {
  key: string;
  stages: string[];
  /** The title of each stage. */
  names: Record<string, string>;
  /** Pixels that were laid out for before the browser had said how many there are. */
  width: number;
  /** Whether an answer stands beside the maps. */
  wide: boolean;
  words: StageWords;
  /** What the axes are called on the page. */
  axes: Record<string, string>;
  /** Whether negative cells that are too small for their number have a minus. */
  signs: boolean;
  /** The least height of maps that keep within the window; 0 where the page is scrolled. */
  fit: number;
  /** The height that was laid out for where the maps fill the window; 0 where they do not. */
  fill: number;
  /** The name under which the browser keeps what it reports, so that the next visit is laid out for it; or none. */
  cookie: string;
  /** The head that is shown alone. */
  focus: number | null;
  heads: number;
  /** The head and the row that are highlighted while nothing is pointed at. */
  opening: [head: number, row: number] | null;
  /** The stages to choose from, where they are shown one by one. */
  turns: string[];
  picked: Pick | null;
}

/** The values that the maps send to Python. */
export interface StageValues {
  width: number;
  room: number;
  wide: boolean;
  picked: Pick;
  focus: number;
  scale: true;
  shown: string;
}

/** How the numbers of a trace are sent, before they follow as bytes. */
export interface Packed {
  dtype: "float32" | "float64";
  shape: [rows: number, columns: number];
}

export type Numbers = Float32Array | Float64Array;

/** A heat map as Plotly takes it. */
export interface Trace<Z = Numbers[]> {
  type: string;
  name: string;
  showscale: boolean;
  hoverinfo: string;
  /** The edges of cells, in pixels. */
  x: number[];
  y: number[];
  z: Z;
  zmin: number;
  zmax: number;
  colorscale: [position: number, colour: string][];
  /** A `Meta` as JSON: Plotly would take an object for another one each time. */
  meta: string;
}

/** How the heads of a stage are laid out, and what is written beside them. */
export interface Meta {
  rows: string[];
  /** None where columns are only counted. */
  columns: string[] | null;
  heads: string[];
  /** What each head does. */
  roles: string[] | null;
  axes: [down: string, across: string];
  /** How many cells a row of each head is drawn with, */
  widths: number[];
  /** and how many it has. */
  true: number[];
  /** Heads side by side. */
  across: number;
  /** How many rows and columns share a drawn cell. */
  block: [rows: number, columns: number];
  /** The positions along each axis that are shown, where only some are. */
  positions: [rows: number[] | null, columns: number[] | null];
  /** Pixels beside and over the heads. */
  room: [left: number, right: number, top: number];
  large: boolean;
  leads: boolean;
  /** The colours of the scale on a dark page, where they are others. */
  dark: string[];
  /** The size of the largest number of each head, where each has a scale of its own. */
  ends: number[] | null;
  /** For each head what its columns add to, and over which part of all keys its rows spread. */
  sums: { columns: number[][]; rows: number[][] } | null;
  share: boolean;
  masked: boolean;
  /** Whether a number is not finite. */
  odd: boolean;
  /** The drawn cells that are not a number, as bits in base64. */
  nan: string | null;
  /** Where words share a cell, the strong weights of each row of each head: how many, in which columns, and their
   *  numbers, in base64. */
  strong: Record<"counts" | "columns" | "weights", string> | null;
}

/** An axis as Plotly takes it. */
export interface Axis {
  visible: boolean;
  fixedrange: boolean;
  constrain?: string;
  constraintoward?: string;
  domain?: [number, number];
  range?: [number, number];
  scaleanchor?: string;
  scaleratio?: number;
}

/** What lies under or over the cells: one grey path, and frames around single cells. */
export interface Shape {
  type: string;
  path?: string;
  layer?: string;
  fillcolor?: string;
  line: { width: number; color?: string };
  x0?: number;
  x1?: number;
  y0?: number;
  y1?: number;
}

/** What of the layout of a chart is its stage's own. */
export interface Layout {
  xaxis: Axis;
  yaxis: Axis;
  shapes: Shape[];
  margin?: { l: number; t: number; r: number; b: number; pad: number };
  datarevision: number;
}

/** The props of the chart of a stage; `revision` is another number whenever anything of it is. */
export interface ChartProps<Z = Numbers[]> {
  trace: Trace<Z>;
  layout: Layout;
  revision: number;
  alt: string;
}

/** The numbers of the stages, as `heatmap.py` sends them: their bytes follow in this order. */
export interface PicturesData {
  key: string;
  pictures: Record<string, ChartProps<Packed>>;
}

/** The element around the maps, which holds what goes into their charts. */
export type Host = HTMLElement & { attnPictures?: Partial<Record<string, ChartProps>> };

/** The element of a Plotly chart; its trace has no numbers before they are put into it. */
export interface Plot extends HTMLElement {
  data?: [Partial<Trace>?];
  layout: Partial<Layout>;
  on?(event: string, listener: () => void): void;
  emit(event: string): void;
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
