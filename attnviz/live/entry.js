// One entry of what a plan makes of others, by the trees that `entries.py` writes.

/** What each operation makes of one entry of what it reads. @type {Record<string, (...x: number[]) => number>} */
export const OF_ENTRIES = {
  "+": (x, y) => x + y,
  "*": (x, y) => x * y,
  "/": (x, y) => x / y,
  tanh: Math.tanh,
  only_where: (s, may) => (may ? s : -Infinity),
};
