"""The lines of the steps of a layer at one position: its plan, walked step by step, in words and numbers."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from attnviz.arithmetic import row_lines, step_words, tensor_slices, typed_lines, written_lines
from attnviz.arithmetic.cell_position import CellPosition
from attnviz.arithmetic.entries import Entry
from attnviz.arithmetic.entry_rules import RULES
from attnviz.arithmetic.entry_symbols import PAIR, EntrySymbols, letter
from attnviz.arithmetic.normalised_slice import NormalisedSlice
from attnviz.arithmetic.notation.derivation import Derivation, Display, Equation, Result, dimension
from attnviz.arithmetic.notation.latex_numbers import VERTICAL_DOTS, Member, chain, row, shown_entries
from attnviz.arrays import Array
from attnviz.engine.external.traces import first_steps
from attnviz.engine.plan.values import Value
from attnviz.engine.pretrained.pretrained_config import facts_of
from attnviz.settings.counting import ordinal

PARTS = ("vectors", "score", "weight", "output")
"""The parts of a cell's arithmetic: from the tokens to q and k, to the score, to the weight, to the output."""


class StepLines:
    """A writer of the lines of one step after the other, each into its part of the arithmetic."""

    def __init__(self, position: CellPosition, parts: Mapping[str, Derivation]) -> None:
        self._position, self._parts = position, parts
        self._given = first_steps(position.steps)
        self._hidden: set[str] = set()
        self._entries = {name: Entry(position, to, position.index, RULES) for name, to in parts.items()}

    @property
    def steps_of_head(self) -> list[str]:
        """The steps of one head, in the order of the arithmetic: those that were given, and those that follow."""
        plan, recorded = self._position.plan, self._position.steps
        own = [name for name, value in plan.items() if value.op == "step" and value.axes[0].endswith("head")]
        names = [*(name for name in self._given if name not in plan), *own]
        first = names.index("weights") if "weights" in self._given else 0
        return [name for name in names[first:] if name in recorded]

    def write(self, name: str) -> None:
        """Write the lines of a step."""
        step = self._position.steps[name]
        value = self._position.plan.get(name) or Value("step", (), step.axes, name)
        if name in self._given:
            part = "output" if name == "values" else "weight" if name == "weights" else "score"
            self._write(self._entries[part], value, None)
            return
        made = value.args[0]
        if made.op == "bias_line":
            at = self._entries["score"]
            q, k = (at.number(arg) for arg in made.args[:2])
            at.made[made] = typed_lines.bias(at.to, self._position, q, k, at.number(value))
            return
        for inner in _inside(made):
            if inner.op in ("score", "normalise"):
                self._by_row(inner, None if inner is not made else value)
            elif inner.op == "mix":
                self._share(inner)
            elif inner.op == "only_where" and not inner.args[0].name:
                self._write(self._entries["score"], inner.args[0], inner.args[0])
        if made.op not in ("score", "normalise"):
            self._write(self._entries[part_of(value)], value, made)

    def _symbols(self, at: Entry, pair: str = "") -> EntrySymbols:
        return EntrySymbols(at, self._hidden, pair)

    # --- one equation ------------------------------------------------------------------------------------------------

    def _write(self, at: Entry, value: Value, made: Value | None) -> None:
        """Write that a step is what it is made of, or that it was given; `value` may be `made`, without a name."""
        to, symbols, name = at.to, self._symbols(at), value.name
        recorded = at.number(value) if name else None
        computed = at.number(value if made is None else made)
        beside = to.sizes[name or _first_step(value)]
        members: list[Member] = []
        above: list[str] = []
        symbol = symbols.of(value) if not name else f"{letter(value)}_{{{symbols.subscript(value)}}}"
        if made is not None:
            is_new = name and not (made.op == "only_where" and np.isneginf(computed))
            members, above = [symbols.of(made)] if is_new else [], at.above(made)
            if np.ndim(computed):
                above += self._of_entries(at, value, made, beside)
            elif not made.name and (lines := at.written(made, None)):
                members += [lines]
        said = step_words.said(at, value, made)
        to.add_line(
            said.name,
            Equation(symbol, members, above),
            Result(
                computed,
                {} if made is None else at.operands(made),
                recorded,
                name,
                None if made is None else at.size(made),
                beside,
            ),
            words=said.words,
            display=Display(
                active=made is None or at.rule(made).changes(at, made),
                bars=dimension if np.ndim(computed) else None,
                source="" if made is None else _sources(at, made),
            ),
            **said.facts,
        )
        if not name:
            at.made[value] = to.lines[-1].result
        elif not to.is_shown():
            self._hidden.add(name)

    def _of_entries(self, at: Entry, value: Value, made: Value, beside: float) -> list[str]:
        """Return the lines of the entries of a vector, in numbers."""
        entries: list[str] = []
        name = f"{letter(value)}_{{{self._symbols(at).subscript(value)},"
        seen = at.to.as_printed(at.number(made), beside)
        for d in shown_entries(len(seen)):
            if d is None:
                entries.append(VERTICAL_DOTS)
            elif lines := at.written(made, d):
                entries += chain(f"{name}{ordinal(d)}}}", [[*lines[:-1], f"{lines[-1]} = {at.to.fmt.number(seen[d])}"]])
        return entries

    # --- what rows say, line by line ---------------------------------------------------------------------------------

    def _by_row(self, made: Value, step: Value | None) -> None:
        """Write the lines of a score or a normaliser, which end in the step; None where more is made of it."""
        part = "score" if made.op == "score" else "weight"
        at = self._entries[part]
        recorded = None if step is None else at.number(step)
        if made.op == "score":
            q, k = (at.number(arg) for arg in made.args[:2])
            at.made[made] = row_lines.of_score(at.to, self._position, q, k, recorded)
        else:
            self._temperature(made.args[0])
            at.made[made] = self._weight(at, made.args[0], recorded)
        if step is None or step.name not in step_words.NUMBERS:
            at.to.rename_last(f"{part}_of_row" if step is None else step.name)

    def _temperature(self, S: Value) -> None:
        at = self._entries["score"]
        s, T, beside = at.number(S), self._position.chosen.temperature, at.to.sizes["masked"]
        above = at.to.fmt.number(at.to.as_printed(s, beside))
        unused = self._position.chosen.normaliser.is_indifferent
        at.to.add_line(
            "temperature",
            Equation(f"z_{{{at.to.ij}}}", [rf"\frac{{{above}}}{{{at.to.fmt.number(T)}}}"]),
            Result(s / T, {"score": s, "T": T}, beside=beside / T),
            display=Display(active=T != 1.0 and not unused),
            words="temperature_unused" if unused else "temperature",
            T=at.to.format(T),
        )

    def _weight(self, at: Entry, S: Value, recorded: Array | None) -> Array:
        """Write the lines from the scores of the whole row or column to the weight, and return it."""
        position = self._position
        over, fixed = ("key", "query") if position.over_keys else ("query", "key")
        l_at = {over: "l", fixed: str(ordinal(at.index[fixed]))}
        pair = f"{l_at['query']},{l_at['key']}"
        line = NormalisedSlice(
            at.along(over).number(S),
            at.index[over],
            position.chosen.temperature,
            recorded,
            position.over_keys,
            self._symbols(at, pair).of(S),
            f"z_{{{pair.replace('l', '@')}}}",
            position.size_of_terms,
        )
        written_lines.of_weight(at.to, position, line)
        return at.to.lines[-1].result

    def _share(self, mix: Value) -> None:
        """Write what the key of the cell puts into the output: its weight times its value."""
        at = self._entries["output"]
        to, A, V = at.to, *mix.args[:2]
        i, j, a, v = ordinal(at.index["query"]), ordinal(at.index["key"]), at.number(A), at.number(V)
        taken = RULES["mix"].parts(at, mix)[1][at.index["key"]]
        beside = to.sizes["values"]
        seen = to.as_printed(taken, beside)
        to.add_line(
            "share",
            Equation(rf"a_{{{i},{j}}}\, v_{{{j}}}", [row([to.fmt.product(a, x) for x in seen])]),
            Result(a * taken, {"weight": a, "value": taken}, beside=abs(float(a)) * beside),
            words="share" if np.isfinite(v).all() or self._position.may else "share_of_forbidden",
            display=Display(bars=dimension),
        )


def part_of(value: Value) -> str:
    """Return the part of a cell's arithmetic that a step belongs to."""
    if value.axes[-2:] == PAIR:
        return "weight" if value.name == "weights" else "score"
    return "output" if value.axes[-1] == "d_v" else "vectors"


def _inside(value: Value) -> list[Value]:
    """Return a value and all that it is made of up to what has a name, inner ones first."""
    return [] if value.name else [*(inner for arg in value.args for inner in _inside(arg)), value]


def _first_step(value: Value) -> str:
    return value.name or _first_step(value.args[0])


def _sources(at: Entry, made: Value) -> str:
    """Return where in a model's files the parameters of a line lie, a sentence; empty for what was made here."""
    known, position = facts_of(at.position.config), at.position
    found = []
    for weight in step_words.weights_in(made):
        place = known.slice_of(position.layer, weight.name)
        head = at.index[weight.axes[0]] if weight.axes[0].endswith("head") else 0
        found += [tensor_slices.columns(place, letter(weight), head)] if place is not None else []
    return " ".join(found)
