"""The Class page: the sentence, one step in large type, and nothing else; previous and next."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from attnviz.core.language import Words
from attnviz.core.trace import Trace
from attnviz.ui import bridge, panels
from attnviz.ui.say import line
from attnviz.ui.selection import Selection
from attnviz.views import flow, stages

WORDS = Words({"previous": "Previous", "next": "Next", "place": "{at} of {n}"})


def page(trace: Trace, selection: Selection) -> Selection:
    """Draw one step; the selection as the buttons or the arrow keys leave it."""
    selection = panels.layer(trace, selection)
    entries = [entry for entry in flow.entries(trace, selection.layer - 1) if entry.on_path and entry.changes]
    names = [entry.name for entry in entries]
    at = names.index(selection.step) if selection.step in names else 0
    bar = st.container(horizontal=True, vertical_alignment="center")
    at -= bar.button(WORDS["previous"], key="previous", shortcut="Left")
    place = bar.container()
    at += bar.button(WORDS["next"], key="next", shortcut="Right")
    at = min(max(at, 0), len(names) - 1)
    entry = entries[at]
    with place:
        line([WORDS["place"].format(at=at + 1, n=len(names))])
    with st.container(key="lecture", gap="xsmall"):
        title = entry.label or entry.text
        st.markdown(f"## {title[0].upper()}{title[1:]}: {entry.meaning}")
        st.latex(entry.formula)
    step = flow.steps(trace, selection.layer - 1)[entry.name]
    bridge.show([replace(stages.stage(trace, step, entry.text, "", entry.words), large=True)], key="class")
    return replace(selection, step=entry.name)
