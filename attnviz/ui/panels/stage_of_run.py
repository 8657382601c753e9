"""The stage of a run as bytes: all that a browser needs to draw the maps of a layer, to write over them and to explain.

They are a function of the setting and of what is looked at: the layer, the steps, of a long text the words, and whether
each head has colours of its own; no window and no theme is in them, as those are the browser's. The stages
that the page's component draws after a run are the same, bit for bit: a picture that was drawn ahead of it stays.

The header says, beside the `arrays` (see `attnviz.pictures.stage_bytes` for how they lie):

    format    1; another number for bytes that are made otherwise
    name      of these bytes: another one for other bytes
    maps      the name of what is in them whatever is chosen in the maps: of the stages, and of the steps beside them
    setting   the setting as an address, without what is looked at
    language  of the words;  headline, notes, origin  what is said of the run
    layer, layers, heads   the layer, counted from 0, and how many layers and heads there are
    words     the words that are shown: `query` and `key`
    positions theirs among all, `query` and `key`; null for all of them
    lengths   how many words there are;  is_window  whether those that are shown are a window of a long text
    opening   head, query and key that the sentence is about while no word is chosen, counted from 0 among all: of the
              head that is looked at, or else of any
    roles     what each head does, in a few words; empty where there are no weights
    path      the steps from the words to the output: name, symbol, shape, meaning, before, colours, dark; the small
              picture of each is the array `path.` and its name
    stages    the maps side by side, each with its words; its numbers are the array of its `name`, (heads, rows,
              columns). See `attnviz.pictures.figures.described`
    handles   the numbers of the setting that headings show, each as `attnviz.live.knobs` has it, with a `sign`
    overview  the size of the blocks of which the array `overview` has the largest weights, in a long text; else null

Beside the stages stand the other steps that the arithmetic of a cell reads, queries, keys, values, bias and what else
the interactive file keeps, each by its name: as float64, as far as they have no more numbers than `EXACT_UP_TO`. A
stage with more has float32, of which only colours and a few digits are read. What is not here is asked of a run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cache, partial
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.external.traces import forbidden, is_external
from attnviz.engine.pretrained import model_registry
from attnviz.engine.records.config import Config, all_but_seed
from attnviz.engine.records.trace import Step, Trace
from attnviz.exports.interactive_part import kept
from attnviz.live.knobs import Data, knobs_of, settings_of, sizes_of
from attnviz.live.program import program_of
from attnviz.pictures import columns, step_path
from attnviz.pictures.figures import EXACT_UP_TO, as_colour, described, shades
from attnviz.pictures.stage_bytes import NamedArray, packed
from attnviz.pictures.stage_record import Stage
from attnviz.settings import url_codec
from attnviz.settings.kept import Kept
from attnviz.settings.language import Words, current_language
from attnviz.text import opening_sentence
from attnviz.text.headline import headline
from attnviz.ui.components.pickers import overview
from attnviz.ui.components.stage.stages_sent import AtAddress, HandedOut
from attnviz.ui.hosting.recent_runs import made_once
from attnviz.ui.panels import model, window
from attnviz.ui.panels.window import Seen
from attnviz.ui.session.selection import Selection, within

FORMAT = 1
PACKAGE = Path(__file__).parents[2]
OVERVIEW, PATH = "overview", "path."
LOOKED_AT = ("layer", "shown", "specials", "colours", "from_query", "from_key", "head", "query", "key", "focus")
"""The fields of a selection that the bytes depend on."""
CHOSEN_IN_MAPS = {name: getattr(Selection, name) for name in ("head", "query", "key", "focus")}
"""Those of them that neither the stages nor the steps beside them depend on, as they are where nothing is chosen."""
SIGNS = Words(
    {
        "temperature": "T",
        "alpha": "α",
        "sink": "sink",
        "d_k": "d_k",
        "reach": "reach",
        "bias_slope": "slope",
        "softcap": "cap",
        "dilation": "every",
        "block_size": "block",
        "prefix_length": "prefix",
        "n_global": "global",
        "scale": "scale",
        "d_v": "d_v",
        "n_heads": "heads",
        "score_formula": "score",
        "mask_formula": "mask",
        "bias_formula": "bias",
        "normaliser_formula": "normaliser",
    }
)
"""The numbers of the setting in so few letters that they have room in a heading, in the order in which they do."""
FOLLOWS = ("masked",)
"""Steps that the interactive file keeps and that are not sent: they follow from the others and from `forbidden`."""

_kept = Kept[list[Data]](most=64)
_addresses = Kept[dict[str, str]](most=64)
_handed_out = HandedOut()


def stage_of_run(trace: Trace, selection: Selection) -> bytes:
    """Return the bytes of the layer that is looked at, of all heads; the module says what is in them."""
    selection = within(selection, trace)
    seen, stages = window.seen(trace, selection), shown(trace, selection)
    header, arrays = _said(trace, selection, seen), dict[str, NamedArray]()
    header["stages"] = [described(stage, arrays) for stage in stages]
    header["roles"] = _roles(trace, selection.layer, stages)
    header["path"] = [_node(node, arrays) for node in _path(trace, selection.layer, header["opening"])]
    _add_steps(trace, selection.layer, seen, arrays)
    header["handles"] = handles(trace)
    header["overview"] = _add_overview(trace, selection, seen, arrays)
    _handed_out.note((header["name"], header["maps"]), arrays)
    return packed(header, arrays)


def at_address(trace: Trace, selection: Selection) -> AtAddress | None:
    """Return what of a run was handed out by its address, so that no page has to send it again; None if nothing was."""
    return _handed_out.get(_name(trace, within(selection, trace)))


def maps_at_address(trace: Trace, selection: Selection) -> AtAddress | None:
    """Return what was handed out of the same stages, whatever was chosen in them; None if nothing was."""
    return _handed_out.get(maps_name(trace, selection))


def maps_name(trace: Trace, selection: Selection) -> str:
    """Return the name of the stages and of the steps beside them, whatever is chosen; not for a window of a text."""
    return _name_of(trace.config, replace(within(selection, trace), **CHOSEN_IN_MAPS), "maps")


def is_at_address(config: Config, selection: Selection) -> bool:
    """Return whether that was handed out of a setting of which no run is there; wait for it where it is being made."""
    return _handed_out.has(_name_of(config, selection))


def being_made(config: Config, selection: Selection) -> AbstractContextManager[None]:
    """Note that the bytes of a setting are on their way."""
    return _handed_out.coming(_name_of(config, selection))


def forget() -> None:
    """Forget what is at addresses, as for a test of a page that has asked for nothing."""
    _handed_out.clear()


def _name(trace: Trace, selection: Selection) -> str:
    return _name_of(trace.config, selection)


def _name_of(config: Any, selection: Selection, *what: str) -> str:
    said = address(config, selection), current_language(), edition(), *what
    return blake2b(repr(said).encode(), digest_size=8).hexdigest()


def address(config: Any, selection: Selection) -> dict[str, str]:
    """Return the setting and what counts of a selection as an address."""
    return url_codec.encode(config) | _addresses.get(selection, lambda: url_codec.encode(looked_at(selection)))


def looked_at(selection: Selection) -> Selection:
    """Return the part of a selection that counts here."""
    return replace(Selection(), **{name: getattr(selection, name) for name in LOOKED_AT})


def shown(trace: Trace, selection: Selection) -> list[Stage]:
    """Return the stages that stand side by side, of all heads, with the words that are shown."""
    seen = window.seen(trace, selection)
    key = "shown", current_language(), seen, selection.layer, selection.shown, selection.colours
    return made_once(trace, key, lambda: _shown(trace, selection, seen))


def telling(trace: Trace, selection: Selection, seen: Seen) -> tuple[int, int, int]:
    """Return head, query and key of the weight that tells most among the words that are shown.

    In the head that was chosen, or else in any.
    """
    layer, head = selection.layer, selection.head if selection.focus is None else selection.focus
    find = partial(opening_sentence.telling, trace, layer, head, seen.queries, seen.keys)
    return made_once(trace, ("telling", layer, head, seen), find)


def path(trace: Trace, layer: int, head: int) -> Sequence[step_path.PathStep]:
    """Return the steps from the words to the output of a head."""
    return made_once(trace, ("path", current_language(), layer, head), lambda: step_path.way(trace, layer, head))


def _shown(trace: Trace, selection: Selection, seen: Seen) -> list[Stage]:
    stages = columns.columns(trace, selection.layer, selection.shown, apart=selection.colours == "apart")
    return [seen.part(stage) for stage in stages]


def handles(trace: Trace) -> list[Data]:
    """Return the numbers of the setting that headings show, but for those that a trained model decides."""
    if is_external(trace):
        return []
    if type(trace.config) is not Config:
        return _handles(trace)
    key = current_language(), all_but_seed(trace.config)  # no number depends on the seed
    return _kept.get(key, lambda: _handles(trace))


def _handles(trace: Trace) -> list[Data]:
    program, decided = program_of(trace), model.decided(trace.config.chosen)
    read = {name for step in program["steps"] for name in settings_of(step["made"])} - {*decided}
    sizes = [knob for knob in sizes_of(trace.config.chosen) if knob["name"] not in decided]
    found = [(_sign_of(knob["name"]), knob) for knob in (*knobs_of(trace, program["settings"], read), *sizes)]
    return [knob | {"sign": SIGNS[name]} for name in SIGNS for sign, knob in found if sign == name]


def _sign_of(knob: str) -> str:
    """Return the name of the sign of a knob.

    >>> _sign_of("temperature"), _sign_of("entmax.alpha"), _sign_of("bias_formula.0")
    ('temperature', 'alpha', 'bias_formula')
    """
    first, _, last = knob.partition(".")
    return first if not last or last.isdecimal() else last


@cache
def edition() -> str:
    """Return a name for the code that makes the bytes, the same in every process that runs it.

    Bytes that a browser has kept are those of a setting only until the code is another, or other models are offered.
    """
    named = blake2b(repr(sorted(model_registry.MODELS)).encode(), digest_size=6)
    for path in sorted(PACKAGE.rglob("*")):
        if path.suffix in (".py", ".npz", ".mo"):
            named.update(path.read_bytes())
    return named.hexdigest()


def _said(trace: Trace, selection: Selection, seen: Seen) -> dict[str, Any]:
    """Return what the header says of the run as a whole."""
    has_weights = "weights" in trace.layers[selection.layer]
    opening = telling(trace, selection, seen) if has_weights else None
    sides = {"query": (trace.query_tokens, seen.queries), "key": (trace.key_tokens, seen.keys)}
    return {
        "format": FORMAT,
        "name": _name(trace, selection),
        "maps": maps_name(trace, selection),
        "setting": url_codec.encode(trace.config),
        "language": current_language(),
        "headline": headline(trace),
        "notes": trace.notes,
        "origin": opening_sentence.describe_origin(trace),
        "layer": selection.layer,
        "layers": len(trace.layers),
        "heads": trace.config.n_heads,
        "words": {side: words if at is None else [words[n] for n in at] for side, (words, at) in sides.items()},
        "positions": {side: at for side, (_, at) in sides.items()},
        "lengths": {side: len(words) for side, (words, _) in sides.items()},
        "is_window": seen.is_window,
        "opening": opening,
    }


def _roles(trace: Trace, layer: int, stages: Sequence[Stage]) -> Sequence[str]:
    """Return what each head does, as the weights say it already where they are shown."""
    if "weights" not in trace.layers[layer]:
        return ()
    return next((stage.roles for stage in stages if stage.roles), None) or columns.roles(trace, layer)


def _path(trace: Trace, layer: int, opening: tuple[int, int, int] | None) -> Sequence[step_path.PathStep]:
    return () if opening is None else path(trace, layer, opening[0])


def _node(node: step_path.PathStep, arrays: dict[str, NamedArray]) -> dict[str, Any]:
    """Return what is said of a step on the path, and add its small picture."""
    arrays[f"{PATH}{node.name}"] = ("down", "across"), node.picture
    said = {name: getattr(node, name) for name in ("name", "symbol", "shape", "meaning", "before")}
    return said | dict(shades(node.colours))


def _add_steps(trace: Trace, layer: int, seen: Seen, arrays: dict[str, NamedArray]) -> None:
    """Add what the arithmetic of a cell reads beside the stages, of the words that are shown."""
    for step in kept(trace, layer):
        if step.name not in (*arrays, *FOLLOWS):
            array = _part(step, {"query": seen.queries, "key": seen.keys})
            if array.size <= EXACT_UP_TO:
                arrays[step.name] = step.axes, array


def _part(step: Step, shown: Mapping[str, Sequence[int] | None]) -> Array:
    array = step.array
    for axis, name in enumerate(step.axes):
        positions = shown.get(name)
        if positions is not None:
            array = array.take(positions, axis)
    return array


def _add_overview(
    trace: Trace, selection: Selection, seen: Seen, arrays: dict[str, NamedArray]
) -> Mapping[str, int] | None:
    """Add the largest weights of the blocks of a long text; return how many words are in one."""
    if not seen.is_window or "weights" not in trace.layers[selection.layer]:
        return None
    steps = trace.layers[selection.layer]
    weights = steps["weights"].array
    weights = seen.of_weights(np.where(np.broadcast_to(forbidden(steps), weights.shape), np.nan, weights))
    block = overview.block_size(max(weights.shape[1:]))
    arrays[OVERVIEW] = ("query", "key"), as_colour(overview.blocks(weights, block))
    return {"block": block}
