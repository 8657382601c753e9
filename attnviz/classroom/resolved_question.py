"""A question resolved for a run: the possible answers, and the right one.

Until it is shown, nothing of the answer leaves this file but the options.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from attnviz.arithmetic.notation.derivation import ArithmeticLine
from attnviz.arrays import Array
from attnviz.classroom.context.hints import HINTS, HOW
from attnviz.lessons.nearest import nearest
from attnviz.settings.language import Words, sign
from attnviz.text.format.number_format import short
from attnviz.text.format.sentence_parts import Sentence

PRINTED = 2
"""Decimals of a number in a picture."""

NEAR = 0.002
"""Of its size: how far from the number of a mistake an answer may be and still be taken for it."""

SETS = ("some", "mask")  # all that is right has to be chosen, and nothing else

WORDS = Words(
    {
        "right": "Right.",
        "wrong": "Not quite.",
        "hint": "Not quite. {hint}",
        "unfilled": "Nothing is filled in for {given}. In the wording of this question these can be used: {names}.",
        "meant": "Nothing is filled in for {given}; did you mean {near}? In the wording of this question these can be "
        "used: {names}.",
    }
)


@dataclass(frozen=True)
class Mistake:
    """A known mistake, a row of HINTS, and the number that it leads to."""

    name: str
    value: float


def _nothing(chosen: object) -> None:
    """Say nothing of what was chosen."""


@dataclass(frozen=True, eq=False)
class ResolvedQuestion:
    """A question in a run.

    form       "one" or "some" of the options, their "order", one "cell", a "mask", a stop of a "slider", a "number", or
               a "text" that a person judges
    words      the question; `options` what can be chosen, counted from 0 in an answer
    right      the options that are right: any of them for "one", all of them for "some"
    value      the number that is right, and how far from it an answer may be
    solution   the answer in sentences;  `lines` the arithmetic of this very cell
    axis       the axis whose words the options are, one after another; "" where they are none
    hides      the first step that gives the answer away; "" where any step may
    inputs     the steps that the answer follows from: they are drawn while the question is open
    mistakes   what is known to go wrong, with the numbers that it leads to;  `how` the way to the answer, a row of HOW
    said_of    what is said of wrong options, by those that were chosen;  `said_in_order` of a wrong order
    in_order   the options that are right, in the order that is;  `start` the stop at which a slider stands unmoved
    unfilled   the names in braces of a wording that was typed which nothing is filled in for;  `names` those it may use
    covered    True where a number of the step `hides` is not to be drawn yet, so that its others may be; None where
               none of it may
    """

    form: str
    options: tuple[Sentence, ...] = ()
    right: frozenset[int] = frozenset()
    value: float = 0.0
    tolerance: float = 0.0
    solution: tuple[Sentence, ...] = ()
    lines: tuple[ArithmeticLine, ...] = ()
    axis: str = ""
    hides: str = ""
    inputs: tuple[str, ...] = ()
    covered: Array | None = None
    in_order: tuple[int, ...] = ()
    start: int | None = None
    said_in_order: Callable[[Sequence[int]], str | None] = _nothing
    mistakes: tuple[Mistake, ...] = ()
    said_of: Callable[[frozenset[int]], str | None] = _nothing
    how: str = ""
    words: Sentence = ()
    why: str = ""
    unfilled: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    def is_right(self, answer: float | Collection[int]) -> bool:
        """Return whether an answer is right: the number, or the chosen options."""
        if isinstance(answer, Collection):
            if self.form == "order":
                return tuple(answer) == self.in_order
            chosen = frozenset(answer)
            return chosen == self.right if self.form in SETS else len(chosen) == 1 and chosen <= self.right
        return self.form == "number" and abs(answer - self.value) <= self.tolerance * (1 + 1e-9)

    @property
    def refused(self) -> str:
        """The right number as pictures or the answer print it, where it would be refused; empty as a rule."""
        printed = (f"{self.value:.{PRINTED}f}", short(self.value)) if self.form == "number" else ()
        return next((text for text in printed if not self.is_right(float(text.replace("−", "-")))), "")

    @property
    def misnamed(self) -> str:
        """The sentence on a wording with a name in braces that this question does not know; empty as a rule."""
        if not self.unfilled:
            return ""
        near = dict.fromkeys(filter(None, (nearest(name, self.names) for name in self.unfilled)))
        given, known, meant = (
            sign(", ").join(map("{{{}}}".format, each)) for each in (self.unfilled, self.names, near)
        )
        return WORDS["meant" if near else "unfilled"].format(given=given, names=known, near=meant)

    def feedback(self, answer: float | Collection[int]) -> str:
        """Return the feedback on an answer, without the right one."""
        if self.is_right(answer):
            return WORDS["right"]
        hint = self.mistake(answer) or HOW.get(self.how, "")
        return WORDS["hint"].format(hint=hint) if hint else WORDS["wrong"]

    def mistake(self, answer: float | Collection[int]) -> str:
        """Return what is said of the known mistake that leads to a wrong answer; empty where none does."""
        if self.is_right(answer):
            return ""
        if isinstance(answer, Collection):
            said = self.said_in_order(tuple(answer)) if self.form == "order" else self.said_of(frozenset(answer))
            return said or ""
        known = self.known(answer)
        return HINTS[known.name] if known else ""

    def known(self, answer: float) -> Mistake | None:
        """Return the first known mistake that leads to a wrong number; None where none does."""
        return next((each for each in self.mistakes if self._is_near(answer, each.value)), None)

    def _is_near(self, answer: float, mistaken: float) -> bool:
        """Return whether a number is that of a mistake, and the mistake is far enough from what is right to be told."""
        near = self.nearness(mistaken)
        return near > 0 and abs(answer - mistaken) <= near

    def nearness(self, mistaken: float) -> float:
        """Return how near to the number of a mistake an answer is taken for it; 0 if it cannot be known from the right
        one.
        """
        apart = abs(mistaken - self.value)
        near = max(min(self.tolerance, apart / 2), NEAR * abs(mistaken))
        return near if not self.is_right(mistaken) and near < apart else 0.0
