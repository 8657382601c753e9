"""The fields that the maps follow while they are held: a slider as it is dragged, a sentence as it is typed.

What a field says is put into the setting that is drawn, and the browser asks the server's own route for the stages of
that, long before the field lets the page know. Fields whose widgets offer what fits the others are not among them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import Field
from typing import Any

from attnviz.engine.external.traces import is_external
from attnviz.engine.learning import learnable
from attnviz.engine.records.config import Config, all_but_seed
from attnviz.engine.records.trace import Trace
from attnviz.settings.fields import relevant_fields, settings
from attnviz.settings.kept import Kept
from attnviz.settings.kinds import Number, Text
from attnviz.settings.language import current_language
from attnviz.settings.tuple_kinds import Knobs, Widths
from attnviz.ui.hosting import public_address
from attnviz.ui.panels import stage_of_run, sweep
from attnviz.ui.session.field_widgets import stops_of
from attnviz.ui.session.selection import Selection
from attnviz.ui.session.widget_values import is_picked, knob_key, shown_value

Held = Mapping[str, str | float | Sequence[str]]
"""What a field says `now`, and how it stands in an address: under which `name`, behind what text (`before`), as one of
so many (`stops`), or by what word where it is `empty`."""

_kept = Kept[dict[str, Held]](most=64)


def of_run(trace: Trace, selection: Selection) -> dict[str, Any] | None:
    """Return what the browser asks with: where, the setting that is drawn as an address, and the fields by their keys.

    None where no address tells what is drawn: numbers were brought along, are learned, or move by themselves.
    """
    if is_external(trace) or learnable.learns(trace.config) or sweep.is_moving():
        return None
    setting = stage_of_run.address(trace.config, selection)
    held = fields(trace.config.chosen)
    if getattr(trace.config, "image", None) is not None:  # its tokens are no words of the sentence
        held.pop("sentence", None)
    beside = {"lang": current_language(), public_address.EDITION: stage_of_run.edition()}
    return {
        "address": public_address.STAGE.lstrip("/"),
        "setting": setting | beside,
        "fields": held,
    }


def fields(config: Config) -> dict[str, Held]:
    """Return the fields that can be held, by the keys of their widgets; the name of most is their key.

    >>> held = fields(Config(sentence="a cat", normaliser="entmax"))
    >>> held["sentence"], held["d_model"]["stops"][:3], held["normaliser_knobs.entmax.alpha"]
    ({'now': 'a cat'}, ['1', '2', '3'], {'now': 1.25, 'name': 'normaliser_knobs', 'before': 'entmax.alpha~'})
    """
    beside = _kept.get(all_but_seed(config), lambda: _fields(config))
    return {name: {"now": config.seed} if name == "seed" else held for name, held in beside.items()}


def _fields(config: Config) -> dict[str, Held]:
    live = relevant_fields(config)
    return dict(held for item in settings(config) if item.name in live for held in _held(config, item))


def _held(config: Config, item: Field[Any]) -> Iterator[tuple[str, Held]]:
    kind, value = item.metadata["kind"], getattr(config, item.name)
    match kind:
        case Text() if kind.whole is str:  # else what is typed could be read as the short form of another
            yield item.name, {"now": value}
        case Widths():
            yield item.name, {"now": shown_value(item, value)}
        case Number() if is_picked(kind):
            return
        case Number() if kind.none:
            yield item.name, {"now": shown_value(item, value), "empty": kind.write(None)}
        case Number(stops=stops) if stops:
            offered = stops_of(kind, value)
            yield item.name, {"now": offered.index(value), "stops": [kind.write(each) for each in offered]}
        case Number():
            yield item.name, {"now": value}
        case Knobs():
            row = kind.rows[getattr(config, kind.of)]
            for at, knob in ((f"{row.name}.{knob.name}", knob) for knob in row.knobs if not knob.heads):
                others = kind.write(tuple(each for each in value if each[0] != at))
                before = {"name": item.name, "before": f"{others}~~{at}~".removeprefix("~~")}
                yield knob_key(item.name, at), {"now": float(dict(value).get(at, knob.default)), **before}
