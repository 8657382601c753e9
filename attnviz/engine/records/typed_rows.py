"""The rows of a setting, with what was typed in the place of a row that is called "formula"."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, Protocol, overload

import numpy as np

from attnviz.arrays import Array
from attnviz.codegen.latex import latex
from attnviz.engine.records.head_settings import MOST_HEADS
from attnviz.engine.rows.pair_row import PairRow
from attnviz.engine.tables import normalisers, scores
from attnviz.engine.tables.biases import BIASES
from attnviz.engine.tables.masks import MASKS
from attnviz.engine.tables.normalisers import NORMALISERS, Normaliser
from attnviz.engine.tables.scores import SCORES, Score
from attnviz.engine.tables.scores.python_function import of_function
from attnviz.formula.facts.patterns import form
from attnviz.formula.faults import FormulaError
from attnviz.formula.graph import Formula
from attnviz.formula.names import STEPS
from attnviz.formula.python_tracing import traced
from attnviz.formula.reader import parse
from attnviz.settings.faults import ConfigError
from attnviz.settings.language import Words
from attnviz.settings.rows import KnobValue, pick
from attnviz.settings.tuple_kinds import Knobs

TYPED = "formula"
"""The name of the row of every table that stands for a line that was typed."""

KIND = "normaliser"
FAULTS = Words(
    {
        "learned": "the normaliser has learned numbers ({names}), which a trained model and given scores lack; write "
        "numbers in their place",
        "knobs": "a line has its numbers in it; leave out {names}",
        "definition": 'a normaliser is {given}; give a line such as "exp(x) / sum(exp(x))", or a function of x',
    }
)


Heads = slice | Sequence[int]
ALL = slice(None)


class Numbered(Protocol):
    """A step of a layer, as far as its numbers go."""

    @property
    def array(self) -> Array: ...


class ChosenRows(Protocol):
    """The fields of a Config that choose a row."""

    @property
    def score(self) -> str: ...
    @property
    def score_formula(self) -> str: ...
    @property
    def bias(self) -> str: ...
    @property
    def bias_formula(self) -> str: ...
    @property
    def mask_formula(self) -> str: ...
    @property
    def normaliser(self) -> str: ...
    @property
    def normaliser_formula(self) -> str: ...
    @property
    def score_knobs(self) -> tuple[tuple[str, KnobValue], ...]: ...
    @property
    def normaliser_knobs(self) -> tuple[tuple[str, KnobValue], ...]: ...
    @property
    def group_size(self) -> int: ...
    def key_widths(self) -> tuple[int, ...]: ...


class ChosenMask(Protocol):
    """The fields of a Config that choose a mask."""

    @property
    def mask(self) -> Container[str]: ...
    @property
    def mask_formula(self) -> str: ...


def score_of(config: ChosenRows) -> Score:
    """Return the row of the score that is chosen; raises FormulaError if it is typed and cannot be read."""
    row = SCORES[config.score]
    formula = parse(config.score_formula) if config.score == TYPED else _line_of(row, config.score_knobs, "score")
    if formula is None:
        return row
    return _score(config.score, formula, tuple(np.repeat(config.key_widths(), config.group_size).tolist()))


@lru_cache(maxsize=64)
def _score(name: str, formula: Formula, widths: tuple[int, ...] = ()) -> Score:
    row = scores.of_formula(SCORES[name], formula, widths).changed(**_plain(name, formula))
    same = _row_of(form(formula)) if name == TYPED else None
    return row.changed(fn=same.fast, back=same.back or row.back) if same else row


@lru_cache(maxsize=64)
def _row_of(wanted: tuple[object, ...]) -> Score | None:
    """Return the row with this line, which computes the same numbers faster; None for any other line.

    A row whose scale is a step of its own says only a part of its line there.
    """
    rows = (row for row in SCORES.values() if row.fast and row.line and not row.knobs and not row.unscaled)
    return next((row for row in rows if form(parse(row.line)) == wanted), None)


def _plain(name: str, formula: Formula) -> dict[str, str]:
    """Return a typed score in plain text: the line itself."""
    return {"plain": " ".join(formula.text.split())} if name == TYPED else {}


def _line_of(row: Score | Normaliser, knobs: tuple[tuple[str, KnobValue], ...], kind: str) -> Formula | None:
    """Return the formula of a row that is nothing but its line, with the knobs as they are set; None for any other."""
    if row.typed is None or not row.knobs:
        return row.typed
    return parse(row.line, kind, row.knob_values(dict(knobs)))


def normaliser_of(config: ChosenRows) -> Normaliser:
    """Return the row of the normaliser that is chosen; raises FormulaError if it is typed and cannot be read."""
    row = NORMALISERS[config.normaliser]
    if config.normaliser == TYPED:
        return _normaliser(TYPED, parse(config.normaliser_formula, "normaliser"))
    formula = _line_of(row, config.normaliser_knobs, "normaliser")
    return row if formula is None else _normaliser(row.name, formula, config.normaliser_knobs)


@lru_cache(maxsize=64)
def _normaliser(name: str, formula: Formula, knobs: tuple[tuple[str, KnobValue], ...] = ()) -> Normaliser:
    row = NORMALISERS[name]
    return normalisers.of_formula(row, formula, row.knob_values(dict(knobs)))


def learned_numbers(formula: Formula | None, steps: Mapping[str, Numbered], heads: Heads = ALL) -> dict[str, Array]:
    """Return the learned numbers of a line as a layer has them, one a head, by their names in the line."""
    names = formula.parameters if formula else ()
    return {name: steps[STEPS[name]].array[heads, 0] for name in names if STEPS[name] in steps}


def normaliser_in(config: ChosenRows, steps: Mapping[str, Numbered], heads: Heads = ALL) -> Normaliser:
    """Return the row of the normaliser with the numbers that a layer has learned in it."""
    row = normaliser_of(config)
    own = learned_numbers(row.typed, steps, heads)
    return row.changed(fn=partial(row.fn, **own), back=row.back and partial(row.back, **own)) if own else row


def check_nothing_learned(config: ChosenRows) -> None:
    """Raise ConfigError where the normaliser has learned numbers, which a trained model and given scores lack."""
    row = normaliser_of(config)
    if row.typed and row.typed.parameters:
        raise ConfigError(FAULTS["learned"].format(names=", ".join(row.typed.parameters)))


def bias_formula(config: ChosenRows) -> Formula | None:
    """Return the bias that was typed; None where another is chosen."""
    return parse(config.bias_formula, "bias") if config.bias == TYPED else None


def learned_bias(config: ChosenRows) -> Score | None:
    """Return the bias that was typed as a row with learned numbers; None where it has none of them."""
    formula = bias_formula(config)
    return _score(TYPED, formula) if formula is not None and formula.parameters else None


def mask_formula(config: ChosenMask) -> Formula:
    """Return the mask that was typed."""
    return parse(config.mask_formula, "mask")


def masks_by_head(config: ChosenMask) -> bool:
    """Return whether each head has a mask of its own: a mask was typed that looks at the head."""
    return TYPED in config.mask and mask_formula(config).by_head


def bias_of(config: ChosenRows) -> PairRow:
    """Return the row of the bias that is chosen, with the formula that was typed."""
    formula = bias_formula(config)
    return BIASES[config.bias] if formula is None else BIASES[TYPED].changed(formula=latex(formula))


def mask_of(config: ChosenMask, name: str) -> PairRow:
    """Return the row of a mask, with the formula that was typed."""
    return MASKS[name] if name != TYPED else MASKS[TYPED].changed(formula=latex(mask_formula(config)))


# The form with two arguments is what gives the q and k of a lambda their type in a checker.
TypedScore = str | Callable[[Any, Any], Any] | Callable[..., Any]


def score(name: str, definition: TypedScore) -> Score:
    """Return a score of your own, from a line or from a function that can be written as one.

    `attend` takes it as `score=`, and so does `Config`, where it becomes the typed line.

    definition  a line such as "sum(abs(q - k))", or a function of q, k and whatever else a line may name

    A function that does what no line can say is computed on arrays, pair by pair, and a warning says so: `attend` takes
    it, and `of_scores` what comes out; a `Config` cannot hold it.

    Raises FormulaError with the position of what is wrong with a line, and for a function that gives no number.

    >>> mine = score("mine", lambda q, k: np.abs(q - k).sum())
    >>> mine.plain
    'sum(abs(q - k))'
    >>> mine.fn(np.ones((1, 2)), np.zeros((3, 2)))
    array([[2., 2., 2.]])
    """
    if isinstance(definition, str):
        return _score(TYPED, parse(definition)).changed(label=name)
    try:
        return _score(TYPED, traced(definition)).changed(label=name)
    except FormulaError as error:
        return of_function(name, definition, error)


TypedNormaliser = str | Callable[[Any], Any]


@overload
def normaliser(name: str, definition: TypedNormaliser) -> Normaliser: ...
@overload
def normaliser(name: str, definition: None = None, **knobs: KnobValue) -> Normaliser: ...
def normaliser(name: str, definition: TypedNormaliser | None = None, **knobs: KnobValue) -> Normaliser:
    """Return a normaliser of your own, from a line or a function; or, without one, a row with its knobs set.

    `attend` takes it as `normaliser=`, and so does `Config`, where it becomes the typed line, or the row and its knobs.

    definition  a line such as "p = relu(x)**2; p / sum(p)", or a function of x, the scores of a row
    knobs       by name, where `name` is that of a row of NORMALISERS

    Raises FormulaError with the position of what is wrong with a line, and for a function that no line can say;
    ValueError for an unknown row, and ConfigError for a knob or a number that the row does not allow.

    >>> normaliser("mine", lambda x: np.exp(x) / np.exp(x).sum()).fn(np.array([0.0, 0.0]))
    array([0.5, 0.5])
    >>> normaliser("entmax", alpha=2.0).fn(np.array([0.5, 0.0, -9.0]))
    array([0.75, 0.25, 0.  ])
    """
    if definition is not None:
        if knobs:
            raise ConfigError(FAULTS["knobs"].format(names=", ".join(knobs)))
        if not isinstance(definition, str) and not callable(definition):
            raise ConfigError(FAULTS["definition"].format(given=f"{definition!r:.60}"))
        formula = parse(definition, KIND) if isinstance(definition, str) else traced(definition, KIND)
        return _normaliser(TYPED, formula).changed(label=name)
    row = pick(NORMALISERS, name, KIND)
    checked = Knobs(KIND, NORMALISERS, MOST_HEADS).check({f"{name}.{knob}": knobs[knob] for knob in knobs})
    line = _line_of(row, checked, KIND)
    return row if line is None else _normaliser(name, line, checked).changed(chosen_knobs=checked)
