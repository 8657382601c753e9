// What Python sends to the small pictures of which a reader picks one. Pictures come as bytes, a row after the other.

import type { StageEvent } from "../../types";

/** All heads as small pictures, as `film_strip.py` sends them. */
export interface FilmData {
  /** The one in focus. */
  head: number;
  words: Record<"heads" | "head" | "all", string>;
  size: [rows: number, columns: number];
  /** Base64 of the bytes of all heads. */
  pixels: string;
  /** What stands beside each picture, where that is no head; then it also says which one is pointed at. */
  labels?: string[];
  /** The colours of shares, on a light page and on a dark one. */
  scales: string[][];
}

/** The values that the strip sends: the picture that was chosen, and the one that is pointed at. */
export interface FilmValues {
  event: Extract<StageEvent, { kind: "focus" }>;
  pointed: number;
}

/** What a head does, in words. */
export interface Card {
  head: number;
  name: string;
  title: string;
  lines: string[];
  pixels: string;
}

/** A card for each head, as `head_cards.py` sends them. */
export interface CardsData {
  cards: Card[];
  size: [rows: number, columns: number];
  focus: number | null;
  label: string;
  scales: string[][];
}

/** The next word, as `next_word_link.py` sends it. */
export interface WaysData {
  label: string;
  /** What each press reports, its words, and the container of the page that it goes to. */
  ways: { event: StageEvent; text: string; to: string }[];
}

/** A head of the mosaic. */
export interface Tile {
  name: string;
  about: string;
  title: string;
  kind: string;
  /** What the head does by test, in short and whole; empty where it does none of it. */
  role: string;
  tested: string;
  /** What the pair of words has in it, and in another wording; empty without a pair. */
  amount: string;
}

/** All heads of all layers, as `head_mosaic.py` sends them. */
export interface MosaicData {
  tiles: Tile[];
  /** The indices of the tiles, sorted by what their heads do. */
  sorted: number[];
  /** The same, sorted by what they do by test, where they were tested. */
  by_test: number[] | null;
  /** The same, sorted by what the first of a pair of words gives the second. */
  by_pair: number[] | null;
  /** The words shown, and those that they attend to where these are others. */
  queries: string[];
  keys: string[] | null;
  /** Which of them were pressed. */
  pair: [query: number, key: number] | null;
  /** In a layer. */
  heads: number;
  size: [rows: number, columns: number];
  pixels: string;
  words: Record<"label" | "layers" | "kinds" | "test" | "pair" | "row" | "head" | "high" | "queries" | "keys" | "first" | "second" | "framed" | "away", string>;
  /** The names of the layers. */
  rows: string[];
  scales: string[][];
}

/** A step on the path from the words to the output. */
export interface PathStep {
  name: string;
  symbol: string;
  shape: string;
  meaning: string;
  /** What happens before it, and the step that a press on that shows, if any. */
  before: [word: string, step: string];
  kind: "signed" | "share" | "allowed";
  /** The index of its scale. */
  scale: number;
  size: [width: number, height: number];
  shown: boolean;
}

/** The path over the maps, as `step_path.py` sends it; the bytes of all pictures follow. */
export interface PathData {
  /** The name of the stages that its run has not sent. */
  there?: string;
  strip: string;
  words: string;
  count: string;
  /** How many words there are, of one and of more. */
  counts: [one: string, more: string];
  /** The head of which the pictures are, of so many. */
  head: number;
  heads: number;
  /** The step that a narrow window shows alone; none on a page without that. */
  front: string;
  /** The colour of masked cells on a light page and on a dark one. */
  masked: string[];
  /** Each on a light page and on a dark one. */
  scales: [light: string[], dark: string[]][];
  nodes: PathStep[];
}
