"""Each operation of a plan as code of a script, in the words of a library."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from attnviz.codegen.forbidden import is_zero_of_nothing
from attnviz.codegen.words import NUMPY
from attnviz.engine.external.layer_plans import chosen_in, plan_of_layer
from attnviz.engine.plan.chosen import at_rest
from attnviz.engine.plan.operations import OWN_NAMES
from attnviz.engine.plan.tracing import Plan
from attnviz.engine.plan.values import PRECEDENCE, Axes, Value, axes_by_length
from attnviz.engine.pretrained.pretrained_config import facts_of, is_pretrained
from attnviz.engine.records.trace import Trace
from attnviz.engine.records.typed_rows import bias_formula, normaliser_of, score_of
from attnviz.engine.rows.line_row import Written
from attnviz.engine.tables.blocks import EPSILON
from attnviz.exports.script import inputs, rows, typed
from attnviz.exports.script.functions import short
from attnviz.exports.script.lines import Lines
from attnviz.exports.script.model_parameters import ModelParameterWriter
from attnviz.exports.script.parameters import ParameterWriter
from attnviz.formula.graph import Formula

ATOM = 9
"""The precedence of what needs no brackets."""

LOOSE = dict.fromkeys(("score", "bias_line", "normalise", "mix"), 0)
"""Operations whose code can be anything, by the row."""


class OperationWriter:
    """A writer of operations: most are code of their own, some need lines before, which go into `lines`.

    plan    the layer's, its values as a script says them: without what changes nothing here
    called  the variables of the steps, weights and inputs that were written
    masks   whether a cell can be forbidden at all
    """

    words = NUMPY

    def __init__(self, lines: Lines, trace: Trace) -> None:
        self.lines, self.trace, self.config = lines, trace, trace.config
        self.masks = inputs.needs_mask(trace)
        self.called = {"X": "X", "X_kv": "X_kv", "token_embeddings": "E"}
        self.has_empty = False
        self._chosen = chosen_in(trace, lines.layer)
        plan = plan_of_layer(trace, lines.layer)
        is_model = is_pretrained(trace)
        self.fill = ModelParameterWriter(lines, trace) if is_model else ParameterWriter(lines, self.config, plan)
        said = {name: replace(value, args=tuple(map(self._bare, value.args))) for name, value in plan.items()}
        self.plan = Plan(plan.has, said)
        self._write: Mapping[str, Callable[..., str]] = {
            "tanh": lambda v: f"{self.words.np}.tanh({self.code(v.args[0])})",
            "norm": self._norm,
            "norm_of_heads": lambda v: f"{rows.NORMS[self.config.norm]}_of_heads({self.code(v.args[0])})",
            "clipped": lambda v: f"clipped({self.code(v.args[0])})",
            "from_sink": self._from_sink,
            "route": self._route,
            "each_unit": lambda v: self._each_unit(v),
            "activation": lambda v: self._by_word(rows.FEED_FORWARDS_OF_MODELS[self._chosen.activation.name], v),
            "only_where": lambda v: f"{self.words.np}.where(M, {self.code(v.args[0])}, -{self.words.np}.inf)",
            "rope": self._rope,
            "score": self._score,
            "bias_line": self._bias_line,
            "normalise": self._normalise,
            "mix": self.mix,
            "side_by_side": self._side_by_side,
        }

    def code(self, value: Value, binding: int = 0, axes: Axes = ()) -> str:
        """Return the code of a value.

        It stands in brackets where it binds looser than `binding`, and gets the axes of a wider array around it.
        """
        own, op = ATOM, value.op
        if op == "number":
            code = repr(value.number)
        elif op == "setting":
            code = self._setting(value.name)
        elif value.name:
            code = self.called[value.name]
        elif op in PRECEDENCE:
            own, around = PRECEDENCE[op], () if op == "@" else value.axes
            first, second = value.args
            code = f"{self.code(first, own, around)} {op} {self.code(second, own + 1, around)}"
        else:
            code, own = self._write[op](value), LOOSE.get(op, ATOM)
        index = _spread(value, axes)
        if index:
            return f"{code if own == ATOM else f'({code})'}[{index}]"
        return code if own >= binding else f"({code})"

    def _bare(self, value: Value) -> Value:
        """Return a value without the operations that change nothing here, numbers in front of what they multiply."""
        if value.name or not value.args:
            return value
        args = tuple(map(self._bare, value.args))
        if value.op == "as_keys" or (value.op == "only_where" and not self.masks):
            return args[0]
        if value.op == "*":
            args = tuple(sorted(filter(self._counts, args), key=lambda arg: not arg.is_number))
        return args[0] if value.op == "*" and len(args) == 1 else replace(value, args=args)

    def _counts(self, factor: Value) -> bool:
        """Return whether a factor changes anything."""
        is_scale = factor.op == "setting" and factor.name == "scale"
        return bool(self.scale()) if is_scale else not at_rest(factor, self.config)

    def _setting(self, name: str) -> str:
        """Return the name of a number of the setting; the scale is written where it is needed."""
        if name == "scale":
            self.lines.write(f"scale = {self.scale()}")
        return name

    def scale(self) -> str:
        """Return the factor on the scores, as code; nothing where it is 1."""
        if self.config.scale is not None:
            return "" if self.config.scale == 1.0 else repr(self.config.scale)
        if not score_of(self.config).is_over_root:
            return ""
        widths = self.fill.d_q
        each = f"{self.words.array}([1 / math.sqrt(d) for d in {widths}])[:, None, None]"
        return each if widths else "1 / math.sqrt(d_k)"

    def _by_word(self, word: str, value: Value, **more: str) -> str:
        return self.words.terms[word].format(self.code(value.args[0]), **more)

    def _norm(self, value: Value) -> str:
        epsilon = short(self._chosen.norm.epsilon)
        unusual = "" if self._chosen.norm.epsilon == EPSILON else f", eps={epsilon}"
        return self._by_word(rows.NORMS[self.config.norm], value, epsilon=epsilon, unusual=unusual)

    def _from_sink(self, value: Value) -> str:
        sinks, Q, K = map(self.code, value.args)
        return f"{self.words.np}.broadcast_to(-{sinks}[:, :, None], (*{Q}.shape[:2], {K}.shape[1]))"

    def _route(self, value: Value) -> str:
        experts = self._chosen.experts
        assert experts is not None  # noqa: S101  # a plan without experts never asks
        return f"routed({self.code(value.args[0])}, {experts.n_chosen}, {experts.adds_up})"

    def _each_unit(self, value: Value) -> str:
        experts = self._chosen.experts
        assert experts is not None  # noqa: S101
        return f"{self.words.repeat}({self.code(value.args[0])}, {experts.units}, {self.words.axis}=1)"

    def _rope(self, value: Value) -> str:
        """Return queries or keys, rotated; heads of different width are rotated by their own."""
        X, widths = self.code(value.args[0]), self.fill.d_q if value.axes[0] == "head" else self.fill.d_k
        if angles := facts_of(self.config).rotation_name(self.lines.layer):
            return f"rotated({X}, {angles})"
        return f"stacked([rope({X}[h, :, :d]) for h, d in enumerate({widths})])" if widths else f"rope({X})"

    def each_head(self, value: Value) -> str:
        """Return the code of keys or values, those of its group for each head of queries."""
        return self.code(value) + ("_h" if self.config.group_size > 1 else "")

    def share_heads(self) -> None:
        """Write keys and values once for each head that shares them, where a line reads them so."""
        group, made = self.config.group_size, [value.args[0] for value in self.plan.values() if value.args]
        sharing = {"score": self._reads_keys(), "mix": self.repeats_values()}
        for value in made:
            if group > 1 and sharing.get(value.op):
                name = self.code(value.args[1])
                repeated = f"{self.words.repeat}({name}, {group}, {self.words.axis}=0)"
                self.lines.write(f"{name}_h = {repeated}  # head h uses key/value head h // {group}")

    def _reads_keys(self) -> bool:
        """Return whether a line reads the keys: the score, or a normaliser that asks how large scores can be."""
        written = normaliser_of(self.config).written
        return score_of(self.config).looks_at_keys or (written is not None and written.asks_size)

    def repeats_values(self) -> bool:
        """Return whether heads that share values need them once each."""
        return True

    def _score(self, value: Value) -> str:
        row, (Q, K, *parameters) = score_of(self.config), value.args
        widths = self.fill.d_q if row.typed else ""  # the others see no padding
        has = {OWN_NAMES[parameter.name] for parameter in parameters}
        said = typed.score(self.trace, row.definition, self.code(Q), self.each_head(K), has, widths, self.words)
        self.lines.write(*said.before)
        return said.code

    def _bias_line(self, _: Value) -> str:
        """Write the lines before B of a typed bias with learned numbers, and return what B is."""
        formula = bias_formula(self.config)
        assert formula is not None  # noqa: S101  # a plan without one never asks
        said = typed.bias(self.trace, formula, self.words)
        self.lines.write(*said.before)
        return said.code

    def _normalise(self, value: Value) -> str:
        """Return the weights, along the keys or the wrong way; a row with nothing allowed gets zeros."""
        np_, config = self.words.np, self.config
        x, axis, its = self.code(value.args[0]), -1 if config.normalise_over == "keys" else -2, normaliser_of(config)
        shares = its.written is not None or not is_zero_of_nothing(its.line_formula)
        self.has_empty = shares and any(np.isneginf(S).all(axis=axis).any() for S in self.lines.arrays("masked"))
        if self.has_empty:
            whole = f"{np_}.isneginf({x}).all({self.words.along_axis(axis)})"
            self.lines.write(f"nothing = {whole}  # a row with nothing allowed ...")
            self.lines.write(f"S_open = {np_}.where(nothing, 0.0, {x})")
            x = "S_open"
        code = self._written(its.written, x, axis, value) if its.written else self._by_line(its.line_formula, x, axis)
        code = f"{np_}.where(nothing, 0.0, {code})" if self.has_empty else code
        self.lines.write(*(["# ... has weights that are all zeros, not 0 / 0"] if self.has_empty else []))
        pairs = zip(self.lines.arrays("weights"), self.lines.arrays("masked"))
        is_spread = any(np.isnan(A).any() and np.isneginf(S).any() for A, S in pairs)
        return f"{np_}.where({np_}.isneginf({self.code(value.args[0])}), 0.0, {code})" if is_spread else code

    def _by_line(self, formula: Formula, x: str, axis: int) -> str:
        """Write the lines before A of a row that is its line, and return what A is."""
        forbids = any(np.isneginf(S).any() for S in self.lines.arrays("masked"))
        said = typed.weights(self.trace, formula, x, over_keys=axis == -1, forbids=forbids, words=self.words)
        self.lines.write(*said.before)
        return said.code

    def _written(self, row: Written, x: str, axis: int, value: Value) -> str:
        """Write the lines before A of a row that no line says, and return what A is."""
        words, transposed = self.words, row.turn and axis == -2
        terms = words.terms | {"over": words.along_axis(axis), "size": self._size_of_terms(value)}
        terms["x"] = words.transposed.format(x) if transposed else x
        self.lines.write(*(line.format(**terms) for line in row.before))
        code = row.weights.format(**terms)
        return words.transposed.format(code) if transposed else code

    def _size_of_terms(self, value: Value) -> str:
        """Return the code for the size of the numbers whose sums are the scores of a head."""
        words, (_, Q, K, *_) = self.words, value.args
        squares = [f"({X}**2).sum({words.axis}=(1, 2), {words.keep}=True)" for X in (self.code(Q), self.each_head(K))]
        size = f"{words.np}.sqrt({squares[0]} * {squares[1]})"
        return f"abs(scale) * {size}" if self.scale() else size

    def leaks(self, name: str) -> bool:
        """Return whether a number that is none, or infinite, has to be kept from where it is forbidden."""
        return self.masks and not all(np.isfinite(X).all() for X in self.lines.arrays(name))

    def mix(self, value: Value) -> str:
        """Return the sum of the values, weighed."""
        A, V = self.code(value.args[0]), self.each_head(value.args[1])
        if not self.leaks("values"):
            return f"{A} @ {V}"
        self.lines.write("# A forbidden value takes no part: 0 times infinity would be no number.")
        shares = f"{A}[:, :, :, None] * {V}[:, None, :, :]"
        return f"{self.words.np}.where(M[:, :, None], {shares}, 0.0).sum({self.words.axis}=2)"

    def _side_by_side(self, value: Value) -> str:
        Z = self.code(value.args[0])
        heads = f"[{Z}[h, :, :d] for h, d in enumerate({self.fill.d_z})]" if self.fill.ragged_v else f"[*{Z}]"
        return f"{self.words.join}({heads}, {self.words.axis}=1)"


def _spread(value: Value, axes: Axes) -> str:
    """Return the index that gives an array the axes of a wider one; "" where it has them, or gets them by itself."""
    if value.is_number or not value.axes or len(value.axes) >= len(axes):
        return ""
    have = axes_by_length(value.axes)
    index = ", ".join(":" if axis in have else "None" for axis in axes_by_length(axes))
    index = index[index.index(":") :]  # those in front come by themselves
    return index if "None" in index else ""
