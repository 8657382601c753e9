"""Memory and processor time of a run and of everything made from it, estimated before any of it is computed.

One function, `estimate`, adds the `Need` of what is made to the sizes of its run; `refusal` says why a computation is
too large, and what would help most.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from attnviz.engine import inputs
from attnviz.engine.cost.need import MB, MOST_SECONDS, SHORT, Need
from attnviz.engine.cost.sizes import Sizes, sizes
from attnviz.engine.external.traces import is_external
from attnviz.engine.learning.film import MOST_BYTES
from attnviz.engine.pretrained import model_registry
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.settings.faults import ConfigError, shorten
from attnviz.settings.language import Words

NUMBER = 8
"""Bytes of a number; a run computes in float64."""

WORDS = Words(
    {
        "memory": "This would take about {n:,} MB of memory, and the server allows {most:,} MB for one computation.",
        "time": "This would keep the server busy for about {n:,} seconds, and it allows {most:,} for one computation.",
        "frames": "The frames of learning would take about {n:,} MB of memory; {most:,} MB are allowed.",
        "variable": "{variable} is {given}; write megabytes as a number from {least} to {most}, as in {default}",
        "advice": "What would help most: {smaller}. The setting stays as it is.",
        "part": "Use a part of it.",
        "model": "This experiment draws new matrices, and a trained model has its own. Choose “None: made here” as "
        "the model to "
        "see it.",
        "weights": "The matrices of this model are {n:,} numbers, and such a file holds up to {most:,}. The models in "
        "the package are small enough.",
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


def estimate(need: Need, of: Config | Trace | Sizes, *beside: Config, again: int = 0) -> Cost:
    """Estimate the peak of a computation together with the run of a setting, before any of it is computed.

    of      a setting, a trace that is there, or the sizes of one that is to be made of given numbers
    beside  further settings whose runs are in memory at the same time
    again   how often the run is made once more, one at a time

    >>> estimate(Need(), Config()).n_bytes < estimate(Need(), Config(n_layers=6)).n_bytes
    True
    """
    size = sizes(of)
    others = [sizes(other) for other in beside]
    drawn = (size.n_layers if need.every_layer else 1) * max(each.drawn for each in (size, *others))
    numbers = (1 + need.held) * size.numbers + sum(each.numbers for each in others)
    working = max(each.working for each in (size, *others))
    n_bytes = NUMBER * (numbers + TEMPORARY * size.largest + working) + need.fixed
    n_bytes += need.drawn * drawn + need.largest * size.largest + need.number * size.numbers
    n_bytes += need.weight * size.weights
    runs = 1 + need.made + again + need.each_key * size.n_keys
    seconds = runs * size.computing + sum(each.computing for each in others) + _learning(of, *beside) + need.busy
    seconds += need.slow_drawn * drawn + need.slow_number * size.numbers + need.slow_weight * size.weights
    return Cost(n_bytes, seconds)


def _learning(*of: Config | Trace | Sizes) -> float:
    """Return the seconds in which the heads of some settings are learned, each setting's once."""
    each = {each if isinstance(each, Sizes) else setting(each): sizes(each).learning for each in of}
    return sum(each.values())


TEMPORARY = 2
"""Arrays as large as the largest step that are there for a moment while it is computed."""

VARIABLE = "ATTNVIZ_MAX_MB"
DEFAULT_MB, LEAST_MB, MOST_MB = 500, 64, 100_000
"""The memory of one computation where the host does not say: a container of 1 GB then holds 30 visitors beside it."""


def most_bytes(written: str = "") -> float:
    """Return the most bytes that one computation may use, from the megabytes that a host has written.

    Raises ConfigError for anything that is no such number: a limit that is misread is none.

    >>> most_bytes("250"), most_bytes("")
    (250000000.0, 500000000.0)
    """
    if not written.strip():
        return float(MB * DEFAULT_MB)
    try:
        megabytes = float(written)
    except ValueError:
        megabytes = math.nan
    if not LEAST_MB <= megabytes <= MOST_MB:
        raise ConfigError(
            WORDS["variable"].format(
                variable=VARIABLE, given=shorten(written), least=LEAST_MB, most=MOST_MB, default=DEFAULT_MB
            )
        )
    return MB * megabytes


def refusal(need: Need, of: Config | Trace | Sizes, *beside: Config, most: float, again: int = 0) -> str:
    """Return the reason for refusing a computation and the change that helps most; empty if it fits.

    most  bytes that it may take;  again  as in `estimate`
    """
    if need.excludes_models and not isinstance(of, Sizes) and model_registry.find(setting(of).model):
        return WORDS["model"]
    n_weights = sizes(of).weights
    if need.most_weights is not None and n_weights > need.most_weights:
        return WORDS["weights"].format(n=n_weights, most=need.most_weights)
    cost = estimate(need, of, *beside, again=again)
    learning, frames = (max(getattr(sizes(each), name) for each in (of, *beside)) for name in ("learning", "frames"))
    bounds = ((learning, MOST_LEARNING), (cost.seconds - sizes(of).seconds, need.most), (cost.seconds, MOST_SECONDS))
    longer, seconds = next((each for each in bounds if each[0] > each[1]), (0.0, 0.0))
    if cost.n_bytes > most:
        by_time, problem = False, WORDS["memory"].format(n=math.ceil(cost.n_bytes / MB), most=round(most / MB))
    elif longer:
        by_time, problem = True, WORDS["time"].format(n=math.ceil(longer), most=seconds)
    elif NUMBER * frames > MOST_BYTES:
        megabytes = math.ceil(NUMBER * frames / MB)
        by_time, problem = False, WORDS["frames"].format(n=megabytes, most=round(MOST_BYTES / MB))
    else:
        return ""
    return f"{problem} {_advice(need, of, beside, by_time=by_time)}"


def setting(of: Config | Trace) -> Config:
    """Return the setting of a run that is there or is to be made."""
    return of if isinstance(of, Config) else of.config


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


def _advice(need: Need, of: Config | Trace | Sizes, beside: tuple[Config, ...], *, by_time: bool) -> str:
    """Return a sentence that names the two parts of the setting that lower the cost most if halved."""
    if isinstance(of, Sizes) or (isinstance(of, Trace) and is_external(of)):
        return WORDS["part"]
    config = setting(of)
    costs = {}
    for name in ("max_tokens",) if model_registry.find(config.model) else SMALLER:
        try:
            halved = estimate(need, _halved(config, name), *(_halved(other, name) for other in beside))
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
