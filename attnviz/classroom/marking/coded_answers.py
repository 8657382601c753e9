"""One answer as a whole number that a code can hold, and what it is worth."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from attnviz.classroom import free_text
from attnviz.classroom.resolved_question import ResolvedQuestion
from attnviz.settings.counting import ordinal
from attnviz.settings.faults import ConfigError
from attnviz.settings.language import Words
from attnviz.text.format.sentence_parts import plain

Answer = float | str | Collection[int] | None

PER_TOLERANCE = 50
"""Numbers are kept in steps of so much of the tolerance; the mark allows for half a step."""

ONE_OF_SEVERAL = ("one", "cell", "slider")
"""Forms that are answered with one of the options."""
WHOLE_STEP = 0.1  # where no tolerance is stated
MAX_STEPS = 10**15

WORDS = Words(
    {
        "none": "none",
        "not_offered": "answer {n} of the code is not one that the question offers",
    }
)


def encode(ask: ResolvedQuestion, answer: Answer) -> int:
    """Return an answer as a whole number from 0 up, which a code can hold; 0 is none."""
    if answer is None or (isinstance(answer, Collection) and not answer and ask.form in ONE_OF_SEVERAL):
        return 0
    if isinstance(answer, str):
        return free_text.encode_text(answer)
    if isinstance(answer, Collection):
        if _is_unmoved(ask, answer):
            return 0
        return 1 + _encode_options(ask, answer)
    steps = round(min(max(answer / _step(ask), -MAX_STEPS), MAX_STEPS))
    return 1 + (2 * steps if steps >= 0 else -2 * steps - 1)


def _encode_options(ask: ResolvedQuestion, answer: Collection[int]) -> int:
    """Return the options that were chosen as a whole number; an order as digits, the first one last."""
    if ask.form in ONE_OF_SEVERAL:
        return min(answer)
    if ask.form == "order":
        base = len(ask.options) + 1
        return sum(ordinal(position) * base**at for at, position in enumerate(answer))
    return sum(1 << position for position in set(answer))


def _decode_order(ask: ResolvedQuestion, rest: int) -> tuple[int, ...]:
    base, chosen = len(ask.options) + 1, list[int]()
    while rest and len(chosen) < base:
        chosen.append(rest % base - 1)
        rest //= base
    if rest or min(chosen, default=0) < 0 or len(set(chosen)) < len(chosen):
        raise ConfigError(WORDS["not_offered"])
    return tuple(chosen)


def decode(ask: ResolvedQuestion, code: int) -> Answer:
    """Return the answer that a whole number means, a number in steps of the tolerance's fiftieth.

    Raises ConfigError for a number that stands for no answer to this question.
    """
    if code == 0:
        return None
    if ask.form == "text":
        return free_text.decode_text(code)
    rest = code - 1
    if ask.form == "number" and rest <= 2 * MAX_STEPS:
        return (rest // 2 if rest % 2 == 0 else -(rest + 1) // 2) * _step(ask)
    if ask.form == "order":
        return _decode_order(ask, rest)
    if ask.form in ONE_OF_SEVERAL:
        if rest >= len(ask.options):
            raise ConfigError(WORDS["not_offered"])
        return None if _is_unmoved(ask, (rest,)) else (rest,)
    if rest >= 1 << len(ask.options):
        raise ConfigError(WORDS["not_offered"])
    return tuple(position for position in range(len(ask.options)) if rest >> position & 1)


def _is_unmoved(ask: ResolvedQuestion, answer: Collection[int]) -> bool:
    """Return whether an answer is a slider where it stood at first, which is never right: nobody has moved it."""
    return ask.form == "slider" and tuple(answer) == (ask.start,)


def _step(ask: ResolvedQuestion) -> float:
    return ask.tolerance / PER_TOLERANCE or WHOLE_STEP


def is_right(ask: ResolvedQuestion, code: int) -> bool:
    """Return whether an answer counts; one within the stated tolerance always does, however a code rounds it."""
    answer = decode(ask, code)
    return answer is not None and not isinstance(answer, str) and _with_slack(ask).is_right(answer)


def share(ask: ResolvedQuestion, code: int) -> float:
    """Return the part of the points that an answer is worth: of several options, those that are right less those wrong.

    An answer of any other form is worth all or nothing.
    """
    answer = decode(ask, code)
    if is_right(ask, code) or ask.form != "some" or not isinstance(answer, Collection) or not ask.right:
        return float(is_right(ask, code))
    chosen = frozenset(answer)
    return max(0.0, (len(chosen & ask.right) - len(chosen - ask.right)) / len(ask.right))


def feedback(ask: ResolvedQuestion, code: int) -> str:
    """Return the feedback on an answer, without the right one; nothing for an empty answer."""
    answer = decode(ask, code)
    return "" if answer is None or isinstance(answer, str) else _with_slack(ask).feedback(answer)


def mistake(ask: ResolvedQuestion, code: int) -> str:
    """Return what is said of the known mistake that leads to an answer; empty where none does, or there is none."""
    answer = decode(ask, code)
    return "" if answer is None or isinstance(answer, str) else _with_slack(ask).mistake(answer)


def _with_slack(ask: ResolvedQuestion) -> ResolvedQuestion:
    """Return a question with room for what rounding in a code does to an answer within the stated tolerance."""
    return replace(ask, tolerance=ask.tolerance + _step(ask) / 2 if ask.tolerance else 0.0)


def answer_text(ask: ResolvedQuestion, code: int) -> str | float:
    """Return an answer as it stands in a table: a number, or the options chosen in words."""
    answer = decode(ask, code)
    if answer is None:
        return ""
    if isinstance(answer, str):
        return answer
    if isinstance(answer, Collection):
        between = "; " if ask.form in ("cell", "mask") else ", "  # a cell has a comma in its name
        return between.join(plain(ask.options[position]) for position in answer) or WORDS["none"]
    return float(f"{answer:.12g}")
