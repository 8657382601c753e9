// What Python sends of a sentence and of what its words attend to.

/** The sentence over the maps, as `opening_sentence.py` sends it; the weights of one head follow as float64. */
export interface OpeningData {
  /** The name of the stages that its run has not sent. */
  there?: string;
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
  /** None where the sentence is not to be changed here. */
  edit: EditableSent | null;
}

/** A word as it can be moved in its sentence; see `movable_words.py`. */
export interface EditedWord {
  /** What stands between it and the one before. */
  gap: string;
  text: string;
  /** Whether it would become one with a word beside it. */
  starts: boolean;
  ends: boolean;
}

/** The sentence as words that can be moved, replaced and left out. */
export interface EditableSent {
  words: PackedWord[];
  /** None where each query is a word. */
  of: Editable["of"] | null;
  said: Editable["said"];
}

/** A word as it is sent: the gap before it, its text, and 1 if it `starts`, 2 if it `ends`, 3 for both; 0 is the query of its
 *  index, with " " and 3. */
export type PackedWord = [gap: string, text: string, joins: number] | 0;

/** The same, read. */
export interface Editable {
  words: EditedWord[];
  /** The word that each query is of, or is a piece of. */
  of: (number | null)[];
  said: Record<"hint" | "moves" | "becomes" | "off" | "keeps", string>;
}

/** What a hand needs of a sentence: what is around all, the line of words, what of it scrolls, and the words. */
export interface SentenceLine {
  box: HTMLElement;
  words: HTMLElement;
  line: { box: HTMLElement };
  queries: HTMLButtonElement[];
  draw(): void;
  onEdit(text: string): void;
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
