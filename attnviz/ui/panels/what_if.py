"""The What if panel: change any number of any step, and see what follows from it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from attnviz.engine.pretrained.pretrained_config import is_pretrained
from attnviz.engine.records.config import Config
from attnviz.engine.records.edits import Edit, position
from attnviz.engine.records.trace import Trace
from attnviz.engine.run import run
from attnviz.engine.tables.initialisers import INITIALISERS
from attnviz.exports import tables
from attnviz.pictures import stages
from attnviz.settings import url_codec
from attnviz.settings.faults import ConfigError
from attnviz.settings.language import Plural, Words
from attnviz.text import edit_table
from attnviz.text.captions import NAMES
from attnviz.text.edit_table import EditedMatrix
from attnviz.text.format.sentence_parts import plain
from attnviz.ui.components.stage import heatmap
from attnviz.ui.session import admission, session_state, widgets
from attnviz.ui.session.callback import callback
from attnviz.ui.session.notices import notice, paragraph
from attnviz.ui.session.selection import Selection
from attnviz.uploads import parse_text, read_files

MOST_LISTED = 20
MAX_PASTED_CHARACTERS = 200_000
WORDS = Words(
    {
        "ask": "Change any number: everything that follows from it is computed again, and everything before it stays. "
        "A cell that is emptied goes back to what it was.",
        "step": "Step",
        "head": "Head",
        "paste": "Paste or upload a whole matrix",
        "pasted": "Rows of numbers, as a spreadsheet copies them; headings may stand around them",
        "upload": "Or a CSV file",
        "set": "Set these numbers",
        "drag": "Drag a number in the maps up or down, or type it.",
        "undo": "Undo",
        "undo_all": "Undo all",
        "compare": "Compare with the unchanged run",
        "more": "and {n:,} more",
        "left_out": "{at}: has no place in this setting, and is left out",
        "fault": "Nothing was changed: {error}.",
        "nothing": "there is nothing to set; paste rows of numbers or choose a file",
        "solved": "The matrices that were made by hand stay as they were before any change.",
    }
)
CHANGED = Plural("{n} number is changed.", "{n} numbers are changed.")
_FAULT, _BASE, _EMPTIED = "_what_if_fault", "_what_if_base", "_what_if_emptied"


def panel(trace: Trace, selection: Selection) -> Selection:
    """Draw one part of a step as a table to be edited, and the list of what was changed."""
    paragraph([WORDS["ask"]])
    steps = edit_table.editable(trace, selection.layer)
    left, right, _ = st.columns([2, 1, 2])
    with left:
        selection = widgets.choose_available(
            selection, "step", WORDS["step"], list(steps), words=NAMES.__getitem__, otherwise="scores"
        )
    name = selection.step if selection.step in steps else "scores"
    on = edit_table.edited_matrix(steps[name], selection.layer, selection.head or 0)
    if on.head is not None and len(steps[name].array) > 1:
        with right:
            selection = widgets.choose_available(selection, "head", WORDS["head"], range(len(steps[name].array)))
        on = edit_table.edited_matrix(steps[name], selection.layer, selection.head or 0)
    selection = replace(selection, step=name)
    fault = st.session_state.pop(_FAULT, None)
    with st.container():  # always there: what opens below it stays open when it says something
        notice(*([WORDS["fault"].format(error=fault)] if fault else []), kind="fault")
    _table(trace, selection, on)
    _whole(trace, selection, on)
    _list(trace, selection)
    heatmap.show([stages.stage(trace, steps[name], NAMES[name], steps[name].meaning)], key="what-if")
    return selection


def band(trace: Trace, selection: Selection, *, holds: bool) -> None:
    """Draw what can be done with all changes, for the band over the maps; `holds`: their numbers can be dragged."""
    config = trace.config.chosen
    with st.container(key="band-said"):
        n = len(config.edits)
        paragraph([CHANGED.format(n=n)] if n else [WORDS["drag"]] * holds)
    if not config.edits:
        return
    none = replace(config, edits=())
    beside = replace(selection, page="compare", changes=url_codec.difference(none, config))
    st.button(WORDS["undo_all"], key="undo_all", on_click=session_state.adopt, args=(none, selection))
    st.button(WORDS["compare"], key="compare_edits", on_click=session_state.adopt, args=(none, beside))


def _table(trace: Trace, selection: Selection, on: EditedMatrix) -> None:
    """Draw the numbers to be edited.

    The table keeps what is typed into it, so it has to be told the numbers from before: those of the edits that are
    not its own.
    """
    config = trace.config.chosen
    base = _base(config, on)
    before = run(replace(config, edits=base)) if base != config.edits else trace
    step = before.around[on.step] if on.layer is None else before.layers[on.layer][on.step]
    frame = tables.matrix(step, trace.query_tokens, trace.key_tokens, on.head or 0).astype(float)
    frame.index.name = frame.columns.name = None
    key = _key(replace(config, edits=base), on)
    columns = {at: st.column_config.NumberColumn(format="%.4g", step=None) for at in frame.columns}
    args = (key, config, selection, on, len(step.axes), tuple(frame.columns), base)
    st.data_editor(frame, key=key, column_config=columns, num_rows="fixed", on_change=_typed, args=args)


def _key(config: Config, on: EditedMatrix) -> str:
    """Return the name of the table: another one begins anew, also after a cell was emptied, which would stay empty."""
    return f"sheet-{session_state.digest(config, on, st.session_state.get(_EMPTIED, 0))}"


def _base(config: Config, on: EditedMatrix) -> tuple[Edit, ...]:
    """Return the edits that the table was drawn with, if it is the one that made the present ones.

    Else the present ones.
    """
    matrix, base, edits_of_base = st.session_state.get(_BASE, (None, (), ()))
    return base if matrix == on and edits_of_base == config.edits else config.edits


@callback
def _typed(
    key: str, config: Config, selection: Selection, on: EditedMatrix, n_axes: int, columns: tuple[str, ...], base: Any
) -> None:
    """Take over what was typed or pasted into the table; a callback."""
    rows = st.session_state.get(key, {}).get("edited_rows")
    if rows is None:  # the table has been taken away since
        return
    try:
        new = edit_table.changed_cells(replace(config, edits=base), on, n_axes, rows, columns)
    except ConfigError as error:
        st.session_state[_FAULT] = str(error)
        return
    st.session_state[_BASE] = (on, base, new.edits)
    if any(value is None for cells in rows.values() for value in cells.values()):
        st.session_state[_EMPTIED] = st.session_state.get(_EMPTIED, 0) + 1
        del st.session_state[_BASE]
    session_state.adopt(new, selection)


def _whole(trace: Trace, selection: Selection, on: EditedMatrix) -> None:
    """Draw fields to paste or upload all of it at once."""
    with st.container(key="whole-matrix"), st.expander(WORDS["paste"], key="whole-matrix-opened"):
        st.text_area(WORDS["pasted"], key="pasted_matrix", max_chars=MAX_PASTED_CHARACTERS)
        st.file_uploader(WORDS["upload"], type=["csv", "tsv", "txt"], key="uploaded_matrix", max_upload_size=1)
        st.button(WORDS["set"], key="set_matrix", on_click=_set, args=(trace.config.chosen, selection, on))


@callback
def _set(config: Config, selection: Selection, on: EditedMatrix) -> None:
    """Take over what was pasted or uploaded; a callback."""
    file = st.session_state.get("uploaded_matrix")
    try:
        text = read_files.decoded(file.getvalue()) if file else st.session_state.get("pasted_matrix", "")
        if not text.strip():
            raise ConfigError(WORDS["nothing"])
        matrix = parse_text.matrix(text, minus_infinity=on.step == "masked", head=on.head)
        new = edit_table.set_matrix(admission.computed(config), config, on, matrix)
    except ConfigError as error:
        st.session_state[_FAULT] = str(error)
    else:
        session_state.adopt(new, selection)


def _list(trace: Trace, selection: Selection) -> None:
    """Draw the list of edits, each to be undone by itself."""
    config = trace.config.chosen
    if not config.edits:
        return
    if INITIALISERS[config.initialiser].solved and not is_pretrained(trace):
        paragraph([WORDS["solved"]])
    before = run(replace(config, edits=()))
    edits = set(trace.edits)
    for number, edit in enumerate(config.edits[:MOST_LISTED]):
        words, undo, _ = st.columns([4, 1, 2], vertical_alignment="center")
        with words:
            paragraph(
                [
                    plain(edit_table.describe_edit(trace, before, edit))
                    if edit in edits
                    else WORDS["left_out"].format(at=position(edit))
                ]
            )
        fewer = edit_table.without(config, edit)
        undo.button(WORDS["undo"], key=f"undo-{number}", on_click=session_state.adopt, args=(fewer, selection))
    if len(config.edits) > MOST_LISTED:
        paragraph([WORDS["more"].format(n=len(config.edits) - MOST_LISTED)])
