"""One position of a plan in symbols: q_3 for a row of the queries, s_{3,2} for one score."""

from __future__ import annotations

from collections.abc import Collection

from attnviz.arithmetic.entries import Entry
from attnviz.engine.plan.chosen import RESTING, is_at_rest
from attnviz.engine.plan.formulas import SUMS, FormulaWriter, letter_of
from attnviz.engine.plan.values import Value
from attnviz.settings.counting import ordinal

SMALL = ("X", "X_kv", "normed", "projected_queries", "projected_keys", "normed_queries", "normed_keys",
         "queries", "keys", "values", "scores", "scaled", "capped", "masked", "weights")  # fmt: skip
"""What has a small letter in the lines of a cell; what stands behind the weights has that of its step."""
PAIR = ("query", "key")


class EntrySymbols(FormulaWriter):
    """A writer of what a plan says of one position.

    hidden  the steps that change nothing here, in whose place stands what they are made of
    pair    the subscript of a number of a query and a key
    """

    def __init__(self, at: Entry, hidden: Collection[str] = (), pair: str = "") -> None:
        config = at.position.config
        resting = frozenset(name for name in RESTING if is_at_rest(name, config))
        super().__init__(at.position.plan, at.position.chosen.norm.symbol, resting)
        self._at, self._hidden = at, hidden
        self._pair = pair or ",".join(str(ordinal(at.index[axis])) for axis in PAIR)
        self._write |= {
            "/": lambda x, y: rf"\frac{{{self.of(x)}}}{{{self.of(y)}}}",
            "tanh": lambda x: rf"\tanh\left({self.of(x)}\right)",
            "norm_of_heads": self._write["norm"],
            "rope": lambda x: rf"R_{{{at.row(x)}}}\, {self.of(x)}",
            "as_keys": lambda x: EntrySymbols(at.as_keys, hidden, pair).of(x),
            "only_where": lambda x, _: self.of(x),
            "side_by_side": lambda x: rf"({self._of_head(x, 0)},\; \dots,\; {self._of_head(x, config.n_heads - 1)})",
            "mix": lambda A, V, *_: rf"\textstyle\sum_l {letter(A)}_{{{ordinal(at.row(A))},l}}\, {letter(V)}_l",
        }

    def of(self, value: Value) -> str:
        if value.name in self._hidden:
            value = value.args[0]
            value = next(x for x in value.args if not x.is_number) if value.op == "*" else value
            return self.of(value)
        return super().of(value)

    def number(self, value: Value) -> str:
        return "c" if value.name == "scale" else self._at.to.fmt.number(self._at.number(value))

    def symbol(self, value: Value) -> str:
        head = rf"^{{({ordinal(self._at.index[value.axes[0]])})}}" if value.axes[0].endswith("head") else ""
        if value.op == "weight":
            return letter(value) + head
        return f"{letter(value)}_{{{self.subscript(value)}}}"

    def subscript(self, value: Value) -> str:
        """Return the position of a row, or of a number of the scores."""
        return self._pair if value.axes[-2:] == PAIR else str(ordinal(self._at.row(value)))

    def _of_head(self, value: Value, head: int) -> str:
        return rf"{letter(value)}^{{({ordinal(head)})}}_{{{self.subscript(value)}}}"


def letter(value: Value) -> str:
    """Return the letter of a step in the lines of a cell; that of a sum without one in brackets."""
    name = letter_of(value)
    if value.name in SUMS or value.name == "final_normed":
        return f"({name})" if " + " in name and not name.startswith("\\") else name
    return name.lower() if value.name in SMALL else name
