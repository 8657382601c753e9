"""Sizes of a run, and the seconds that it takes, reckoned from its setting before anything of it is computed."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from attnviz.engine import inputs
from attnviz.engine.external.traces import is_external
from attnviz.engine.learning import learnable, learning_cost
from attnviz.engine.plan.lengths import axes_of
from attnviz.engine.plan.plans import plan_of
from attnviz.engine.pretrained import model_registry
from attnviz.engine.pretrained.model_sizes import ModelSizes
from attnviz.engine.pretrained.pretrained_config import is_pretrained
from attnviz.engine.records.config import Config, all_but_seed
from attnviz.engine.records.trace import Trace
from attnviz.engine.records.typed_rows import TYPED, bias_formula, mask_formula, normaliser_of, score_of
from attnviz.engine.tables.initialisers import INITIALISERS
from attnviz.engine.tables.scores import SCORES, Score
from attnviz.formula.evaluation.operation_counts import LEAST_OF_BIG, MAX_STEPS, WEIGHT
from attnviz.formula.faults import FormulaError
from attnviz.formula.graph import Node
from attnviz.settings.kept import Kept


@dataclass(frozen=True)
class Sizes:
    """The sizes of a run.

    numbers  in all of its steps;  largest  in the largest of them
    drawn    in the scores, weights and outputs of all heads of one layer, which are the pictures
    seconds  to compute it;  working  numbers that a typed formula or learning keeps while it is computed
    learning seconds of these in which its projections are learned;  frames  numbers of these that stay in memory
    n_keys   tokens that can be attended to
    weights  numbers of all matrices of a trained model, which stay in their file while it is run
    """

    numbers: int
    largest: int
    drawn: int
    n_layers: int = 1
    seconds: float = 0.0
    working: int = 0
    learning: float = 0.0
    frames: int = 0
    n_keys: int = 0
    weights: int = 0

    @property
    def computing(self) -> float:
        """The seconds of the run itself, once its projections are learned."""
        return self.seconds - self.learning


_kept = Kept[Sizes](most=64)


def sizes(of: Config | Trace | Sizes) -> Sizes:
    """Return the sizes of the run of a setting, or of a trace that was brought; sizes that are known are themselves.

    Raises ConfigError for a sentence without tokens.

    >>> sizes(Config(sentence="a b c", n_heads=2)).drawn
    60
    """
    if isinstance(of, Sizes):
        return of
    if isinstance(of, Config):
        return _of_setting(of)
    if model_registry.find(of.config.model) or not (is_external(of) or is_pretrained(of)):
        return _of_setting(of.config)
    each = [step.array.size for steps in (of.around, *of.layers) for step in steps.values()]
    return Sizes(sum(each), max(each), 3 * max(each), len(of.layers))


Shape = tuple[int, int, int, int]
"""Layers, heads, rows and columns of an array that was brought."""


def of_weights(weights: Shape) -> Sizes:
    """Return the sizes of a trace of weights alone."""
    layers, *each = weights
    cells = math.prod(each)
    return Sizes(layers * cells, cells, 3 * cells, layers, 60e-9 * layers * cells, n_keys=weights[-1])


def of_scores(scores: Shape, config: Config) -> Sizes:
    """Return the sizes of a trace from given scores on, under the normaliser of a setting."""
    layers, heads, n, m = scores
    return _of_given(layers, heads * n * m, n * m, 0, config, 0.0)


def of_vectors(q: Shape, k: Shape, v: Shape, config: Config) -> Sizes:
    """Return the sizes of a trace from given queries, keys and values on, under the score of a setting."""
    layers, heads, n, d_k = q
    cells = heads * n * k[2]
    vectors = heads * n * (d_k + 3 * v[3]) + math.prod(k[1:]) + math.prod(v[1:])
    score = _score(config)
    each = 0.2e-9 * (d_k + v[3]) + score.pairwise * (config.d_a if score.definition.hidden else d_k)
    return _of_given(layers, cells, n * k[2], vectors, config, each * cells)


def _of_given(layers: int, cells: int, n_pairs: int, vectors: int, config: Config, seconds: float) -> Sizes:
    """Return the sizes of given numbers with all that follows from them; `seconds` are those of a layer's scores."""
    working, typed_seconds = _typed(config, cells)
    seconds = layers * (seconds + 100e-9 * cells + 10e-9 * vectors + typed_seconds + 0.001)
    numbers = layers * (5 * cells + n_pairs + vectors)
    return Sizes(numbers, max(cells, vectors), 2 * cells + vectors, layers, seconds, working, n_keys=n_pairs)


def _of_setting(config: Config) -> Sizes:
    """Return the sizes of the run of a setting: those of any seed, unless its heads learn, as some films are there."""
    is_plain = type(config) is Config and not learnable.learns(config)
    return _kept.get(all_but_seed(config) if is_plain else config, lambda: _reckoned(config))


def _reckoned(config: Config) -> Sizes:
    query_tokens, key_tokens, _ = inputs.tokens(config)
    model = model_registry.find(config.model)
    if model is not None:
        return _of_model(model.sizes, len(query_tokens))
    n, m, d = len(query_tokens), len(key_tokens), config.d_model
    weights, steps = _layer(config, n, m)
    each = weights | steps
    around = (3 * n + (3 if config.is_cross_attention else 1) * m) * d
    largest = max(max(n, m) * d, *(math.prod(shape) for shape in each.values()))
    seconds = config.n_layers * _seconds(config, weights, steps) + 30e-9 * around + 0.002
    cells = config.n_heads * n * m
    working, typed_seconds = _typed(config, cells)
    seconds += config.n_layers * typed_seconds
    is_solved = INITIALISERS[config.initialiser].solved
    runs = 2 if config.n_layers > 1 and is_solved else 1  # once for the setting that the heads are made for
    numbers = around + config.n_layers * sum(math.prod(shape) for shape in each.values())
    drawn = 2 * cells + math.prod(steps["heads"])
    learning = learning_cost.of(config)
    seconds = seconds * runs + learning.seconds + (_solving(config, n, m) if is_solved else 0.0)
    working += learning.numbers
    return Sizes(
        numbers, largest, drawn, config.n_layers, seconds, working, learning.seconds, frames=learning.kept, n_keys=m
    )


def _of_model(model: ModelSizes, n: int) -> Sizes:
    """Return the sizes of a run through a trained model, whose matrices stay in their file."""
    numbers = model.n_layers * model.of_layer(n) + 6 * n * model.d_model
    return Sizes(numbers, model.largest(n), model.drawn(n), model.n_layers, model.seconds(n), weights=model.n_weights)


def _typed(config: Config, cells: int) -> tuple[int, float]:
    """Return the numbers that typed formulas keep while they are computed, one formula at a time, and their seconds."""
    try:
        masks = [mask_formula(config)] if TYPED in config.mask else []
        lines = [score_of(config).typed, normaliser_of(config).typed, bias_formula(config), *masks]
    except FormulaError:  # there is nothing to compute
        return 0, 0.0
    formulas = [formula for formula in lines if formula is not None]
    parts = [[node for node in formula.nodes if not node.is_leaf] for formula in formulas]
    steps = sum(min(MAX_STEPS, sum(_steps(config, node) for node in nodes) * cells) for nodes in parts)
    return max((len(nodes) for nodes in parts), default=0) * cells, 1.5e-9 * steps


def _steps(config: Config, node: Node) -> float:
    """Return the steps of work of a part of a formula for each cell."""
    each = WEIGHT.get(node.name if node.op == "call" else node.op, LEAST_OF_BIG)
    return each * (max(*config.key_widths(), config.d_a) if "d" in node.axes else 1)


Shapes = dict[str, tuple[int, ...]]


def _layer(config: Config, n_query: int, n_key: int) -> tuple[Shapes, Shapes]:
    """Return the shapes of the weights of a layer and of its other steps, by name, from its plan."""
    try:
        plan = plan_of(config)
    except FormulaError:  # a line that cannot be read has no parameters, and nothing is computed
        plan = plan_of(replace(config, score="dot"))
    axes = axes_of(config, n_query, n_key)
    shapes = {name: tuple(axes[axis] for axis in value.axes) for name, value in plan.items()}
    weights = {name: shapes.pop(name) for name in plan.weights}
    return weights, shapes


def _seconds(config: Config, weights: Shapes, steps: Shapes) -> float:
    """Return the seconds of an ordinary processor for one layer: drawing, multiplying, comparing, normalising."""
    drawn, (heads, n, m) = sum(map(math.prod, weights.values())), steps["scores"]
    cells = heads * n * m
    vectors = sum(math.prod(shape) for shape in steps.values() if shape[-2:] != (n, m))
    d_k, d_v = max(config.key_widths()), max(config.value_widths())
    products = max(n, m) * drawn + cells * (d_k + d_v)
    score = _score(config)
    deep = config.d_a if score.definition.hidden else d_k
    seconds = 40e-9 * drawn + 0.2e-9 * products + 10e-9 * vectors + 120e-9 * cells + 0.001
    if config.initialiser == "orthogonal":
        seconds += sum(0.6e-9 * math.prod(shape) * min(shape[-2:]) for shape in weights.values() if len(shape) > 1)
    if INITIALISERS[config.initialiser].solved:
        seconds += 1.2e-9 * products
    return seconds + score.pairwise * cells * deep


def _score(config: Config) -> Score:
    """Return the row of the score; the dot product's for a typed line that cannot be read: nothing is computed then."""
    try:
        return score_of(config)
    except FormulaError:
        return SCORES["dot"]


def _solving(config: Config, n: int, m: int) -> float:
    """Return the seconds in which the heads of all layers are set by hand, which is done in a fixed order."""
    d, d_k, layers = config.d_model, max(config.key_widths()), config.n_layers
    each_layer = [n, m] if config.is_cross_attention else [n]
    seconds = layers * sum(_decomposing(rows, d) for rows in each_layer)
    seconds += _decomposing(n + m, d) if "alike" in config.patterns else 0.0
    different = len({token for tokens in inputs.tokens(config)[:2] for token in tokens})
    if not config.solved_anew and different < d:  # words and positions are told apart first, where there is room
        apart = layers if config.residual else 1
        seconds += 2 * apart * sum(_decomposing(rows, different) for rows in each_layer)
    return seconds + 1.2e-9 * 2 * layers * config.n_heads * d_k * (n + m + d) * min(max(n, m), d)


def _decomposing(rows: int, columns: int) -> float:
    """Return the seconds in which the singular vectors of a matrix are found."""
    r = min(rows, columns)
    return 9 * r * (60e-6 + 6.5e-9 * r * (rows + r))
