"""Uploaded arrays as a Trace: the part that each array is, and the tokens along them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from attnviz.arrays import Array
from attnviz.engine.cost import sizes as run_sizes
from attnviz.engine.cost.sizes import Shape, Sizes
from attnviz.engine.external.traces import of_scores, of_vectors, of_weights
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.engine.tables.scores import SCORES
from attnviz.settings.faults import ConfigError, shorten
from attnviz.settings.language import Words, translate
from attnviz.uploads import parse_text
from attnviz.uploads.parse_text import Upload

PARTS = {"weights": ("weights",), "scores": ("scores",), "vectors": ("q", "k", "v")}
"""The arrays of each kind, by the names that they have in a file and on the page."""

OTHER_NAMES = {
    "weights": ("weights", "attention", "attentions", "attn", "a"),
    "scores": ("scores", "logits", "s"),
    "q": ("q", "query", "queries"),
    "k": ("k", "key", "keys"),
    "v": ("v", "value", "values"),
}
"""The names of an array in a file, in small or capital letters."""

FAULTS = Words(
    {
        "which": "the file holds {names}; give {wanted} as the names of the arrays",
        "none": "the file holds no numbers; give {wanted}",
    }
)
NAMELESS = "one array without a name"


def trace(kind: str, parts: Mapping[str, Upload], tokens: str, key_tokens: str, config: Config) -> Trace:
    """Build a Trace of a kind, a key of PARTS, from uploaded arrays.

    parts   what was read for each array of the kind, or all of it out of one file, as ""
    tokens  as they were typed; without any, those of the file
    config  whose masks, scale, soft cap, normaliser and temperature apply to scores and to queries, keys and values

    Raises ConfigError for arrays that are not there, and for what does not fit together.
    """
    arrays = _arrays(kind, parts)
    queries, keys = parse_text.tokens(tokens), parse_text.tokens(key_tokens)
    if queries is None and keys is None:
        first = next(iter(parts.values()))
        queries, keys = first.query_tokens, first.key_tokens
    if kind == "weights":
        return of_weights(arrays[0], queries, keys)
    if kind == "scores":
        return of_scores(arrays[0], queries, keys, config=config)
    q, k, v = arrays
    return of_vectors(q, k, v, queries, keys, config=_applicable(config))


def sizes(kind: str, parts: Mapping[str, Upload], config: Config) -> Sizes:
    """Return the sizes of the Trace of uploaded arrays, by their shapes, before any of it is computed.

    Raises ConfigError for arrays that are not there.
    """
    shapes = list(map(_shape, _arrays(kind, parts)))
    if kind == "weights":
        return run_sizes.of_weights(shapes[0])
    if kind == "scores":
        return run_sizes.of_scores(shapes[0], config)
    q, k, v = shapes
    return run_sizes.of_vectors(q, k, v, _applicable(config))


def _shape(array: Array) -> Shape:
    """Return layers, heads, rows and columns; a second of five axes is that of a batch with one element."""
    sizes = array.shape if array.ndim < 5 else array.shape[:1] + array.shape[-3:]
    layers, heads, rows, columns = (1,) * (4 - len(sizes)) + sizes
    return layers, heads, rows, columns


def _applicable(config: Config) -> Config:
    """Return the setting with a score that has no matrices of its own: given vectors bring none."""
    return replace(config, score="scaled_dot") if SCORES[config.score].parameters else config


def _arrays(kind: str, parts: Mapping[str, Upload]) -> tuple[Array, ...]:
    """Return the arrays of the kind: each pasted by itself, or all out of one file, by their names or as the only
    one.
    """
    if "" not in parts:
        return tuple(_only(parts[part], part) for part in PARTS[kind])
    arrays = parts[""].arrays
    if len(PARTS[kind]) == 1 and len(arrays) == 1:
        return tuple(arrays.values())
    named = {name.lower(): array for name, array in arrays.items()}
    called = [next((name for name in OTHER_NAMES[part] if name in named), None) for part in PARTS[kind]]
    if None in called:
        raise _fault("which" if arrays else "none", arrays, PARTS[kind])
    return tuple(named[name] for name in called if name)


def _only(upload: Upload, part: str) -> Array:
    if len(upload.arrays) != 1:
        raise _fault("which", upload.arrays, (part,))
    return next(iter(upload.arrays.values()))


def _fault(which: str, arrays: Mapping[str, Array], wanted: tuple[str, ...]) -> ConfigError:
    names = ", ".join(shorten(name) if name else translate(NAMELESS) for name in list(arrays)[:6])
    return ConfigError(FAULTS[which].format(names=names, wanted=", ".join(wanted)))
