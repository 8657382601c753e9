"""The behaviour of each head of a trained model by test: on the sentence that is shown, and over the 200 prompts."""

from __future__ import annotations

import streamlit as st

from attnviz.analysis.circuits.behaviours import Behaviour, behaviours, by_card, is_measured, roles
from attnviz.analysis.circuits.prompts import prompts
from attnviz.engine.cost import estimate as cost
from attnviz.engine.cost.need import MB, SHORT, Need
from attnviz.engine.records.trace import Trace
from attnviz.models.model import Model
from attnviz.settings.language import Words
from attnviz.text.cell_sentence import percent
from attnviz.text.head_roles import ROLES, Roles
from attnviz.ui.session import admission
from attnviz.ui.session.callback import callback

ON_THIS = Words({"name_mover": "moves the word", "inhibition": "looks at the other word"})
"""The last two kinds where the words are those that were chosen, and need not be names."""
WORDS = Words(
    {
        "measure": "Test all heads on {n} prompts",
        "wait": "Testing all heads on {n} prompts",
        "about": "The last column is by test over {n} other sentences: the mean weight that goes there, and in what "
        "part of the cases most of it does; for names only cases count in which the head is also worth a tenth of the "
        "lead or more. The models of this package were trained on none of these sentences: lists said "
        "again for the first three kinds, and for names, sentences in which one of two people gives something to the "
        "other. A head without an entry does none of the five in half of the cases.",
    }
)
NEED = Need(fixed=24 * MB, held=2, made=1, drawn=1, most=16 * SHORT)
ASKED = "_heads-tested"
AT_ONCE = 2.0
"""Seconds up to which the test needs no press of a button."""


def of_prompts(trace: Trace, *, asked: bool = False) -> Roles | None:
    """Return what the heads of a run's model do over the prompts; None where that is not measured, or not yet.

    Where it takes longer than `AT_ONCE`, and wherever it has to be `asked` for, a button is drawn that measures it.
    """
    model, n = trace.model, len(prompts())
    if not isinstance(model, Model):
        return None
    if (known := by_card(model)) is not None:
        return roles(known)
    if not is_measured(model):
        waits = asked or cost.estimate(NEED, trace, again=n).seconds > AT_ONCE
        if waits and st.session_state.get(ASKED) != trace.config.model:
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


def on_this(behaviour: Behaviour | None, layer: int, head: int) -> str:
    """Return what a head does on the sentence that is shown, with the part of its weight that it does it with."""
    if behaviour is None:
        return ""
    role = ON_THIS[behaviour.kind] if behaviour.kind in ON_THIS else ROLES[behaviour.kind]
    return f"{role} ({percent(float(behaviour.weight[layer, head]))})"
