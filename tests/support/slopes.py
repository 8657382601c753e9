"""The reference of slopes: the definition itself, by edits, and settings to try it on."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from attnviz import BIASES, INITIALISERS, MASKS, NORMALISERS, POSITIONS, SCORES, Config, Gradients, Trace, run
from attnviz.engine.records.trace import Step
from attnviz.engine.tables.blocks import FEED_FORWARDS, NORMS

STEP = 1e-5
WORDS = ("a", "rose", "is", "the", "cat", "who", "sat", "on", "red", "mats")
TYPED_SCORES = ("sum(tanh(q*k)) / sqrt(d_k) - 0.1*abs(i-j)", "sum(exp(-abs(q - k)) * v) * g")
TYPED_NORMALISERS = ("e = exp(x - max(x)); e / sum(e)", "relu(x) / n")


def steps_of(trace: Trace) -> Iterator[tuple[int | None, str, Step]]:
    """Every step of a run but the mask, whose entries are no numbers."""
    for layer, steps in ((None, trace.around), *enumerate(trace.layers)):
        yield from ((layer, name, step) for name, step in steps.items() if name != "allowed")


def slope_of(gradients: Gradients, layer: int | None, name: str) -> np.ndarray:
    return (gradients.around if layer is None else gradients.layers[layer])[name].array


def indices(step: Step) -> list[tuple[int, ...]]:
    """The indices of a step at which an edit can stand and that hold a finite number."""
    found = []
    for index in np.ndindex(step.shape):
        limits = [step.true_widths[a][index[0]] if a in step.true_widths else n for a, n in zip(step.axes, step.shape)]
        if all(i < n for i, n in zip(index, limits)) and np.isfinite(step.array[index]):
            found.append(index)
    return found


def loss(trace: Trace, of: Mapping[Any, np.ndarray]) -> float:
    return sum(
        float((G * (trace.around if layer is None else trace.layers[layer])[name].array).sum())
        for (layer, name), G in of.items()
    )


def what_if(
    trace: Trace, of: Mapping[Any, np.ndarray], layer: int | None, name: str, moved: Mapping[tuple[int, ...], float]
) -> float:
    """The rate at which L changes when numbers of a step change at these rates: by edits, from both sides."""
    step = (trace.around if layer is None else trace.layers[layer])[name]
    losses = []
    for sign in (STEP, -STEP):
        edits = [(layer, name, index, float(step.array[index]) + sign * by) for index, by in moved.items()]
        losses.append(loss(run(trace.config, edits=edits), of))
    return (losses[0] - losses[1]) / (2 * STEP)


def furthest(trace: Trace, of: Mapping[Any, np.ndarray], gradients: Gradients, seed: int = 0) -> tuple[float, str]:
    """How far the slope of any step, along a random direction through all its cells, is from what edits give."""
    draws, found = np.random.default_rng(seed), (0.0, "")
    group = trace.config.group_size
    for layer, name, step in steps_of(trace):
        shared = trace.config.tied and name in ("w_q", "b_q")  # an edit of one head of a group changes them all
        moved = {at: draws.normal() for at in indices(step) if not (shared and at[0] % group)}
        if not moved:
            continue
        G = slope_of(gradients, layer, name)
        by_hand = what_if(trace, of, layer, name, moved)
        terms = [G[at] * by for at, by in moved.items()]
        off = abs(sum(terms) - by_hand) / max(1.0, sum(map(abs, terms)))
        found = max(found, (off, f"{name} of layer {layer}: {sum(terms)} and not {by_hand}"))
    return found


def anything(number: int, *, layers: int = 6) -> Config:
    """Return a setting in which anything may be on; every number is another."""
    dice = random.Random(number)  # noqa: S311 - nothing secret
    n_kv_heads, group = dice.randint(1, 3), dice.choice((1, 1, 2))
    config = Config(
        sentence=" ".join(dice.sample(WORDS, k=dice.randint(1, 6))),
        second_sentence=" ".join(dice.sample(WORDS, k=dice.choice((0, 0, 3, 5)))),
        seed=dice.randrange(1000),
        position=dice.choice(list(POSITIONS)),
        mask=tuple(dice.sample([name for name in MASKS if name not in ("none", "formula")], k=dice.choice((1, 1, 2))))
        if dice.random() < 0.6
        else ("none",),
        pad_to=dice.choice((0, 0, 6)),
        bias=dice.choice(list(BIASES)),
        d_model=dice.randint(2, 9),
        n_heads=n_kv_heads * group,
        n_kv_heads=n_kv_heads,
        d_k=tuple(dice.randint(1, 5) for _ in range(dice.randint(1, 3))),
        d_v=tuple(dice.randint(1, 5) for _ in range(dice.randint(1, 3))),
        d_a=dice.randint(1, 4),
        d_ff=dice.choice((3, 8)),
        n_layers=dice.randint(1, dice.randint(1, layers)),
        initialiser=dice.choice(list(INITIALISERS)),
        projection_bias=dice.random() < 0.4,
        output_projection=dice.random() < 0.7,
        tied=dice.random() < 0.25,
        score=dice.choice(list(SCORES)),
        score_formula=dice.choice(TYPED_SCORES),
        scale=dice.choice((None, None, 0.5)),
        softcap=dice.choice((0.0, 0.0, 2.0)),
        normaliser=dice.choice(list(NORMALISERS)),
        normaliser_formula=dice.choice(TYPED_NORMALISERS),
        normalise_over=dice.choice(("keys", "keys", "queries")),
        temperature=dice.choice((1.0, 0.7)),
        residual=dice.random() < 0.5,
        norm=dice.choice(list(NORMS)),
        feed_forward=dice.choice(list(FEED_FORWARDS)),
    )
    if config.score in (
        "cosine",
        "qk_norm",
        "scaled_cosine",
    ):  # numbers have no direction to turn: the exact slope is 0, and others' is rounding
        config = replace(config, d_k=tuple(width + 1 for width in config.key_widths()))
    return edited(config, dice) if dice.random() < 0.4 else config


def combinations(score: str) -> Iterator[Config]:
    """Yield a score with every normaliser, attending to its own words and to those of another sentence."""
    for normaliser in NORMALISERS:
        for second_sentence in ("", "le chat noir"):
            yield Config(
                sentence="the cat sat on",
                second_sentence=second_sentence,
                n_heads=2,
                d_model=5,
                d_k=3,
                d_v=2,
                d_a=3,
                mask="none" if second_sentence else "causal",
                score=score,
                normaliser=normaliser,
                seed=4,
            )


def edited(config: Config, dice: random.Random) -> Config:
    """Return the setting with some numbers changed, anywhere."""
    steps = list(steps_of(run(config)))
    changes = []
    for layer, name, step in dice.sample(steps, k=min(4, len(steps))):
        if (edited_indices := indices(step)) and not name.startswith("w_k"):
            changes += [(layer, name, at, dice.uniform(-1, 1)) for at in dice.sample(edited_indices, k=1)]
    return replace(config, edits=tuple(changes))


def output_slopes(trace: Trace, seed: int = 3) -> dict[Any, np.ndarray]:
    """Return an L for a run: random slopes of its output."""
    last = len(trace.layers) - 1, trace.result.name
    return {last: np.random.default_rng(seed).normal(size=trace.result.shape)}


ROUNDING = 1e-12


def kink(trace: Trace) -> str:
    """Name a kink that is as near as rounding, where a slope is that of either side; nothing where there is none."""
    for layer in trace.layers:
        if trace.config.score == "negative_distance" and _nearly(layer["scores"].array):
            return "the distance of nearly equal points"
        if trace.config.score == "formula" and "abs(q - k)" in trace.config.score_formula and _meet(trace, layer):
            return "an entry of a query at nearly that of a key"
        if trace.config.feed_forward == "relu":
            source = "ff_normed" if "ff_normed" in layer else _before(layer, "w_1")
            if _nearly(layer[source].array @ layer["w_1"].array + (layer["b_1"].array if "b_1" in layer else 0.0)):
                return "a hidden unit at nearly 0"
    return ""


LARGE = 1e4


def has_grown(trace: Trace) -> bool:
    """Whether numbers have grown, layer by layer, beyond what slopes can be compared at."""
    steps = (step.array for _, _, step in steps_of(trace))
    return any(abs(array[np.isfinite(array)]).max(initial=0.0) > LARGE for array in steps)


def _meet(trace: Trace, layer: Mapping[str, Step]) -> bool:
    """Whether an entry of a query is that of a key but for rounding, or in another order of sums would not be."""
    Q, K, group = layer["queries"].array, layer["keys"].array, trace.config.group_size
    widths = trace.config.key_widths()
    return any(
        (abs(q[:, None, : widths[h // group]] - K[h // group][None, :, : widths[h // group]]) < ROUNDING).any()
        for h, q in enumerate(Q)
    )


def _nearly(array: np.ndarray) -> bool:
    return bool(((array != 0) & (abs(array) < ROUNDING)).any())


def _before(layer: Mapping[str, Step], name: str) -> str:
    names = list(layer)
    return names[names.index(name) - 1]
