"""attnviz, the page: read the address, draw the controls, run, draw the pictures, write the address."""

from pathlib import Path

import streamlit as st

from attnviz import Config, ConfigError, run
from attnviz.ui import controls, state
from attnviz.ui.pages import PAGES
from attnviz.ui.say import line, say
from attnviz.ui.selection import Selection, within
from attnviz.views.overview import overview

TOO_LONG = "Too long for a link, so it travels without: {names}. Save the setting as a file instead, at the left."
STILL_SHOWN = "The pictures still show the last setting that worked."
NOTHING_DRAWN = "Nothing can be drawn until that is mended; what was typed is kept."

OPENING = Config(initialiser="by_hand")  # heads with a purpose: a first picture that can be read

st.set_page_config(page_title="attnviz: see attention happen", layout="wide", initial_sidebar_state="auto")
st.html(Path(__file__).parent / "attnviz" / "ui" / "page.css")

(saved, selection), problems = state.read(Config, Selection, opening=(OPENING, Selection()))

summary, pages = st.columns([4, 1], vertical_alignment="bottom")
with pages:
    selection = controls.choose(selection, "page")
draft = saved
if PAGES[selection.page].has_controls:
    draft = controls.draw(draft, "sentence")
    with st.sidebar:
        st.html('<span class="attn-brand">attnviz</span>')
        draft = controls.draw(draft, "d_model", "n_heads", "mask", "score", "seed")
        for group in controls.groups(draft):
            if group:
                with st.expander(group):
                    draft = controls.draw(draft, group=group)
        files = st.expander("Save and open")

say(*problems)
config = saved
try:
    config = controls.checked(draft)
    trace = run(config)
except ConfigError as error:
    fault = f"{str(error)[0].upper()}{str(error)[1:]}."
    try:
        config, trace = saved, run(saved)
    except ConfigError:
        say(fault, NOTHING_DRAWN, kind="fault")
        st.stop()
    say(fault, STILL_SHOWN, kind="fault")
say(*trace.notes)
late = st.container()
with summary:
    line(overview(trace))

selection = PAGES[selection.page].page(trace, within(selection, trace))
left_out = state.write(config, selection)
if left_out:
    with late:
        say(TOO_LONG.format(names=", ".join(left_out)))
if PAGES[selection.page].has_controls:
    with files:
        state.files(config, selection)
