"""The mask builder: paint who may attend to what, start from any mask, and take the result away as code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

import numpy as np
import streamlit as st

from attnviz.analysis.mask_forms import FORMS, combined
from attnviz.arrays import Array
from attnviz.engine import inputs
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.engine.tables.mask_bits import compact
from attnviz.engine.tables.masks import MASKS
from attnviz.engine.tables.row_names import MaskName
from attnviz.exports.mask_code import code, expression
from attnviz.settings.counting import ordinal
from attnviz.settings.faults import ConfigError
from attnviz.settings.language import Words
from attnviz.ui.components import mask_painter
from attnviz.ui.session import session_state
from attnviz.ui.session.callback import callback
from attnviz.ui.session.notices import notice, paragraph
from attnviz.ui.session.selection import Selection

WHOLE_UP_TO = 24
"""Queries up to which a mask as code is seen whole."""
STARTS = tuple(name for name in MASKS if name not in ("none", "custom"))
TEXTS = Words(
    {
        "counted": "{n:,} of {all:,} cells are allowed.",
        "drag": "Press or drag over cells of A.",
        "drag_all": "Press or drag over cells of A, for all heads at once.",
        "all": "Allow all",
        "none": "Forbid all",
        "invert": "Invert",
        "from": "Start from",
        "use": "Use these",
        "placeholder": "Choose one or several masks",
        "how": "Several masks",
        "every": "All must allow",
        "any": "Any may allow",
        "forms": "The same mask as code. Libraries disagree on what True means.",
        "of_head": "Each head has a mask of its own, by the h of the typed line; this is that of head {head}. What is "
        "painted or chosen here becomes the mask of all heads.",
        "by_head": "A mask for each head cannot be joined with others in this way, as a list of cells is the same for "
        "all heads. The previous mask is kept.",
        "refused": "This mask is too long to keep as a list of cells: {why}. The previous one is kept.",
    }
)
_REFUSED, _WHY = "_mask_refused", "_mask_refused_why"


def band(trace: Trace, selection: Selection, *, paints: bool) -> None:
    """Draw what changes the mask as a whole, for the band over the maps; `paints`: their cells can be painted."""
    allowed = _masks(trace, selection)[1]
    with st.popover(TEXTS["from"], width="content"):
        _starts(trace, selection)
    _buttons(trace, selection, allowed)
    drag = [TEXTS["drag_all" if trace.config.n_heads > 1 else "drag"]] if paints else []
    with st.container(key="band-said"):
        paragraph([*drag, TEXTS["counted"].format(n=allowed.sum(), all=allowed.size)])
    if _WHY in st.session_state:
        with st.container(key="let_go"):  # over the page, so that it moves nothing
            notice(st.session_state.pop(_WHY), kind="fault")


def panel(trace: Trace, selection: Selection) -> Selection:
    """Draw the current mask as a grid to paint, and the same mask as programs take it.

    Where each head has a mask of its own, that of the head that is looked at is drawn, and all are in the code.
    """
    whole, allowed = _masks(trace, selection)
    with st.container(key="mask-panel"):  # by its key it stays the same, also where a note above comes or goes
        paragraph([TEXTS["of_head"].format(head=ordinal(selection.head or 0))] if whole.ndim > 2 else [])
        mask_painter.show(
            allowed,
            trace.query_tokens,
            trace.key_tokens,
            key="paint",
            painted=partial(_adopt_cells, trace.config.chosen, selection),
            refused=st.session_state.get(_REFUSED, 0),
        )
    paragraph([TEXTS["forms"]])
    _forms(trace, whole)
    return selection


def _masks(trace: Trace, selection: Selection) -> tuple[Array, Array]:
    """Return the masks of all heads, and that of the head that is looked at."""
    step = trace.layers[selection.layer]["allowed"]
    return np.asarray(step.array, dtype=bool), np.asarray(step.head(selection.head or 0), dtype=bool)


def with_cells(config: Config, allowed: Array) -> Config:
    """Return the setting with the mask of these cells (queries, keys).

    Raises ConfigError where they make a list that is too long to keep.
    """
    return replace(config, mask=("custom",), custom_cells=compact(allowed))


def _buttons(trace: Trace, selection: Selection, allowed: Array) -> None:
    """Draw the masks that need no choice: all, none, and the other way round."""
    config = trace.config.chosen
    st.button(TEXTS["all"], key="mask_all", on_click=_adopt, args=(config, selection, ("none",)))
    st.button(TEXTS["none"], key="mask_none", on_click=_adopt_cells, args=(config, selection, allowed & False))
    st.button(TEXTS["invert"], key="mask_invert", on_click=_adopt_cells, args=(config, selection, ~allowed))


def _starts(trace: Trace, selection: Selection) -> None:
    """Draw a choice of masks of the table, of which all or any must allow a cell."""
    names = st.multiselect(
        TEXTS["from"],
        STARTS,
        format_func=lambda name: MASKS[name].label,
        placeholder=TEXTS["placeholder"],
        key="mask_starts",
        select_all=False,
    )
    how = "every"
    if len(names) > 1:
        how = st.radio(
            TEXTS["how"],
            ("every", "any"),
            format_func=lambda name: TEXTS[name],
            horizontal=True,
            label_visibility="collapsed",
            key="mask_how",
        )
    st.button(
        TEXTS["use"],
        key="mask_use",
        disabled=not names,
        on_click=_start,
        args=(trace.config.chosen, selection, tuple(names), how == "every"),
    )


def _forms(trace: Trace, allowed: Array) -> None:
    """Draw each form with what True means in it, and as code with a button that copies it."""
    term = expression(trace.config, allowed, trace.key_tokens)
    for names in (("allowed", "sdpa", "multi_head"), ("key_padding", "additive")):
        for name, column in zip(names, st.columns(3, gap="small")):
            with column:
                st.markdown(f"`{FORMS[name].label}`  \n**{FORMS[name].note}**")
                st.code(code(name, allowed, term), language="python", height=_height(allowed))


def _height(allowed: Array) -> int | Literal["content"]:
    """Return the height of a text of many lines: it is copied, not read, and need not be seen whole."""
    return "content" if allowed[..., 0].size <= WHOLE_UP_TO else 260


@callback
def _start(config: Config, selection: Selection, names: Sequence[MaskName], every: bool) -> None:
    """Keep masks that all must allow as they are, with their settings; of those that any may allow, take the cells."""
    if every:
        _adopt(config, selection, tuple(names))
    else:
        query_tokens, key_tokens, _ = inputs.tokens(config)
        allowed = combined(config, names, len(query_tokens), key_tokens, every=False)
        if allowed.ndim > 2:
            _refuse(TEXTS["by_head"])
        else:
            _adopt_cells(config, selection, allowed)


def _refuse(why: str) -> None:
    """Leave the mask as it was, and say why."""
    st.session_state[_REFUSED] = st.session_state.get(_REFUSED, 0) + 1
    st.session_state[_WHY] = why


@callback
def _adopt(config: Config, selection: Selection, mask: tuple[MaskName, ...]) -> None:
    session_state.adopt(replace(config, mask=mask), selection)


@callback
def _adopt_cells(config: Config, selection: Selection, allowed: Array) -> None:
    """Make these cells the mask of the setting; a list that is too long leaves the mask as it was, and says so."""
    try:
        drawn = with_cells(config, allowed)
    except ConfigError as error:
        _refuse(TEXTS["refused"].format(why=str(error)))
        return
    session_state.adopt(drawn, selection)
