"""Arrays from outside in one form: layers, heads, rows, columns.

NumPy arrays, nested lists, tensors of other libraries, data frames, the tuple with an array a layer that a model hands
back, its whole output, and what it hands back while it generates; and the tokens along them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.external.dictionaries import is_dictionary, layers_of
from attnviz.engine.numerics.tensors import real
from attnviz.settings.counting import ordinal, ordinals
from attnviz.settings.faults import ConfigError
from attnviz.settings.language import Words, translate

SHAPES = "(rows, columns), (heads, rows, columns) or (layers, heads, rows, columns)"

PLACES = Words({"layer": "layer {n}", "head": "head {n}", "row": "row {n}", "column": "column {n}"})

NO_WEIGHTS = (
    "{name} is empty: the model did not keep its weights; load it with from_pretrained(..., "
    'attn_implementation="eager") and call it with output_attentions=True'
)
BEAMS = (
    "{name} comes from a beam search, in which the rows of one position belong to different texts; "
    "generate with num_beams=1"
)
SEVERAL = "{name} is a whole output, with {parts}; give one of these"

TOKENS = Words(
    {
        "query": "the query tokens are {given}; give a list of strings, one for each query (tokenizer.tokenize makes "
        "them, or of token ids convert_ids_to_tokens)",
        "key": "the key tokens are {given}; give a list of strings, one for each key (tokenizer.tokenize makes them, "
        "or of token ids convert_ids_to_tokens)",
    }
)
TOO_FEW = Words(
    {
        "query": "there are {given} query tokens; give {n}, one for each query",
        "key": "there are {given} key tokens; give {n}, one for each key",
    }
)
"""The faults of tokens that are none, and of too few or too many, by their axis."""


def stack(name: str, value: Any, batch: int | None = None) -> Array:
    """Return arrays of any of these shapes as float64 (layers, heads, rows, columns).

    value  one array of two to four axes; or a tuple with an array a layer, each (batch, heads, rows, columns) or
           (heads, rows, columns); or five axes, (layers, batch, heads, rows, columns); or an output that has such
           a tuple as its `attentions`; or such a tuple for each step of a generation; or a dictionary with an array a
           layer, such as a cache of TransformerLens
    batch  which element of the batch axis, where there is more than one; of a single array with four axes that is the
           first axis, which otherwise is the layers'

    Raises ConfigError for anything else, for entries that are not real numbers, and for an array without numbers.
    """
    if name in ("weights", "scores") and not hasattr(value, "shape"):
        value = _attentions(name, value)
    if is_dictionary(value):
        value = layers_of(name, value)
    if _are_steps(value):
        value = [_grown(name, each) for each in zip(*value)]
    array = _layers(name, value, batch) if _are_arrays(value) else _unbatched(name, real(name, value), batch)
    if not 2 <= array.ndim <= 4:
        raise ConfigError(
            translate("{name} has shape {shape}; give {shapes}", name=name, shape=array.shape, shapes=translate(SHAPES))
        )
    if not array.size:
        raise ConfigError(
            translate(
                "{name} has shape {shape}, which holds no number; give one row and one column or more",
                name=name,
                shape=array.shape,
            )
        )
    return array.reshape((1,) * (4 - array.ndim) + array.shape)


def is_generated(value: Any) -> bool:
    """Return whether these are weights that a model kept while it wrote on, to the token before the last."""
    return not hasattr(value, "shape") and _are_steps(getattr(value, "attentions", value))


def finite(name: str, array: Array, *, minus_infinity: bool = False) -> Array:
    """Return the array, if all of its numbers are finite.

    Raises ConfigError that names the first position where one is not.
    """
    fine = np.isfinite(array)
    if minus_infinity:
        fine |= np.isneginf(array)
    if not fine.all():
        position = np.unravel_index(int(np.argmin(fine)), array.shape)
        number = (
            translate("a finite number, or -inf where a query may not attend")
            if minus_infinity
            else translate("a finite number")
        )
        at = where(position, array.shape)
        raise ConfigError(
            translate(
                "{name} is {value} at {where}; give {number}", name=name, value=array[position], where=at, number=number
            )
        )
    return array


def where(position: tuple[Any, ...], shape: tuple[int, ...]) -> str:
    """Return a position in (layers, heads, rows, columns) in words, counted from 1; an axis of one is not told.

    >>> where((0, 2, 1, 4), (1, 3, 5, 7))
    'head 3, row 2, column 5'
    """
    names = ("layer", "head", "row", "column")[-len(shape) :]
    numbered = zip(names, position, shape)
    return ", ".join(
        PLACES[name].format(n=ordinal(int(i))) for name, i, n in numbered if n > 1 or name in ("row", "column")
    )


def _attentions(name: str, value: Any) -> Any:
    """Return the attention of a model's whole output, or what was given; raise ConfigError where there is none."""
    parts = [part for part in ("encoder_attentions", "decoder_attentions", "cross_attentions") if hasattr(value, part)]
    if getattr(value, "beam_indices", None) is not None:
        raise ConfigError(translate(BEAMS, name=name))
    if hasattr(value, "attentions"):
        value = value.attentions
    elif parts:
        raise ConfigError(translate(SEVERAL, name=name, parts=", ".join(parts)))
    if _is_nothing(value):
        raise ConfigError(translate(NO_WEIGHTS, name=name))
    return value


def _is_nothing(value: Any) -> bool:
    """Return whether this is what a model hands back in place of weights that it did not keep."""
    return value is None or (isinstance(value, tuple) and all(map(_is_nothing, value)))


def _are_steps(value: Any) -> bool:
    """Return whether this is a tuple of layers for each step of a generation.

    Layers with a batch axis in tuples of tuples.
    """
    return (
        isinstance(value, (tuple, list))
        and bool(value)
        and all(_are_arrays(each) and len(each) == len(value[0]) for each in value)
        and all(len(one.shape) == 4 for each in value for one in each)
    )


def _grown(name: str, steps: Sequence[Any]) -> Array:
    """Return one layer of a generation: the rows of each step below those before, 0 at keys that were yet to come."""
    arrays = [real(name, step) for step in steps]
    n = max(array.shape[-1] for array in arrays)
    return np.concatenate([np.pad(array, [(0, 0)] * 3 + [(0, n - array.shape[-1])]) for array in arrays], axis=-2)


def labels_of(value: Any) -> tuple[list[str] | None, list[str] | None]:
    """Return the labels of the rows and of the columns of a data frame, each where they are words."""
    if not (hasattr(value, "index") and hasattr(value, "columns")):
        return None, None
    rows, columns = ([label for label in labels if isinstance(label, str)] for labels in (value.index, value.columns))
    return rows if len(rows) == len(value.index) else None, columns if len(columns) == len(value.columns) else None


def _are_arrays(value: Any) -> bool:
    """Return whether this is a list of arrays, not an array nor a list of lists of numbers."""
    return isinstance(value, (tuple, list)) and bool(value) and all(hasattr(each, "shape") for each in value)


def _layers(name: str, value: Any, batch: int | None) -> Array:
    """Stack arrays of one shape: as layers if each has heads, as heads if not; each is read once, into its place."""
    first = real(name, value[0])
    array = np.empty((len(value), *first.shape))
    for at, one in enumerate(value):
        each = real(name, one) if at else first
        if each.shape != first.shape:
            raise ConfigError(
                translate(
                    "{name} has arrays of shape {shape} and {other}; give one shape for all",
                    name=name,
                    shape=first.shape,
                    other=each.shape,
                )
            )
        array[at] = each
    return _unbatched(name, array, batch)


def _unbatched(name: str, array: Array, batch: int | None) -> Array:
    """Return one element of the batch axis: the second of five axes, the first of four if `batch` says so."""
    axis = 1 if array.ndim == 5 else 0
    if array.ndim < 4 or (array.ndim == 4 and batch is None):
        if batch:
            raise ConfigError(
                translate(
                    "batch is {batch}, but {name} has shape {shape} and no batch axis; leave it out",
                    batch=batch,
                    name=name,
                    shape=array.shape,
                )
            )
        return array
    n = array.shape[axis]
    if batch is None and n != 1:
        raise ConfigError(
            translate("{name} holds a batch of {n}; choose one with batch=0 to {last}", name=name, n=n, last=n - 1)
        )
    if not 0 <= (batch or 0) < n:
        raise ConfigError(
            translate("batch is {batch}; {name} holds {n}, choose 0 to {last}", batch=batch, name=name, n=n, last=n - 1)
        )
    return np.take(array, batch or 0, axis=axis)


def tokens_of(
    sizes: tuple[int, ...], queries: Sequence[str] | None, keys: Sequence[str] | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the tokens of queries and keys; the same where only one list is there and there are as many of both."""
    n_query, n_key = sizes
    if n_query == n_key:
        queries, keys = (keys if queries is None else queries), (queries if keys is None else keys)
    return _named("query", queries, n_query), _named("key", keys, n_key)


def _named(axis: str, tokens: Sequence[str] | None, n: int) -> tuple[str, ...]:
    if tokens is None:
        return tuple(str(number) for number in ordinals(n))
    if (
        isinstance(tokens, str)
        or not hasattr(tokens, "__iter__")
        or not all(isinstance(token, str) for token in tokens)
    ):
        raise ConfigError(TOKENS[axis].format(given=f"{tokens!r:.60}"))
    if len(tokens) != n:
        raise ConfigError(TOO_FEW[axis].format(given=len(tokens), n=n))
    return tuple(token.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace") for token in tokens)
