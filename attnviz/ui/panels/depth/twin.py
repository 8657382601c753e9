"""A head that was set by hand beside the head of the run that does the same."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from attnviz.analysis.twins import Twin, twin
from attnviz.engine.records.trace import Trace
from attnviz.pictures import columns, stages
from attnviz.pictures.stage_record import Stage
from attnviz.settings.counting import ordinal
from attnviz.settings.faults import ConfigError
from attnviz.settings.language import Words, as_sentence, aside
from attnviz.text.cell_sentence import percent
from attnviz.ui.components.stage import heatmap
from attnviz.ui.session import session_state, widgets
from attnviz.ui.session.notices import notice, paragraph
from attnviz.ui.session.selection import TWIN_NAMES, Selection

WORDS = Words(
    {
        "cross": "A head is set by hand for a sentence that attends to itself; leave out the second sentence.",
        "near": "Of {all} heads, head {head} of layer {layer} comes nearest to the head that is set by hand: on this "
        "sentence they put {share} of the weight in the same places, as an average over the words.",
        "far": "That is far from the same: no head of this run does it.",
        "made": "Set by hand",
        "made_phrase": "{label}: matrices solved for it",
        "found": "Layer {layer}, head {head}",
        "found_phrase": "as it is in this run",
        "difference": "Difference",
        "difference_phrase": "orange: larger by hand; blue: larger in this run",
        "open": "Open layer {layer}, head {head}",
    }
)
FAR = 0.5
"""An overlap below this is no likeness."""


def panel(trace: Trace, selection: Selection) -> Selection:
    """Draw both heads, their difference, and how near they are."""
    if trace.config.is_cross_attention:
        paragraph([WORDS["cross"]])
        return selection
    selection = widgets.draw(selection, "twin")
    try:
        match = twin(trace, selection.twin)
    except ConfigError as error:
        notice(as_sentence(str(error)))
        return selection
    named = {"layer": ordinal(match.layer), "head": ordinal(match.head)}
    sentence = WORDS["near"].format(all=match.all.size, share=percent(match.overlap), **named)
    paragraph([sentence, *([WORDS["far"]] if match.overlap < FAR else [])])
    heatmap.show(_stages(trace, selection, match), key="twin-heads")
    opened = replace(selection, layer=match.layer, focus=match.head if match.all.shape[1] > 1 else None)
    st.button(
        WORDS["open"].format(**named), key="open-twin", on_click=session_state.adopt, args=(trace.config.chosen, opened)
    )
    return selection


def _stages(trace: Trace, selection: Selection, match: Twin) -> list[Stage]:
    """Return the two heads and their difference as pictures of one head each."""
    step = trace.layers[match.layer]["weights"]
    title = WORDS["found"].format(layer=ordinal(match.layer), head=ordinal(match.head))
    whole = stages.stage(trace, step, title, WORDS["found_phrase"])
    learned = replace(columns.focused(whole, match.head, len(step.array)), name="found", heads=("",))
    learned = replace(learned, alt=aside(title, WORDS["found_phrase"]))
    phrase = WORDS["made_phrase"].format(label=TWIN_NAMES[selection.twin].label)
    by_hand = replace(
        learned, name="made", title=WORDS["made"], phrase=phrase, array=match.made[None], edited=(),
        alt=aside(WORDS["made"], phrase),
    )  # fmt: skip
    apart = replace(
        learned, name="apart", title=WORDS["difference"], phrase=WORDS["difference_phrase"], kind="signed", edited=(),
        array=(match.made - match.found)[None], alt=aside(WORDS["difference"], WORDS["difference_phrase"]),
    )  # fmt: skip
    return [by_hand, learned, apart]
