"""A Python function as a formula: it is called once with objects that write down what is done to them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from attnviz.formula.faults import fault
from attnviz.formula.graph import Formula
from attnviz.formula.reader import parse
from attnviz.settings.faults import ConfigError, shorten

_CALLED: dict[Any, str] = {
    np.tanh: "tanh",
    np.exp: "exp",
    np.log: "log",
    np.abs: "abs",
    np.sqrt: "sqrt",
    np.sin: "sin",
    np.cos: "cos",
    np.sign: "sign",
    np.maximum: "max",
    np.minimum: "min",
}
_SIGNS: dict[Any, str] = {
    np.add: "+",
    np.subtract: "-",
    np.multiply: "*",
    np.true_divide: "/",
    np.floor_divide: "//",
    np.remainder: "%",
    np.power: "**",
    np.matmul: "@",
    np.less: "<",
    np.less_equal: "<=",
    np.greater: ">",
    np.greater_equal: ">=",
    np.equal: "==",
    np.not_equal: "!=",
}
_OVER: dict[Any, str] = {
    np.sum: "sum",
    np.mean: "mean",
    np.max: "max",
    np.min: "min",
    np.dot: "dot",
    np.inner: "dot",
    np.vdot: "dot",
    np.linalg.norm: "norm",
    np.cumsum: "cumsum",
}


class _Typed(np.lib.mixins.NDArrayOperatorsMixin):
    """A part of a formula that is being written down."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **options: Any) -> Any:
        if method != "__call__" or options:
            raise TypeError(f"a formula has no {ufunc.__name__} of this form")
        if ufunc in _SIGNS:
            one, other = map(_text, args)
            return _Typed(f"({one} {_SIGNS[ufunc]} {other})")
        if ufunc is np.negative:
            return _Typed(f"(-{_text(args[0])})")
        if ufunc is np.square:
            return _Typed(f"({_text(args[0])} ** 2)")
        if ufunc not in _CALLED:
            raise TypeError(f"a formula has no {ufunc.__name__}")
        return _Typed(f"{_CALLED[ufunc]}({', '.join(map(_text, args))})")

    def __array_function__(self, function: Any, types: Any, args: Sequence[Any], options: Mapping[str, Any]) -> Any:
        if function is np.where and len(args) == 3 and not options:
            test, yes, no = map(_text, args)
            return _Typed(f"({yes} if {test} else {no})")
        if function not in _OVER:
            raise TypeError(f"a formula has no {function.__name__}")
        if options.get("axis", -1) != -1 or set(options) - {"axis"}:
            raise TypeError(f"a formula has no {function.__name__} of this form")
        return _Typed(f"{_OVER[function]}({', '.join(map(_text, args))})")

    def __float__(self) -> float:
        raise TypeError("it makes one plain number; leave out float, and take NumPy's functions")

    def __len__(self) -> int:
        raise TypeError("it asks for a length; write q.shape[-1] for the width")

    def __bool__(self) -> bool:
        raise TypeError("it decides by a value; write `a if test else b` as a text instead")

    def _over(self, name: str, axis: int) -> _Typed:
        if axis != -1:
            raise TypeError(f"it goes along axis {axis}; leave the axis out")
        return _Typed(f"{name}({self.text})")

    @property
    def shape(self) -> tuple[_Typed]:
        """The width, where this is a query or a key."""
        if self.text not in ("q", "k"):
            raise TypeError("it asks for the shape of something that is made on the way")
        return (_Typed(f"d_{self.text}"),)

    @property
    def T(self) -> _Typed:
        return self

    def dot(self, other: Any) -> _Typed:
        return _Typed(f"dot({self.text}, {_text(other)})")

    def sum(self, axis: int = -1) -> _Typed:
        return self._over("sum", axis)

    def mean(self, axis: int = -1) -> _Typed:
        return self._over("mean", axis)

    def max(self, axis: int = -1) -> _Typed:
        return self._over("max", axis)

    def min(self, axis: int = -1) -> _Typed:
        return self._over("min", axis)


def _text(value: Any) -> str:
    """Return a part as it is typed; a number, which may come from NumPy, in decimals."""
    if isinstance(value, _Typed):
        return value.text
    if np.ndim(value):
        raise TypeError("it brings an array of its own; a formula names its matrices, as in lambda q, k, W: q @ W @ k")
    number = float(value)
    return repr(int(number)) if number == int(number) and abs(number) < 1e15 else repr(number)


def traced(function: Callable[..., Any], kind: str = "score") -> Formula:
    """Return the formula of a function; its arguments are variables and parameters by their names.

    Raises FormulaError if it does something for which formulas have no word.

    >>> import numpy as np
    >>> traced(lambda q, k: np.tanh(q * k).sum()).text
    'sum(tanh(q * k))'
    """
    try:
        result = function(*map(_Typed, arguments_of(function)))
    except ConfigError:
        raise
    except Exception as error:  # whatever a function of the caller's own can raise
        raise fault("not_traced", why=str(error)) from error
    if not isinstance(result, _Typed):
        raise fault("not_traced", why=f"it gives {type(result).__name__}")
    return parse(_bare(result.text), kind)


def arguments_of(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return the names of the arguments of a function; raises FormulaError for what is none, or hides them."""
    try:
        return tuple(inspect.signature(function).parameters)
    except TypeError:
        raise fault("no_definition", given=shorten(repr(function))) from None
    except ValueError:
        raise fault("not_traced", why="the names of its arguments cannot be seen") from None


def _bare(text: str) -> str:
    """Return the text without brackets around each product and sum in which nothing else needs them."""
    for called in (*_CALLED.values(), *_OVER.values()):
        text = _unwrapped(text, f"{called}((")
    return text[1:-1] if text.startswith("(") and _closes(text, 0) == len(text) - 1 else text


def _unwrapped(text: str, opening: str) -> str:
    """Return tanh((q * k)) as tanh(q * k)."""
    at = text.find(opening)
    while at >= 0:
        inner = at + len(opening) - 1
        end = _closes(text, inner)
        if end + 1 < len(text) and text[end + 1] == ")":
            text = text[:inner] + text[inner + 1 : end] + text[end + 1 :]
        at = text.find(opening, at + 1)
    return text


def _closes(text: str, at: int) -> int:
    """Return the position of the bracket that closes the one at `at`."""
    depth = 0
    for position in range(at, len(text)):
        depth += (text[position] == "(") - (text[position] == ")")
        if depth == 0:
            return position
    return -1
