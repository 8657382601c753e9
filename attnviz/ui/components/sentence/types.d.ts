// What Python sends of a sentence and of what its words attend to.

/** The sentence over the maps, as `opening_sentence.py` sends it; the weights of one head follow as float64. */
export interface OpeningData {
  queries: string[];
  /** None where they are the same words. */
  keys: string[] | null;
  /** The positions of the words that are shown, where only some are. */
  positions: [queries: number[], keys: number[]] | null;
  /** Whether the sentence attends to itself. */
  same: boolean;
  head: number;
  query: number;
  /** Whether a visitor has chosen the word. */
  chosen: boolean;
  /** What the weights of each query are. */
  kinds: ("shares" | "weights" | "no_numbers")[];
  shows: string;
  words: Record<"takes" | "takes_two" | "weighs" | "nothing" | "no_numbers" | "itself" | "sentence", string>;
  /** The number of each head, and what it does. */
  heads: string[];
  roles: string[];
  /** Whether the normaliser promises shares. */
  promises: boolean;
  /** Where the numbers come from. */
  made: string;
  scales: string[][];
}

/** The words twice, as `attention_lines.py` sends them. */
export interface LinesData {
  queries: string[];
  keys: string[];
  /** Base64 of the weights of one head, as float32, */
  weights: string;
  /** and of the cells that are masked, as bits. */
  masked: string;
  /** What each query attends to; the words of a visitor in lists of one. */
  sentences: (string | [string])[][];
  scale: string[];
  /** None is the average of all. */
  head: number | null;
  n_heads: number;
  chosen: number | null;
  words: Record<"queries" | "keys" | "hint" | "head" | "mean" | "masked", string>;
}
