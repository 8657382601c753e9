"""One line of arithmetic, with the run's own numbers and in words, and the sheet on which lines are written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from attnviz.arithmetic.latex_numbers import VERTICAL_DOTS, Member, NumberFormat, aligned, chain, shown_entries
from attnviz.settings.language import Words, translate

Array = np.ndarray
Bars = tuple[tuple[str, float], ...]

CLOSE = 1e-11
"""How far, over the size of what was added up, two orders of summing can lie apart; beyond it a person has edited."""

LINES = Words(
    {
        "query": ("The query", "Row {i} of the layer's input times W_Q{plus}{owner}: what token {i} asks for."),
        "key": ("The key", "Row {j} of what is attended to times W_K{plus}{owner}: what token {j} answers to."),
        "value": ("The value", "The same row times W_V{plus}{owner}: what token {j} hands over."),
        "given_query": ("The query", "Row {i} of the queries, as it was given: the arithmetic begins here."),
        "given_key": ("The key", "Row {j} of the keys, as it was given."),
        "given_value": ("The value", "Row {j} of the values, as it was given."),
        "given_score": ("The score", "As it was given: the arithmetic begins here."),
        "given_weight": ("The weight", "As it was given: there is nothing before it."),
        "turned_query": (
            "The query, turned",
            "RoPE turns each pair of entries by position {at} times the pair's angle.",
        ),
        "turned_key": ("The key, turned", "RoPE turns each pair of entries by position {at} times the pair's angle."),
        "products": ("The products", "Entry by entry, the query times the key."),
        "score": ("The score", "The products added up."),
        "transformed_query": ("The query through W", "W says which entry of the query meets which entry of the key."),
        "products_of_general": ("The products", "Entry by entry, the transformed query times the key."),
        "hidden_query": ("The query's part", "The query times W_q: one number for each hidden unit."),
        "hidden_key": ("The key's part", "The key times W_k: one number for each hidden unit."),
        "hidden": ("The hidden units", "Both parts{plus} are added."),
        "squashed": ("The tanh", "Each hidden unit is squeezed between -1 and 1."),
        "products_of_additive": ("The products", "The tanh of each hidden unit times its entry of v."),
        "query_length": ("The length of the query", "The root of the sum of its squares."),
        "key_length": ("The length of the key", "The root of the sum of its squares."),
        "dot": ("The dot product", "The products added up."),
        "cosine": ("The score", "The dot product over both lengths: the cosine of the angle between query and key."),
        "cosine_of_zero": ("The score", "A vector of zeros has no direction; its cosine with anything counts as 0."),
        "differences": ("The differences", "Entry by entry, the query minus the key."),
        "squares": ("The squares", "Each difference squared."),
        "squared_distance": ("The squared distance", "The squares added up."),
        "gaussian": ("The score", "Minus half the squared distance."),
        "negative_distance": ("The score", "Minus the distance, the root of the squared distance."),
        "products_of_location": (
            "The products",
            "Entry by entry, the query times column {j} of W; the key has no say.",
        ),
        "score_of_formula": ("The score", "The score function of query and key."),
        "scale": ("The scale", "The score times {c}."),
        "scale_of_width": (
            "The scale",
            "The score over the root of the width {d}, so that width alone does not sharpen.",
        ),
        "softcap": ("The soft cap", "Squeezed between minus and plus {cap}."),
        "softcap_off": ("The soft cap", "Off: nothing is squeezed."),
        "bias_off": ("The bias", "Off: nothing is added."),
        "bias": ("The bias", "Added for the distance between query and key."),
        "bias_edited": ("The bias", "Added to the score. Edited: the settings give {expected}, it was set to {bias}."),
        "mask": ("The mask", "Query {i} may attend to key {j}, so the score stays."),
        "opened": ("The mask", "The settings forbid key {j} to query {i}; the mask was edited, so the score stays."),
        "forbidden": ("The mask", "Query {i} may not attend to key {j}: {why}."),
        "temperature": ("The temperature", "The score over the temperature {T}."),
        "temperature_unused": ("The temperature", "This normaliser gives the same weights at every temperature."),
        "largest": (
            "The largest of the {line}",
            "It will be subtracted: no weight changes, and the numbers stay small.",
        ),
        "largest_or_zero": (
            "The largest of the {line}, at least 0",
            "It will be subtracted from all, and from the 0 whose exponential is the 1.",
        ),
        "largest_that_wins": ("The largest of the {line}", "It takes everything."),
        "exponents": ("Below the largest", "Each score of the {line} minus the largest, over the temperature."),
        "half_exponents": ("Below the largest", "Half of each score minus half of the largest, over the temperature."),
        "exponentials": ("The exponentials", "e to the power of each; a difference of 0 gives 1."),
        "one": ("The 1", "The 1 of the denominator, a key with score 0, after the same subtraction."),
        "sum": ("Their sum", "The exponentials of the whole {line} added up."),
        "sum_with_one": ("Their sum", "The exponentials of the whole {line} and the 1 added up."),
        "weight": ("The weight", "This exponential over the sum."),
        "weight_of_sigmoid": ("The weight", "The score alone decides; no other key has a say."),
        "winners": ("The winners", "How many of the {line} share the largest score."),
        "weight_of_hardmax": ("The weight", "This score is the largest: 1 over the number of winners."),
        "weight_of_loser": ("The weight", "This score is not the largest, so it gets nothing."),
        "positive": ("The positive parts", "Scores below 0 count as 0."),
        "sum_of_positive": ("Their sum", "The positive parts of the whole {line} added up."),
        "weight_of_linear": ("The weight", "This positive part over the sum."),
        "weight_of_nothing": ("The weight", "No score of the {line} is positive, so all weights are 0."),
        "support": ("The support", "How many of the {line} get more than 0: those above the threshold."),
        "sum_of_support": ("The sum of the support", "What the support holds, added up."),
        "threshold": ("The threshold", "So high that the weights add to 1."),
        "mean": ("The mean of the support", "The sum over how many they are."),
        "spread": ("The spread of the support", "The sum of their squares minus what the mean alone would make."),
        "weight_of_sparsemax": ("The weight", "What lies above the threshold, and nothing below it."),
        "weight_of_entmax15": ("The weight", "What lies above the threshold, squared; nothing below it."),
        "weight_of_formula": ("The weight", "The normaliser of the whole {line}."),
        "typed_vector": ("Entry by entry", "One number for each entry of the vectors."),
        "typed_through": ("Through a matrix", "A vector times a matrix: one number for each column of it."),
        "typed_sum": ("Added up", "The sum of all entries."),
        "typed_max": ("The largest", "The largest of all entries."),
        "typed_min": ("The smallest", "The smallest of all entries."),
        "typed_norm": ("The length", "The root of the sum of all squares."),
        "typed_level": ("The level", "The number above which lies so much that its powers add to 1."),
        "typed_number": ("A number of the formula", "A part of the formula that is one number."),
        "typed_score": (
            "The score",
            "The whole formula, with the numbers of the lines before; i and j count from 0.",
        ),
        "typed_row": ("Along the {line}", "One number for each key of the {line} that takes part."),
        "typed_forbidden": ("The weight", "The key is forbidden, so it takes no part: the weight is 0."),
        "typed_weight": ("The weight", "The whole formula, with the numbers of the lines before."),
        "emptied": ("The weight", "The {line} has nothing that may be attended to: every weight is 0."),
        "share": (
            "The share of this key",
            "The weight times each entry of the value: what this key puts into the output.",
        ),
        "share_of_forbidden": ("The share of this key", "What is forbidden takes no part, whatever its value holds."),
        "output": ("The output of the head", "The shares of all keys added up, entry by entry."),
    }
)
"""For every line a title and a plain sentence; in both, names in braces stand for numbers."""

EDITED = "Edited: the line gives {computed}; it was set to {result}, and all that follows uses that."
EDITED_VECTOR = "Edited: the line gives other numbers; some were changed, and all that follows uses what stands last."
EDITED_TO = "edited to"
SETTLED = "What is zero but for rounding is written as 0."


@dataclass(frozen=True, eq=False)
class ArithmeticLine:
    """One line of arithmetic.

    name      stable: "score", "exponentials" ...
    title     a few words, and `sentence` says it plainly; neither holds a token, nor any LaTeX
    operands  what goes in, float64: numbers of the run, or results of lines before
    computed  what the formula makes of the operands
    result    what the run goes on with: the same up to the order of summing, unless it was edited
    latex     the formula with the numbers, for KaTeX
    step      the step of the Trace that holds the result; "" where the run keeps none
    edited    whether a person has changed the number: the result is then not what the formula gives
    active    whether the line changes anything here; a scale of 1 or no bias does not
    bars      (label, value) for each entry, for a bar chart
    """

    name: str
    title: str
    sentence: str
    operands: Mapping[str, Array]
    computed: Array
    result: Array
    latex: str
    step: str = ""
    edited: bool = False
    active: bool = True
    bars: Bars = ()


@dataclass
class Derivation:
    """A list of lines; `write` adds one and returns its result, so that the next line can go on with it.

    facts  the numbers that the words of all lines may name: i, j (counted from 1), h, line ...
    sizes  the largest number of each step of the layer, beside which what is 1e12 times smaller is rounding
    """

    fmt: NumberFormat
    facts: dict[str, object]
    sizes: Mapping[str, float] = field(default_factory=dict)
    lines: list[ArithmeticLine] = field(default_factory=list)
    _settled: bool = False

    @property
    def ij(self) -> str:
        """The subscript of this cell, counted from 1."""
        return f"{self.facts['i']},{self.facts['j']}"

    def seen(self, x: ArrayLike, size: float) -> Array:
        """Return the numbers as they are written in the next line: 0 for what is zero but for rounding beside
        `size`.
        """
        made = self.fmt.settled(np.asarray(x, dtype=float), size)
        self._settled |= bool(np.any((made == 0) & (np.asarray(x) != 0)))
        return made

    def is_shown(self) -> bool:
        """Return whether the line that was written last changes anything here."""
        return self.lines[-1].active or self.lines[-1].edited

    def add_line(
        self,
        name: str,
        symbol: str,
        members: Sequence[Member],
        computed: ArrayLike,
        *,
        operands: Mapping[str, ArrayLike],
        recorded: ArrayLike | None = None,
        step: str = "",
        words: str = "",
        above: Sequence[str] = (),
        size: ArrayLike | None = None,
        beside: float = 0.0,
        active: bool = True,
        keep: int | None = None,
        bars: Callable[[int], str] | None = None,
        **facts: object,
    ) -> Array:
        """Add a line: the symbol equals the members, one after the other, and then the result.

        recorded  the run's own number where it keeps one;  `size` how large the numbers are that were added up, which
                  tells rounding from an edit
        beside    how large the numbers are beside which one of the result is zero but for rounding, and written as 0
        words     the row of LINES, where it is not the name;  `facts` what its words name besides
        above     lines of LaTeX that come first;  `keep` the entry that is never left out;  `bars` a label an entry
        """
        made = _number(computed)
        result = made if recorded is None else _number(recorded)
        edited = _differs(result, made, np.abs(made) if size is None else np.asarray(size, dtype=float))
        title, sentence = (text.format_map(self.facts | facts) for text in LINES[words or name])
        lines = [*above, *chain(symbol, [*members, self._value(self.seen(made, beside), keep)])]
        if self._settled:
            sentence += " " + translate(SETTLED)
            self._settled = False
        if edited:
            lines += self._edited_to(result, keep)
            sentence += " " + self._edited(made, result)
        self.lines.append(
            ArithmeticLine(
                name,
                title,
                sentence,
                {key: _number(value) for key, value in operands.items()},
                made,
                result,
                aligned(lines),
                step,
                edited,
                active,
                tuple((bars(d + 1), float(x)) for d, x in enumerate(result)) if bars else (),
            )
        )
        return result

    def add_matvec(
        self,
        name: str,
        symbols: tuple[str, str, str],
        x: Array,
        W: Array,
        b: Array | None = None,
        keep: int | None = None,
        beside: float | None = None,
        exact: bool = False,
        **more: Any,
    ) -> Array:
        """Add the line of a vector through a matrix, x W + b, entry by entry.

        symbols  what the vector is called, what an entry of it is called before its number, and the formula
        keep     the term of each entry that is never left out
        beside   how large the numbers are that stand beside those of the result, by default the largest of it
        exact    whether the smallest entry of x is no rounding
        """
        plus = np.zeros(W.shape[1]) if b is None else b
        made = x @ W + plus
        beside = largest(made) if beside is None else beside
        x_seen, W_seen = self.seen(x, 0.0 if exact else largest(x)), self.seen(W, largest(W))
        made_seen = self.seen(made, beside)
        above: list[str] = []
        for d in shown_entries(len(made)):
            if d is None:
                above.append(VERTICAL_DOTS)
                continue
            *lines, last = self.fmt.products(x_seen, W_seen[:, d], keep, plus[d])
            above += chain(f"{symbols[1]}{d + 1}}}", [[*lines, f"{last} = {self.fmt.number(made_seen[d])}"]])
        operands = {"x": x, "W": W} if b is None else {"x": x, "W": W, "b": b}
        size = np.abs(x) @ np.abs(W) + np.abs(plus)
        more |= {"operands": operands, "above": above, "size": size, "beside": beside}
        return self.add_line(name, symbols[0], [symbols[2]], made, **more)

    def format(self, x: float) -> str:
        """Return a number as it stands in a sentence."""
        return f"{x:.{self.fmt.digits}g}"

    def _value(self, x: Array, keep: int | None) -> Member:
        return self.fmt.vector(x, keep) if x.ndim else self.fmt.number(float(x))

    def _edited_to(self, x: Array, keep: int | None) -> list[str]:
        value = self._value(x, keep)
        first, *others = [value] if isinstance(value, str) else value
        return [rf"&\quad \text{{{translate(EDITED_TO)}}}\; {first}", *(rf"&\quad {other}" for other in others)]

    def _edited(self, computed: Array, result: Array) -> str:
        if computed.ndim:
            return translate(EDITED_VECTOR)
        return translate(EDITED, computed=self.format(float(computed)), result=self.format(float(result)))


def dimension(d: int) -> str:
    """Return the label of a bar for one entry of a vector: a word, as a token's place is a bare index."""
    return translate("dim {n}", n=d)


def largest(x: Array) -> float:
    """Return the size of the largest finite number, 0 if there is none."""
    return float(np.max(np.abs(x), initial=0.0, where=np.isfinite(x)))


def _number(x: ArrayLike) -> Array:
    array = np.array(x, dtype=float)
    array.flags.writeable = False
    return array


def _differs(result: Array, computed: Array, size: Array) -> bool:
    """Return whether a number was changed by hand: further from the formula than any order of summing can bring it."""
    same = (result == computed) | (np.isnan(result) & np.isnan(computed))
    with np.errstate(all="ignore"):
        near = np.abs(result - computed) <= CLOSE * size + np.finfo(float).tiny
    return not bool(np.all(same | (near & np.isfinite(computed))))
