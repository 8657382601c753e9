"""The Take away page: the present run as pictures, data and code, its link, and a frame for another page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib.util import find_spec

import streamlit as st

from attnviz.core import language
from attnviz.core.fields import ConfigError
from attnviz.core.given import is_given
from attnviz.core.language import Words
from attnviz.core.layers import run
from attnviz.core.trace import Trace
from attnviz.ui import controls, locale, panels, snapshot
from attnviz.ui.say import line, say
from attnviz.ui.selection import Selection
from attnviz.views import address, png, sharing
from attnviz.views.captions import NAMES
from attnviz.views.flow import steps
from attnviz.views.formats import FORMATS, Place, written

GROUPS = {
    "Pictures": ("svg", "png", "step.svg", "step.png", "html", "tex"),
    "Data": ("csv", "npz", "json", "xlsx"),
    "Code": ("py", "torch.py", "ipynb"),
}
NEEDS = {"xlsx": "xlsxwriter"}
"""The library that a kind of file cannot do without, where it is not among those of the page."""
DRAWN = {"png": "svg", "step.png": "step.svg"}
"""Kinds that the visitor's browser draws from another, where nothing is installed that could."""
PREPARED = ("xlsx",)
"""Kinds that may have to be refused, so they are made when they are asked for and before they are offered."""

WORDS = Words(
    {
        "about": "What is on the screen leaves it exactly: the numbers of the present setting, with all their digits.",
        "save": "Save .{name}",
        "make": "Make .{name}",
        "missing": 'Not installed here: pip install "attnviz[{extra}]"',
        "step": "Step, for .step and .csv",
        "head": "Head, for .csv and .tex",
        "all_heads": "all",
        "last_row": "the last",
        "query": "Row, for .tex",
        "link": "Link",
        "link_note": "Whoever opens it sees the same numbers. The sentence is part of it.",
        "too_long": "Too long for a link, so it travels without: {names}. Save and open, at the left, keeps "
        "everything.",
        "frame": "In another page",
        "frame_note": "HTML for a web page or a learning platform. It has to be allowed to show this address in a "
        "frame.",
        "code": "For the room",
        "code_note": "Point a camera at it to open this setting.",
        "code_long": "The link is too long for a code that a camera can read; a shorter sentence helps.",
        "code_missing": 'A QR code needs the package segno: pip install "attnviz[qr]".',
        "script": "The NumPy script",
        "fault": "{error}.",
    }
)


def page(trace: Trace, selection: Selection) -> Selection:
    """Draw the page; the selection as the visitor leaves it."""
    line([WORDS["about"]])
    selection = _place(trace, selection)
    place = Place(
        selection.layer, selection.step if _has(trace, selection) else "weights", selection.head, selection.query
    )
    for (title, names), column in zip(GROUPS.items(), st.columns(len(GROUPS), gap="medium")):
        with column:
            st.markdown(f"#### {language.say(title)}")
            for name in names:
                offer(name, trace, place)
    _links(trace, selection)
    with st.expander(WORDS["script"], key="script"):
        st.code(str(written("py", trace)), language="python", height=480)
    return selection


def _has(trace: Trace, selection: Selection) -> bool:
    return selection.step in {**trace.around, **trace.layers[selection.layer - 1]}


def _place(trace: Trace, selection: Selection) -> Selection:
    """The part of the run that the tables and the worked solution are of."""
    selection = panels.layer(trace, selection)
    step, head, query, _ = st.columns([2, 1, 1, 1])
    found = steps(trace, selection.layer - 1)
    names = [name for name in found if name in {**trace.around, **trace.layers[selection.layer - 1]}]
    with step:
        selection = controls.pick(selection, "step", WORDS["step"], names, words=NAMES.__getitem__, otherwise="weights")
    with head:
        heads = range(1, trace.config.n_heads + 1)
        selection = controls.pick(selection, "head", WORDS["head"], heads, none=WORDS["all_heads"])
    with query:
        rows = range(1, len(trace.query_tokens) + 1)
        selection = controls.pick(selection, "query", WORDS["query"], rows, none=WORDS["last_row"])
    return selection


def offer(name: str, trace: Trace, place: Place) -> None:
    """One kind of file: a button that makes it when it is pressed, and what it is."""
    form = FORMATS[name]
    button, note = st.columns([2, 3], vertical_alignment="center", gap="small")
    missing = name in NEEDS and find_spec(NEEDS[name]) is None
    with button:
        if missing:
            st.button(WORDS["save"].format(name=name), key=f"save-{name}", disabled=True)
        elif name in PREPARED or (name in DRAWN and png.missing()):
            _prepared(name, trace, place)
        else:
            again = _again(trace)
            _button(name, lambda: written(name, again(), place))
    note.caption(WORDS["missing"].format(extra=form.extra) if missing else form.note[0].upper() + form.note[1:] + ".")


def _again(trace: Trace) -> Callable[[], Trace]:
    """How a file comes by its run when it is asked for: anew, as one that waited for that would stay with its page."""
    return (lambda: trace) if is_given(trace) else partial(run, trace.config)


def _prepared(name: str, trace: Trace, place: Place) -> None:
    """A button that makes the file, and then one that saves it; or why it cannot be made."""
    if not st.button(WORDS["make"].format(name=name), key=f"make-{name}"):
        return
    try:
        made = written(DRAWN.get(name, name), trace, place)
    except ConfigError as error:
        say(WORDS["fault"].format(error=str(error)[0].upper() + str(error)[1:]), kind="fault")
        return
    if name in DRAWN:
        snapshot.button(
            str(made), key=f"draw-{name}", file_name=f"attnviz.{name}", label=WORDS["save"].format(name=name)
        )
    else:
        _button(name, lambda: made)


def _button(name: str, make: Callable[[], str | bytes]) -> None:
    label, later = WORDS["save"].format(name=name), locale.later(make)
    st.download_button(label, later, f"attnviz.{name}", key=f"save-{name}", on_click="ignore")


def _links(trace: Trace, selection: Selection) -> None:
    """The link of the setting, as text, as a frame, as a code."""
    shared = replace(selection, page="explore")
    _, left_out = address.fitting(address.encode(trace.config, shared))
    whole = sharing.link(st.context.url or "", address.link(trace.config, shared))
    link, frame, code = st.columns(3, gap="medium")
    with link:
        st.markdown(f"#### {WORDS['link']}")
        st.caption(WORDS["link_note"])
        st.code(whole, language=None, wrap_lines=True, height=160)
        if left_out:
            names = address.labels(type(trace.config), Selection)
            say(WORDS["too_long"].format(names=", ".join(names[name] for name in left_out)))
    with frame:
        st.markdown(f"#### {WORDS['frame']}")
        st.caption(WORDS["frame_note"])
        st.code(sharing.frame(whole), language="html", wrap_lines=True, height=160)
    with code:
        st.markdown(f"#### {WORDS['code']}")
        _code(whole)


def _code(whole: str) -> None:
    try:
        drawn = sharing.code(whole)
    except ImportError:
        st.caption(WORDS["code_missing"])
        return
    st.caption(WORDS["code_note" if drawn else "code_long"])
    if drawn:
        st.image(drawn, width=260)
