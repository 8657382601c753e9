"""The behaviour of each head of a decoder by test: on the sentence that is shown, and over the 200 prompts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from attnviz.analysis.circuits.attribution import decoder_of
from attnviz.analysis.circuits.behaviours import Behaviour, behaviours, is_measured, roles
from attnviz.analysis.circuits.prompts import prompts
from attnviz.engine.cost import estimate as cost
from attnviz.engine.cost.need import MB, SHORT, Need
from attnviz.engine.records.trace import Trace
from attnviz.settings.language import Words
from attnviz.text.cell_sentence import percent
from attnviz.text.format.number_format import localised
from attnviz.ui.session import admission
from attnviz.ui.session.callback import callback

ROLES = Words(
    {
        "previous": "previous token",
        "duplicate": "the same word before",
        "induction": "induction: what came after it before",
        "name_mover": "copies the other name",
        "inhibition": "looks at who gives, and rules that name out",
    }
)
ON_THIS = Words({"name_mover": "moves the word", "inhibition": "looks at the other word"})
"""The last two kinds where the words are those that were chosen, and need not be names."""
IN_A_CELL = Words({"induction": "induction", "inhibition": "looks at who gives"})
"""Fewer words for the cell of a table."""
WORDS = Words(
    {
        "cell": "{role} {weight} in {share}",
        "rows": "{role}: {weight} of weight in {share} of {n} rows",
        "prompts": "{role}: {weight} of weight in {share} of {n} prompts",
        "measure": "Test all heads on {n} prompts",
        "wait": "Testing all heads on {n} prompts",
        "about": "The last column is by test over {n} other sentences: the weight that goes there, and in what part of "
        "the cases most of it does. The models of this package were trained on none of these sentences: lists said "
        "again for the first three kinds, and for names, sentences in which one of two people gives something to the "
        "other. A head without an entry does none of the five in half of the cases.",
    }
)
NEED = Need(fixed=24 * MB, held=2, made=1, drawn=1, most=16 * SHORT)
ASKED = "_heads-tested"
AT_ONCE = 2.0
"""Seconds up to which the test needs no press of a button."""

Roles = Mapping[tuple[int, int], Sequence[Behaviour]]


def of_prompts(trace: Trace) -> Roles | None:
    """Return what the heads of a run's model do over the prompts; None where that is not measured, or not yet.

    Where it takes longer, a button is drawn that measures it.
    """
    model, n = decoder_of(trace), len(prompts())
    if not is_measured(model):
        if cost.estimate(NEED, trace, again=n).seconds > AT_ONCE and st.session_state.get(ASKED) != trace.config.model:
            label = WORDS["measure"].format(n=n)
            st.button(label, key="test-heads", on_click=_ask, args=(trace.config.model,))
            return None
        if not admission.admitted(NEED, trace, again=n):
            return None
    with st.spinner(WORDS["wait"].format(n=n)):
        return roles(behaviours(model))


@callback
def _ask(model: str) -> None:
    """Measure this model from the next run on."""
    st.session_state[ASKED] = model


def in_words(found: Roles, layer: int, head: int) -> str:
    """Return all that a head does over the prompts, with its numbers; empty for a head that does none of it."""
    return "; ".join(_line(each, layer, head) for each in found.get((layer, head), ()))


def in_short(found: Roles, layer: int, head: int) -> str:
    """Return the same for the cell of a table."""
    return "; ".join(
        WORDS["cell"].format(role=IN_A_CELL.get(each.kind) or ROLES[each.kind], **_numbers(each, layer, head))
        for each in found.get((layer, head), ())
    )


def _line(each: Behaviour, layer: int, head: int) -> str:
    counted = "prompts" if each.kind in ON_THIS else "rows"
    return WORDS[counted].format(role=ROLES[each.kind], n=each.n, **_numbers(each, layer, head))


def _numbers(each: Behaviour, layer: int, head: int) -> dict[str, str]:
    weight = localised(f"{each.weight[layer, head]:.2f}")
    return {"weight": weight, "share": percent(float(each.share[layer, head]))}


def on_this(behaviour: Behaviour | None, layer: int, head: int) -> str:
    """Return what a head does on the sentence that is shown, with the part of its weight that it does it with."""
    if behaviour is None:
        return ""
    role = ON_THIS[behaviour.kind] if behaviour.kind in ON_THIS else ROLES[behaviour.kind]
    return f"{role} ({percent(float(behaviour.weight[layer, head]))})"
