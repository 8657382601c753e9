"""What people bring, in one form: layers, heads, rows, columns.

NumPy arrays, nested lists, tensors of other libraries, and the tuple with an array a layer that a model hands back; and
the tokens along them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from attnviz.core.fields import ConfigError
from attnviz.core.language import Words, say

Array = np.ndarray

SHAPES = "(rows, columns), (heads, rows, columns) or (layers, heads, rows, columns)"

PLACES = Words({"layer": "layer {n}", "head": "head {n}", "row": "row {n}", "column": "column {n}"})

TOKENS = Words(
    {
        "query": "the query tokens are {given}; give a list of strings, one for each query",
        "key": "the key tokens are {given}; give a list of strings, one for each key",
    }
)
TOO_FEW = Words(
    {
        "query": "there are {given} query tokens; give {n}, one for each query",
        "key": "there are {given} key tokens; give {n}, one for each key",
    }
)
"""What is said of tokens that are none, and of too few or too many, by their axis."""


def stack(name: str, given: Any, batch: int | None = None) -> Array:
    """Whatever was brought as float64 (layers, heads, rows, columns).

    given  one array of two to four axes; or a tuple with an array a layer, each (batch, heads, rows, columns) or
           (heads, rows, columns); or five axes, (layers, batch, heads, rows, columns)
    batch  which element of the batch axis, where there is more than one; of a single array with four axes that is the
           first axis, which otherwise is the layers'

    Raises ConfigError for anything else, for what is no real number, and for an array without numbers.
    """
    array = _layers(name, given, batch) if _are_arrays(given) else _unbatched(name, real(name, given), batch)
    if not 2 <= array.ndim <= 4:
        raise ConfigError(
            say("{name} has shape {shape}; give {shapes}", name=name, shape=array.shape, shapes=say(SHAPES))
        )
    if not array.size:
        raise ConfigError(
            say(
                "{name} has shape {shape}, which holds no number; give one row and one column or more",
                name=name,
                shape=array.shape,
            )
        )
    return array.reshape((1,) * (4 - array.ndim) + array.shape)


def real(name: str, given: Any) -> Array:
    """One array as float64; a tensor is taken from its device and graph. Raises ConfigError if it is none."""
    found = given
    if hasattr(found, "detach"):
        found = found.detach()
        found = (found.float() if "bfloat16" in str(getattr(found, "dtype", "")) else found).cpu().numpy()
    try:
        array = np.asarray(found)
    except (ValueError, TypeError, RuntimeError):
        raise ConfigError(say("{name} has rows of different length; give as many numbers in each", name=name)) from None
    if array.dtype.kind not in "biuf":
        raise ConfigError(say("{name} holds {dtype}; give real numbers", name=name, dtype=array.dtype))
    return np.array(array, dtype=np.float64)


def finite(name: str, array: Array, *, minus_infinity: bool = False) -> Array:
    """The array, if all of its numbers are finite; raises ConfigError that names the first place where one is not."""
    fine = np.isfinite(array) | (np.isneginf(array) if minus_infinity else False)
    if not fine.all():
        place = np.unravel_index(int(np.argmin(fine)), array.shape)
        number = (
            say("a finite number, or -inf where a query may not look") if minus_infinity else say("a finite number")
        )
        at = where(place, array.shape)
        raise ConfigError(
            say("{name} is {value} at {where}; give {number}", name=name, value=array[place], where=at, number=number)
        )
    return array


def where(place: tuple[Any, ...], shape: tuple[int, ...]) -> str:
    """A place in (layers, heads, rows, columns) in words, counted from 1; an axis of one is not told.

    >>> where((0, 2, 1, 4), (1, 3, 5, 7))
    'head 3, row 2, column 5'
    """
    names = ("layer", "head", "row", "column")[-len(shape) :]
    told = zip(names, place, shape)
    return ", ".join(PLACES[name].format(n=int(i) + 1) for name, i, n in told if n > 1 or name in ("row", "column"))


def _are_arrays(given: Any) -> bool:
    """Whether this is a list of arrays, not an array nor a list of lists of numbers."""
    return isinstance(given, (tuple, list)) and bool(given) and all(hasattr(each, "shape") for each in given)


def _layers(name: str, given: Any, batch: int | None) -> Array:
    """Arrays of one shape, stacked: as layers if each has heads, as heads if not."""
    each = [real(name, one) for one in given]
    if len({one.shape for one in each}) > 1:
        other = next(one.shape for one in each if one.shape != each[0].shape)
        raise ConfigError(
            say(
                "{name} has arrays of shape {shape} and {other}; give one shape for all",
                name=name,
                shape=each[0].shape,
                other=other,
            )
        )
    return _unbatched(name, np.stack(each), batch)


def _unbatched(name: str, array: Array, batch: int | None) -> Array:
    """One element of the batch axis: the second of five axes, the first of four if `batch` says so."""
    axis = 1 if array.ndim == 5 else 0
    if array.ndim < 4 or (array.ndim == 4 and batch is None):
        if batch:
            raise ConfigError(
                say(
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
            say("{name} holds a batch of {n}; choose one with batch=0 to {last}", name=name, n=n, last=n - 1)
        )
    if not 0 <= (batch or 0) < n:
        raise ConfigError(
            say("batch is {batch}; {name} holds {n}, choose 0 to {last}", batch=batch, name=name, n=n, last=n - 1)
        )
    return np.take(array, batch or 0, axis=axis)


def tokens_of(
    sizes: tuple[int, ...], queries: Sequence[str] | None, keys: Sequence[str] | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The tokens of queries and keys; the same where only one list is there and there are as many of both."""
    n_query, n_key = sizes
    if n_query == n_key:
        queries, keys = (keys if queries is None else queries), (queries if keys is None else keys)
    return _named("query", queries, n_query), _named("key", keys, n_key)


def _named(axis: str, tokens: Sequence[str] | None, n: int) -> tuple[str, ...]:
    if tokens is None:
        return tuple(str(place + 1) for place in range(n))
    if isinstance(tokens, str) or not all(isinstance(token, str) for token in tokens):
        raise ConfigError(TOKENS[axis].format(given=f"{tokens!r:.60}"))
    if len(tokens) != n:
        raise ConfigError(TOO_FEW[axis].format(given=len(tokens), n=n))
    return tuple(token.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace") for token in tokens)
