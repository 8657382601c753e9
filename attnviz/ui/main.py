"""The page as a whole: read the address, draw the controls, run, draw the pictures, write the address."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attnviz.classroom.marking import submissions
from attnviz.classroom.marking.assignments import Assignment, Opened, open_assignment
from attnviz.engine.learning import learnable
from attnviz.engine.pretrained import model_registry
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.lessons.read_lesson import MAX_LESSON_CHARACTERS
from attnviz.models import hosting
from attnviz.settings.faults import ConfigError
from attnviz.settings.language import Words, as_sentence, sign
from attnviz.text.headline import headline
from attnviz.ui import manual_route
from attnviz.ui.components import paste_guard
from attnviz.ui.components.stage import heatmap
from attnviz.ui.hosting.workers import Ended
from attnviz.ui.pages import assignments, explore, registry, setting_file, your_data
from attnviz.ui.pages.registry import PAGES
from attnviz.ui.panels import faces, model, sweep, typed_formula, what_if, window
from attnviz.ui.panels.classroom import grading_desk
from attnviz.ui.panels.lesson import lesson_editor
from attnviz.ui.session import (
    admission,
    browser_history,
    browser_learner,
    interrupted,
    locale,
    partial_run,
    places,
    session_state,
    widgets,
)
from attnviz.ui.session.browser import component, styles, transport
from attnviz.ui.session.callback import callback
from attnviz.ui.session.failures import contained
from attnviz.ui.session.notices import notice, paragraph
from attnviz.ui.session.partial_run import AfterMove
from attnviz.ui.session.selection import Selection, outside, outside_lesson, within

WORDS = Words(
    {
        "title": "attnviz: see attention happen",
        "too_long": "Too long for a link, so it travels without: {names}. Save the setting as a file instead, at the "
        "left.",
        "still_shown": "The pictures still show the last setting that worked.",
        "nothing_drawn": "Nothing can be drawn until that is fixed; what you typed is kept.",
        "files": "Save and open",
    }
)

OPENING = Config(
    sentence="the king saw his queen while a dog chased our cat",
    embedding="meaning",
    d_model=64,
    d_k=5,
    initialiser="by_hand",
    patterns=("alike", "previous", "next", "first"),
    sharpness=3.5,
)
"""A first picture that is easy to read: one head finds words of similar meaning, the others have an obvious task.

No word stands there twice, and heads are not so sharp that one weight takes all of a row: so the temperature, the scale
and d_k are seen to do something, and no mask is needed for words to attend to others than themselves.
"""

SIDEBAR = 288  # pixels

MAX_CHARACTERS = {
    **widgets.longest(Config),
    **widgets.longest(Config, prefix="b_"),
    **widgets.longest(Assignment),
    "pasted_matrix": what_if.MAX_PASTED_CHARACTERS,
    grading_desk.PASTE: submissions.MAX_FILE_BYTES,
    lesson_editor.TEXT: MAX_LESSON_CHARACTERS,
    **dict.fromkeys(your_data.pasted_into(), your_data.MAX_PASTED_CHARACTERS),
}
"""Characters that can be pasted into the fields of the page, by their keys."""


@cache
def offer_models() -> None:
    """Offer the models in the package, and those of the environment where the command has not; faults are logged."""
    try:
        named_by_the_command = bool(model_registry.MODELS)
        hosting.offer_those_in_the_package()
        if not named_by_the_command:
            hosting.offer_those_of_the_environment()
    except ConfigError as error:
        print(f"attnviz: {error}", file=sys.stderr)


def prepare() -> None:
    """Make what is the same for all visitors, before the first of them comes."""
    component.all_scripts()


def page() -> None:
    """Draw the page; a script for `streamlit run` calls it once."""
    partial_run.begin()
    offer_models()
    transport.send_at_once()
    with admission.turn(opens=session_state.is_new()), component.read_once():
        _page()


def _page() -> None:
    """Read the address, draw the page that it names, and write the address of whatever was changed there."""
    _begin()
    (saved, selection), problems = session_state.read(
        Config, Selection, opening=(OPENING, Selection()), beside=("lang",)
    )
    languages = locale.offer(_speak)
    assignment, faults = open_assignment(selection.assigned, saved)
    if not assignments.is_student(selection, assignment):
        selection = places.choose(selection)
    if selection.page == "assign":
        selection = assignments.desk(selection, assignment)
    with languages:
        manual_route.offer(places.place(selection))
    name = registry.named(selection)
    shown = PAGES[name]
    moves = name == "explore" and selection.panel not in places.CHANGING
    saved = sweep.settled(saved, moves=moves)
    locked = assignments.locked(selection, assignment)
    draft, files, lines = _controls(saved, locked, moves=moves) if shown.has_controls else (saved, None, {})
    if moves and not locked:
        faces.offer_on_a_phone(draft, OPENING)

    # One place for all notes, so that what is below keeps its own when one comes or goes: a browser draws anew what
    # moves, and a stroke that is just being painted there would be lost.
    if shown.head:
        shown.head(draft, selection)
    notes = st.container()
    with notes:
        notice(*problems, *(faults if selection.page == "assign" else ()))
        config, trace = _run(name, draft, saved, lines) if shown.of_setting else (draft, None)
        typed_formula.explain(lines, draft, trace)
        selection = _notes(name, trace, selection)

    if trace is not None or not shown.of_setting:
        takes_moves = moves and not locked and not lines and config == draft
        selection = _draw(name, config, trace, selection, assignment, after_move=_after_move if takes_moves else None)
    left_out = session_state.write(config, selection)
    if left_out:
        with notes:
            notice(WORDS["too_long"].format(names=sign(", ").join(left_out)))
    if files is not None:
        with files:
            setting_file.offer(config, selection)
    paste_guard.guard(MAX_CHARACTERS)
    interrupted.ended()


def _begin() -> None:
    """Set the language, the title and the style of the page, before anything else is drawn."""
    locale.begin(session_state.requested("lang"))
    st.set_page_config(page_title=WORDS["title"], layout="wide", initial_sidebar_state=SIDEBAR)
    styles.style(Path(__file__).with_name("page.css"), heatmap.HEADINGS)
    browser_history.listen()
    browser_learner.begin()
    if interrupted.wants_default():
        session_state.adopt(OPENING, Selection())


def _notes(name: str, trace: Trace | None, selection: Selection) -> Selection:
    """Draw the notes on a run, and return the part of the selection that is there in it."""
    if trace is None:
        if selection.page == "lessons":
            notice(*session_state.of_address(outside_lesson(selection)))
        return selection
    if name not in ("explore", "class", "learn", "compare", "experiments"):  # there it stands below the maps
        paragraph(headline(trace))
    if name == "explore":
        window.offer_more(trace)  # what is noted of the run stands below the maps: one more moves none of them
    elif name != "learn":  # there they stand beside the maps, if the film there is of this run
        notice(*trace.notes)
    notice(*session_state.of_address(outside(selection, trace)))
    there = within(selection, trace)
    return there if name == "explore" else replace(there, number_of="")  # elsewhere no number of a map is explained


@callback
def _speak() -> None:
    """Take the language that was chosen in the menu."""
    session_state.put("lang", st.session_state[locale.MENU])


def _controls(
    config: Config, locked: tuple[str, ...] = (), *, moves: bool = False
) -> tuple[Config, DeltaGenerator | None, dict[str, DeltaGenerator]]:
    """Draw the controls; return the setting, the container that offers it as a file, and those of each typed line.

    moves  whether to offer that a field moves by itself, and the three faces
    """
    moved = partial_run.moved if moves else None
    with st.sidebar:
        above, is_free = st.container(key="faces", gap="small"), not locked
        model.prepare(config, locked)
        draft = model.begin(config, widgets.draw(config, "sentence", "model", skip=locked, moved=moved), locked)
        locked = (*locked, *model.decided(draft))
        fields = ("d_model", "n_heads", "mask", "score")
        draft = widgets.draw(draft, *fields, skip=locked, empty=model.empty_fields(draft), moved=moved)
        draft, lines = typed_formula.fields(draft, locked)
        draft = widgets.draw(draft, "seed", skip=locked, moved=moved)
        if moves:
            sweep.offer(draft, skip=locked)
        if moves and is_free:
            with above:
                faces.offer(draft, OPENING)
        model.say(draft, may_change=is_free)
        skip = (*locked, *typed_formula.FIELDS.values())
        for group in widgets.groups(draft, skip=skip):
            if group:
                draft = widgets.fold(draft, group, skip=skip, moved=moved)
        files = st.expander(WORDS["files"], key=session_state.FILES, on_change="rerun")
        locale.say_if_new()
        return widgets.fitting(draft), files if files.open else None, lines


def _run(name: str, draft: Config, saved: Config, lines: dict[str, DeltaGenerator]) -> tuple[Config, Trace | None]:
    """Return the setting that could be run, the visitor's or else the last, and its run; say what must be corrected.

    A setting that is too large for this host stays what it is, and has no run.
    """
    try:
        config = widgets.checked(draft)
        return config, _admitted(name, config)
    except ConfigError as error:
        fault = as_sentence(str(error))
    try:
        trace = _admitted(name, saved)
    except ConfigError:
        notice(fault, WORDS["nothing_drawn"], kind="fault")
        typed_formula.explain(lines, draft, None)
        st.stop()
    notice(fault, WORDS["still_shown"], kind="fault")
    return saved, trace


def _draw(
    name: str,
    config: Config,
    trace: Trace | None,
    selection: Selection,
    assignment: Opened | None,
    *,
    after_move: AfterMove | None,
) -> Selection:
    """Draw a page, as a part that runs alone where that is enough; return the selection.

    after_move  as `partial_run.show` takes it; None where the controls say more than the setting, or may not be moved
    """
    page = partial(contained, PAGES[name].page)
    if trace is not None and _is_part(name, config, selection):
        compute, is_enough = partial(_admitted, name), partial(_is_part, name)
        draw = partial(partial_run.show, trace, config, selection, compute=compute, page=page, is_enough=is_enough)
        return draw(after_move=after_move, are_numbers=explore.is_of_numbers)
    about = {"given_out": assignment} if selection.page == "assign" else {}
    return page(config if trace is None else trace, selection, **about)


def _after_move(config: Config, name: str) -> Config | None:
    """Return the setting after a move of a number, or with another text, if nothing but the part follows from it.

    What may be cut is offered whole above the maps.
    """
    if config.model or learnable.learns(config) or sweep.is_moving() or window.may_be_cut(config):
        return None
    after = widgets.after_move(config, name)
    return None if after is None or learnable.learns(after) or window.may_be_cut(after) else after


def _is_part(name: str, config: Config, selection: Selection) -> bool:
    """Return whether nothing on the page but the maps and what explains them follows from what is looked at.

    A large setting waits for others in a run of the whole page, which says so.
    """
    return (
        (name, selection.page) == ("explore", "explore")
        and selection.panel not in places.CHANGING
        and not session_state.files_are_open()
        and not session_state.has_problems()
        and not admission.waits(PAGES[name].need, config)
    )


def _admitted(name: str, config: Config) -> Trace | None:
    """Return the run of a setting, where there is room for the page of it; else says why there is none."""
    if not admission.admitted(PAGES[name].need, config):
        return None
    try:
        return admission.run_of(sweep.moved(config))
    except Ended as error:
        notice(str(error), kind="fault")
        return None
