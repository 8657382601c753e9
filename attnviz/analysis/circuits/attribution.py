"""`attribute`: the part of a next word's logit that each head adds, each position through it, and all the rest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from attnviz.analysis.circuits.changed_runs import check
from attnviz.arrays import Array
from attnviz.engine.records.trace import Step, Trace, result_of
from attnviz.models.decoder import Decoder
from attnviz.models.model import Model
from attnviz.models.next_words import check as check_row
from attnviz.models.next_words import states, stream
from attnviz.settings.faults import ConfigError
from attnviz.settings.language import Words

FAULTS = Words(
    {
        "beside": "the run is of a decoder beside an encoder, whose logits are not taken apart; gradients(trace, ...) "
        "says what moves them",
        "decoder": "the run is of no model that writes on, so it has no next word; give the run of a decoder, as in "
        "load(folder)(text)",
        "part": "there is no part {name}; choose one of: {names}",
    }
)


MEANINGS = Words(
    {
        "heads": "the part of a next word's logit that each head adds",
        "positions": "what each head brings to it from each position",
        "feed_forward": "the part that each feed-forward block adds",
        "parts": "the part that each head adds, and in the last column the feed-forward block of the layer",
    }
)
SYMBOL = r"\mathrm{logit}"
AXES = {
    "heads": ("layer", "head"),
    "positions": ("layer", "head", "key"),
    "feed_forward": ("layer",),
    "parts": ("layer", "part"),
}


@dataclass(frozen=True)
class Attribution(Mapping[str, Step]):
    """The logit of a next word, or its difference from another's, as a sum.

    The same by named axes: `found["heads"]` is a `Step` over layer and head, `found["positions"]` over layer, head and
    key with the words as labels, `found["feed_forward"]` over layer, and `found["parts"]` over layer and part, which
    are the heads and then the feed-forward block.

    heads         (layers, heads): the part of each head
    positions     (layers, heads, tokens): what each head brings from each position; over the positions they add up to
                  `heads`. A head whose output was put by hand brings it from nowhere: zeros
    feed_forward  (layers,): the part of each feed-forward block
    embedded      the part of the token's own vector, with its position;  `bias` that of biases, which no word changes
    logit         the logit, or the difference of the two: what all of these add up to
    tokens        the words of the run;  has_blocks  whether its layers have feed-forward blocks
    """

    heads: Array
    positions: Array
    feed_forward: Array
    embedded: float
    bias: float
    logit: float
    tokens: Sequence[str] = field(default=(), repr=False)
    has_blocks: bool = True

    def __getitem__(self, name: str) -> Step:
        """Return a part of the sum with its axes named. Raises KeyError for what is none."""
        if name not in AXES:
            raise KeyError(FAULTS["part"].format(name=repr(name), names=", ".join(AXES)))
        words: dict[str, Sequence[str]] = {"key": self.tokens} if name == "positions" else {}
        if name == "parts":
            words = {"part": [*map(str, range(self.heads.shape[1])), "feed_forward"][: self.parts.shape[1]]}
        array = getattr(self, name).view()
        array.flags.writeable = False
        return Step(name, array, SYMBOL, AXES[name], "signed", SYMBOL, MEANINGS[name], words=words)

    def __iter__(self) -> Iterator[str]:
        return iter(AXES)

    def __len__(self) -> int:
        return len(AXES)

    @property
    def parts(self) -> Array:
        """The heads and, where the model has them, the feed-forward blocks: (layers, heads + 1).

        With `embedded` and `bias` they add up to the logit.
        """
        return np.column_stack([self.heads, self.feed_forward]) if self.has_blocks else self.heads

    @property
    def rest(self) -> float:
        """All that is no head's: with `heads.sum()` it is the logit."""
        return float(self.feed_forward.sum()) + self.embedded + self.bias


@dataclass(frozen=True)
class Products:
    """One part of an attribution, taken down to its products.

    numbers  the vector that the part puts out at the token: of a head d_v numbers, of a block its d_ff hidden units; of
             what a layer brings from a word the weight that each of its heads gives it
    worth    what 1 of each adds to the logit, through the matrix behind it, the last norm and the word's row
    rest     what the biases behind it add;  total  the part: the sum of the products, and the rest
    """

    numbers: Array
    worth: Array
    rest: float
    total: float

    @property
    def each(self) -> Array:
        """The product of each number with its worth."""
        return self.numbers * self.worth


def decoder_of(trace: Trace) -> Model:
    """Return the model of a run. Raises ConfigError for a run of none, and of one that does not write on."""
    model = trace.model if isinstance(trace, Trace) else None
    if isinstance(model, Decoder):
        raise ConfigError(FAULTS["beside"])
    if not isinstance(model, Model) or not model.writes_on:
        raise ConfigError(FAULTS["decoder"])
    return model


def direction(trace: Trace, word: str | int, instead_of: str | int | None = None) -> Array:
    """Return the row of a word in the output matrix of a run's model, less that of another: (d_model,)."""
    model = decoder_of(trace)
    words = (word,) if instead_of is None else (word, instead_of)
    U, *other = (np.asarray(model.words_table[model.word_number(each, trace)], dtype=float) for each in words)
    return U - other[0] if other else U


def attribute(trace: Trace, word: str | int, instead_of: str | int | None = None, position: int = -1) -> Attribution:
    """Return what the logit of a next word is the sum of: heads, positions, and the rest.

    trace       a run of a model that writes on
    word        the next word, or its number;  `instead_of` another, for the difference of the two logits
    position    of the token behind which it would stand, from 0, and from the end where below 0

    The vector that words are read off is a sum over the residual stream, so its product with the word's row of the
    output matrix is one too. The scale of the last norm, and of a norm behind attention, is held as it is in this run:
    so the parts add up to the logit exactly, and do not say what the scale would be without one of them. A cap on the
    logits (Gemma 2) comes after the sum. What a head does through later layers is in the parts of those; for that knock
    it out.

    Raises ConfigError for a run of no such model, a word that is none, and a position that there is not. Source: Elhage
    et al. 2021, "A mathematical framework for transformer circuits"; Wang et al. 2022, arXiv:2211.00593, section 3.

    >>> from attnviz import load
    >>> found = attribute(load("small")("when mary and john went to the shop , john gave a book to"), "mary", "john")
    >>> found["heads"].axes, found["positions"].to_pandas().loc[(2, 3), "mary"].round(2)
    (('layer', 'head'), np.float64(9.58))
    >>> bool(abs(found["parts"].array.sum() + found.embedded + found.bias - found.logit) < 1e-12)
    True
    """
    model = decoder_of(trace)
    u, v, bias, row = _read_off(trace, word, instead_of, position)
    parts = [_layer(trace, i, row, v, model) for i in range(len(trace.layers))]
    heads, positions = (np.stack([part[at] for part in parts]) for at in (0, 1))
    attention, feed_forward = (np.array([part[at] for part in parts]) for at in (2, 3))
    bias += float((attention - heads.sum(axis=1)).sum())
    embedded = float(trace.around["embedded"].array[row] @ v)
    logit = float(trace.result.array[row] @ u)
    has_blocks = any("ff_output" in layer for layer in trace.layers)
    return Attribution(heads, positions, feed_forward, embedded, bias, logit, trace.key_tokens, has_blocks)


def products(
    trace: Trace, word: str | int, instead_of: str | int | None, layer: int, part: int, position: int = -1
) -> Products:
    """Return one of the `parts` of `attribute`, taken down to its products: a head, or behind the heads the block.

    All but `layer` and `part`, which count from 0, as in `attribute`, and so are the errors.

    >>> from attnviz import load
    >>> trace = load("small")("when mary and david went to the shop , david gave a book to")
    >>> found = products(trace, "mary", "david", 2, 3)
    >>> found.numbers.shape, bool(abs(found.each.sum() + found.rest - found.total) < 1e-12)
    ((16,), True)
    """
    model = decoder_of(trace)
    _, v, _, row = _read_off(trace, word, instead_of, position)
    heads, _, _, feed_forward = _layer(trace, layer, row, v, model)
    steps = trace.layers[layer]
    if part < len(heads):
        numbers, worth = steps["heads"].array[part, row], _worth_of_heads(steps, row, v, model)[part]
        return Products(numbers, worth, 0.0, float(heads[part]))
    if "g_2_out" in steps:
        v = _through_norm(v * steps["g_2_out"].array, steps["ff_output"].array[row], model)
    numbers, worth = steps["ff_hidden"].array[row], steps["w_2"].array @ v
    return Products(numbers, worth, feed_forward - float(numbers @ worth), feed_forward)


def products_of_word(
    trace: Trace, word: str | int, instead_of: str | int | None, layer: int, key: int, position: int = -1
) -> Products:
    """Return what the heads of a layer bring from one position, taken down to its products: a weight times a value.

    The total is the sum over the heads of `attribute(...).positions[layer, :, key]`. All but `layer` and `key`, which
    count from 0, as in `attribute`, and so are the errors.

    >>> from attnviz import load
    >>> trace = load("small")("when mary and david went to the shop , david gave a book to")
    >>> found = products_of_word(trace, "mary", "david", 2, 1)
    >>> by_position = attribute(trace, "mary", "david").positions[2, :, 1]
    >>> found.numbers.shape, bool(abs(found.each - by_position).max() < 1e-12)
    ((4,), True)
    """
    model = decoder_of(trace)
    _, v, _, row = _read_off(trace, word, instead_of, position)
    weights, worth = _weights_and_values(trace, layer, row, v, model)
    return Products(weights[:, key], worth[:, key], 0.0, float((weights[:, key] * worth[:, key]).sum()))


def _read_off(
    trace: Trace, word: str | int, instead_of: str | int | None, position: int
) -> tuple[Array, Array, float, int]:
    """Return the row of the word, the vector whose product with the stream is its logit, what a bias adds, the row."""
    model = decoder_of(trace)
    check(trace, "attribute")
    u = direction(trace, word, instead_of)
    check_row(trace, position, model.facts, model.shape.d_model)
    row = position % len(trace.query_tokens)
    last = trace.layers[-1]
    if "g_f" not in last:
        return u, u, 0.0, row
    v = _through_norm(u * last["g_f"].array, states(trace, row)[-1], model)
    return u, v, float(last["c_f"].array @ u) if "c_f" in last else 0.0, row


def _through_norm(w: Array, x: Array, model: Model) -> Array:
    """Return the vector whose product with x is that of w with the norm of x, whose scale is held."""
    centred = model.facts.centred
    scale = np.sqrt((x.var() if centred else np.mean(x**2)) + model.facts.eps)
    return (w - w.mean() if centred else w) / scale


def _layer(trace: Trace, i: int, row: int, v: Array, model: Model) -> tuple[Array, Array, float, float]:
    """Return the parts of heads (H,) and of positions (H, n), and those of all of attention and of the feed-forward."""
    steps = trace.layers[i]
    X = trace.around["embedded"].array if i == 0 else result_of(trace.layers[i - 1]).array
    attention = float((steps["added"].array[row] - X[row]) @ v)
    feed_forward = float((steps[stream(steps)].array[row] - steps["added"].array[row]) @ v)
    heads = (steps["heads"].array[:, row] * _worth_of_heads(steps, row, v, model)).sum(axis=-1)
    weights, worth = _weights_and_values(trace, i, row, v, model)
    return heads, weights * worth, attention, feed_forward


def _weights_and_values(trace: Trace, i: int, row: int, v: Array, model: Model) -> tuple[Array, Array]:
    """Return the weights of each head, and what 1 of each adds, which is what its value is worth: both (H, n).

    Both are 0 where there is no weight, and in a head whose output was put by hand: that comes from no position.
    """
    steps = trace.layers[i]
    M, V = _worth_of_heads(steps, row, v, model), steps["values"].array
    weights = steps["weights"].array[:, row].copy()
    worth = (np.repeat(V, len(M) // len(V), axis=0) @ M[..., None])[..., 0]
    by_hand = {index[0] for layer, name, index, _ in trace.edits if (layer, name) == (i, "heads") and index[1] == row}
    weights[sorted(by_hand)] = 0.0
    return weights, np.where(weights > 0, worth, 0.0)


def _worth_of_heads(steps: Mapping[str, Step], row: int, v: Array, model: Model) -> Array:
    """Return how much 1 of each number of each head adds: (H, d_v)."""
    Z = steps["heads"].array
    w = _through_norm(v * steps["g_1_out"].array, steps["output"].array[row], model) if "g_1_out" in steps else v
    worth: Array = steps["w_o"].array.reshape(len(Z), Z.shape[-1], -1) @ w
    return worth
