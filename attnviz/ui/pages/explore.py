"""The Explore page: the path of steps, the sentence, the maps of all heads in one window, and one panel in detail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from attnviz.arithmetic.cell import Cell
from attnviz.engine.external.traces import forbidden
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.pictures import columns
from attnviz.pictures.answer import browser_facts
from attnviz.pictures.answer.browser_facts import CellFacts
from attnviz.pictures.stage_record import Stage
from attnviz.settings.fields import settings
from attnviz.text.format.patch_words import has_patches
from attnviz.text.headline import headline
from attnviz.ui.components.answer import drawer
from attnviz.ui.components.pickers import film_strip, step_path
from attnviz.ui.components.sentence import opening_sentence
from attnviz.ui.components.sentence.opening_sentence import Opening
from attnviz.ui.components.stage import heatmap, stages_sent
from attnviz.ui.components.stage.heatmap import Heads, Lettering
from attnviz.ui.components.stage.held import Holding
from attnviz.ui.components.stage.stages_sent import AtAddress
from attnviz.ui.components.stage.view import View
from attnviz.ui.pages import held_fields, pictures, pinned
from attnviz.ui.pages.panels import PANELS
from attnviz.ui.pages.stage_reducer import described, reduce
from attnviz.ui.panels import by_hand, explore_panels, mask_builder, model_views, stage_of_run, sweep, what_if, window
from attnviz.ui.panels import cell as cell_panel
from attnviz.ui.panels.depth import many_sentences, next_word, owed_to, word_pair
from attnviz.ui.panels.window import Seen
from attnviz.ui.session import partial_run, places, widget_values, widgets
from attnviz.ui.session.browser import message, parts, together
from attnviz.ui.session.browser.stage_events import Event, heard
from attnviz.ui.session.browser.together import Together
from attnviz.ui.session.failures import contained
from attnviz.ui.session.notices import paragraph
from attnviz.ui.session.selection import Selection

KEY, WAY, SENTENCE, ANSWER = "explore", "way", "telling", drawer.part(cell_panel.ANSWER)
STAGE, MESSAGE, STAGES = "stage-parts", "stage-message", "stages-sent"
PARTS = (WAY, SENTENCE, KEY, ANSWER)
"""The keys of the parts of the stage, from above."""
DRAWN = "_explore_drawn"
"""Of the session: the name of the stages that its browser was sent last, empty where it has them from their address."""
Known = tuple[CellFacts | None, Holding | None]
"""What explains any cell in a browser, and how numbers can be held there; None where they are not."""
HEARD = (
    *(next_word.LINK, model_views.MOSAIC, *owed_to.PARTS, many_sentences.KEY, KEY, ANSWER),
    *(explore_panels.CARDS, WAY, SENTENCE),
)
"""The keys of what reports events; where two of them turn to a step, the path has the last word."""
STRIP = 72  # pixels kept for a field's values
STRIPS = ("layer", "shown", "specials", "colours", "from_query", "from_key")  # what their pictures depend on
OF_A_NUMBER = ("layer", "head", "query", "key")
"""What a number that is explained is known by, besides its step: where a panel chooses another, none is explained."""
PLANNED = ("softcap",)  # numbers that leave a step out where they are 0
GONE = ("flow",)  # once a tab, now the strip over the maps


def page(trace: Trace, selection: Selection) -> Selection:
    """Draw the page; return the selection as the visitor leaves it."""
    selection, cell = maps(trace, selection)
    if _has_every(trace, selection):
        return selection
    after = _draw_panel(trace, selection, cell)
    is_same = all(getattr(after, name) == getattr(selection, name) for name in OF_A_NUMBER)
    return after if is_same else replace(after, number_of="")


def _has_every(trace: Trace, selection: Selection) -> bool:
    """Return whether the maps of all layers are shown."""
    return selection.every and len(trace.layers) > 1


def maps(trace: Trace, selection: Selection) -> tuple[Selection, Cell | None]:
    """Draw the stage and what is said of the run; return the selection, and the cell that is chosen."""
    if selection.panel in GONE:
        selection = replace(selection, panel="cell", shown=selection.step)
    selection = _updated(trace, selection)
    stage = st.container(key="stage", gap=None)
    with stage:
        selection = model_views.choose(trace, selection, next_word.link)
        if _has_every(trace, selection):
            selection = word_pair.draw(trace, selection)
            paragraph(headline(trace), notes=trace.notes)
            return selection, None
        seen = window.seen(trace, selection)
        head, query = described(trace, selection, seen)
    try:
        with together.as_one(MESSAGE) as sent:
            cells, cell = _draw_stage(trace, selection, seen, (head, query), stage)
    except Exception:  # it is said below what could be drawn
        _show(sent, stage)
        message.send(sent.parts, key=MESSAGE)
        raise
    _show(sent, stage)
    partial_run.numbers(partial(_tell, trace, cells, sent.parts), _tell_again)
    return selection, cell


def _show(sent: Together, stage: AbstractContextManager[Any]) -> None:
    """Draw the stage, which is one element, and send what of it is sent apart."""
    with stage:
        parts.show(sent, key=STAGE, order=PARTS)
    stages_sent.send(sent.apart.get(KEY), key=STAGES)


def is_of_numbers(after: Config, name: str, selection: Selection) -> bool:
    """Return whether new numbers are all that follows from the move of a number, and a browser has them already.

    Those that may be held stay the same then, as no size and no step of the layer has changed, and nothing that was
    chosen goes. What is said of special tokens, or of a pinned picture that cannot be drawn, stands elsewhere.
    """
    item = next(item for item in settings(Config) if item.name == name)
    is_free = name == "seed" or not (name in PLANNED or getattr(item.metadata["kind"], "integer", True))
    is_alone = selection.panel == "cell" and not (selection.all_lines or selection.every or selection.play)
    is_alone = is_alone and not selection.pinned and selection.specials == Selection.specials
    return is_free and is_alone and stage_of_run.is_at_address(after, selection)


def _tell_again(trace: Trace, selection: Selection) -> None:
    """Send what the stage shows of another run, which changes numbers alone."""
    seen = window.seen(trace, selection)
    with together.as_one(MESSAGE, are_there=True) as sent:
        cells, _ = _draw_stage(trace, selection, seen, described(trace, selection, seen), nullcontext())
    _tell(trace, cells, sent.parts)


def _tell(trace: Trace, cells: CellFacts | None, parts: Mapping[str, bytes]) -> None:
    """Send what the parts of the stage show of a run, what explains its cells, and say what is said of it."""
    message.send(parts, key=MESSAGE)
    cell_panel.facts(cells)
    by_hand.faults()
    paragraph(headline(trace), notes=trace.notes)  # one more moves nothing, and what is below keeps its own


def _draw_stage(
    trace: Trace, selection: Selection, seen: Seen, about: tuple[int, int], stage: AbstractContextManager[Any]
) -> tuple[CellFacts | None, Cell | None]:
    """Draw the stage in its place, and the answer; return what explains its cells, and the one that is chosen."""
    head, _ = about
    holding, cell = by_hand.holding(trace, selection, KEY), None
    telling, *_ = stage_of_run.telling(trace, replace(selection, head=None, focus=None), seen)
    cells = browser_facts.cells_of(trace, selection.layer, telling, computes=holding is not None)
    is_answered_first = cells is None or cells.is_computed
    if is_answered_first:  # a browser takes longer to draw the maps than the answer, and a click waits for that
        cell = _explain(trace, selection, head, cells)
    with stage:
        _draw_maps(trace, selection, seen, about, (cells, holding))
    if not is_answered_first:  # the browser explains it by the numbers in the maps
        cell = _explain(trace, selection, head, cells)
    return cells, cell


def _draw_maps(trace: Trace, selection: Selection, seen: Seen, about: tuple[int, int], known: Known) -> None:
    """Draw the path of steps, the sentence and the maps.

    about  the head and the query of the sentence
    """
    (head, query), (cells, holding) = about, known
    shown = stage_of_run.shown(trace, selection)
    follow = held_fields.of_run(trace, selection)
    there, is_all = _at_address(trace, selection, seen) if follow else (None, False)
    name = there.name if there and is_all else None
    if selection.panel in places.CHANGING:
        _band(trace, selection, holding)
    else:
        _draw_way(trace, selection, shown, head, name)
    is_chosen = selection.query == query
    opening = Opening(head, query, _roles(trace, selection, shown), is_chosen, seen.queries, seen.keys, name)
    edited = partial(by_hand.keep_sentence, SENTENCE) if follow and "sentence" in follow["fields"] else None
    opening_sentence.show(trace, selection.layer, opening, key=SENTENCE, edited=edited)
    picked = pictures.picked_of(seen.inside(selection), shown, cell_panel.number(trace, selection, head))
    is_opening = not picked and seen.has(query)
    heads = Heads(
        film=_film(trace, selection),
        number=trace.config.n_heads,
        overview=window.overview(trace, selection, seen),
        opening=(head, seen.position(query)) if is_opening else None,
    )
    swept = sweep.laid_out(trace.config.chosen, [getattr(selection, name) for name in STRIPS])
    view = replace(_view(selection), reserved=STRIP if swept else 0)
    kept = partial(sweep.keep_chosen, KEY)
    heatmap.show(
        shown,
        key=KEY,
        picked=picked,
        view=view,
        heads=heads,
        lettering=Lettering(of_patches=has_patches(trace)),
        holding=holding,
        follow=follow and follow | {"pinned": pinned.address(selection, follow)},
        swept=swept,
        kept=kept,
        cells=cells,
        there=there,
    )


def _draw_way(trace: Trace, selection: Selection, shown: Sequence[Stage], head: int, there: str | None) -> None:
    """Draw the path of the steps of a head; `there` is the name of its stages, where they are not sent."""
    step_path.show(
        stage_of_run.path(trace, selection.layer, head),
        key=WAY,
        words=len(trace.query_tokens),
        shown=[stage.name for stage in shown],
        front=_in_front(shown, selection.shown),
        head=(head, trace.config.n_heads),
        of_image=has_patches(trace),
        there=there,
    )


def _at_address(trace: Trace, selection: Selection, seen: Seen) -> tuple[AtAddress | None, bool]:
    """Return what the browser has of the stages already, and whether all that is beside them is of this selection.

    It has asked their address while a field was held; one that opens the page has asked for nothing.
    """
    sent = st.session_state.get(DRAWN)
    is_sent = seen.is_window or sent is None or Event("whole") in heard(KEY)
    whole = None if is_sent else stage_of_run.at_address(trace, selection)
    if whole is not None:
        st.session_state[DRAWN] = ""
        return whole, True
    maps = stage_of_run.maps_name(trace, selection)
    there = None if is_sent or sent == maps else stage_of_run.maps_at_address(trace, selection)
    st.session_state[DRAWN] = "" if there else maps
    return there, False


def _band(trace: Trace, selection: Selection, holding: Holding | None) -> None:
    """Draw what a place adds to the maps, in the band of the path."""
    with places.band(trace.config.chosen, selection):
        if selection.panel == "mask":
            mask_builder.band(trace, selection, paints=holding is not None and holding.paints is not None)
        else:
            what_if.band(trace, selection, holds=holding is not None)


def _draw_panel(trace: Trace, selection: Selection, cell: Cell | None) -> Selection:
    """Draw one panel in detail below the maps; return the selection. `cell` is the one that was chosen, derived."""
    with st.container(key="all-lines"):
        selection = places.choose_panel(
            selection, has_seed=not trace.config.model, writes_on=next_word.is_offered(trace)
        )
        return panel_of(trace, selection, cell)


def panel_of(trace: Trace, selection: Selection, cell: Cell | None, *further: Any) -> Selection:
    """Draw the panel that is chosen, with whatever it takes `further`; return the selection."""
    panel = PANELS[selection.panel]
    if not panel.has_room(trace):
        return selection
    if selection.panel == "cell" and cell is not None:
        selection = widgets.draw(selection, "all_lines")
        return contained(cell_panel.panel, trace, selection, cell) if selection.all_lines else selection
    return panel.draw(trace, selection, *further)


def _view(selection: Selection) -> View:
    """Return the share of the window that the maps have."""
    return View(fill=True, first=selection.shown)


def _in_front(stages: Sequence[Stage], first: str) -> str:
    """Return the stage that a phone shows: the one of a name, or else the one that leads."""
    names = [stage.name for stage in stages]
    return first if first in names else next((stage.name for stage in stages if stage.leads), names[0])


def _explain(trace: Trace, selection: Selection, head: int, cells: CellFacts | None) -> Cell | None:
    """Draw how what was chosen came to be, with the patches of an image that are attended to."""
    image = None
    if selection.query is not None and has_patches(trace):
        of_head = head if selection.head is None or selection.key is None else selection.head
        image = explore_panels.over_patches(trace, selection.layer, of_head, selection.query, small=True)
    return cell_panel.answer(trace, selection, head, cells, image)


def _updated(trace: Trace, selection: Selection) -> Selection:
    """Return the selection, updated by what the parts of the stage report since the last run.

    What a link plays is the cell that it names, and no other.
    """
    changed, events = selection, heard(*HEARD)
    for event in events:
        changed = reduce(changed, event, trace)
    if any(event.kind in cell_panel.CHANGE_LINES for event in events):
        widget_values.show(changed, unlike=[replace(changed, all_lines=not changed.all_lines)])
    same = (changed.head, changed.query, changed.key) == (selection.head, selection.query, selection.key)
    return changed if same else replace(changed, play=False)


def _roles(trace: Trace, selection: Selection, shown: Sequence[Stage]) -> Sequence[str]:
    """Return what each head does: as the weights say it already, where they are shown of all heads."""
    roles = next((stage.roles for stage in shown if stage.name == "weights"), ())
    return roles or columns.roles(trace, selection.layer)


def _film(trace: Trace, selection: Selection) -> film_strip.Strip | None:
    if selection.focus is None:
        return None
    steps = trace.layers[selection.layer]
    weights = steps["weights"].array
    hidden = np.broadcast_to(forbidden(steps), weights.shape)
    kept = np.where(hidden, np.nan, weights)
    return film_strip.Strip(window.seen(trace, selection).of_weights(kept), selection.focus)
