// The weights of the words of a sentence: ranked, and as they follow from what is held in the maps.

/** @import { HeldNumbers } from "../../types" */
/** @import { OpeningData } from "./types" */

const ADDED_TO_ONE = [1e-9, 1e-5]; // how far the sum of shares may be from one, of float64 and of float32

/** @typedef {{ weights: Float64Array, kinds: OpeningData["kinds"], roles: string[] | null, opening?: [head: number, row: number] | null }} Rows  a row for each query that is shown, what each is and each head does, if that is known, and the head and the row that they are told of where those are others */

/** What the weights of a query are. @param {Float64Array} row @param {boolean} promises @param {boolean} isSingle @returns {OpeningData["kinds"][number]} */
function kindOf(row, promises, isSingle) {
  const open = row.filter((weight) => !Number.isNaN(weight));
  if (!open.every(Number.isFinite)) return "no_numbers";
  const isOne = Math.abs(open.reduce((a, b) => a + b, 0) - 1) < ADDED_TO_ONE[isSingle ? 1 : 0];
  return promises && isOne && open.every((weight) => weight >= 0) ? "shares" : "weights";
}

/**
 * The weights in the head of a sentence; null where there are none.
 *
 * @param {HeldNumbers} held
 * @param {OpeningData} data
 * @returns {Rows | null}
 */
export function heldRows(held, { head: sent, positions, promises, queries, keys, roles: before }) {
  const { hasSameWords = true, opening = null, roles = null } = held.other ?? {}, head = opening?.[0] ?? sent;
  const [weights, masked] = [held.array("weights"), held.array("masked")];
  if (!hasSameWords || !weights || head >= weights.shape[0]) return null;
  const [, rows, columns] = weights.shape, size = rows * columns, ofMask = masked && masked.shape[0] > 1 ? head : 0;
  const m = (keys ?? queries).length;
  const found = Float64Array.from({ length: queries.length * m }, (_, at) => {
    const [i, j] = [Math.floor(at / m), at % m];
    const [row, column] = weights.isPart ? [i, j] : [positions?.[0][i] ?? i, positions?.[1][j] ?? j], index = row * columns + column;
    return masked?.values[ofMask * size + index] === -Infinity ? NaN : weights.values[head * size + index];
  });
  const kinds = queries.map((_, at) => kindOf(found.subarray(at * m, (at + 1) * m), promises, Boolean(weights.isSingle)));
  return { weights: found, kinds, roles: weights.isMoved ? roles : before, opening };
}

/**
 * Weights from the largest on, without those that are no number.
 *
 * @param {(number | null)[]} row
 * @returns {[weight: number, key: number][]}
 */
export function ranked(row) {
  const known = row.flatMap((weight, key) => (weight !== null && !Number.isNaN(weight) ? [{ weight, key }] : []));
  return known.sort((a, b) => b.weight - a.weight).map(({ weight, key }) => [weight, key]);
}
