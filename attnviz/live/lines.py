"""The lines of a run's rows as JavaScript, in which the numbers that a person may set keep their names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from attnviz.codegen.javascript_loops import of_pairs, of_row
from attnviz.engine.plan.operations import OWN_NAMES
from attnviz.engine.plan.tracing import Plan
from attnviz.engine.pretrained.pretrained_config import facts_of
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.engine.records.typed_rows import TYPED, normaliser_of, score_of
from attnviz.engine.rows.pair_row import PairRow
from attnviz.engine.tables.biases import BIASES
from attnviz.engine.tables.masks import MASKS
from attnviz.engine.tables.normalisers import NORMALISERS, Normaliser
from attnviz.engine.tables.scores import SCORES, Score
from attnviz.formula.graph import Formula
from attnviz.formula.reader import parse
from attnviz.live.typed_numbers import named_line


@dataclass(frozen=True)
class Line:
    """The source of a line, and the settings that it reads, with their values."""

    source: str
    settings: Mapping[str, Any] = field(default_factory=dict)


Named = tuple[Formula, dict[str, str], dict[str, Any]]
"""A line in which numbers have names, the settings of these names, and the values of the settings."""


def named_score(config: Config) -> Named | None:
    """Return the line of a score with names for its numbers; None where it has none to move."""
    if config.score == TYPED:
        return named_line(config.score_formula, "score_formula")
    row = SCORES[config.score]
    if not row.knobs:
        return None
    formula = parse(row.unscaled or row.line, "score", _named(row))
    return formula, _keys(row), _knobs(row, dict(config.score_knobs))


def named_normaliser(config: Config) -> Named | None:
    """Return the line of a normaliser with names for its numbers; None where it has none to move."""
    if config.normaliser == TYPED:
        return named_line(config.normaliser_formula, "normaliser_formula")
    row = NORMALISERS[config.normaliser]
    if not row.knobs or row.written:
        return None
    return parse(row.line, "normaliser", _named(row)), _keys(row), _knobs(row, dict(config.normaliser_knobs))


def score_line(trace: Trace, plan: Plan) -> Line:
    """Return the score of a run, whose layers have this plan; a bias that is off counts as 0."""
    formula, keys, values = named_score(trace.config) or (score_of(trace.config).definition, {}, {})
    there = {OWN_NAMES[name] for name in plan.weights if name in OWN_NAMES}
    absent = [name for name in formula.parameters if name not in there]
    return Line(of_pairs(formula, keys, absent), values)


def normaliser_line(trace: Trace) -> Line:
    """Return the normaliser of a run; what sorts is no line, and called by its name."""
    row = NORMALISERS[trace.config.normaliser]
    if row.written:
        return Line(f"() => () => (x, w, n, c) => {row.written.live}".replace("() =>", "(help) =>", 1))
    named = named_normaliser(trace.config)
    formula, keys, values = named or (normaliser_of(trace.config).line_formula, {}, {})
    return Line(of_row(formula, keys), values)


def mask_lines(trace: Trace, layer: int) -> dict[str, Line] | None:
    """Return the masks of a layer, all of which must allow, by names of settings; None where one has no line."""
    config, lines = trace.config, dict[str, Line]()
    if facts_of(config).reads:  # its masks are those of one of its two texts, and given
        return None
    for name in config.mask:
        if name == TYPED:
            typed = _typed(config, "mask_formula")  # one for all heads has an array of one, and knows of all
            lines[f"mask.{name}"] = replace(typed, source=typed.source.replace("z.heads", str(config.n_heads)))
            continue
        formula = _of_row(MASKS[name], "mask")
        if formula is None:
            return None
        lines[f"mask.{name}"] = _table(formula, MASKS[name].uses, config)
    reach = facts_of(config).reach(layer)
    if reach is not None:
        lines[f"mask.reach.{layer}"] = Line(of_pairs(parse(f"i - j <= {reach}", "mask")))
    return lines


def bias_line(trace: Trace) -> Line | None:
    """Return the bias of a run; None where there is none or where no line says it."""
    config = trace.config
    if config.bias == TYPED:
        return _typed(config, "bias_formula")
    formula = _of_row(BIASES[config.bias], "bias")
    return _table(formula, BIASES[config.bias].uses, config) if formula else None


def _typed(config: Config, name: str) -> Line:
    """Return a line of pairs of positions that was typed into a field of the setting."""
    formula, keys, values = named_line(getattr(config, name), name)
    return Line(of_pairs(formula, keys), values)


def _table(formula: Formula, uses: Iterable[str], config: Config) -> Line:
    """Return a line of pairs of positions; the numbers of its row are fields of the setting."""
    names = [name for name in uses if name in formula.variables()]
    return Line(of_pairs(formula, dict(zip(names, names))), {name: getattr(config, name) for name in names})


def _of_row(row: PairRow, kind: str) -> Formula | None:
    return parse(row.line, kind, {name: name for name in row.uses}) if row.line else None


def _named(row: Score | Normaliser) -> dict[str, str]:
    """Return the names of a row's knobs for themselves: in the line they stay names."""
    return {knob.name: knob.name for knob in row.knobs}


def _keys(row: Score | Normaliser) -> dict[str, str]:
    return {knob.name: f"{row.name}.{knob.name}" for knob in row.knobs}


def _knobs(row: Score | Normaliser, values: Mapping[str, Any]) -> dict[str, Any]:
    names = _keys(row)
    return {names[knob]: value for knob, value in row.knob_values(values).items()}
