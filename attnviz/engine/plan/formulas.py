"""The formula of each step in LaTeX, read off the plan: with the biases, norms and groups that the setting has."""

from __future__ import annotations

from collections.abc import Callable, Container
from functools import lru_cache

from attnviz.engine.plan.chosen import resting
from attnviz.engine.plan.tracing import Plan
from attnviz.engine.plan.values import Value
from attnviz.engine.records import typed_rows
from attnviz.engine.records.config import Config
from attnviz.engine.records.step_specs import STEPS
from attnviz.engine.tables.blocks import NORMS

GENERAL = ("scaled", "capped", "masked", "concat")
"""Steps whose formula is the same in every setting."""

OF_ROWS = ("score", "normalise", "mix")
"""Operations whose formula is that of a row of a table, wherever a step is one and no more."""

SUMS = ("added", "added_normed", "ff_added", "ff_added_normed")
"""Steps without a letter of their own: their formula stands wherever they are read."""


def formulas_of(plan: Plan, config: Config) -> dict[str, str]:
    """Return the formula of each step of a layer that depends on the setting; mask and bias have their rows'."""
    of_rows = {name for name, value in plan.items() if value.args and value.args[0].op in OF_ROWS}
    said = {name: formula for name, formula in attention_formulas(config, plan).items() if name in of_rows}
    said |= {"bias": typed_rows.bias_of(config).formula} if plan.has.bias_weights else {}
    return _formulas(plan, NORMS[config.norm].symbol, resting(config)) | said


@lru_cache(maxsize=256)
def _formulas(plan: Plan, norm: str, resting: frozenset[str]) -> dict[str, str]:
    """Return the formulas that follow from plan, norm and numbers at rest alone; shared, and not to be changed."""
    writer = FormulaWriter(plan, norm, resting)
    said = {name: writer.formula(name) for name, value in plan.items() if value.op == "step" and name not in GENERAL}
    return {name: formula for name, formula in said.items() if formula}


def attention_formulas(config: Config, present: Container[str]) -> dict[str, str]:
    """Return the formulas of scores, weights and heads.

    The score before its scale, without the biases that are not there, the normaliser, and who shares keys.
    """
    shared, g = config.group_size > 1, "g(h)" if config.group_size > 1 else "h"
    who = rf",\quad g(h) = \lceil h / {config.group_size} \rceil" if shared else ""
    row, score = typed_rows.normaliser_of(config), typed_rows.score_of(config)
    scores = rf"S_h = Q_h K_{{{g}}}^\top{who}"
    if not score.is_dot:
        scores = score.formula
        for name in () if score.typed else score.biases:
            scores = scores if f"score_{name}" in present else scores.replace(f" + {name}", "")
    z = rf",\quad {row.letter} = \hat S" + ("" if config.temperature == 1.0 else f" / {config.temperature:g}")
    weights = row.formula
    if config.normalise_over == "queries":
        weights = rf"a_{{\cdot j}} = \text{{{row.name.replace('_', ' ')}}}({row.letter}_{{\cdot j}})"
    return {"scores": scores, "weights": weights + z, "heads": rf"Z_h = A_h V_{{{g}}}{who}"}


class FormulaWriter:
    """A writer of formulas, with the name of the norm; factors that are `resting` at 1 are not said."""

    def __init__(self, plan: Plan, norm: str, resting: frozenset[str]) -> None:
        self._plan, self._resting = plan, resting
        self._write: dict[str, Callable[..., str]] = {
            "+": lambda x, y: f"{self.of(x)} + {self.of(y)}",
            "*": self._times,
            "@": lambda x, W: f"{self._factor(x)} {self.of(W)}",
            "norm": lambda x: rf"\mathrm{{{norm}}}({self.of(x)})",
            "norm_of_heads": lambda x: rf"\mathrm{{{norm}}}([{letter_of(x)}_1\; {letter_of(x)}_2 \dots])_h",
            "route": lambda x: rf"\mathrm{{top}}(\mathrm{{softmax}}({self.of(x)}))",
            "each_unit": lambda x: rf"{self.of(x)}_{{e(d)}}",
            "activation": lambda x: f"f({self.of(x)})",
            "clipped": lambda x: rf"\mathrm{{clip}}({self.of(x)}) + 1",
            "from_sink": lambda s, *_: f"-{self.of(s)}",
            "rope": lambda x: rf"R\, {self.of(x)}",
            "as_keys": self.of,
        }

    def formula(self, name: str) -> str:
        """Return the formula of a step: its letter, and what it is made of; "" where a row of a table says it."""
        made = self.of(self._plan[name].args[0])
        return made if name in SUMS or not made else f"{self.symbol(self._plan[name])} = {made}"

    def of(self, value: Value) -> str:
        """Return a value in symbols: its letter, or what it is made of."""
        if value.op == "step" and value.name in SUMS:
            return self.of(value.args[0])
        if value.is_number:
            return self.number(value)
        if value.name:
            return self.symbol(value)
        return self._write[value.op](*value.args) if value.op in self._write else ""

    def number(self, value: Value) -> str:
        """Return what a number of the setting is called, or a number itself."""
        return f"{value.number:g}" if value.op == "number" else rf"\mathrm{{{value.name}}}".replace("_", r"\_")

    def symbol(self, value: Value) -> str:
        """Return the letter of a step, a weight or an input; that of a head bears its number."""
        letter = letter_of(value)
        if not value.axes[0].endswith("head"):
            return letter
        return f"{letter}^h" if value.op == "weight" else f"{letter}_h"

    def _times(self, *factors: Value) -> str:
        """Return a product entry by entry, numbers in front; those that are at rest are not said."""
        numbers = [self.of(x) for x in factors if x.is_number and x.name not in self._resting]
        return r"\, ".join([*numbers, r" \odot ".join(self._factor(x) for x in factors if not x.is_number)])

    def _factor(self, value: Value) -> str:
        made = value
        while made.op == "as_keys" or made.name in SUMS:
            made = made.args[0]
        return f"({self.of(value)})" if made.op == "+" else self.of(value)


def letter_of(value: Value) -> str:
    """Return the letter of a step, a weight or an input."""
    return STEPS[value.name].symbol if value.name in STEPS else {"X_kv": "X'"}.get(value.name, value.name)
