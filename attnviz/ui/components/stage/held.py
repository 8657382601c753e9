"""Events of a hand in the maps, once it lets go: a number, the cells of a mask, a number of the setting."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from attnviz.arrays import Array
from attnviz.ui.components import mask_painter
from attnviz.ui.session.browser.component import checked_index, report

EVENT = "held"
MOST_ID = 2**53


@dataclass(frozen=True)
class Holding:
    """Facts by which numbers of the maps can be held.

    address    of the program of the run, below that of the page
    layer      the layer that is shown, counted from 0
    confirmed  the number of the last event that was taken over, or refused
    paints     whether a press on the weights paints their mask from the beginning; None where heads have masks of
               their own, as a painted one is the same for all
    knobs      the numbers of the setting that may be moved, each as `attnviz.live.knobs` has it, with a `sign`
    formula    what the formula of the weights is made of, as `stages.weights_formula_facts` has it
    off        the heads of the layer that are switched off; None where none can be
    kept       is called when a hand has let go, before the next run
    """

    address: str
    layer: int
    confirmed: int
    paints: bool | None
    knobs: Sequence[Mapping[str, Any]]
    formula: Mapping[str, Any]
    off: Sequence[int] | None
    kept: Callable[[], None]

    def described(self) -> dict[str, Any]:
        """Return what the browser is told."""
        names = ("address", "layer", "confirmed", "paints", "knobs", "formula", "off")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True)
class KeptNumber:
    """A number of a step, by its index in the step's array."""

    step: str
    index: tuple[int, ...]
    value: float


@dataclass(frozen=True)
class KeptMask:
    """A mask that was painted: who may attend to whom, (queries, keys)."""

    allowed: Array


@dataclass(frozen=True)
class KeptSetting:
    """A number of the setting, by the name of its field."""

    name: str
    value: float


@dataclass(frozen=True)
class KeptHead:
    """A head of the layer that is switched off, or on again."""

    head: int
    is_off: bool


@dataclass(frozen=True)
class KeptUndo:
    """A step back through the changes that a hand has made, or forth again."""

    is_back: bool


Kept = KeptNumber | KeptMask | KeptSetting | KeptHead


def kept(
    key: str, shapes: Mapping[str, Sequence[int]], mask: Sequence[int], names: Sequence[str]
) -> Kept | KeptUndo | None:
    """Return what a hand let go of in the maps of a key, None if the browser says nothing that can be.

    shapes  of the steps whose numbers may be held;  mask  of the mask;  names  of the settings that may be moved
    """
    return read(report(key).get(EVENT), shapes, mask, names)


def number(key: str) -> int | None:
    """Return the number of the last event, by which the browser knows the run that answers it."""
    answer = report(key).get(EVENT)
    found = answer.get("id") if isinstance(answer, Mapping) else None
    return found if isinstance(found, int) and not isinstance(found, bool) and 0 <= found < MOST_ID else None


def read(
    answer: Any, shapes: Mapping[str, Sequence[int]], mask: Sequence[int], names: Sequence[str]
) -> Kept | KeptUndo | None:
    """Read an event from the browser, as it may say anything; see `kept`."""
    if not isinstance(answer, Mapping):
        return None
    if "undo" in answer:
        return KeptUndo(answer["undo"]) if isinstance(answer["undo"], bool) else None
    if "cells" in answer:
        allowed = mask_painter.read(answer, tuple(mask))
        return None if allowed is None else KeptMask(allowed)
    if "head" in answer:
        heads = shapes.get("heads", ())[:1]
        found, is_off = _index([answer["head"]], heads), answer.get("off")
        return KeptHead(found[0], is_off) if found and isinstance(is_off, bool) else None
    value = _finite(answer.get("value"))
    if value is None:
        return None
    if "setting" in answer:
        name = answer["setting"]
        return KeptSetting(name, value) if isinstance(name, str) and name in names else None
    index = _index(answer.get("at"), shapes.get(answer["step"]) if isinstance(answer.get("step"), str) else None)
    return None if index is None else KeptNumber(answer["step"], index, value)


def _finite(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _index(at: Any, shape: Sequence[int] | None) -> tuple[int, ...] | None:
    """Return an index that lies inside an array of this shape."""
    if shape is None or not isinstance(at, Sequence) or isinstance(at, str) or len(at) != len(shape):
        return None
    try:
        found = [checked_index(place, size) for place, size in zip(at, shape)]
    except ValueError:
        return None
    return None if None in found else tuple(place for place in found if place is not None)
