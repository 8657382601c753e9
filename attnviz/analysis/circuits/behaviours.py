"""`behaviours`: what heads do on given sentences, measured: where their weight goes, and what comes of it.

Five kinds have a test. Three look at every word of a sentence: previous token, duplicate token (the same word before),
and induction (the word that followed the same word before). Two look at the end of a sentence whose next word is one of
two: a name mover looks at the right one and writes it, inhibition looks at the other one and keeps it from being said.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from weakref import WeakKeyDictionary

import numpy as np

from attnviz.analysis.circuits import prompts
from attnviz.analysis.circuits.attribution import attribute, decoder_of
from attnviz.analysis.circuits.changed_runs import check
from attnviz.analysis.circuits.interventions import knock_out
from attnviz.arrays import Array
from attnviz.engine.pretrained.read_text import read_text
from attnviz.engine.records.trace import Step, Trace
from attnviz.models import boxed
from attnviz.models.decoder import Decoder
from attnviz.models.model import Model
from attnviz.settings.faults import ConfigError
from attnviz.settings.language import Words

Rows = dict[str, list[tuple[Array, Array]]]
KINDS = ("previous", "duplicate", "induction", "name_mover", "inhibition")
MOST = 0.5
"""The part of a row's weight that has to go one way for the row to count."""

LEAST_PART = 0.1
"""The part of the word's lead over the other that a name mover has to add, or inhibition to be worth, for a row to
count: a head that looks there and changes nothing is neither."""

FAULTS = Words(
    {
        "sizes": "the runs have {n} sizes of layers and heads; give runs of one model",
        "measure": "there is no measure {name}; choose one of: {names}",
        "cross": "behaviours are measured where a text attends to itself, and in a run given every row attends to "
        "another text; leave it out",
        "words": "there are {n} runs and {words} pairs of words; give a pair (word, instead_of) for each run, or none",
    }
)


MEANINGS = Words(
    {
        "weight": "the weight that goes that way, the mean over the rows that have such a way",
        "share": "the share of these rows in which most of it does",
    }
)
AXES = ("layer", "head")


@dataclass(frozen=True)
class Behaviour(Mapping[str, Step]):
    """The measure of one kind of behaviour in every head of a model, over some sentences.

    `found["weight"]` and `found["share"]` are the same arrays as `Step`s over the named axes layer and head.

    weight  (layers, heads): the weight that goes that way, the mean over the rows that have such a way
    share   (layers, heads): the share of these rows in which most of it does, and in which, of the last two kinds, the
            head does what it is named for: a name mover adds a tenth or more of the lead of the word's logit over the
            other's; without a head of inhibition the lead falls by as much
    n       how many rows there were; with none, weight and share are 0
    """

    kind: str
    weight: Array
    share: Array
    n: int

    def __getitem__(self, name: str) -> Step:
        """Return a measure with its axes named. Raises KeyError for what is none."""
        if name not in MEANINGS:
            raise KeyError(FAULTS["measure"].format(name=repr(name), names=", ".join(MEANINGS)))
        array = getattr(self, name).view()
        array.flags.writeable = False
        symbol = rf"\mathrm{{{self.kind.replace('_', ' ')}}}"
        return Step(name, array, symbol, AXES, "share", symbol, MEANINGS[name])

    def __iter__(self) -> Iterator[str]:
        return iter(MEANINGS)

    def __len__(self) -> int:
        return len(MEANINGS)


def behaviours(
    traces: Sequence[Trace] | Model | Decoder, words: Sequence[tuple[str | int, str | int]] = ()
) -> dict[str, Behaviour]:
    """Return for each of `KINDS` what every head does of it, over runs of one model.

    traces  the runs;  `words` for each of them the next word and the one instead of it, for the last two kinds, which
            are left out without. Or a model, or the decoder of one beside a text, as in
            `behaviours(model.decoder(text))`, which then reads the 200 prompts in the package: the first three kinds
            are measured on a hundred lists said again, the others on a hundred sentences in which one of two people
            gives something to the other. A kind that has no row there, as the last two of an encoder, is left out

    Raises ConfigError for runs of several models, for another number of pairs than of runs, and, with words, for a
    model that does not write on. Source: Olsson et al. 2022, arXiv:2209.11895 (induction); Wang et al. 2022,
    arXiv:2211.00593, section 3 (name movers, duplicate tokens, inhibition).

    >>> from attnviz import Config, run
    >>> trace = run(Config(sentence="a b c a b", n_heads=1, initialiser="by_hand", patterns="previous", mask="causal"))
    >>> behaviours([trace])["previous"].weight.round(2).tolist()
    [[1.0]]
    >>> found = behaviours([trace])["induction"]
    >>> found["weight"].axes, found["share"].to_pandas().to_dict()
    (('layer', 'head'), {0: {0: 0.0}})
    """
    if isinstance(traces, Model | Decoder):
        return _over_prompts(traces)
    for trace in traces if isinstance(traces, Sequence) else [traces]:
        check(trace, "behaviours")
    sizes = {(len(trace.layers), trace.config.n_heads) for trace in traces}
    if len(sizes) != 1:
        raise ConfigError(FAULTS["sizes"].format(n=len(sizes)))
    if words and (len(words) != len(traces) or any(isinstance(each, str) or len(each) != 2 for each in words)):
        raise ConfigError(FAULTS["words"].format(n=len(traces), words=len(words)))
    rows: Rows = {kind: [] for kind in (KINDS if words else KINDS[:3])}
    for n, trace in enumerate(traces):
        _add_ways(rows, trace)
        if words:
            _add_end(rows, trace, *words[n])
    [size] = sizes
    return {kind: _mean(kind, each, size) for kind, each in rows.items()}


_MEASURED: WeakKeyDictionary[Model | Decoder, dict[str, Behaviour]] = WeakKeyDictionary()


def is_measured(model: Model) -> bool:
    """Return whether a model was measured on the prompts before, which it is once."""
    return model in _MEASURED


def by_card(model: Model) -> dict[str, Behaviour] | None:
    """Return what the card of a model in the package has of this, with nothing computed; None for any other model.

    >>> from attnviz import load
    >>> float(by_card(load("small"))["induction"].share[2, 3])
    1.0
    """
    return _of_card(model.digest)


@lru_cache(maxsize=32)
def _of_card(digest: str) -> dict[str, Behaviour] | None:
    card = boxed.card_of(digest)
    if card is None:
        return None
    return {
        kind: Behaviour(kind, np.array(each["weight"]), np.array(each["share"]), each["n"])
        for kind, each in card["behaviours"].items()
    }


def _over_prompts(model: Model | Decoder) -> dict[str, Behaviour]:
    """Return what the heads of a model do over the prompts: the first three kinds on lists, the others on two names."""
    if model not in _MEASURED:
        rows: Rows = {kind: [] for kind in KINDS}
        for trace, words in prompts.runs(model):
            if words is None:
                _add_ways(rows, trace)
            else:
                _add_end(rows, trace, *words)
        size = len(model.facts.parts), model.shape.n_heads
        _MEASURED[model] = {kind: _mean(kind, each, size) for kind, each in rows.items() if each}
    return dict(_MEASURED[model])


def _add_ways(rows: Rows, trace: Trace) -> None:
    """Add what the heads of a run do at every word that has a way back."""
    A = np.stack([layer["weights"].array for layer in trace.layers])  # (layers, heads, n, n)
    read = read_text(trace.config, 0, trace.query_tokens, trace.key_tokens)
    if read is not None:  # of a decoder beside an encoder, whose own words are the last columns
        A = A[..., read.start :]
    elif trace.config.is_cross_attention:
        raise ConfigError(FAULTS["cross"])
    for kind, row, keys in ways(_ids(trace)):
        weight = A[:, :, row, keys].sum(axis=-1)
        rows[kind].append((weight, weight > MOST))


def _add_end(rows: Rows, trace: Trace, word: str | int, instead_of: str | int) -> None:
    """Add what they do at the end of it, where the next word is one of two."""
    last = np.stack([layer["weights"].array[:, -1] for layer in trace.layers])
    for kind, weight, does in _at_the_end(trace, last, word, instead_of):
        rows[kind].append((weight, does))


def roles(found: Mapping[str, Behaviour], least: float = MOST) -> dict[tuple[int, int], list[Behaviour]]:
    """Return for each head (layer, head) all that it does in that share of the rows, what it does most often first."""
    does: dict[tuple[int, int], list[Behaviour]] = {}
    for each in found.values():
        for layer, head in np.argwhere((each.share >= least) & (each.n > 0)).tolist():
            does.setdefault((layer, head), []).append(each)
    return {at: sorted(each, key=lambda one: -one.share[at]) for at, each in does.items()}


def named(found: Mapping[str, Behaviour], least: float = MOST) -> dict[tuple[int, int], Behaviour]:
    """Return for each head (layer, head) the behaviour that it has most of, where its share of rows is at least that.

    A head that does nothing of the kind so often is not among them.
    """
    return {at: each[0] for at, each in roles(found, least).items()}


def ways(ids: Sequence[object]) -> Iterator[tuple[str, int, list[int]]]:
    """Yield for each token the kinds of ways back that it has, and the positions that they lead to.

    >>> list(ways("aba"))
    [('previous', 1, [0]), ('previous', 2, [1]), ('duplicate', 2, [0]), ('induction', 2, [1])]
    """
    for row in range(1, len(ids)):
        yield "previous", row, [row - 1]
        same = [j for j in range(row) if ids[j] == ids[row]]
        if same:
            yield "duplicate", row, same
        after = [j + 1 for j in same if j + 1 < row]
        if after:
            yield "induction", row, after


def _ids(trace: Trace) -> Sequence[object]:
    return trace.token_ids or trace.query_tokens


def _at_the_end(
    trace: Trace, last: Array, word: str | int, instead_of: str | int
) -> Iterator[tuple[str, Array, Array]]:
    """Yield what a name mover and inhibition do at the last token of a run; `last` are its weights (layers, heads, n).

    Where one of the words does not stand in the sentence there is no such row.
    """
    model, ids = decoder_of(trace), np.array(trace.token_ids)
    at, other = (np.flatnonzero(ids == model.word_number(each, trace)) for each in (word, instead_of))
    found = attribute(trace, word, instead_of)
    least = LEAST_PART * max(found.logit, 0.0)
    if len(at):
        weight = last[..., at].sum(axis=-1)
        yield "name_mover", weight, (weight > MOST) & (found.heads > least)
    if len(other):
        weight = last[..., other].sum(axis=-1)
        does = weight > MOST
        for layer, head in np.argwhere(does).tolist():
            without = attribute(knock_out(trace, [(layer, head)]), word, instead_of)
            does[layer, head] = found.logit - without.logit > least
        yield "inhibition", weight, does


def _mean(kind: str, rows: Sequence[tuple[Array, Array]], size: tuple[int, int]) -> Behaviour:
    weight, share = (np.mean([each[at] for each in rows], axis=0) if rows else np.zeros(size) for at in (0, 1))
    return Behaviour(kind, weight, share, len(rows))
