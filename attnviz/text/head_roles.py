"""The behaviour of a trained model's heads by test over the 200 prompts, in words with its numbers.

The heads of a model in the package have it from its card, so that a link says the same of them wherever it is opened.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attnviz.analysis.circuits.behaviours import Behaviour, by_card, roles
from attnviz.engine.records.trace import Trace
from attnviz.models.model import Model
from attnviz.settings.language import Words, sign
from attnviz.text.cell_sentence import percent
from attnviz.text.format.number_format import localised

ROLES = Words(
    {
        "previous": "previous token",
        "duplicate": "the same word before",
        "induction": "induction: what came after it before",
        "name_mover": "copies the other name",
        "inhibition": "looks at who gives, and rules that name out",
    }
)
IN_A_CELL = Words({"induction": "induction", "inhibition": "looks at who gives"})
"""Fewer words for the cell of a table."""
TERMS = Words(
    {
        "previous": "previous token",
        "duplicate": "duplicate token",
        "induction": "induction",
        "name_mover": "name mover",
        "inhibition": "inhibition",
    }
)
"""The terms of Wang et al. 2022, arXiv:2211.00593, short enough for the heading of a map."""
WORDS = Words(
    {
        "heading": "{role} {weight}",
        "cell": "{role} {weight} in {share}",
        "rows": "{role}: {weight} of weight in {share} of {n} rows",
        "prompts": "{role}: {weight} of weight in {share} of {n} prompts",
        "tested": "By test on other sentences: {does}.",
    }
)
OF_PROMPTS = ("name_mover", "inhibition")

Roles = Mapping[tuple[int, int], Sequence[Behaviour]]


def of_card(trace: Trace) -> Roles:
    """Return what the heads of a run's model do over the prompts, where that is a model of the package; else nothing.

    >>> from attnviz import load
    >>> sorted({each.kind for does in of_card(load("small")("the king saw")).values() for each in does})
    ['duplicate', 'induction', 'inhibition', 'name_mover', 'previous']
    """
    found = by_card(trace.model) if isinstance(trace.model, Model) else None
    return {} if found is None else roles(found)


def heading(found: Roles, layer: int, head: int) -> str:
    """Return the term for what a head does, and the weight that it does it with; empty for a head that does none of it.

    A head that does several things is called by what fewer heads do: what it does between two names.

    >>> from attnviz import load
    >>> tested = of_card(load("small")("the king saw"))
    >>> heading(tested, 2, 2), heading(tested, 2, 3)
    ('induction 0.94', 'name mover 0.63')
    """
    called = called_by(found, layer, head)
    if called is None:
        return ""
    return WORDS["heading"].format(role=TERMS[called.kind], **_numbers(called, layer, head))


def called_by(found: Roles, layer: int, head: int) -> Behaviour | None:
    """Return the behaviour that a head is called by; None for a head that does none of them."""
    does = found.get((layer, head), ())
    return min(does, key=lambda each: each.kind not in OF_PROMPTS, default=None)


def lines(trace: Trace, layer: int) -> tuple[str, ...] | None:
    """Return for each head of a layer all that it does by test, in a sentence; None for a model without a card."""
    found = of_card(trace)
    if not found:
        return None
    said = (in_words(found, layer, head) for head in range(trace.config.n_heads))
    return tuple(WORDS["tested"].format(does=does) if does else "" for does in said)


def in_words(found: Roles, layer: int, head: int) -> str:
    """Return all that a head does over the prompts, with its numbers; empty for a head that does none of it."""
    return sign("; ").join(_line(each, layer, head) for each in found.get((layer, head), ()))


def in_short(found: Roles, layer: int, head: int) -> str:
    """Return the same for the cell of a table."""
    does = found.get((layer, head), ())
    return sign("; ").join(
        WORDS["cell"].format(role=IN_A_CELL.get(each.kind) or ROLES[each.kind], **_numbers(each, layer, head))
        for each in does
    )


def _line(each: Behaviour, layer: int, head: int) -> str:
    counted = "prompts" if each.kind in OF_PROMPTS else "rows"
    return WORDS[counted].format(role=ROLES[each.kind], n=each.n, **_numbers(each, layer, head))


def _numbers(each: Behaviour, layer: int, head: int) -> dict[str, str]:
    weight = localised(f"{each.weight[layer, head]:.2f}")
    return {"weight": weight, "share": percent(float(each.share[layer, head]))}
