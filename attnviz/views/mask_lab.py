"""What hides a score, and what leaks: the weights under five ways to forbid a cell, as a picture, tables and words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import pandas as pd

from attnviz.core.language import Words, say, translated
from attnviz.core.mask_forms import FILLS, leaked, unmasked
from attnviz.core.normalisers import NORMALISERS
from attnviz.core.sides import SIDES
from attnviz.core.trace import Trace
from attnviz.views.figures import Stage
from attnviz.views.sentences import QUOTED
from attnviz.views.tables import labels

TITLE = "Weights, head {head}"
PHRASE = "the same scores, forbidden cells hidden in five ways"
ALT = "Weights of head {head} under five ways to hide forbidden cells: {ways}."

COLUMNS = Words(
    {
        "way": "Forbidden cells",
        "what": "What is done",
        "leaked": "Most that leaks in a row",
        "differs": "Largest difference from −∞",
        "empty": "A row with nothing allowed",
    }
)
DONE = Words(
    {
        "minus_infinity": "score −∞, then {normaliser}",
        "large_number": "score {large}, then {normaliser}",
        "zero_score": "score 0, then {normaliser}: scores × mask",
        "zero_after": "{normaliser} of all scores, then weights × mask",
        "renormalised": "the same, then each row over its sum",
    }
)
EMPTY = Words(
    {
        "zeros": "zeros",
        "zeros_here": "zeros here; by the bare formula 0 / 0, NaN",
        "nan": "NaN: 0 / 0",
        "equal": "{weight} for every key, all of them forbidden",
        "sum": "weights on forbidden keys, {sum} in all",
    }
)
SAID = Words(
    {
        "stands_in": "Nothing is forbidden in the present setting, so the causal mask stands in here.",
        "emptied": "For this trial the first query, {query}, may look at nothing.",
        "columns": "Weights are shared out over the queries here, the wrong way: a hidden cell leaves its share to the "
        "rest of its column.",
    }
)
NORMALISER_SAID = Words(
    {
        "softmax": "exp(0) = 1: a score of 0 is a score like any other. Over the sum, zeros afterwards come to the "
        "same as −∞, as softmax keeps the ratios of what is left.",
        "quiet_softmax": "exp(0) = 1: a score of 0 counts as much as the 1 in the denominator. Over the sum, the row "
        "adds to 1 and can no longer stay silent.",
        "sigmoid": "Every key is judged alone: a score of 0 is a weight of 0.5; zeros afterwards are the same as −∞. "
        "Over the sum, the row adds to 1, which a sigmoid's does not.",
        "sparsemax": "A score of 0 stays out only if it lies far below the best. Over the sum is not the same as −∞ "
        "here: a forbidden key in the support has moved the threshold of all.",
        "entmax15": "A score of 0 stays out only if it lies far below the best. Over the sum is not the same as −∞ "
        "here: a forbidden key in the support has moved the threshold of all.",
        "hardmax": "A score of 0 takes everything where all allowed scores are below it. Zeros afterwards lose "
        "everything where a forbidden key was the best.",
        "linear": "max(s, 0) is 0 for a score of 0 and for any negative number: neither leaks. Over the sum, zeros "
        "afterwards come to the same as −∞, where anything is left.",
    }
)
"""What is worth knowing of each normaliser."""

RUN, READ = "run, PyTorch 2.13 on a CPU", "read, keras-team/keras pull request 21149"
LIBRARIES = (
    ("torch.softmax over a row of −∞", "NaN", RUN),
    ("scaled_dot_product_attention, attn_mask of booleans or of −∞", "output 0", RUN),
    ("nn.MultiheadAttention, called as by default", "weights and output NaN", RUN),
    ("nn.MultiheadAttention, need_weights=False", "zeros into the output projection", RUN),
    ("scores.masked_fill(~allowed, -1e9), then softmax", "1/n for every key", RUN),
    ("scores + (-1e9), then softmax, float32", "1/n for every key: the scores drown", RUN),
    ("scores + (-1e9), then softmax, float64", "nearly as without a mask", RUN),
    ("masked_fill with -1e9 in float16", "refused: it is beyond float16", RUN),
    ("keras.layers.Softmax, before that change", "1/n for every key", READ),
    ("keras.layers.Softmax, since that change", "zeros", READ),
    ("jax.nn.softmax(where=mask)", "zeros", READ),
    ("attnviz", "weights 0, output 0", "tested with every change"),
)
LIBRARY_COLUMNS = ("Call", "A row with nothing allowed", "How this is known")
"""What libraries make of a row with nothing allowed: only what was run or read, and where."""


@dataclass(frozen=True)
class Lab:
    """The trial of one head.

    scores    (queries, keys), just before the mask
    allowed   (queries, keys), True = may attend
    large     what stands for −∞ in the second way
    said      what a reader should know of it
    """

    trace: Trace
    head: int
    scores: np.ndarray
    allowed: np.ndarray
    large: float
    said: tuple[str, ...]

    @property
    def names(self) -> list[str]:
        """The ways as a picture or a table names them."""
        labels = {name: row.label for name, row in FILLS.items()}
        return list((labels | {"large_number": _short(self.large)}).values())

    @cached_property
    def weights(self) -> np.ndarray:
        """(ways, queries, keys), in the order of FILLS."""
        return self._hidden(self.allowed)

    @cached_property
    def emptied(self) -> np.ndarray:
        """(ways, keys): what becomes of a row with nothing allowed, the first of this mask or else the first query."""
        allowed = self.allowed.copy()
        row = int(allowed.any(axis=-1).argmin())
        allowed[row] = False
        return self._hidden(allowed)[:, row]

    def _hidden(self, allowed: np.ndarray) -> np.ndarray:
        config = self.trace.config
        normaliser = NORMALISERS[config.normaliser].fn
        normalise = partial(SIDES[config.normalise_over].fn, normaliser, T=config.temperature)
        with np.errstate(all="ignore"):
            return np.stack([row.fn(self.scores, allowed, normalise, self.large) for row in FILLS.values()])


def lab(trace: Trace, layer: int, head: int, *, large: float = -1e9, empty_a_row: bool = False) -> Lab:
    """The trial of one head; head and layer count from 0.

    Without a forbidden cell the causal mask stands in. `empty_a_row` forbids the first query every key, unless there
    is such a row already.
    """
    config, steps = trace.config, trace.layers[layer]
    allowed, said = ~np.isneginf(steps["masked"].array[head]), []
    if allowed.all():
        allowed = np.tri(*allowed.shape, dtype=bool)
        said.append(SAID["stands_in"])
    if empty_a_row and allowed.any(axis=-1).all():
        allowed[0] = False
        said.append(SAID["emptied"].format(query=say(QUOTED, token=trace.query_tokens[0])))
    said.append(SAID["columns"] if config.normalise_over == "queries" else NORMALISER_SAID[config.normaliser])
    return Lab(trace, head, unmasked(steps)[head], allowed, large, tuple(said))


def stage(found: Lab) -> Stage:
    """The five ways side by side on one scale; forbidden cells are grey in the first and numbers in the others."""
    masked = np.zeros(found.weights.shape, dtype=bool)
    masked[0] = ~found.allowed
    return Stage(
        name="fills",
        title=say(TITLE, head=found.head + 1),
        array=found.weights,
        kind="share",
        rows=found.trace.query_tokens,
        columns=found.trace.key_tokens,
        masked=masked,
        heads=found.names,
        phrase=say(PHRASE),
        alt=say(ALT, head=found.head + 1, ways=", ".join(found.names)),
    )


def ways(found: Lab) -> pd.DataFrame:
    """A row for each way: what is done, what leaks, how far it is from −∞, and what an emptied row becomes.

    Rows with nothing allowed count only in the last.
    """
    normaliser = NORMALISERS[found.trace.config.normaliser]
    full = found.allowed.any(axis=-1)
    rows = [
        {
            "way": label,
            "what": DONE[name].format(normaliser=normaliser.plain, large=_short(found.large)),
            "leaked": leaked(A, found.allowed)[full].max(initial=0.0),
            "differs": np.abs(A - found.weights[0])[full].max(initial=0.0),
            "empty": _becomes(row, bare=name == "minus_infinity" and normaliser.sums_to_one),
        }
        for name, label, A, row in zip(FILLS, found.names, found.weights, found.emptied, strict=True)
    ]
    return pd.DataFrame(rows).rename(columns=dict(COLUMNS))


def _becomes(row: np.ndarray, *, bare: bool) -> str:
    """A row with nothing allowed in words; `bare` if the formula alone would divide 0 by 0."""
    if np.isnan(row).any():
        return EMPTY["nan"]
    if not row.any():
        return EMPTY["zeros_here" if bare else "zeros"]
    if np.ptp(row) < 1e-12:
        return EMPTY["equal"].format(weight=f"{row[0]:.3g}")
    return EMPTY["sum"].format(sum=f"{row.sum():.3g}")


def leaks(found: Lab) -> pd.DataFrame:
    """For each query the sum of its weights on forbidden keys, a column for each way."""
    return _by_query(found, leaked(found.weights, found.allowed))


def sums(found: Lab) -> pd.DataFrame:
    """For each query the sum of all its weights, a column for each way."""
    return _by_query(found, found.weights.sum(axis=-1))


def _by_query(found: Lab, numbers: np.ndarray) -> pd.DataFrame:
    index = pd.Index(labels(found.trace.query_tokens), name=say("query"))
    return pd.DataFrame(numbers.T, index=index, columns=found.names)


def libraries() -> pd.DataFrame:
    """What libraries make of a row with nothing allowed."""
    return pd.DataFrame(translated(LIBRARIES), columns=pd.Index(translated(LIBRARY_COLUMNS)))


def _short(number: float) -> str:
    """A large number as it is read: −1e9."""
    return f"{number:.3g}".replace("e+0", "e").replace("-", "−")
