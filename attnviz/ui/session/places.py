"""The places of the page, few and named for what a person wants, and the pages and panels that stand in each.

A link names pages and panels, as it always has; the place follows from them.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

import streamlit as st

from attnviz.engine.records.config import Config
from attnviz.settings.language import Words
from attnviz.ui.session import session_state, widgets
from attnviz.ui.session.selection import (
    FIRST_LESSON,
    LESSON_NAMES,
    NOTHING_DONE,
    PAGE_NAMES,
    PANEL_NAMES,
    Selection,
)

WORDS = Words(
    {
        "places": "Places",
        "parts": "Pages here",
        "panels": "Below the pictures",
        "ways": "View",
        "explore": "Explore",
        "change": "Change",
        "compare": "Compare",
        "learn": "Learn",
        "teach": "Teach",
        "export": "Export",
        "two": "Two settings",
        "this_run": "This seed",
        "done": "Done",
        "hint": "Click a cell to see how its number is computed, a word to see what it attends to, or the name of a "
        "head to see that head alone.",
        "short_hint": "Click a cell to see how its number is computed.",
    }
)
PLACES: Mapping[str, tuple[str, ...]] = {
    "explore": ("explore",),
    "change": ("what_if", "mask", "data"),
    "compare": ("compare", "experiments"),
    "learn": ("lessons", "learn"),
    "teach": ("assign", "class"),
    "export": ("take",),
}
"""The parts of each place: pages, and panels of the Explore page that change something."""

CHANGING = ("what_if", "mask")
PANELS: Mapping[str, tuple[str, ...]] = {
    "cell": ("cell", "products", "backward"),
    "word": ("word", "layers", "next_word", "owed_to"),
    "statistics": ("statistics", "many", "twin", "redeal"),
    "table": ("table",),
}
"""The panels below the maps of the Explore page; some are two in one, with a choice inside."""
_OF_SEEDS = ("redeal",)
OF_DECODERS = ("next_word", "owed_to")


@dataclass(frozen=True)
class _Place:
    """The place that a visitor is at, as the buttons hold it."""

    place: str
    part: str
    group: str = ""
    way: str = ""


def part(selection: Selection) -> str:
    """Return the part of a place that a selection is in.

    >>> part(Selection()), part(Selection(panel="mask")), part(Selection(page="take", panel="mask"))
    ('explore', 'mask', 'take')
    """
    return selection.panel if selection.page == "explore" and selection.panel in CHANGING else selection.page


def place(selection: Selection) -> str:
    """Return the place that a selection is in.

    >>> place(Selection(page="class")), place(Selection(panel="what_if"))
    ('teach', 'change')
    """
    return next(name for name, parts in PLACES.items() if part(selection) in parts)


def led_to(selection: Selection, part: str) -> Selection:
    """Return the selection in another part; what is looked at there is as it was left.

    >>> led_to(Selection(panel="mask"), "explore").panel, led_to(Selection(page="take"), "mask").page
    ('cell', 'explore')
    """
    if part in CHANGING:
        return replace(selection, page="explore", panel=part)
    if part == "explore" and selection.panel in CHANGING:
        return replace(selection, page=part, panel="cell")
    if part == "class":  # a lecture begins at the beginning
        return replace(selection, page=part, step="token_embeddings")
    if part == "lessons" and (selection.lesson, selection.slide, selection.done) == (FIRST_LESSON, 0, (NOTHING_DONE,)):
        selection = replace(selection, lesson=next(iter(LESSON_NAMES)))  # none was chosen yet
    return replace(selection, page=part)


def choose(selection: Selection) -> Selection:
    """Draw the places, and beside them the parts of the present one; the selection as the visitor leaves it."""
    with st.container(key="places", horizontal=True, gap="medium"):
        present = _Place(place(selection), part(selection))
        chosen = _choose(present, "place", WORDS["places"], tuple(PLACES), WORDS).place
        parts = PLACES[chosen]
        now = present.part if present.part in parts else parts[0]
        if len(parts) > 1:
            now = _choose(replace(present, part=now), "part", WORDS["parts"], parts, _part_names()).part
        if chosen == "explore":
            long, short = html.escape(WORDS["hint"]), html.escape(WORDS["short_hint"])
            st.html(f'<p class="attn-hint"><b>{long}</b><i>{short}</i></p>')
    return selection if now == present.part else led_to(selection, now)


def choose_panel(selection: Selection, *, has_seed: bool = True, writes_on: bool = False) -> Selection:
    """Draw the choice of what is looked at below the maps; in a place that has one thing there, nothing.

    The parameters of a trained model come from no seed, so none is averaged over, and only a model that writes on has
    next words; a link that asks for one of these is heard.
    """
    if selection.panel in CHANGING:
        return selection
    group = next((name for name, panels in PANELS.items() if selection.panel in panels), "cell")
    names = {name: PANEL_NAMES[name].label for name in PANEL_NAMES}
    chosen = _choose(_Place("", "", group), "group", WORDS["panels"], tuple(PANELS), names).group
    hidden = (() if has_seed else _OF_SEEDS) + (() if writes_on else OF_DECODERS)
    panels = tuple(name for name in PANELS[chosen] if name == selection.panel or name not in hidden)
    now = selection.panel if selection.panel in panels else panels[0]
    if len(panels) > 1:
        labels = names | ({"statistics": WORDS["this_run"]} if has_seed else {})
        now = _choose(_Place("", "", way=now), "way", WORDS["ways"], panels, labels).way
    return replace(selection, panel=now)


@contextmanager
def band(config: Config, selection: Selection) -> Iterator[None]:
    """Draw the band over the maps for what a place adds to them, between its name and the way back to Explore."""
    with st.container(key="band", horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**{PANEL_NAMES[selection.panel].label}**", width="content")
        yield
        back = led_to(selection, "explore")
        st.button(WORDS["done"], key="band-done", type="tertiary", on_click=session_state.adopt, args=(config, back))


def _part_names() -> Mapping[str, str]:
    pages = {name: PAGE_NAMES[name].label for name in PAGE_NAMES}
    return pages | {name: PANEL_NAMES[name].label for name in CHANGING} | {"compare": WORDS["two"]}


def _choose(present: _Place, field: str, label: str, options: tuple[str, ...], words: Mapping[str, str]) -> _Place:
    return widgets.choose_available(
        present, field, label, options, words=words.__getitem__, buttons=True, label_visibility="collapsed"
    )
