"""The part of a run that an interactive file holds, so that a notebook with it in a frame stays one that can be opened.

A file that is saved holds everything, however large. In a frame as many layers stand as fit; where they do not fit with
all of their numbers, only their weights do, rounded to three digits.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from attnviz.engine.external.traces import first_steps
from attnviz.engine.records.trace import Step, Trace
from attnviz.settings.counting import ordinal
from attnviz.settings.faults import ConfigError
from attnviz.settings.language import Words, sign

MOST = 24_000_000
"""Characters of numbers in a frame: a notebook of a few of them still opens in seconds."""

MOST_EXACT = 8_000_000
"""Characters up to which weights that were given are all exact; no arithmetic needs more than their three digits."""

EXACT, ROUNDED, BIT = 8 * 4 / 3, 2 * 4 / 3, 1 / 8 * 4 / 3
"""Characters of a number in base64: as float64, as float16, and of a yes or no."""

KEPT = ("queries", "keys", "values", "scores", "bias", "masked", "weights", "heads")
EDITABLE = ("scaled", "capped")
"""Steps that follow from others, so that they are only held where a number in them was changed."""

WORDS = Words(
    {
        "rounded": "The weights are rounded to three digits here.",
        "weights": "Of {layers} only the weights are here, rounded to three digits.",
        "part": "Shown here: {layers} of {n}, as many as fit; attnviz.show(..., layers=[{other}]) shows others, "
        "counted from 0.",
        "chosen": "Shown here: {layers} of {n}.",
        "file": 'A file has everything: .save("run.html").',
        "layer": "layer {numbers}",
        "layers": "layers {numbers}",
    }
)
FAULTS = Words(
    {
        "layers": "layers is {given}; give a list of whole numbers, counted from 0, such as [0, 5]",
        "layer": "layers names {given}; this has {n}, choose 0 to {last}",
        "none": "layers is empty; name one, counted from 0",
        "large": "the weights of one layer take {size:.0f} MB in a notebook, and {most:.0f} MB are the most; show a "
        "part of them, such as weights[..., :{side}, :{side}]",
    }
)


@dataclass(frozen=True)
class Part:
    """The layers that are held, counted from 0.

    whole    those with every step, bit for bit
    rounded  those with nothing but weights, of three digits
    """

    whole: tuple[int, ...]
    rounded: tuple[int, ...] = ()
    said: tuple[str, ...] = ()
    """What a reader should know about what is not here."""

    @property
    def layers(self) -> tuple[int, ...]:
        return tuple(sorted((*self.whole, *self.rounded)))


def everything(trace: Trace) -> Part:
    """Return all of a run."""
    return Part(tuple(range(len(trace.layers))))


def that_fits(trace: Trace, layers: Sequence[int] | None = None) -> Part:
    """Return what fits in a frame of the layers that are named, or of all.

    layers  counted from 0, from the end where below 0

    Raises ConfigError for layers that there are not, and where not one fits.
    """
    wanted = _wanted(layers, len(trace.layers))
    steps = trace.layers[wanted[0]]  # all are of one size
    exact, rounded = sum(step.array.size for step in kept(trace, wanted[0])) * EXACT, _rounded(steps)
    is_given = first_steps(steps) == ("weights",)
    if exact * len(wanted) <= (MOST_EXACT if is_given else MOST):
        return Part(wanted, said=_said(trace, wanted, (), layers))
    if rounded > MOST:
        heads = steps["weights"].shape[0]
        side = math.isqrt(int(MOST / heads / ROUNDED))
        raise ConfigError(FAULTS["large"].format(size=rounded / 1e6, most=MOST / 1e6, side=side))
    shown = wanted[: int(MOST / rounded)]
    room = MOST - rounded * len(shown)
    n_whole = 0 if is_given else min(int(room / (exact - rounded)), len(shown))
    whole, rest = shown[:n_whole], shown[n_whole:]
    return Part(whole, rest, _said(trace, whole, rest, layers))


def kept(trace: Trace, layer: int) -> Iterator[Step]:
    """Yield the steps of a layer that a file needs to draw it and to do the arithmetic of any cell."""
    steps = trace.layers[layer]
    changed = {edit[1] for edit in trace.edits if edit[0] == layer}
    for name in steps:
        if name in KEPT or name.startswith("score_") or name in changed & {*EDITABLE}:
            yield steps[name]


def _wanted(layers: Sequence[int] | None, n: int) -> tuple[int, ...]:
    if layers is None:
        return tuple(range(n))
    try:
        numbers = [operator.index(layer) for layer in layers]
    except TypeError:
        raise ConfigError(FAULTS["layers"].format(given=f"{layers!r:.60}")) from None
    if not numbers:
        raise ConfigError(FAULTS["none"])
    for number in numbers:
        if not -n <= number < n:
            raise ConfigError(FAULTS["layer"].format(given=number, n=n, last=n - 1))
    return tuple(dict.fromkeys(number % n for number in numbers))


def _rounded(steps: Mapping[str, Step]) -> float:
    """Return how many characters the weights of a layer take, and which of them are masked."""
    return steps["weights"].array.size * (ROUNDED + BIT * ("masked" in steps))


def _said(
    trace: Trace, whole: tuple[int, ...], rounded: tuple[int, ...], asked: Sequence[int] | None
) -> tuple[str, ...]:
    n, shown = len(trace.layers), {*whole, *rounded}
    said = []
    if rounded:
        is_given = first_steps(trace.layers[rounded[0]]) == ("weights",)
        said.append(WORDS["rounded"] if is_given else WORDS["weights"].format(layers=_named(rounded)))
    if len(shown) < n:
        left = next((layer for layer in _wanted(asked, n) if layer not in shown), None)
        which = _named(tuple(shown))
        said.append(
            WORDS["chosen"].format(layers=which, n=n)
            if left is None
            else WORDS["part"].format(layers=which, n=n, other=left)
        )
    return (*said, WORDS["file"]) if said else ()


def _named(layers: tuple[int, ...]) -> str:
    """Return layers as people call them, neighbours as a range.

    >>> _named((0, 1, 2, 5))
    'layers 1–3, 6'
    """
    runs: list[list[int]] = []
    for number in map(ordinal, sorted(layers)):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    numbers = sign(", ").join(str(run[0]) if len(run) == 1 else f"{run[0]}–{run[-1]}" for run in runs)
    return WORDS["layer" if len(layers) == 1 else "layers"].format(numbers=numbers)
