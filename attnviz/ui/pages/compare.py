"""The Compare page: the setting at the left as A, and B, which is the same but for what the visitor changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attnviz.engine.cost.need import Need
from attnviz.engine.learning import learnable
from attnviz.engine.pretrained import model_registry
from attnviz.engine.pretrained.pretrained_config import FREE
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.pictures import comparison
from attnviz.settings import language, url_codec
from attnviz.settings.faults import ConfigError
from attnviz.settings.language import Words
from attnviz.text import changes, step_names
from attnviz.text.captions import NAMES
from attnviz.text.format.html_math import as_markdown
from attnviz.text.format.number_format import localised
from attnviz.text.format.sentence_parts import plain
from attnviz.text.headline import headline
from attnviz.ui.components.stage import heatmap
from attnviz.ui.components.stage.view import WHOLE
from attnviz.ui.panels import explore_panels, typed_formula
from attnviz.ui.panels.depth import layers
from attnviz.ui.session import admission, session_state, widgets
from attnviz.ui.session.notices import notice, paragraph
from attnviz.ui.session.selection import Selection

WORDS = Words(
    {
        "ask": "What would change if one thing were different? A is the setting at the left, B the same but for what "
        "you choose here.",
        "step": "Compared step",
        "swap": "Swap A and B",
        "adopt": "Make B the setting",
        "stop": "Start again",
        "fault": "B cannot be drawn: {error}.",
        "furthest": "Largest changes",
        "in_b": "In B: {note}",
        "type": "Type another formula for B",
        "layers": "Today's layer beside 2017's",
        "through": "One word of A and one of B, layer by layer",
        "bank": "One word, two meanings",
    }
)

NEED = Need(drawn=48)


def _set_by_hand(config: Config) -> dict[str, Any]:
    """Return the changes that set the head of a task by hand, where the pattern that it learns is one of ours."""
    if not learnable.learns(config) or config.task not in ("recall", "induction"):
        return {}
    heads = {"initialiser": "by_hand", "patterns": ("induction",), "solved_anew": True}
    return heads | {"position": "sinusoidal", "temperature": 1.0}


STARTERS: dict[str, tuple[str, Callable[[Config], dict[str, Any]]]] = {
    "by_hand": ("The same head, set by hand", _set_by_hand),
    "causal": ("A causal mask", lambda config: {"mask": "causal"}),
    "no_mask": ("No mask", lambda config: {"mask": "none"}),
    "score": ("Additive scores", lambda config: {"score": "additive"}),
    "formula": ("A score that you type", lambda config: {"score": "formula"}),
    "scale": ("No 1/√d_k", lambda config: {"scale": 1.0}),
    "temperature": ("Half the temperature", lambda config: {"temperature": max(config.temperature / 2, 0.01)}),
    "positions": ("No positions", lambda config: {"position": "none"}),
    "kv": ("One key/value head", lambda config: {"n_kv_heads": 1}),
    "seed": ("Another seed", lambda config: {"seed": (config.seed + 1) % 1_000_000}),
}
"""First comparisons by one press: the label, and the changes in B."""

LAYER_2017 = {"residual": True, "norm": "post", "feed_forward": "relu", "position": "sinusoidal", "n_kv_heads": None}
LAYER_TODAY = {"residual": True, "norm": "rms", "feed_forward": "swiglu", "position": "rope"}
"""The layer of Vaswani et al. 2017 (arXiv:1706.03762), and Llama's (arXiv:2302.13971), with keys and values shared by
two heads as in Llama 2 and 3 (arXiv:2305.13245)."""


def page(trace: Trace, selection: Selection) -> Selection:
    """Draw the page; return the selection as the visitor leaves it."""
    config = trace.config.chosen
    _, unfit = url_codec.apply_changes(
        config, selection.changes
    )  # the widgets hold only what fits, and so does what they say
    with st.container(key="tools-compare"):
        selection = widgets.edit_overrides(config, selection, "changes", beside=lambda record: _step(trace, record))
    if not selection.changes:
        _starters(config, selection)
    other, problems = url_codec.apply_changes(config, selection.changes)
    changed = [name for name, _ in selection.changes]
    typed_formula.explain_changes(other, changed, prefix="b_")
    for field in typed_formula.not_shown(other, changed):
        shown = replace(selection, changes=url_codec.difference(config, other, [*changed, field]))
        st.button(WORDS["type"], key=f"type-{field}", on_click=session_state.adopt, args=(config, shown))
    notice(*session_state.found(_in_b(dict.fromkeys([*unfit, *problems]))))
    said = _turns(config, other, selection)
    try:
        if not admission.admitted(NEED, config, other):
            return selection
        second = trace if other == trace.config else admission.run_of(other)
    except ConfigError as error:
        notice(WORDS["fault"].format(error=error), kind="fault")
        return selection
    notice(*_in_b(note for note in second.notes if note not in trace.notes))
    selection = explore_panels.choose_layer(trace, selection)
    _beside(trace, second, selection, said)
    paragraph(headline(trace))
    paragraph([WORDS["through"]])
    return layers.compared(trace, second, selection)


def _in_b(notes: Iterable[str]) -> list[str]:
    """Return the notes that are about B alone."""
    return [WORDS["in_b"].format(note=note) for note in notes]


def _starters(config: Config, selection: Selection) -> None:
    """Draw a first change by one press; those that would change nothing are not offered."""
    paragraph([WORDS["ask"]])
    with st.container(key="moves-first", horizontal=True, gap="small"):
        for name, (label, change) in STARTERS.items():
            changed = change(config)
            if model_registry.find(config.model) and not {*changed} <= {*FREE}:
                continue
            other = replace(config, **changed)
            changes_to_make = url_codec.difference(config, other, typed_formula.not_shown(other, changed))
            if changes_to_make:
                begun = replace(selection, changes=changes_to_make)
                words = as_markdown(language.translate(label))
                st.button(words, key=f"start-{name}", on_click=session_state.adopt, args=(config, begun))
        if model_registry.find(config.model) is None:
            _layers(config, selection)
        else:
            _meanings(config, selection)


def _layers(config: Config, selection: Selection) -> None:
    """Offer the layer of 2017 as A and today's as B."""
    old = replace(config, **LAYER_2017)  # type: ignore[arg-type]
    shared = {} if config.n_heads % 2 else {"n_kv_heads": config.n_heads // 2}
    new = replace(old, **LAYER_TODAY, **shared)  # type: ignore[arg-type]
    begun = replace(selection, changes=url_codec.difference(old, new), step="ff_hidden")
    st.button(WORDS["layers"], key="start-layers", on_click=session_state.adopt, args=(old, begun))


MEANINGS = ("the bank lent us some money", "we sat on the bank of the river")
"""Two sentences in which one word means two things; the vector of each layer tells them apart more."""


def _meanings(config: Config, selection: Selection) -> None:
    """Offer two sentences with one word that means two things."""
    one, other = (replace(config, sentence=sentence, edits=()) for sentence in MEANINGS)
    begun = replace(selection, changes=url_codec.difference(one, other))
    st.button(WORDS["bank"], key="start-meanings", on_click=session_state.adopt, args=(one, begun))


def _turns(config: Config, other: Config, selection: Selection) -> DeltaGenerator:
    """Swap the two, keep the second, or begin again; return where it is said before them how the two differ."""
    if not selection.changes:
        return st.container()
    names = [name for name, _ in selection.changes]
    back = replace(selection, changes=url_codec.difference(other, config, names))
    none = replace(selection, changes=())
    with st.container(key="moves-turns", horizontal=True, gap="small", vertical_alignment="center"):
        said = st.container()
        st.button(WORDS["swap"], key="swap", on_click=session_state.adopt, args=(other, back))
        st.button(WORDS["adopt"], key="adopt", on_click=session_state.adopt, args=(other, none))
        st.button(WORDS["stop"], key="stop", on_click=session_state.adopt, args=(config, none))
    return said


def _step(trace: Trace, selection: Selection) -> Selection:
    """Return the step that is compared."""
    names = list(step_names.steps(trace, selection.layer))
    picked = widgets.choose_available(
        selection, "step", WORDS["step"], names, words=NAMES.__getitem__, otherwise="weights"
    )
    return picked if picked.step in names else replace(picked, step="weights")


def _beside(trace: Trace, second: Trace, selection: Selection, said: DeltaGenerator) -> None:
    """Draw the step in both, the difference, and what moved furthest; while nothing differs, the step in A.

    said  where it is said how the two differ
    """
    layer, name = selection.layer, selection.step
    if layer < len(second.layers):
        findings = changes.first_difference(trace, second, layer), changes.finding(trace, second, layer, name)
        with said:
            paragraph(map(localised, filter(None, findings)))
    shown = comparison.pictures(trace, second, layer, name)
    heatmap.show(shown if selection.changes else shown[:1], key="compare", view=WHOLE)
    notice(*map(localised, changes.change_summary(trace, second, layer, name)))
    moves = changes.moves(trace, second, layer, name)
    if moves:
        paragraph([WORDS["furthest"]])
        notice(*(localised(plain(changes.describe_move(trace, second, layer, name, move))) for move in moves))
