"""A show of hands: the answers that a teacher counts in the room and types, drawn as bars beside the options.

What is typed stays in the session, by the slide that it belongs to; no link and no file holds it.
"""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Sequence

import streamlit as st

from attnviz.classroom.resolved_question import ResolvedQuestion
from attnviz.engine.records.trace import Trace
from attnviz.settings.counting import ordinal
from attnviz.settings.language import Words
from attnviz.text.format.sentence_parts import plain
from attnviz.ui.panels.lesson import proposals
from attnviz.ui.session.notices import notice

WORDS = Words(
    {
        "open": "Count hands",
        "hands": "Hands for each option, in order",
        "example": "for example {numbers}",
        "note": "Whole numbers with spaces between them; one that is left out at the end is 0.",
        "unreadable": "Type {n} whole numbers from 0 to {most}, such as {numbers}.",
        "option": "{number} {option}",
        "bar": "{n} of {all} hands",
    }
)
COUNTED = ("one", "some")
"""Forms whose options hands are counted for; of the others it is the answers that are noted."""
MAX_COUNT = 999
SHORT = 2.5  # letters wide is the longest bar beside an answer
_HELD = "_hands"


def read_hands(text: str, n: int) -> tuple[int, ...] | None:
    """Return the hands for each of n options; None if it is not a list of them.

    >>> read_hands("12 3, 7", 4), read_hands("a lot", 2), read_hands("1 2 3", 2)
    ((12, 3, 7, 0), None, None)
    """
    parts = re.split(r"[\s,;]+", text.strip())
    if not all(part.isascii() and part.isdecimal() and int(part[:9]) <= MAX_COUNT for part in parts) or len(parts) > n:
        return None
    return tuple(map(int, parts)) + (0,) * (n - len(parts))


def _hands(at: str, n: int) -> tuple[int, ...]:
    return read_hands(st.session_state.get(_HELD, {}).get(at, ""), n) or (0,) * n


def _key(at: str) -> str:
    return f"hands-{at}"


def field(question: ResolvedQuestion, at: str) -> None:
    """Draw the button behind which hands are typed."""
    n = _number(question, at)
    if not n:
        return
    numbers = " ".join(map(str, _example(n)))
    with st.popover(WORDS["open"], key="count-hands"):
        typed = st.session_state.get(_HELD, {}).get(at, "")
        text = st.text_input(
            WORDS["hands"],
            typed,
            key=_key(at),
            max_chars=200,
            placeholder=WORDS["example"].format(numbers=numbers),
            help=WORDS["note"],
        )
        st.session_state[_HELD] = {**st.session_state.get(_HELD, {}), at: text or ""}
        if (text or "").strip() and read_hands(text or "", n) is None:
            notice(WORDS["unreadable"].format(n=n, most=MAX_COUNT, numbers=numbers), kind="fault")


def _number(question: ResolvedQuestion, at: str) -> int:
    """Return how many answers hands can be counted for."""
    if question.form in COUNTED:
        return len(question.options)
    noted = len(proposals.noted(at)) if question.form in proposals.FORMS else 0
    return noted + (noted > 0 and question.form == "number")  # and one for those who have another number


def _example(n: int) -> Sequence[int]:
    return [(7 * position + 4) % 15 for position in range(n)]


def options(question: ResolvedQuestion, at: str, *, numbered: bool, revealed: bool) -> None:
    """Draw the options, each with its hands as a bar once these are counted.

    numbered  whether options are words of the sentence, so that a number before each helps
    revealed  whether what is right may be marked; the bars are short then, as the explanation and its pictures need
              the room
    """
    labels = []
    for position, option in enumerate(question.options):
        text = plain(option)
        labels.append(html.escape(WORDS["option"].format(number=ordinal(position), option=text) if numbered else text))
    _bars(labels, at, question.right if revealed else ())


def answers(question: ResolvedQuestion, at: str, trace: Trace, *, revealed: bool) -> None:
    """Draw the answers that were noted in a room, as the options of a choice are drawn; numbers, which are short, in
    one line, as the pictures need the room."""
    right = [number for number, answer in enumerate(proposals.noted(at)) if question.is_right(answer)]
    labels = proposals.labels(question, at, trace)
    _bars(labels, at, right if revealed else (), short=revealed or question.form == "number")


def of_mistake(question: ResolvedQuestion, at: str) -> str:
    """Return what is said of the known mistake behind the wrong number with the most hands; empty where none is."""
    return proposals.of_mistake(question, at, _hands(at, _number(question, at))) if question.form == "number" else ""


def _bars(labels: Sequence[str], at: str, right: Collection[int], *, short: bool = False) -> None:
    """Draw answers, whose labels are markup, with the hands that were counted for them."""
    n, short = len(labels), short or bool(right)
    hands = _hands(at, n)
    most, total = max(hands, default=0), sum(hands)
    cells = []
    for position, (label, count) in enumerate(zip(labels, hands, strict=True)):
        mark = "✓ " if position in right else ""
        bar = ""
        if most:
            about = html.escape(WORDS["bar"].format(n=count, all=total))
            width = f"{SHORT * count / most:.2f}em" if short else f"{100 * count / most:.1f}%"
            bar = f'<i style="width:{width}" title="{about}"></i><b>{count}</b>'
        cells.append(f'<li class="{"right" if mark else ""}"><span>{mark}{label}</span><span>{bar}</span></li>')
    st.html(f'<ul class="attn-tally{" counted" if most and not short else ""}">{"".join(cells)}</ul>')
