"""The selection after an event on the stage, from the one before it and the run."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import urlencode

from attnviz.engine.records.trace import Trace
from attnviz.pictures.step_path import LOGITS
from attnviz.settings import url_codec
from attnviz.ui.components.stage import picking
from attnviz.ui.panels import model_views, stage_of_run, window
from attnviz.ui.panels.cell import answered, number, selected
from attnviz.ui.panels.depth import many_sentences, owed_to
from attnviz.ui.panels.window import Seen
from attnviz.ui.session.browser.stage_events import Event
from attnviz.ui.session.selection import LONGEST_PINNED, Selection

OPENED = {"owed_to": owed_to.opened, "many": many_sentences.opened}  # the head that a pick stands for, by the panel


def reduce(selection: Selection, event: Event, trace: Trace) -> Selection:
    """Return the selection as an event leaves it: as it was, where that names what is not there.

    The window of a long text stays where it is, or goes to what is chosen now.
    """
    sizes = {"layer": len(trace.layers), "head": trace.config.n_heads}
    sizes |= {"query": len(trace.query_tokens), "key": len(trace.key_tokens)}
    if any((getattr(event, name) or 0) >= n for name, n in sizes.items()):
        return selection
    seen = window.seen(trace, selection)
    after = _after(selection, event, trace, seen)
    is_same = (after.query, after.key) == (selection.query, selection.key)
    return after if is_same else window.held(after, seen)


def _after(selection: Selection, event: Event, trace: Trace, seen: Seen) -> Selection:
    match event:
        case Event("panel", panel=panel) if panel in ("next_word", "owed_to"):
            return replace(selection, panel=panel, every=False)
        case Event("pair") if selection.every:
            return _paired(selection, event, trace)
        case Event("open", layer=layer, head=head):
            return _opened(selection, layer, head, trace)
        case Event("close" | "key" | "lines"):
            return answered(selection, event, described(trace, selection, seen)[0])
        case Event("pick"):
            return _picked(selection, event, trace, seen)
        case Event("focus" | "card" as kind, head=head):
            chosen = head if kind == "card" else selection.head
            after = replace(selection, focus=None if trace.config.n_heads < 2 else head, head=chosen)
            return after if chosen == selection.head else replace(after, number_of="")
        case Event("scale"):
            return replace(selection, colours="common" if selection.colours == "apart" else "apart")
        case Event("show", stage=stage):
            return replace(selection, panel="next_word") if stage == LOGITS else replace(selection, shown=stage)
        case Event("pin", is_on=is_on):
            text = urlencode(url_codec.encode(trace.config.chosen)) if is_on else ""
            return replace(selection, pinned=text if len(text) <= LONGEST_PINNED else "")
        case Event("word", query=query):
            again = selection.query == query and selection.key is None and number(trace, selection) is None
            return replace(selection, query=None if again else query, key=None, dimension=None, number_of="")
        case Event("window", row=int(row), column=int(column)):
            return window.moved(selection, seen, (row, column))
    return selection


def _paired(selection: Selection, event: Event, trace: Trace) -> Selection:
    """Return the selection with the pair of words that was pressed above all heads; with none where it was let go."""
    row, column, query, key = event.row, event.column, None, None
    if row is not None and column is not None:
        kept = model_views.kept_tokens(trace, selection)
        queries, keys = (
            range(len(tokens)) if kept is None else kept for tokens in (trace.query_tokens, trace.key_tokens)
        )
        if row >= len(queries) or column >= len(keys):
            return selection
        query, key = queries[row], keys[column]
    return replace(selection, head=None, query=query, key=key, dimension=None, number_of="")


def _opened(selection: Selection, layer: int, head: int | None, trace: Trace) -> Selection:
    """Return the selection with a head to be seen alone, or with the feed-forward block of a layer.

    What a word is owed to is what the head does at the last word.
    """
    if selection.panel == "owed_to" and not (selection.every and len(trace.layers) > 1):
        selection = replace(selection, query=len(trace.query_tokens) - 1, key=None, dimension=None)
    selection = replace(selection, head=None if selection.key is None else head, focus=head)
    shown = "ff_output" if head is None else "weights"
    return replace(selection, every=False, layer=layer, shown=shown, number_of="")


def _picked(selection: Selection, event: Event, trace: Trace, seen: Seen) -> Selection:
    """Return the selection with what was picked in the maps, or the head that it stands for in those of a panel."""
    opened = OPENED[selection.panel](event, trace) if selection.panel in OPENED else None
    if opened is not None:
        return _opened(selection, *opened, trace)
    stages = stage_of_run.shown(trace, selection)
    picked = picking.located(event, stages)
    if picked is None:
        return selection
    of_number = seen.outside(selection, selected(selection, picked, stages, trace.config.n_heads))
    if of_number.number_of and number(trace, of_number) is None:  # it is given, and made of nothing
        return seen.outside(selection, selected(selection, picked, stages))
    return of_number


def described(trace: Trace, selection: Selection, seen: Seen) -> tuple[int, int]:
    """Return the head and the word that the sentence is about.

    Those that were chosen, or else the most telling ones of those that are shown.
    """
    head, query, _ = stage_of_run.telling(trace, selection, seen)
    return head, query if selection.query is None or not seen.has(selection.query) else selection.query
