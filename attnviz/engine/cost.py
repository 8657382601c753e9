"""Memory and processor time of a run and of everything made from it, estimated before any of it is computed.

One function, `estimate`, knows every page, panel, experiment, desk and kind of file by its name in `NEEDS`. The sizes
of a run follow from its setting alone; what is made from a run takes so many bytes for each of its numbers, or for each
that is drawn. These figures were measured with tracemalloc and rounded up, so that no estimate is below what is taken.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from attnviz.engine import inputs
from attnviz.engine.external import is_external
from attnviz.engine.learning import learning_cost
from attnviz.engine.learning.film import MOST_BYTES
from attnviz.engine.records import hosted
from attnviz.engine.records.config import Config
from attnviz.engine.records.model_cost import ModelSizes
from attnviz.engine.records.pretrained import is_pretrained
from attnviz.engine.records.trace import Trace
from attnviz.engine.records.typed_rows import TYPED, bias_formula, mask_formula, normaliser_of, score_of
from attnviz.engine.tables.blocks import FEED_FORWARDS
from attnviz.engine.tables.initialisers import INITIALISERS
from attnviz.engine.tables.scores import SCORES, Score
from attnviz.formula.faults import FormulaError
from attnviz.formula.graph import Node
from attnviz.formula.work import LEAST_OF_BIG, MOST, WEIGHT
from attnviz.settings.fields import ConfigError
from attnviz.settings.language import Words

MB = 10**6
NUMBER = 8
"""Bytes of a number; a run computes in float64."""

WORDS = Words(
    {
        "memory": "This would take about {n:,} MB of memory, and the server allows {most:,} MB for one computation.",
        "time": "This would keep the server busy for about {n:,} seconds, and it allows {most:,} for one computation.",
        "frames": "The frames of learning would stay in memory with about {n:,} MB, and {most:,} MB are allowed.",
        "advice": "What would help most: {smaller}. The setting stays as it is.",
        "part": "Bring a part of it.",
        "model": "This makes matrices anew, and a trained model has its own. Choose “None: made here” as the model to "
        "see it.",
        "or": " or ",
        "n_layers": "fewer layers",
        "n_heads": "fewer heads",
        "max_tokens": "fewer tokens",
        "d_model": "a smaller embedding size",
        "d_k": "narrower heads (d_k and d_v)",
        "d_ff": "a narrower feed-forward block",
        "d_a": "a smaller hidden width d_a",
        "learn_steps": "fewer steps of learning",
        "learn_batch": "fewer sentences in a batch",
    }
)


@dataclass(frozen=True)
class Cost:
    """The peak of a computation: bytes of memory, and seconds of an ordinary processor."""

    n_bytes: float
    seconds: float = 0.0

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.n_bytes + other.n_bytes, self.seconds + other.seconds)


@dataclass(frozen=True)
class Sizes:
    """The sizes of a run.

    numbers  in all of its steps;  largest  in the largest of them
    drawn    in the scores, weights and outputs of all heads of one layer, which are the pictures
    seconds  to compute it;  working  numbers that a typed formula or learning keeps while it is computed
    learning seconds of these in which its projections are learned;  frames  numbers of these that stay in memory
    n_keys   tokens that can be attended to
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


@dataclass(frozen=True)
class Need:
    """The cost of something beside the run that is shown.

    held    further runs of the setting that are in memory at the same time;  made  further runs in all
    each_key  further runs for each key;  busy  seconds that are used however small the setting is
    fixed   bytes that are taken however small the setting is
    drawn, largest, number  bytes for each of these numbers of a run;  every_layer  whether all layers are drawn
    slow_drawn, slow_number  seconds for each of these numbers
    most    seconds that it may take beside the run
    """

    held: float = 0
    made: float = 0
    each_key: float = 0
    busy: float = 0
    fixed: float = 4 * MB
    drawn: float = 24
    largest: float = 0
    number: float = 0
    every_layer: bool = False
    slow_drawn: float = 0.3e-6
    slow_number: float = 0
    most: float = 60


def sizes(of: Config | Trace) -> Sizes:
    """Return the sizes of the run of a setting, or of a trace that was brought.

    Raises ConfigError for a sentence without tokens.

    >>> sizes(Config(sentence="a b c", n_heads=2)).drawn
    60
    """
    if isinstance(of, Config):
        return _of_setting(of)
    if hosted.find(of.config.model) or not (is_external(of) or is_pretrained(of)):
        return _of_setting(of.config)
    each = [step.array.size for steps in (of.around, *of.layers) for step in steps.values()]
    return Sizes(sum(each), max(each), 3 * max(each), len(of.layers))


@lru_cache(maxsize=64)
def _of_setting(config: Config) -> Sizes:
    query_tokens, key_tokens, _ = inputs.tokens(config)
    model = hosted.find(config.model)
    if model is not None:
        return _of_model(model.sizes, len(query_tokens))
    n, m, d = len(query_tokens), len(key_tokens), config.d_model
    parameters = list(_parameters(config, m))
    vectors, cells = _vectors(config, n, m), config.n_heads * n * m
    layer = sum(math.prod(shape) for shape in parameters) + vectors + 5 * cells + n * m
    layer += cells if config.bias != "none" else 0
    around = (3 * n + (3 if config.is_cross_attention else 1) * m) * d
    outputs = n * sum(config.value_widths()) * config.group_size
    widest = d * max(*config.key_widths(), *config.value_widths())
    largest = max(cells, outputs, max(n, m) * d, config.n_heads * widest, *(math.prod(shape) for shape in parameters))
    seconds = config.n_layers * _seconds(config, n, m, cells, vectors, parameters) + 30e-9 * around + 0.002
    working, typed_seconds = _typed(config, cells)
    seconds += config.n_layers * typed_seconds
    runs = 2 if config.edits and INITIALISERS[config.initialiser].solved else 1
    numbers, drawn = around + config.n_layers * layer, 2 * cells + outputs
    learning = learning_cost.of(config)
    seconds, working = seconds * runs + learning.seconds, working + learning.numbers
    return Sizes(
        numbers, largest, drawn, config.n_layers, seconds, working, learning.seconds, frames=learning.kept, n_keys=m
    )


def _of_model(model: ModelSizes, n: int) -> Sizes:
    """Return the sizes of a run through a trained model, whose matrices stay in their file."""
    numbers = model.n_layers * model.of_layer(n) + 6 * n * model.d_model
    return Sizes(numbers, model.largest(n), model.drawn(n), model.n_layers, model.seconds(n))


def _typed(config: Config, cells: int) -> tuple[int, float]:
    """Return the numbers that typed formulas keep while they are computed, one formula at a time, and their seconds."""
    try:
        masks = [mask_formula(config)] if TYPED in config.mask else []
        found = [score_of(config).typed, normaliser_of(config).typed, bias_formula(config), *masks]
    except FormulaError:  # there is nothing to compute
        return 0, 0.0
    formulas = [formula for formula in found if formula is not None]
    parts = [[node for node in formula.nodes if not node.is_leaf] for formula in formulas]
    steps = sum(min(MOST, sum(_steps(config, node) for node in nodes) * cells) for nodes in parts)
    return max((len(nodes) for nodes in parts), default=0) * cells, 1.5e-9 * steps


def _steps(config: Config, node: Node) -> float:
    """Return the steps of work of a part of a formula for each cell."""
    each = WEIGHT.get(node.name if node.op == "call" else node.op, LEAST_OF_BIG)
    return each * (max(*config.key_widths(), config.d_a) if "d" in node.axes else 1)


def _parameters(config: Config, n_key: int) -> Iterator[tuple[int, ...]]:
    """Yield the shape of every matrix of parameters of a layer, one a head where heads have their own."""
    d, d_k, d_v = config.d_model, max(config.key_widths()), max(config.value_widths())
    joined = sum(config.value_widths()) * config.group_size
    out = d if config.has_output_projection() else joined
    yield from ((d, d_k),) * (config.n_heads + config.kv_heads)
    yield from ((d, d_v),) * config.kv_heads
    if config.has_output_projection():
        yield joined, d
    if config.projection_bias:
        yield config.n_heads, 2 * d_k + d_v + d
    widths = {"d_q": d_k, "d_k": d_k, "d_a": config.d_a, "key": n_key}
    for axes in _score_parameters(config).values():
        yield config.n_heads, *(widths.get(axis, config.d_a) for axis in axes)
    if config.feed_forward != "none":
        yield from ((out, config.d_ff), (config.d_ff, out), (2, config.d_ff + out))
    if FEED_FORWARDS[config.feed_forward].gated:
        yield from ((out, config.d_ff), (1, config.d_ff))


def _score_parameters(config: Config) -> Mapping[str, tuple[str, ...]]:
    try:
        return score_of(config).parameters
    except FormulaError:
        return {}


def _vectors(config: Config, n: int, m: int) -> int:
    """Count the numbers in the vectors of all tokens in one layer."""
    d_k, d_v = max(config.key_widths()), max(config.value_widths())
    turned = 2 if config.position == "rope" else 1
    joined = sum(config.value_widths()) * config.group_size
    out = config.d_model if config.has_output_projection() else joined
    projected = turned * d_k * (config.n_heads * n + config.kv_heads * m) + config.kv_heads * m * d_v
    added = (2 if config.residual else 0) + (3 if config.norm != "none" else 0)
    added += 1 if config.feed_forward != "none" else 0
    hidden = config.d_ff if config.feed_forward != "none" else 0
    hidden *= 3 if FEED_FORWARDS[config.feed_forward].gated else 1
    return projected + config.n_heads * n * d_v + n * (joined + (2 + added) * out + hidden)


def _seconds(config: Config, n: int, m: int, cells: int, vectors: int, parameters: list[tuple[int, ...]]) -> float:
    """Return the seconds of an ordinary processor for one layer: drawing, multiplying, comparing, normalising."""
    drawn = sum(math.prod(shape) for shape in parameters)
    d_k, d_v = max(config.key_widths()), max(config.value_widths())
    products = max(n, m) * drawn + cells * (d_k + d_v)
    score = _score(config)
    deep = config.d_a if score.definition.hidden else d_k
    seconds = 40e-9 * drawn + 0.2e-9 * products + 10e-9 * vectors + 60e-9 * cells + 0.001
    if config.initialiser == "orthogonal":
        seconds += sum(0.6e-9 * math.prod(shape[-2:]) * min(shape[-2:]) for shape in parameters)
    if INITIALISERS[config.initialiser].solved:
        seconds += _solving(config, n, m) + 1.2e-9 * products
    return seconds + score.pairwise * cells * deep


def _score(config: Config) -> Score:
    """Return the row of the score; the dot product's for a typed line that cannot be read: nothing is computed then."""
    try:
        return score_of(config)
    except FormulaError:
        return SCORES["dot"]


def _solving(config: Config, n: int, m: int) -> float:
    """Return the seconds in which the heads of a layer are set by hand, which is done in a fixed order."""
    d, d_k = config.d_model, max(config.key_widths())
    each_layer = [n, m] if config.is_cross_attention else [n]
    once = [n + m] if "alike" in config.patterns else []
    seconds = sum(map(_decomposing, each_layer, [d] * 2)) + sum(map(_decomposing, once, [d])) / config.n_layers
    return seconds + 1.2e-9 * 2 * config.n_heads * d_k * (n + m + d) * min(max(n, m), d)


def _decomposing(rows: int, columns: int) -> float:
    """Return the seconds in which the singular vectors of a matrix are found."""
    r = min(rows, columns)
    return 9 * r * (60e-6 + 6.5e-9 * r * (rows + r))


SHORT = 2
"""Seconds that an experiment may take which only repeats the run in other ways."""

PAGES = {
    "explore": Need(),
    "explore/cell": Need(),
    "explore/word": Need(),
    "explore/flow": Need(largest=24),
    "explore/statistics": Need(),
    "explore/redeal": Need(drawn=40),
    "explore/table": Need(largest=130),
    "explore/what_if": Need(held=1, made=2, largest=130),
    "explore/mask": Need(),
    "explore/backward": Need(held=2, made=5, drawn=48),
    "compare": Need(drawn=48),
    "experiments": Need(drawn=40),  # what it opens with
    "learn": Need(held=2, made=2, drawn=48, every_layer=True),
    "experiments/mask_values": Need(drawn=40),
    "experiments/axis": Need(drawn=48),
    "experiments/scale": Need(drawn=150, slow_drawn=3e-6),
    "experiments/scale/setting": Need(held=1, made=8, drawn=150, slow_drawn=3e-6, most=20),
    "experiments/sharing": Need(drawn=48, most=SHORT),
    "experiments/shuffle": Need(held=2, made=9, drawn=48, most=SHORT),
    "experiments/importance": Need(
        held=2, made=1, each_key=1, busy=SHORT, most=3 * SHORT
    ),  # many rows, or one at least
    "take": Need(held=1, made=1),
    "assign/compose": Need(held=1, made=1),
    "assign/student": Need(held=1, made=1),
    "assign/mark": Need(held=1, made=1),
    "class": Need(),
    "lessons": Need(),
    "data": Need(drawn=40),
}
FILES = {
    "html": Need(drawn=120, every_layer=True, slow_drawn=1e-6),
    "svg": Need(drawn=110, slow_drawn=10e-6),
    "png": Need(drawn=110, fixed=60 * MB, slow_drawn=15e-6),
    "step.svg": Need(largest=110, slow_drawn=10e-6),
    "step.png": Need(largest=110, fixed=60 * MB, slow_drawn=15e-6),
    "csv": Need(largest=200, slow_drawn=4e-6),
    "npz": Need(number=10, slow_number=0.5e-6),
    "json": Need(number=30, slow_number=1e-6),
    "py": Need(held=1, made=1),
    "torch.py": Need(held=1, made=1),
    "ipynb": Need(held=1, made=1),
    "xlsx": Need(fixed=160 * MB),
    "tex": Need(fixed=30 * MB),
    "handout": Need(held=2, made=3, drawn=40),
}
NEEDS = {**PAGES, **{f"file/{name}": need for name, need in FILES.items()}}
"""What everything that can be asked for takes: a page, a panel or an experiment of it, a desk, a kind of file."""


MADE_HERE = (
    *(f"experiments/{name}" for name in ("axis", "scale", "scale/setting", "sharing", "shuffle", "importance")),
    *(f"file/{name}" for name in ("py", "torch.py", "ipynb", "xlsx", "handout")),
    "explore/redeal",
    "learn",
)
"""What a trained model has no part in: it draws parameters anew, or writes down how they were drawn."""


def estimate(what: str, of: Config | Trace, *beside: Config) -> Cost:
    """Estimate the peak of a computation together with the run of a setting, before any of it is computed.

    what    a name in NEEDS;  beside  further settings whose runs are in memory at the same time

    >>> estimate("file/json", Config()).n_bytes < estimate("file/json", Config(n_layers=6)).n_bytes
    True
    """
    need, found = NEEDS[what], sizes(of)
    others = [sizes(other) for other in beside]
    drawn = (found.n_layers if need.every_layer else 1) * max(each.drawn for each in (found, *others))
    numbers = (1 + need.held) * found.numbers + sum(each.numbers for each in others)
    working = max(each.working for each in (found, *others))
    n_bytes = NUMBER * (numbers + TEMPORARY * found.largest + working) + need.fixed
    n_bytes += need.drawn * drawn + need.largest * found.largest + need.number * found.numbers
    by_key = need.each_key * found.n_keys * (found.seconds - found.learning)
    seconds = (1 + need.made) * found.seconds + by_key + need.busy + sum(each.seconds for each in others)
    return Cost(n_bytes, seconds + need.slow_drawn * drawn + need.slow_number * found.numbers)


TEMPORARY = 2
"""Arrays as large as the largest step that are there for a moment while it is computed."""


VARIABLE = "ATTNVIZ_MAX_MB"
DEFAULT_MB, LEAST_MB = 500, 64
"""What one computation may take where the host does not say: a container of 1 GB then holds 30 visitors beside it."""


def most_bytes(written: str = "") -> float:
    """Return the most bytes that one computation may use, from the megabytes that a host has written.

    >>> most_bytes("250"), most_bytes("")
    (250000000.0, 500000000.0)
    """
    try:
        megabytes = float(written)
    except ValueError:
        megabytes = math.nan
    return MB * max(megabytes, float(LEAST_MB)) if math.isfinite(megabytes) else float(MB * DEFAULT_MB)


def refusal(what: str, of: Config | Trace, *beside: Config, most: float) -> str:
    """Return the reason for refusing a computation and the change that helps most; empty if it fits.

    most  bytes that it may take
    """
    if what in MADE_HERE and hosted.find((of if isinstance(of, Config) else of.config).model):
        return WORDS["model"]
    found, seconds = estimate(what, of, *beside), NEEDS[what].most
    longer = found.seconds - sizes(of).seconds
    learning, frames = (max(getattr(sizes(each), name) for each in (of, *beside)) for name in ("learning", "frames"))
    if learning > MOST_LEARNING:
        longer, seconds = learning, MOST_LEARNING
    if found.n_bytes > most:
        by_time, said = False, WORDS["memory"].format(n=math.ceil(found.n_bytes / MB), most=round(most / MB))
    elif longer > seconds:
        by_time, said = True, WORDS["time"].format(n=math.ceil(longer), most=seconds)
    elif NUMBER * frames > MOST_BYTES:
        megabytes = math.ceil(NUMBER * frames / MB)
        by_time, said = False, WORDS["frames"].format(n=megabytes, most=round(MOST_BYTES / MB))
    else:
        return ""
    return f"{said} {_advice(what, of, beside, by_time=by_time)}"


def times(config: Config, most: int, seconds: float = SHORT) -> int:
    """Return the number of runs of a setting that fit into so many seconds, `most` at most.

    >>> times(Config(), 9), times(Config(d_model=512, n_heads=16, d_k=64, n_layers=6), 9)
    (9, 6)
    """
    return min(most, int(seconds / sizes(config).seconds))


MOST_LEARNING = 8
"""Seconds that one setting may learn, as they are estimated from its steps: never by a clock, as links must not depend
on the machine."""

SMALLER = ("n_layers", "n_heads", "max_tokens", "d_model", "d_k", "d_ff", "d_a", "learn_steps", "learn_batch")


def _advice(what: str, of: Config | Trace, beside: tuple[Config, ...], *, by_time: bool) -> str:
    """Return a sentence that names the two parts of the setting that lower the cost most if halved."""
    if not isinstance(of, Config) and is_external(of):
        return WORDS["part"]
    config = of if isinstance(of, Config) else of.config
    costs = {}
    for name in ("max_tokens",) if hosted.find(config.model) else SMALLER:
        try:
            halved = estimate(what, _halved(config, name), *(_halved(other, name) for other in beside))
        except ConfigError:  # such as key/value heads that no longer divide the heads
            continue
        costs[name] = halved.seconds if by_time else halved.n_bytes
    best = sorted(costs, key=costs.__getitem__)[:2]
    return WORDS["advice"].format(smaller=WORDS["or"].join(WORDS[name] for name in best))


def _halved(config: Config, name: str) -> Config:
    """Return the setting with one of its sizes halved."""
    if name == "max_tokens":
        n = max(map(len, inputs.tokens(config)[:2])) // 2
        return replace(config, max_tokens=max(n, 1), pad_to=min(config.pad_to, n))
    if name == "n_heads":
        heads = max(config.n_heads // 2, 1)
        return replace(config, n_heads=heads, n_kv_heads=max(config.kv_heads // 2, 1))
    if name == "d_k":
        d_k, d_v = (tuple(max(n // 2, 1) for n in each) for each in (config.key_widths(), config.value_widths()))
        return replace(config, d_k=d_k, d_v=d_v)
    return replace(config, **{name: max(getattr(config, name) // 2, 1)})
