"""The maps of a page: one component that lays stages out for its window, draws them and says what is picked in them.

Python sends one message, the stages as `attnviz.pictures.figures.described` has them and what belongs to them. `view`
says what part of the window is theirs, `picking` what was picked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from attnviz.arrays import Array
from attnviz.pictures import headings
from attnviz.pictures.answer.browser_facts import CellFacts
from attnviz.pictures.figures import described
from attnviz.pictures.stage_bytes import NamedArray, packed
from attnviz.pictures.stage_record import ALLOWED, FORBIDDEN, MASKED_WORD, Stage
from attnviz.settings import language
from attnviz.settings.kept import Kept
from attnviz.settings.language import InContext, Words
from attnviz.text.format.number_format import DECIMAL_COMMA
from attnviz.text.format.patch_words import table_of
from attnviz.ui.components.pickers import film_strip, overview
from attnviz.ui.components.pickers.overview import Overview
from attnviz.ui.components.stage import picking, plotly_bundle, stages_sent
from attnviz.ui.components.stage.held import Holding
from attnviz.ui.components.stage.picking import Picked
from attnviz.ui.components.stage.stages_sent import AtAddress
from attnviz.ui.components.stage.view import SCROLLED, View
from attnviz.ui.session.browser.component import component, ignore
from attnviz.ui.session.browser.together import is_there, leave_apart

WORDS: Words[Any] = Words(
    {
        "masked": "masked",
        "nan": "not a number",
        "question": "this is what is asked for",
        "empty": "(empty)",
        "wide": "wide",
        "word": InContext("word", "above the rows of a map"),
        "patch": InContext("patch", "above the rows of a map"),
        "to": InContext("to", "before the columns of a map"),
        "dimension": "dimension",
        "total": "total",
        "spread": "spread",
        "reads_key": "bar on the right: how many words a row attends to, its effective number of keys",
        "total_key": "bar below: the weight that a word receives in all",
        "above_key": "a score above 0",
        "below_key": "a score below 0",
        "apart_key": "own scales: the largest score of each head has the full colour",
        "zero": "every score is 0",
        "was": "was {number}",
        "row_sum": "a weight was set by hand: the row adds up to {sum}",
        "knob": "drag sideways or type a number; arrow keys change it, with Shift finer, Enter keeps it, Escape "
        "does not; Ctrl+Z takes back what was kept",
        "others": "more numbers to drag",
        "hold": "drag up or down, or type a number; Ctrl+Z takes it back",
        "pin": "pin",
        "pinned": "this is the pinned picture",
        "pinned_now": "pinned: change a setting to compare",
        "pinned_same": "this is the pinned picture, the same as now",
        "unpin": "unpin",
        "flip": "hold B",
        "flip_hint": "While B is held, the maps of A show B",
        "flipped": "this is B, in A's place",
        "flipped_same": "this is B, in A's place: the same numbers",
        "pin_hint": "P pins, B shows what is pinned",
        "differs": "outlined: larger by 0.1 or more, dashed: smaller",
        "unlike": "another size",
        "close": "close",
        "row_says": "attends to {key} {amount}",
        "number": "The number of this cell. Up and down change it, with Shift finer; Enter keeps it, Escape does not.",
        "no_number": "This is no number, so nothing is kept.",
        "out_of_range": "It goes from {low} to {high}; nothing else is kept.",
        "not_whole": "Only a whole number is kept.",
        "keys": "Heat map. Arrow keys move from cell to cell, Page Up and Page Down from head to head, Enter chooses.",
        "keys_held": "A digit or F2 changes the number; X switches the head off or on; while the mask is painted, "
        "Space forbids or allows. Control and Z takes back what was changed by hand, with Shift it is redone.",
        "head_off": "switch this head off (X): its output is 0",
        "head_on": "switch this head on again (X)",
    }
)

_component = component(__file__, is_isolated=False)
_kept = Kept[Mapping[str, str]](most=64)
HEADINGS = Path(__file__).with_name("heading.css")
"""The style of the headings: a page sends it along with its own."""


@dataclass(frozen=True)
class Heads:
    """The heads of the pictures.

    film     the strip of all heads, where one of them is shown alone
    number   how many there are of which one can be brought to the front
    opening  the head and the row that are lit while nothing is picked or pointed at
    overview  all words of a text of which the stages are a window
    by_number  whether heads of one number belong together in stages that have others of them
    """

    film: film_strip.Strip | None = None
    number: int = 1
    opening: tuple[int, int] | None = None
    overview: Overview | None = None
    by_number: bool = False


@dataclass(frozen=True)
class Lettering:
    """The text in the cells.

    signs        a minus also in negative cells that are too small for their number, as always in print
    is_question  a number that is NaN is one that a question asks for
    of_patches   the tokens are the patches of an image
    is_unnamed   a cell is to be found by its row and its column, so what stands beside the pointer names neither
    """

    signs: bool = False
    is_question: bool = False
    of_patches: bool = False
    is_unnamed: bool = False


def show(
    stages: Sequence[Stage],
    *,
    key: str,
    picked: Picked | None = None,
    view: View = SCROLLED,
    heads: Heads = Heads(),
    lettering: Lettering = Lettering(),
    holding: Holding | None = None,
    follow: Mapping[str, Any] | None = None,
    swept: Mapping[str, Any] | None = None,
    kept: Callable[[], None] = ignore,
    cells: CellFacts | None = None,
    there: AtAddress | None = None,
) -> Picked | None:
    """Draw the stages, of all heads, and return what was picked in them since the last run, None as a rule.

    picked   what is picked now; it is marked in every stage that it concerns
    holding  how their numbers can be held; None where they cannot
    follow   the fields that the maps follow while they are held, as `held_fields.of_run` has them, and under `pinned`
             where the stages are that a link has pinned; none of them if None
    swept    the number of the setting that moves by itself, as `sweep.laid_out` has it; `kept` is called when a visitor
             has kept one of its values, before the next run
    cells    what explains any cell: numbers that a browser does not compute are sent here, facts by `cells_of_stage`
    there    that the same stages are at the address of `follow`: then they are not sent, nor what of `cells` is there.
             Else they have a message of their own, where several components are sent what they show in one
    """
    shared = [] if there is None else there.shared(cells)
    beside = _beside(key, picked, view, heads, lettering) | {
        "axes": {axis: language.translate(axis) for stage in stages for axis in stage.axes},
        "live": holding and holding.described(),
        "follow": follow,
        "swept": swept,
        "cells": None if cells is None else _said_of(cells) | {"shared": shared},
    }
    numbers = {f".cell.{name}": each for name, each in (cells.arrays if cells else {}).items() if name not in shared}
    apart = None if there else leave_apart(key, lambda: stages_sent.named(lambda name: message(stages, name, numbers)))
    known = there or apart
    about = {"there": known and known.name, "is_sent": apart is not None}
    parts = _parts(heads) | ({} if apart else numbers)
    data, held = message([] if known else stages, beside | about, parts), holding.kept if holding else ignore
    listeners = {"on_event_change": ignore, "on_swept_change": kept, "on_held_change": held}
    _component(key=key, data=data, height="content", **listeners)
    return picking.picked(key, stages)


def _said_of(cells: CellFacts) -> dict[str, Any]:
    computed = {"is_computed": True} if cells.is_computed else {}
    return {"name": cells.header["name"], "head": cells.head, **computed}


def _beside(key: str, picked: Picked | None, view: View, heads: Heads, lettering: Lettering) -> dict[str, Any]:
    """Return what belongs to the maps, whatever is in them."""
    return {
        "key": key,
        "picked": asdict(picked) if picked else None,
        "view": asdict(view),
        **({} if is_there() else {"words": _words(lettering)}),
        **{"signs": lettering.signs, "unnamed": lettering.is_unnamed},
        "focus": None if heads.film is None else heads.film.head,
        "heads": heads.number,
        "by_number": heads.by_number,
        "opening": heads.opening,
        "plotly": plotly_bundle.address(),
    }


def message(stages: Sequence[Stage], beside: Mapping[str, Any], parts: Mapping[str, NamedArray] | None = None) -> bytes:
    """Return the stages as bytes, and `beside` in the header; `parts` are arrays that are of none of them."""
    arrays: dict[str, NamedArray] = {}
    header = {**beside, "stages": [described(stage, arrays) for stage in stages]}
    return packed(header, {**arrays, **(parts or {})})


def _parts(heads: Heads) -> dict[str, NamedArray]:
    """Return the data of the film strip and of the overview, which the component draws beside the maps."""
    parts: dict[str, bytes] = {}
    if heads.film is not None:
        parts[".film"] = film_strip.packed(heads.film)
    if heads.overview is not None:
        parts[".overview"] = overview.packed(heads.overview)
    return {name: (("byte",), _bytes(data)) for name, data in parts.items()}


def _bytes(data: bytes) -> Array:
    return np.frombuffer(data, np.uint8)


def _words(lettering: Lettering) -> Mapping[str, str]:
    return _kept.get((language.current_language(), lettering), lambda: _words_of(lettering))


def _words_of(lettering: Lettering) -> Mapping[str, str]:
    of_headings = {**headings.SWITCH, **headings.PAINT, **headings.WORDS}
    of_masks = {"masked": MASKED_WORD, "may": ALLOWED, "may_not": FORBIDDEN, "range": "{low} to {high}"}
    translated = {name: language.translate(word) for name, word in of_masks.items()}
    mark = {"nan": WORDS["question"], "mark": "?"} if lettering.is_question else {"mark": "NaN"}
    decimal = {"decimal": "," if language.current_language() in DECIMAL_COMMA else "."}
    said = table_of(WORDS, patches=lettering.of_patches)
    of_patches = said.pop("patch")
    if lettering.of_patches:
        said["word"] = of_patches
    return {**said, **of_headings, **translated, **mark, **decimal}
