"""The Export page: the current run as pictures, data and code, its link, and a frame for another page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from functools import partial
from importlib.util import find_spec
from typing import Any

import streamlit as st

from attnviz.engine.cost.need import Need
from attnviz.engine.pretrained import model_registry
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.engine.run import run
from attnviz.exports import links
from attnviz.exports.formats import FORMATS, ExportTarget, export
from attnviz.exports.script.lines import without_bytes
from attnviz.exports.script.model_parameters import are_in_script, is_handed_out
from attnviz.pictures.static import png
from attnviz.settings import language, url_codec
from attnviz.settings.faults import ConfigError
from attnviz.settings.language import InContext, Words, as_sentence, sign
from attnviz.text.captions import NAMES
from attnviz.text.step_names import steps
from attnviz.ui.components import svg_to_png
from attnviz.ui.components.qr_code import qr_code
from attnviz.ui.panels import explore_panels
from attnviz.ui.session import admission, widgets
from attnviz.ui.session.notices import notice, paragraph
from attnviz.ui.session.selection import Selection

GROUPS = {
    "Pictures": ("svg", "png", "gif", "step.svg", "step.png", "pdf", "tikz", "html", "tex"),
    "Data": ("csv", "npz", "json", "xlsx"),
    "Code": ("py", "torch.py", "ipynb"),
}
NEED = Need(held=1, made=1, any_length=True)
LIBRARIES = {"xlsx": "xlsxwriter", "gif": "resvg_py"}
"""The library that a kind of file needs and the page itself does not, nor a browser in its stead."""
DRAWN = {"png": "svg", "step.png": "step.svg"}
"""Kinds that the visitor's browser draws from another, where nothing is installed that could."""
PREPARED = ("xlsx",)
"""Kinds that may have to be refused, so they are made on request, before they are offered."""

LONGEST_SHOWN = 50_000
"""Characters of a script that the page shows with the bytes in it."""

WORDS: Words[Any] = Words(
    {
        "about": "Exports hold what is on the screen: the numbers of the current setting, with all their digits. A "
        "picture has all words, a cell for each pair, also where the screen shows a part of a long text or blocks of "
        "cells; the bars beside the maps, and the arcs of a sentence that is too long for a line, are left out.",
        "save": "Save .{name}",
        "make": "Make .{name}",
        "missing": 'Not installed here: pip install "attnviz[{extra}]"',
        "step": "Step, for .step, .pdf, .tikz and .csv",
        "head": "Head, for .pdf, .tikz, .csv and .tex",
        "all_heads": InContext("all", "heads"),
        "last_row": "the last",
        "query": "Row, for .tex",
        "link": "Link",
        "link_note": "Anyone who opens it sees the same numbers. The sentence is part of it.",
        "both": "Picture and link together",
        "whole_note": "The same in full, to be read and changed:",
        "too_long": "Too long for a link, so it travels without: {names}. Save and open, at the left, keeps "
        "everything.",
        "frame": "In another page",
        "frame_note": "HTML for a web page or a learning platform. It has to be allowed to show this address in a "
        "frame.",
        "script": "The NumPy script",
        "bytes": "The bytes of the model's matrices are left out here: ... stands for them. The file has them.",
        "folder": "The matrices of this model are too many for a script: the code reads them from the model's own "
        "folder, which is not handed out here. FOLDER in it names that, and the hash {digest} is checked.",
        "fault": "{error}.",
    }
)


def page(trace: Trace, selection: Selection) -> Selection:
    """Draw the page; return the selection as the visitor leaves it."""
    paragraph([WORDS["about"]])
    selection = _target(trace, selection)
    target = replace(target_of(selection), step=selection.step if _has(trace, selection) else "weights")
    for (title, names), column in zip(GROUPS.items(), st.columns(len(GROUPS), gap="medium")):
        with column:
            st.markdown(f"#### {language.translate(title)}")
            for name in names:
                offer(name, trace, target)
            if names == GROUPS["Code"]:
                _say_where_from(trace)
    _links(trace, selection)
    with st.expander(WORDS["script"], key="script"):
        refused = admission.refusal(FORMATS["py"].need, trace)
        if refused:
            notice(refused)
        else:
            shown, is_whole = without_bytes(str(export("py", trace)), LONGEST_SHOWN)
            if not is_whole:
                st.caption(WORDS["bytes"])
            st.code(shown, language="python", height=480)
    return selection


def _say_where_from(trace: Trace) -> None:
    """Say that the code of a large model needs its files, where they do not come with this package."""
    model = model_registry.find(trace.config.model)
    if model is not None and not are_in_script(model) and not is_handed_out(model):
        st.caption(WORDS["folder"].format(digest=model.digest))


def target_of(selection: Selection) -> ExportTarget:
    """Return what the screen shows of a run, as what is to be saved."""
    return ExportTarget(**{item.name: getattr(selection, item.name) for item in fields(ExportTarget)})


def _has(trace: Trace, selection: Selection) -> bool:
    return selection.step in {**trace.around, **trace.layers[selection.layer]}


def _target(trace: Trace, selection: Selection) -> Selection:
    """Return the part of the run that the tables and the worked solution are of."""
    selection = explore_panels.choose_layer(trace, selection)
    step, head, query, _ = st.columns([2, 1, 1, 1])
    by_name = steps(trace, selection.layer)
    names = [name for name in by_name if name in {**trace.around, **trace.layers[selection.layer]}]
    with step:
        selection = widgets.choose_available(
            selection, "step", WORDS["step"], names, words=NAMES.__getitem__, otherwise="weights"
        )
    with head:
        heads = range(trace.config.n_heads)
        selection = widgets.choose_available(selection, "head", WORDS["head"], heads, none=WORDS["all_heads"])
    with query:
        rows = range(len(trace.query_tokens))
        selection = widgets.choose_available(selection, "query", WORDS["query"], rows, none=WORDS["last_row"])
    return selection


def offer(name: str, trace: Trace, target: ExportTarget, again: Callable[[], Trace] | None = None) -> None:
    """Draw one kind of file: a button that makes it when it is pressed, and what it is, or why it cannot be made.

    again  makes the run anew, if the setting alone cannot
    """
    form = FORMATS[name]
    button, note = st.columns([9, 11], vertical_alignment="center", gap="small")
    missing = name in LIBRARIES and find_spec(LIBRARIES[name]) is None
    label, refused = WORDS["save"].format(name=name), ""
    if missing:
        button.button(label, key=f"save-{name}", disabled=True)
    elif name in PREPARED or (name in DRAWN and png.missing()):
        with button:
            _prepared(name, trace, target)
    else:
        again = again or partial(run, trace.config)
        refused = admission.download(
            button, label, name, trace, again, target, file_name=f"attnviz.{name}", key=f"save-{name}"
        )
    about = as_sentence(form.note)
    note.caption(WORDS["missing"].format(extra=form.extra) if missing else refused or about)


def _prepared(name: str, trace: Trace, target: ExportTarget) -> None:
    """Draw a button that makes the file, and then one that saves it; or why it cannot be made."""
    if not st.button(WORDS["make"].format(name=name), key=f"make-{name}"):
        return
    file = _made(DRAWN.get(name, name), trace, target)
    if file is None:
        return
    if name in DRAWN:
        svg_to_png.button(
            str(file), key=f"draw-{name}", file_name=f"attnviz.{name}", label=WORDS["save"].format(name=name)
        )
    else:
        label = WORDS["save"].format(name=name)
        st.download_button(label, file, f"attnviz.{name}", key=f"save-{name}", on_click="ignore")


def _made(name: str, trace: Trace, target: ExportTarget) -> str | bytes | None:
    """Return a file that is asked for; None if it cannot be made, which is said."""
    if not admission.admitted(FORMATS[name].need, trace):
        return None
    try:
        return export(name, trace, target)
    except ConfigError as error:
        notice(WORDS["fault"].format(error=str(error)[0].upper() + str(error)[1:]), kind="fault")
        return None


def _picture_with(link: str, trace: Trace, target: ExportTarget) -> None:
    """Draw a button that makes the picture of the screen, and then one that copies it with its link."""
    if st.button(WORDS["both"], key="make-both") and (drawn := _made("svg", trace, target)) is not None:
        svg_to_png.button(str(drawn), key="copy-both", dpi=192, link=link)


def _links(trace: Trace, selection: Selection) -> None:
    """Draw the link of the setting, as text, as a frame, as a code."""
    shared = replace(selection, page="explore")
    _, left_out = url_codec.shorten_to_fit(url_codec.encode(trace.config, shared))
    whole = links.page_address(st.context.url or "", url_codec.query_string(trace.config, shared))
    short = links.short_address(whole)
    link, frame, code = st.columns(3, gap="medium")
    with link:
        st.markdown(f"#### {WORDS['link']}")
        st.caption(WORDS["link_note"])
        st.code(short, language=None, wrap_lines=True)
        _picture_with(short, trace, target_of(selection))
        if short != whole:
            st.caption(WORDS["whole_note"])
            st.code(whole, language=None, wrap_lines=True, height=100)
        if left_out:
            names = url_codec.labels(Config, Selection)
            notice(WORDS["too_long"].format(names=sign(", ").join(names[name] for name in left_out)))
    with frame:
        st.markdown(f"#### {WORDS['frame']}")
        st.caption(WORDS["frame_note"])
        st.code(links.frame(whole), language=None, wrap_lines=True, height=160)
    with code:
        qr_code(short)
