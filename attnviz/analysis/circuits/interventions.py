"""`knock_out` and `patch`: a run without some heads, or with numbers of another run in the place of its own."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from attnviz.analysis.circuits import prompts
from attnviz.analysis.circuits.changed_runs import Change, changed, check
from attnviz.arrays import Array
from attnviz.engine.external.layer_plans import LayerStep
from attnviz.engine.records.trace import Step, Trace
from attnviz.models.model import Model
from attnviz.settings.faults import ConfigError, shorten
from attnviz.settings.language import Words

FAULTS = Words(
    {
        "heads": "{given} is no list of heads; give (layer, head), both counted from 0, as in [(1, 0)], or "
        "(layer, 'feed_forward')",
        "no_block": "layer {layer} of this run has no feed-forward block; name one of its heads",
        "layer": "there is no layer {given}; this run has {n}, choose 0 to {last}",
        "head": "there is no head {given} in {name}; it has {n}, choose 0 to {last}",
        "position": "there is no position {given}; this run has {n}, choose 0 to {last}",
        "how": "how is {given}; choose zero, mean or corpus",
        "over": "over holds runs of another model or setting; give runs with as many layers, and heads as wide",
        "models": "the two runs are of different models; give runs of one",
        "no_model": "the mean over the corpus is that of a trained model that reads one text, and this run is of none; "
        "choose zero or mean",
        "where": "{given} is no place of a run; give (layer, step, positions or None, heads or None), as in "
        "(1, 'heads', [-1], [0])",
        "step": "there is no step {given} in layer {layer}; choose one of: {names}",
        "outer": "around the layers only 'embedded' can be patched, not {given}: the first layer reads it",
        "no_heads": "the step {name} has no heads; give None for them",
        "no_positions": "the step {name} has no positions; give None for them",
        "shape": "{name} has shape {other} in the other run and {own} in this one; patch between runs of one model "
        "with the same number of tokens",
    }
)


Part = int | Literal["feed_forward"]
"""A head by its number, or the feed-forward block of a layer."""

FEED_FORWARD: Literal["feed_forward"] = "feed_forward"


def knock_out(
    trace: Trace,
    heads: Iterable[tuple[int, Part]],
    how: Literal["zero", "mean", "corpus"] = "zero",
    over: Sequence[Trace] | None = None,
) -> Trace:
    """Return a run in which heads return nothing of their own, and all that follows is computed again.

    heads  (layer, head), both counted from 0; (layer, "feed_forward") is the feed-forward block of a layer
    how    zero: the output of the head is 0 at every position; mean: it is, at every position, the mean of the head's
           output over all positions, so that a head which always adds the same is left alone; corpus: the mean is
           taken over the 200 prompts in the package, and needs a trained model
    over   runs whose positions the mean of "mean" is taken over, of any lengths; the run's own where it is None

    The step "heads" of those layers, (heads, tokens, d_v), has the new numbers, of a block "ff_output" (tokens,
    d_model), and they stand in the run's `edits`. Works on any run from a sentence: of a decoder, an encoder, or `run`.

    Raises ConfigError for what is no run, for a head or block that there is not, and for runs in `over` of other sizes.
    Source: Michel et al. 2019, arXiv:1905.10650 (zero); Wang et al. 2022, arXiv:2211.00593 (mean).

    >>> from attnviz import Config, run
    >>> trace = run(Config(sentence="the cat sat", n_heads=2))
    >>> knock_out(trace, [(0, 1)]).layers[0]["heads"].array[1].any()
    np.False_
    """
    return changed(trace, without(trace, heads, how, over))


def without(
    trace: Trace, heads: Iterable[tuple[int, Part]], how: str = "zero", over: Sequence[Trace] | None = None
) -> dict[LayerStep, Change]:
    """Return the numbers that are put otherwise where parts are knocked out; raises ConfigError as `knock_out`."""
    check(trace, "knock_out")
    if how not in ("zero", "mean", "corpus"):
        raise ConfigError(FAULTS["how"].format(given=shorten(how)))
    changes: dict[LayerStep, Change] = {}
    means = _corpus_means(trace) if how == "corpus" else None
    for layer, part in _listed(trace, heads):
        name = "ff_output" if part == FEED_FORWARD else "heads"
        step = trace.layers[layer][name]
        change = changes.setdefault((layer, name), Change(np.zeros(step.shape, dtype=bool), np.zeros(step.shape)))
        at = slice(None) if isinstance(part, str) else part
        change.mask[at] = True if isinstance(part, str) else np.arange(step.shape[-1]) < _width(step, part)
        if how == "mean":
            change.values[at] = mean_output([trace] if over is None else over, layer, part, step.shape[-1])
        if means is not None:
            mean = means[name][layer, at]
            change.values[at, ..., : mean.shape[-1]] = mean
    return changes


def parts_of(trace: Trace, layer: int) -> list[Part]:
    """Return what a layer adds to the vectors of words: its heads, and its feed-forward block where it has one."""
    return [*range(len(trace.layers[layer]["heads"].array)), *([FEED_FORWARD] if _has_block(trace, layer) else [])]


def _has_block(trace: Trace, layer: int) -> bool:
    return "ff_output" in trace.layers[layer]


def _corpus_means(trace: Trace) -> Mapping[str, Array]:
    """Return the mean of each part's output over the prompts. Raises ConfigError for a run of no trained model."""
    if not isinstance(trace.model, Model):
        raise ConfigError(FAULTS["no_model"])
    return prompts.mean_outputs(trace.model)


def mean_output(traces: Sequence[Trace], layer: int, part: Part, width: int) -> Array:
    """Return the mean of a head's output, or of a feed-forward block's, over all positions of some runs: (width,).

    Raises ConfigError for runs that do not have this part, or have it in another width.
    """
    try:
        layers = [each.layers[layer] for each in traces]
        rows = [each["ff_output"].array if isinstance(part, str) else each["heads"].array[part] for each in layers]
    except (LookupError, AttributeError, TypeError):
        raise ConfigError(FAULTS["over"]) from None
    if not rows or any(Z.shape[1] != width for Z in rows):
        raise ConfigError(FAULTS["over"])
    mean: Array = np.concatenate(rows).mean(axis=0)
    return mean


Where = tuple[int | None, str, Sequence[int] | int | None, Sequence[int] | int | None]


def patch(trace: Trace, from_trace: Trace, where: Iterable[Where]) -> Trace:
    """Return a run with numbers of another run in the place of its own, and all that follows computed again.

    from_trace  the other run, of a sentence with as many tokens
    where       (layer, step, positions, heads): the rows of a step, as its first axis of tokens has them, and its
                heads; None for all. The layer is None for "embedded". Positions count from 0, and from the end below 0

    For the residual stream after a layer give the last of `list(trace.layers[layer])`.

    Raises ConfigError for what is no run, for a place that there is not, and where the runs are of other shapes.
    Source: Meng et al. 2022, arXiv:2202.05262, section 2 (causal tracing); Wang et al. 2022, arXiv:2211.00593.

    >>> from attnviz import Config, run
    >>> one, other = (run(Config(sentence=s, n_heads=2)) for s in ("the cat sat", "the dog sat"))
    >>> patched = patch(one, other, [(0, "values", [1], None)])
    >>> bool((patched.layers[0]["values"].array[:, 1] == other.layers[0]["values"].array[:, 1]).all())
    True
    """
    check(trace, "patch")
    check(from_trace, "patch")
    if _are_of_two_models(trace, from_trace):
        raise ConfigError(FAULTS["models"])
    changes: dict[LayerStep, Change] = {}
    for place in where:
        layer, name, positions, heads = _place(trace, place)
        step = _steps(trace, layer)[name]
        other = _steps(from_trace, layer)[name] if _has(from_trace, layer, name) else None
        if other is None or other.shape != step.shape:
            shape = None if other is None else other.shape
            raise ConfigError(FAULTS["shape"].format(name=name, other=shape, own=step.shape))
        change = changes.setdefault((layer, name), Change(np.zeros(step.shape, dtype=bool), other.array))
        change.mask[_index(step, positions, heads)] = True
    return changed(trace, changes)


def _are_of_two_models(*traces: Trace) -> bool:
    """Return whether runs are of models from other files; what is in memory alone has no file to tell it by."""
    models = [trace.model for trace in traces if isinstance(trace.model, Model) and trace.model.folder is not None]
    return len({model.digest for model in models}) > 1


def _width(step: Step, head: int) -> int:
    """Return the true width of a head, without padding."""
    return int(step.head(head).shape[-1])


def _listed(trace: Trace, heads: Any) -> list[tuple[int, Part]]:
    """Return parts in their proper types. Raises ConfigError for what is none, and for one that there is not."""
    pairs: list[tuple[int, Part]]
    try:
        pairs = [
            (
                operator.index(layer),
                FEED_FORWARD if isinstance(part, str) and part == FEED_FORWARD else operator.index(part),
            )
            for layer, part in heads
        ]
    except (TypeError, ValueError):
        raise ConfigError(FAULTS["heads"].format(given=shorten(heads))) from None
    for layer, part in pairs:
        _check_layer(trace, layer)
        if isinstance(part, str):
            if not _has_block(trace, layer):
                raise ConfigError(FAULTS["no_block"].format(layer=layer))
        else:
            _check_range(part, len(trace.layers[layer]["heads"].array), "head", "heads")
    return pairs


def _place(trace: Trace, place: Any) -> tuple[int | None, str, Any, Any]:
    """Return a place in its proper types. Raises ConfigError for what is none."""
    try:
        layer, name, positions, heads = place
        layer = None if layer is None else operator.index(layer)
    except (TypeError, ValueError):
        raise ConfigError(FAULTS["where"].format(given=shorten(place))) from None
    if layer is None:
        if name != "embedded":
            raise ConfigError(FAULTS["outer"].format(given=shorten(name)))
        return layer, name, positions, heads
    _check_layer(trace, layer)
    if not _has(trace, layer, name):
        listed = ", ".join(trace.layers[layer])
        raise ConfigError(FAULTS["step"].format(given=shorten(name), layer=layer, names=listed))
    return layer, name, positions, heads


def _steps(trace: Trace, layer: int | None) -> Any:
    return trace.around if layer is None else trace.layers[layer]


def _has(trace: Trace, layer: int | None, name: Any) -> bool:
    within = layer is None or layer < len(trace.layers)
    return within and isinstance(name, str) and name in _steps(trace, layer)


def _index(step: Step, positions: Any, heads: Any) -> tuple[Any, ...]:
    """Return the index of the rows and heads of a step. Raises ConfigError for those that it does not have."""
    axes = list(step.axes)
    of_heads = next((at for at, axis in enumerate(axes) if axis.endswith("head")), None)
    of_rows = next((at for at, axis in enumerate(axes) if axis in ("query", "key")), None)
    chosen: list[Any] = [range(size) for size in step.shape]
    for at, given, kind in ((of_heads, heads, "head"), (of_rows, positions, "position")):
        if given is None:
            continue
        if at is None:
            raise ConfigError(FAULTS[f"no_{kind}s"].format(name=step.name))
        chosen[at] = _numbers(given, step.shape[at], kind, step.name)
    return np.ix_(*chosen)


def _numbers(given: Any, n: int, kind: str, name: str) -> list[int]:
    try:
        numbers = [operator.index(each) for each in ([given] if hasattr(given, "__index__") else given)]
    except TypeError:
        raise ConfigError(FAULTS["where"].format(given=shorten(given))) from None
    for number in numbers:
        _check_range(number if kind == "head" or number >= 0 else number + n, n, kind, name)
    return [number % n for number in numbers]


def _check_layer(trace: Trace, layer: int) -> None:
    n = len(trace.layers)
    if not 0 <= layer < n:
        raise ConfigError(FAULTS["layer"].format(given=layer, n=n, last=n - 1))


def _check_range(number: int, n: int, kind: str, name: str) -> None:
    if not 0 <= number < n:
        raise ConfigError(FAULTS[kind].format(given=number, name=name, n=n, last=n - 1))
