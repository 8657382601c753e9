"""The Compare page: the setting at the left as A, and B, which is the same but for what the visitor changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
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
from attnviz.pictures.stage_record import Stage
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
from attnviz.ui.components.stage.heatmap import Heads
from attnviz.ui.components.stage.view import WHOLE
from attnviz.ui.panels import cell as cell_panel
from attnviz.ui.panels import explore_panels, typed_formula
from attnviz.ui.panels.depth import layers
from attnviz.ui.session import admission, session_state, widgets
from attnviz.ui.session.callback import callback
from attnviz.ui.session.notices import notice, paragraph
from attnviz.ui.session.selection import Selection, outside_b, within_b

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

KEY = "compare"
NEED = Need(drawn=48)
OF_A_CELL = (("query", "key"), ("query", "d_v"))
"""The axes of the steps whose numbers are explained: those between the scores and the outputs of the heads."""


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
        _starters(config)
    other, problems = url_codec.apply_changes(config, selection.changes)
    changed = [name for name, _ in selection.changes]
    typed_formula.explain_changes(other, changed, prefix="b_")
    for field in typed_formula.not_shown(other, changed):
        more = {"changes": url_codec.difference(config, other, [*changed, field])}
        st.button(WORDS["type"], key=f"type-{field}", on_click=_adopt, args=(config,), kwargs=more)
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
    selection = _beside(trace, second, explore_panels.choose_layer(trace, selection), said)
    paragraph(headline(trace))
    paragraph([WORDS["through"]])
    after = _through(trace, second, selection)
    if (after.query, after.in_b) != (selection.query, selection.in_b):  # the maps above have to show it
        session_state.write(config, after)
        st.rerun()
    return after


@callback
def _adopt(config: Config, **changed: Any) -> None:
    """Make a setting the one at the left, with other changes in B; what was chosen in the maps stays chosen."""
    (selection,) = session_state.saved(Selection)
    session_state.adopt(config, replace(selection, **changed))


def _in_b(notes: Iterable[str]) -> list[str]:
    """Return the notes that are about B alone."""
    return [WORDS["in_b"].format(note=note) for note in notes]


def _starters(config: Config) -> None:
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
                begun = {"changes": changes_to_make}
                words = as_markdown(language.translate(label))
                st.button(words, key=f"start-{name}", on_click=_adopt, args=(config,), kwargs=begun)
        if model_registry.find(config.model) is None:
            _layers(config)
        else:
            _meanings(config)


def _layers(config: Config) -> None:
    """Offer the layer of 2017 as A and today's as B."""
    old = replace(config, **LAYER_2017)  # type: ignore[arg-type]
    shared = {} if config.n_heads % 2 else {"n_kv_heads": config.n_heads // 2}
    new = replace(old, **LAYER_TODAY, **shared)  # type: ignore[arg-type]
    begun = {"changes": url_codec.difference(old, new), "step": "ff_hidden"}
    st.button(WORDS["layers"], key="start-layers", on_click=_adopt, args=(old,), kwargs=begun)


MEANINGS = ("the bank lent us some money", "we sat on the bank of the river")
"""Two sentences in which one word means two things; the vector of each layer tells them apart more."""


def _meanings(config: Config) -> None:
    """Offer two sentences with one word that means two things."""
    one, other = (replace(config, sentence=sentence, edits=()) for sentence in MEANINGS)
    begun = {"changes": url_codec.difference(one, other)}
    st.button(WORDS["bank"], key="start-meanings", on_click=_adopt, args=(one,), kwargs=begun)


def _turns(config: Config, other: Config, selection: Selection) -> DeltaGenerator:
    """Swap the two, keep the second, or begin again; return where it is said before them how the two differ."""
    if not selection.changes:
        return st.container()
    names = [name for name, _ in selection.changes]
    back = url_codec.difference(other, config, names)
    with st.container(key="moves-turns", horizontal=True, gap="small", vertical_alignment="center"):
        said = st.container()
        st.button(WORDS["swap"], key="swap", on_click=_swap, args=(other, back))
        is_same = (config.sentence, config.n_heads) == (other.sentence, other.n_heads)
        for name, left, in_b in (("adopt", other, True), ("stop", config, False)):
            st.button(WORDS[name], key=name, on_click=_leave, args=(left, in_b, is_same))
    return said


@callback
def _leave(config: Config, in_b: bool, is_same: bool) -> None:
    """Make A or B the setting at the left and the only one; a cell of the other stays where that has the same words.

    in_b  whether it is B
    """
    (selection,) = session_state.saved(Selection)
    if selection.in_b != in_b and not is_same:
        selection = replace(selection, head=None, query=None, key=None, dimension=None)
    session_state.adopt(config, replace(selection, changes=(), in_b=False))


@callback
def _swap(config: Config, back: tuple[tuple[str, str], ...]) -> None:
    """Make B the setting at the left and A the other one; the chosen cell goes along."""
    (selection,) = session_state.saved(Selection)
    in_b = selection.query is not None and not selection.in_b
    session_state.adopt(config, replace(selection, changes=back, in_b=in_b))


def _step(trace: Trace, selection: Selection) -> Selection:
    """Return the step that is compared."""
    names = list(step_names.steps(trace, selection.layer))
    picked = widgets.choose_available(
        selection, "step", WORDS["step"], names, words=NAMES.__getitem__, otherwise="weights"
    )
    return picked if picked.step in names else replace(picked, step="weights")


def _beside(trace: Trace, second: Trace, selection: Selection, said: DeltaGenerator) -> Selection:
    """Draw the step in both, the difference, and what moved furthest; while nothing differs, the step in A.

    Returns the selection with what was chosen in the maps.

    said  where it is said how the two differ
    """
    layer, name = selection.layer, selection.step
    if layer < len(second.layers):
        findings = changes.first_difference(trace, second, layer), changes.finding(trace, second, layer, name)
        with said:
            paragraph(map(localised, filter(None, findings)))
    shown = comparison.pictures(trace, second, layer, name)
    selection = _maps(trace, second, selection, shown if selection.changes else shown[:1])
    notice(*map(localised, changes.change_summary(trace, second, layer, name)))
    moves = changes.moves(trace, second, layer, name)
    if moves:
        paragraph([WORDS["furthest"]])
        notice(*(localised(plain(changes.describe_move(trace, second, layer, name, move))) for move in moves))
    return selection


def _maps(trace: Trace, second: Trace, selection: Selection, shown: Sequence[Stage]) -> Selection:
    """Draw the maps, and how the number of the chosen cell came to be; return the selection with what was chosen."""
    of = {"a": (trace, selection.layer), "b": (second, selection.layer)}
    if [stage.name for stage in shown] == ["a"]:
        selection = replace(selection, in_b=False)
    chosen = replace(selection, focus=None)  # of all heads, and the head that is shown alone elsewhere stays that
    if selection.in_b:
        notice(*session_state.of_address(outside_b(chosen, second)))
    is_explained = shown[0].axes in OF_A_CELL and len(shown[0].array) == trace.config.n_heads
    side, cell, picked, said = "b" if selection.in_b else "a", None, None, ""
    chosen = within_b(chosen, of[side][0])
    if is_explained:
        chosen, side = _chosen(chosen, side, shown, of)
        picked = cell_panel.marked(chosen, side, shown)
        said = "" if picked is None else comparison.said_of(shown, side, (picked.head, picked.row, picked.column))
    explained = chosen if is_explained and chosen.query is not None else replace(chosen, query=None, key=None)
    run, layer = of[side]
    with st.container(key="stage", gap=None):
        head = 0 if explained.query is None else cell_panel.head_of(run, layer, chosen)
        cell = cell_panel.explain(run, explained, head, setting=trace.config, beside=said)
        heatmap.show(shown, key=KEY, picked=picked, view=WHOLE, heads=Heads(by_number=True))
    chosen = cell_panel.all_lines(run, chosen, cell)
    return replace(chosen, focus=selection.focus, in_b=side == "b" and chosen.query is not None)


def _chosen(
    selection: Selection, side: str, shown: Sequence[Stage], of: Mapping[str, tuple[Trace, int]]
) -> tuple[Selection, str]:
    """Return the selection with what was chosen in the maps, and whether that is of A or of B.

    A cell of the difference is explained as that of B, or where B has none, as that of A.
    """
    chosen, asked = cell_panel.updated(selection, side, shown, {**of, "difference": of["b"]}, key=KEY)
    picked = cell_panel.marked(chosen, asked, shown)
    if asked != "difference":
        return chosen, asked
    if picked is None:
        return selection, side
    cells = comparison.same_cell(shown, asked, (picked.head or 0, picked.row or 0, picked.column))
    where = next((side for side in "ba" if side in cells), None)
    if where is None:  # the row has its word from one, the column from the other
        return selection, side
    _, row, column = cells[where]
    of_cell = {} if column is None else {"key" if shown[0].axes[1] == "key" else "dimension": column}
    return replace(chosen, **{"query": row, **of_cell}), where  # type: ignore[arg-type]


def _through(trace: Trace, second: Trace, selection: Selection) -> Selection:
    """Draw a word of A and one of B through the layers; return the selection with another word of A, if that is chosen.

    The row of what is chosen in A is that of the word.
    """
    after = layers.compared(trace, second, replace(selection, query=None) if selection.in_b else selection)
    if selection.in_b and after.query is None:
        return replace(after, query=selection.query)
    return after if after.query == selection.query else replace(after, in_b=False, key=None, dimension=None)
