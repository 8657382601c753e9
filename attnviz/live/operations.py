"""Each operation of a plan as data: what operations.js has to know of it beside its arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attnviz.engine.external.layer_plans import chosen_in
from attnviz.engine.plan.experts import Experts
from attnviz.engine.plan.operations import OWN_NAMES
from attnviz.engine.plan.values import Value
from attnviz.engine.records.trace import Trace
from attnviz.engine.tables.normalisers.hardmax import hardmax
from attnviz.live.lines import Line

Data = dict[str, Any]


def three_axes(axes: Sequence[str], lengths: Mapping[str, int]) -> list[int]:
    """Return the lengths of an array as heads, rows and columns.

    >>> three_axes(("head", "d_k"), {"head": 2, "d_k": 3}), three_axes(("query", "model"), {"query": 4, "model": 5})
    ([2, 1, 3], [1, 4, 5])
    """
    has_heads = bool(axes) and axes[0].endswith("head")
    heads, rest = (lengths[axes[0]], axes[1:]) if has_heads else (1, axes)
    return [heads, *[1] * (2 - len(rest)), *(lengths[axis] for axis in rest)]


class OperationWriter:
    """A writer of the operations of one layer, or of what stands before the first.

    named  returns the name of a step in the program
    lines  those of the rows, by the names of their settings
    """

    def __init__(self, trace: Trace, layer: int | None, named: Callable[[str], str], lines: Mapping[str, Line]) -> None:
        self._trace, self._named, self._lines = trace, named, lines
        self._chosen = chosen_in(trace, layer)
        steps = [trace.around, *([] if layer is None else [trace.layers[layer]])]
        self._lengths = {a: n for each in steps for step in each.values() for a, n in zip(step.axes, step.shape)}
        self._lengths["head"] = trace.config.n_heads
        self._facts: Mapping[str, Callable[[Value], Data]] = {
            "norm": self._norm,
            "norm_of_heads": lambda _: {"epsilon": self._chosen.norm.epsilon},
            "activation": self._activation,
            "route": self._route,
            "each_unit": lambda _: {"units": self._experts.units},
            "clipped": lambda _: {"op": "activation", "activation": "clipped"},
            "from_sink": lambda v: {"op": "*", "args": self._args(v.args[0], -1.0)},
            "rope": self._rope,
            "score": self._score,
            "bias_line": self._bias_line,
            "normalise": self._normalise,
            "mix": lambda v: {"group": self._chosen.group, "args": self._args(v.args[0], v.args[1], *v.args[3:])},
            "side_by_side": self._side_by_side,
        }

    def data(self, value: Value) -> Data:
        """Return a value as data, with all that it is made of up to what has a name."""
        made = self._made(value)
        if value.op == "number":
            return made | {"number": value.number}
        if value.op == "setting":
            return made | {"name": value.name}
        if value.name:
            return made | {"op": "step", "name": self._named(value.name)}
        made["args"] = self._args(*value.args)
        return made | self._facts[value.op](value) if value.op in self._facts else made

    def tied(self, value: Value) -> Data:
        """Return a matrix that is another one, the first of each group."""
        return self._made(value) | {"op": "tied", "group": self._chosen.group, "args": self._args(*value.args)}

    def table(self, op: str, value: Value, lines: Sequence[str]) -> Data | None:
        """Return the mask or the bias as its lines, which are settings; None where it has none."""
        settings = [name for line in lines for name in (line, *self._lines[line].settings)]
        return self._made(value) | {"op": op, "lines": list(lines), "settings": settings} if lines else None

    def _made(self, value: Value) -> Data:
        return {"op": value.op, "axes": value.axes, "shape": three_axes(value.axes, self._lengths), "args": []}

    def _args(self, *values: Value | float) -> list[Data]:
        return [self.data(x if isinstance(x, Value) else Value("number", number=x)) for x in values]

    def _norm(self, _: Value) -> Data:
        norm = self._chosen.norm
        return {"centred": norm.centred, "epsilon": norm.epsilon}

    def _activation(self, _: Value) -> Data:
        row: Any = self._chosen.activation
        return {"activation": row.fn.__name__}

    @property
    def _experts(self) -> Experts:
        assert self._chosen.experts is not None  # noqa: S101  # a plan without experts never asks
        return self._chosen.experts

    def _route(self, value: Value) -> Data:
        return {"chosen": self._experts.n_chosen, "addsUp": self._experts.adds_up}

    def _rope(self, value: Value) -> Data:
        frequencies = self._chosen.frequencies
        if frequencies is not None:
            return {"frequencies": frequencies.tolist(), "widths": []}
        group = self._chosen.group if value.axes[0] == "kv_head" else 1
        return {"frequencies": None, "widths": self._widths("d_k")[::group], "settings": ["rope_base"]}

    def _widths(self, axis: str) -> list[int]:
        """Return the true width of each head of queries."""
        widths = self._chosen.key_widths if axis == "d_k" else self._chosen.value_widths
        return list(widths or [self._lengths[axis]] * self._lengths["head"])

    def _score(self, value: Value) -> Data:
        return {
            "own": ["q", "k", *(OWN_NAMES[arg.name] for arg in value.args[2:])],
            "widths": self._widths("d_k"),
            "group": self._chosen.group,
            "hidden": self._lengths.get("d_a", self._trace.config.d_a),
            "line": "score",
            "settings": ["score", *self._lines["score"].settings],
        }

    def _bias_line(self, value: Value) -> Data:
        return self._score(value) | {"op": "score", "line": "bias", "settings": ["bias", *self._lines["bias"].settings]}

    def _normalise(self, value: Value) -> Data:
        """Return a normaliser; queries and keys are read only where they say what is equal but for rounding."""
        sized = self._chosen.normaliser.fn is hardmax
        read = value.args[:3] if sized else (value.args[0], *value.args[3:])
        return {
            "args": self._args(*read),
            "own": ["x", *(["q", "k"] if sized else [OWN_NAMES[arg.name] for arg in value.args[3:]])],
            "over": self._chosen.over,
            "group": self._chosen.group,
            "settings": [
                *("normaliser", "temperature", *self._lines["normaliser"].settings),
                *(["scale"] if sized else []),
            ],
        }

    def _side_by_side(self, _: Value) -> Data:
        return {"widths": self._widths("d_v")}
