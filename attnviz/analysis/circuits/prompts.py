"""The 200 prompts that heads are measured on: sentences of the corpus which the models in the package never read.

In a hundred somebody gives something to one of two people, and the next word is the other one; the others are lists
said again. Every model reads them as they stand, and cuts them as it cuts any text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from weakref import WeakKeyDictionary

import numpy as np

from attnviz.arrays import Array
from attnviz.engine.numerics import cancellation
from attnviz.engine.records.trace import Trace
from attnviz.models.decoder import Decoder
from attnviz.models.model import Model
from attnviz.settings.faults import ConfigError

FILE = Path(__file__).with_name("prompts.txt")


@dataclass(frozen=True)
class Prompt:
    """A text; `word` is what follows and `instead_of` the other name, both empty for a list."""

    text: str
    word: str = ""
    instead_of: str = ""


@cache
def prompts() -> tuple[Prompt, ...]:
    """Return the prompts: those with words first.

    >>> len(prompts()), prompts()[0].word
    (200, 'lena')
    """
    lines = (line.split("|") for line in FILE.read_text(encoding="utf-8").splitlines())
    return tuple(Prompt(text, word, instead_of) for word, instead_of, text in lines)


def runs(model: Model | Decoder) -> Iterator[tuple[Trace, tuple[int, int] | None]]:
    """Yield a run of every prompt that has a test, and the numbers of its two words, None for a list.

    A prompt about two people is left out where the model does not write on, or a name is no single word of it, and for
    a decoder beside an encoder, whose logits are not taken apart.
    """
    for prompt in prompts():
        cancellation.check()
        words = None
        if prompt.word and isinstance(model, Decoder):
            continue
        if prompt.word:
            try:
                words = model.word_number(prompt.word), model.word_number(prompt.instead_of)
            except ConfigError:
                continue
        yield model(prompt.text), words


_MEANS: WeakKeyDictionary[Model, dict[str, Array]] = WeakKeyDictionary()


def mean_outputs(model: Model) -> Mapping[str, Array]:
    """Return the mean over all positions of the prompts of what each part puts out, by the step that holds it.

    "heads" (layers, heads, d_v), and where layers have feed-forward blocks "ff_output" (layers, d_model).
    """
    if model not in _MEANS:
        totals, n = dict[str, Array](), 0
        for trace, _ in runs(model):
            for name in ("heads", "ff_output"):
                if name in trace.layers[0]:
                    sums = np.stack([layer[name].array.sum(axis=-2) for layer in trace.layers])
                    totals[name] = totals.get(name, 0.0) + sums
            n += len(trace.query_tokens)
        _MEANS[model] = {name: total / n for name, total in totals.items()}
    return _MEANS[model]
