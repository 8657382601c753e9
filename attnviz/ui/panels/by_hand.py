"""Numbers that are held in the maps of a run: which may be, and how the setting keeps what a hand has let go of.

A number becomes a change as in the What if panel, painted cells the mask that the mask builder would write, and a
number of the setting its field.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any
from urllib.parse import urlencode

import numpy as np
import streamlit as st

from attnviz.engine.external.traces import is_external
from attnviz.engine.records.config import Config
from attnviz.engine.records.edits import MAX_EDITS
from attnviz.engine.records.trace import Trace
from attnviz.live import typed_numbers
from attnviz.live.program import MOST_NUMBERS
from attnviz.live.undo import Undo
from attnviz.pictures import stages
from attnviz.settings import url_codec
from attnviz.settings.faults import ConfigError
from attnviz.settings.fields import settings
from attnviz.settings.language import Words, current_language
from attnviz.settings.tuple_kinds import Knobs, Widths
from attnviz.text import edit_table
from attnviz.ui.components.sentence import opening_sentence
from attnviz.ui.components.stage import held
from attnviz.ui.components.stage.held import Holding, Kept, KeptHead, KeptMask, KeptNumber, KeptSetting, KeptUndo
from attnviz.ui.panels import mask_builder, stage_of_run, sweep
from attnviz.ui.session import session_state
from attnviz.ui.session.callback import callback
from attnviz.ui.session.notices import notice
from attnviz.ui.session.selection import Selection

Index = tuple[int, ...]
ADDRESS = "attnviz/live"
MOST_CHARACTERS = 7_500
"""Of an address, with some left for what the server adds."""
WORDS = Words({"fault": "What you let go of was not kept: {why}."})
_CONFIRMED, _FAULT, _UNDO = "_held", "_held_fault", "_held_undo"


def holding(trace: Trace, selection: Selection, key: str) -> Holding | None:
    """Return how numbers of the maps of a key can be held; None where they cannot.

    As no program says what follows from them, or it is too large for a browser, or a field moves by itself.
    """
    if is_external(trace) or sweep.PLAYED in st.session_state or _size(trace) > MOST_NUMBERS:
        return None
    beside = {"lang": current_language(), "__edition": stage_of_run.edition()}
    address = f"{ADDRESS}?{urlencode(url_codec.encode(trace.config.chosen) | beside)}"
    if len(address) > MOST_CHARACTERS:
        return None
    steps, layer = edit_table.editable(trace, selection.layer), selection.layer
    shapes = {name: step.shape for name, step in steps.items()}
    outer = [name for name in steps if name in trace.around]
    step = trace.layers[layer].get("allowed")
    mask = step.shape if step and step.array.ndim == 2 else ()
    knobs = stage_of_run.handles(trace)
    outputs = _outputs(trace, layer)
    call = partial(_keep, key, layer, shapes, outer, mask, [knob["name"] for knob in knobs], outputs)
    formula = stages.weights_formula_facts(trace.config)
    confirmed = st.session_state.get(_CONFIRMED, 0)
    return Holding(
        address,
        layer,
        confirmed,
        selection.panel == "mask" if mask else None,
        knobs,
        formula,
        _off(trace, layer, outputs),
        call,
    )


def faults() -> None:
    """Say why what was let go of last was not kept, if so."""
    why = st.session_state.pop(_FAULT, None)
    if why is not None:
        with st.container(key="let_go"):  # over the page, so that it moves nothing
            notice(WORDS["fault"].format(why=why), kind="fault")


def _outputs(trace: Trace, layer: int) -> list[list[Index]]:
    """Return the indices of the output of each head, as wide as it is; none where the layer records none."""
    step = trace.layers[layer].get("heads")
    if step is None:
        return []
    return [_indices(head, step.head(head).shape) for head in range(len(step.array))]


@lru_cache(64)
def _indices(head: int, shape: tuple[int, ...]) -> list[Index]:
    """Return the indices of the numbers of a head; nobody changes the list."""
    return [(head, *index) for index in np.ndindex(*shape)]


def _off(trace: Trace, layer: int, outputs: Sequence[Sequence[Index]]) -> list[int] | None:
    """Return the heads whose whole output was set to 0; None where one has too many numbers for that."""
    if not outputs or max(map(len, outputs)) > MAX_EDITS:
        return None
    zeros = {index for at, name, index, value in trace.edits if (at, name, value) == (layer, "heads", 0.0)}
    return [head for head, indices in enumerate(outputs) if zeros.issuperset(indices)]


def _size(trace: Trace) -> int:
    return sum(step.array.size for steps in (trace.around, *trace.layers) for step in steps.values())


def kept_in(
    config: Config, event: Kept, layer: int, outer: Collection[str], outputs: Sequence[Sequence[Index]] = ()
) -> Config:
    """Return the setting with what a hand has let go of.

    layer  of the steps;  outer  the names of those that are before the first layer;  outputs  the indices of the output
    of each head

    Raises ConfigError for what has no place in it.
    """
    match event:
        case KeptNumber(step, index, value):
            return edit_table.with_number(config, (None if step in outer else layer, step, index, value))
        case KeptHead(head, is_off):
            return edit_table.with_head(config, layer, outputs[head], is_off=is_off)
        case KeptMask(allowed):
            return mask_builder.with_cells(config, allowed)
        case KeptSetting(name, value):
            return _with_setting(config, name, value)


def _with_setting(config: Config, name: str, value: float) -> Config:
    """Return the setting with another number: of a field, of a row such as `entmax.alpha`, or in a typed line."""
    field = name.partition(".")[0]
    if field in typed_numbers.KINDS:
        return typed_numbers.with_typed_number(config, name, value)
    for item in settings(config):
        kind: Any = item.metadata["kind"]
        if item.name == name:
            is_whole = isinstance(kind, Widths) or kind.integer
            changes: dict[str, Any] = {name: round(value) if is_whole else value}
            return replace(config, **changes)
        if isinstance(kind, Knobs) and name in kind.known:
            changes = {item.name: dict(getattr(config, item.name)) | {name: value}}
            return replace(config, **changes)
    raise ConfigError(name)


@callback
def keep_sentence(key: str) -> None:
    """Take over the sentence as it was changed word by word; what hangs on positions stays at them; a callback."""
    sentence = opening_sentence.edited_sentence(key)
    config, selection = session_state.saved(Config, Selection)
    try:
        changed = config if sentence is None else replace(config, sentence=sentence)
    except ConfigError as error:
        st.session_state[_FAULT] = str(error)
        return
    _undo().note(config, changed)
    session_state.adopt(changed, selection)


def _undo() -> Undo:
    undo: Undo = st.session_state.setdefault(_UNDO, Undo())
    return undo


@callback
def _keep(
    key: str,
    layer: int,
    shapes: Mapping[str, Sequence[int]],
    outer: Collection[str],
    mask: Sequence[int],
    names: Sequence[str],
    outputs: Sequence[Sequence[Index]],
) -> None:
    """Take over what a hand has let go of; a callback."""
    event = held.kept(key, shapes, mask, names)
    st.session_state[_CONFIRMED] = held.number(key) or st.session_state.get(_CONFIRMED, 0)
    config, selection = session_state.saved(Config, Selection)
    try:
        match event:
            case None:
                changed = config
            case KeptUndo(is_back):
                changed = _undo().back(config) if is_back else _undo().again(config)
            case _:
                changed = kept_in(config, event, layer, outer, outputs)
                _undo().note(config, changed)
    except ConfigError as error:
        st.session_state[_FAULT] = str(error)
        return
    session_state.adopt(changed, selection)
