"""`study`: what every head of a model does over many texts, a text at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from attnviz.analysis import special_tokens, statistics
from attnviz.analysis.all_heads import kinds_of
from attnviz.analysis.circuits.behaviours import ways
from attnviz.analysis.corpus.copying import copying
from attnviz.analysis.head_kinds import KINDS
from attnviz.analysis.statistics import STATISTICS
from attnviz.arrays import Array
from attnviz.engine.numerics import cancellation
from attnviz.engine.pretrained.read_text import read_text
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Step, Trace
from attnviz.engine.run import run
from attnviz.outlets import outlet
from attnviz.settings.counting import ordinal
from attnviz.settings.faults import ConfigError, shorten
from attnviz.settings.language import Words

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

ModelOf = Config | Callable[[str], Trace]
"""What makes a run of a text: a model that was loaded, a function of a text, or a setting, which gets the sentence."""

AXES = ("layer", "head")
OF_ROWS = ("entropy", "effective_keys", "largest", "mean_distance", "share_on_self", "share_on_previous",
           "share_on_first")  # fmt: skip
MEANINGS = Words(
    {
        "special_tokens": "the share of the weight that words give to tokens which are no words, such as [SEP]",
        "duplicate": "the weight on the same word before, of words that came before",
        "induction": "the weight on the word that followed the same word before",
        "copying": "whether attending to a word makes that word likelier, from -1 to 1",
        "kind_share": "the share of the texts in which the head is of its most frequent kind",
        "kind_weight": "the share of its weight that goes the way of that kind, the mean over those texts",
    }
)
SOURCES = {
    "special_tokens": "Clark et al. 2019, arXiv:1906.04341, section 3.2",
    "duplicate": "Wang et al. 2022, arXiv:2211.00593, section 3",
    "induction": "Olsson et al. 2022, arXiv:2209.11895",
    "copying": "Elhage et al. 2021, A mathematical framework for transformer circuits",
}
"""Where the measures come from; those of rows have their sources in `STATISTICS`."""
FAULTS = Words(
    {
        "texts": "texts is {given}; give a list of texts, as in study(model, ['the cat sat', 'a dog'])",
        "none": "there are no texts; give one or more",
        "model": "the model is {given}; give load(folder), a Config, or a function from a text to a Trace",
        "sizes": "text {n} has {here} layers and heads, and those before had {before}; study one model at a time",
        "measure": "there is no measure {name}; choose one of: {names}",
    }
)


@dataclass(frozen=True, repr=False)
class Study(Mapping[str, Step]):
    """The measures of every head over some texts: `study["induction"]` is a `Step` over the named axes layer and head.

    measures  by name. A mean over the rows of all texts for which it is defined, so that long texts count for more;
              NaN where there was none
    kinds     (layers, heads): the kind that a head is of most often, one of attnviz.analysis.head_kinds.KINDS, of
              equally frequent ones the first there; in how many of the texts, which may be less than half, says
              `study["kind_share"]`, and with how much of its weight `study["kind_weight"]`
    n_texts, n_rows  how many texts and rows there were
    elsewhere  the layers, counted from 0, that attend to another text, as every second one of `model.decoder(text)`:
               there is no previous token and no same word before there, so what asks for one is NaN
    """

    measures: Mapping[str, Step]
    kinds: Array
    n_texts: int
    n_rows: int
    elsewhere: tuple[int, ...] = field(default=(), kw_only=True)

    def __getitem__(self, name: str) -> Step:
        if name in self.measures:
            return self.measures[name]
        raise KeyError(FAULTS["measure"].format(name=repr(name), names=", ".join(self.measures)))

    def __iter__(self) -> Iterator[str]:
        return iter(self.measures)

    def __len__(self) -> int:
        return len(self.measures)

    def to_pandas(self) -> pd.DataFrame:
        """Return all measures as a table: a row a head, with layer and head as its index, counted from 0.

        Raises ModuleNotFoundError without pandas.
        """
        names = [name for name, step in self.measures.items() if step.axes == AXES]
        numbers = np.stack([self.measures[name].array for name in names], axis=-1)
        axes = (*AXES, "measure")
        table = Step("measures", numbers, "", axes, "signed", "", "", words={"measure": names}).to_pandas()
        table.insert(0, "kind", self.kinds.reshape(-1))
        return table

    def figure(self, measure: str = "entropy") -> go.Figure:
        """Return one measure as a picture of layers by heads, a Plotly figure.

        Raises KeyError for what is no measure, and ModuleNotFoundError without Plotly.
        """
        drawn: go.Figure = outlet("measure")(self[measure])
        return drawn

    def __repr__(self) -> str:
        layers, heads = self.kinds.shape
        size = f"{layers} layers of {heads} heads over {self.n_texts} texts, {self.n_rows} rows"
        listed = ", ".join(map(str, self.elsewhere))
        other = f"; another text is attended to in layers {listed}, where measures of one's own are NaN" * bool(listed)
        return f"<{type(self).__name__}: {size}; {', '.join(self)}{other}>"


def study(model: ModelOf, texts: Iterable[str]) -> Study:
    """Return what every head of a model does over many texts: entropy, distances, kinds, induction, copying, sinks.

    model  `load(folder)`, `load(folder).decoder(text)`, or a function from a text to a Trace, or a Config, whose
           sentence each text then is
    texts  a list or any other iterable: they are read one at a time, and no run is kept

    Entropy is in nats, distances in tokens, all else in shares of a row's weight. `share_on_first` is how much of a
    sink the first token is. See `STATISTICS` of attnviz.analysis and `SOURCES` here for where the measures come from.

    Raises ConfigError for what is no list of texts, for none, and for runs that differ in their layers or heads.

    >>> from attnviz import Config
    >>> setting = Config(n_heads=1, initialiser="by_hand", patterns="previous", mask="causal")
    >>> found = study(setting, ["the cat sat", "a dog ran off"])
    >>> found["share_on_previous"].array.round(2).tolist(), found.kinds.tolist()
    ([[1.0]], [['previous']])
    """
    made, sums = model_of(model), Sums()
    for text in given(texts):
        cancellation.check()
        sums.add(made(text))
    return sums.study()


def model_of(model: ModelOf) -> Callable[[str], Trace]:
    """Return what makes a run of a text. Raises ConfigError for what does not."""
    if isinstance(model, Config):
        setting = model
        return lambda text: run(replace(setting, sentence=text))
    if not callable(model):
        raise ConfigError(FAULTS["model"].format(given=shorten(model, 60)))
    return model


def given(texts: Iterable[str]) -> Iterator[str]:
    """Yield the texts; raise ConfigError for what are none."""
    if isinstance(texts, str) or not isinstance(texts, Iterable):
        raise ConfigError(FAULTS["texts"].format(given=shorten(texts, 60)))
    is_empty = True
    for text in texts:
        is_empty = False
        if not isinstance(text, str):
            raise ConfigError(FAULTS["texts"].format(given=shorten(text, 60)))
        yield text
    if is_empty:
        raise ConfigError(FAULTS["none"])


def _own_text(trace: Trace) -> tuple[list[int], int]:
    """Return the layers whose rows attend to their own text, counted from 0, and the first column of that.

    A decoder beside an encoder has one layer of two that does, and the columns of both texts.
    """
    texts = [read_text(trace.config, layer, trace.query_tokens, trace.key_tokens) for layer in range(len(trace.layers))]
    own = [layer for layer, text in enumerate(texts) if text is None or text.is_own]
    if any(texts):
        return own, len(trace.key_tokens) - len(trace.query_tokens)
    n, m = trace.layers[0]["weights"].shape[1:]
    return ([] if trace.config.is_cross_attention or n != m else own), 0


@dataclass
class Sums:
    """The sums over rows that a study is made of: all that is kept of the runs that it has seen."""

    n_texts: int = 0
    n_rows: int = 0
    totals: dict[str, Array] = field(default_factory=dict)
    counts: dict[str, Array] = field(default_factory=dict)
    copying: Array = field(default_factory=lambda: np.zeros((0, 0)))
    elsewhere: list[int] = field(default_factory=list)

    def add(self, trace: Trace) -> None:
        """Add the rows of a run. Raises ConfigError for one of other layers or heads than those before."""
        A = np.stack([np.nan_to_num(steps["weights"].array) for steps in trace.layers])
        if not self.n_texts:
            self.copying = copying(trace)
        size, before = A.shape[:2], self.copying.shape
        if size != before:
            fault = {"here": "{} and {}".format(*size), "before": "{} and {}".format(*before)}
            raise ConfigError(FAULTS["sizes"].format(n=ordinal(self.n_texts), **fault))
        self.n_texts, self.n_rows = self.n_texts + 1, self.n_rows + A.shape[2]
        own, first = _own_text(trace)
        self.elsewhere = [layer for layer in range(len(A)) if layer not in own]
        A_own = A[own][..., first:]
        for name in OF_ROWS:
            if not STATISTICS[name].self_only:
                self.add_rows(name, STATISTICS[name].fn(A))
            elif own:
                self._add_own(name, own, STATISTICS[name].fn(A_own))
        if own:
            self._add_words(trace, own, A_own)
        for layer in range(len(A)):
            tokens, weights = (trace.query_tokens, A[layer][..., first:]) if layer in own else ((), A[layer])
            for head, kind in enumerate(kinds_of(tokens, weights)):
                for name, amount in (("kind", 1.0), ("kind_weight", kind.share)):
                    total = self.totals.setdefault(name, np.zeros((len(KINDS), *size)))
                    total[KINDS.index(kind.kind), layer, head] += amount

    def _add_words(self, trace: Trace, own: list[int], A: Array) -> None:
        """Add what depends on the words, of some layers: (layers, heads, queries, keys) are their weights."""
        tokens = trace.query_tokens
        words = list(special_tokens.words(tokens))
        if special_tokens.has_both(tokens):
            self._add_own("special_tokens", own, 1 - statistics.shares(A)[:, :, words][..., words].sum(axis=-1))
        for name, row, keys in ways(trace.token_ids or tokens):
            if name in ("duplicate", "induction"):
                self._add_own(name, own, A[:, :, row, keys].sum(axis=-1, keepdims=True))

    def _add_own(self, name: str, own: list[int], rows: Array) -> None:
        """Add a number for every row of the heads of some layers, (those layers, heads, rows)."""
        every = np.full((len(self.copying), *rows.shape[1:]), np.nan)
        every[own] = rows
        self.add_rows(name, every)

    def add_rows(self, name: str, rows: Array) -> None:
        """Add a number for every row of every head, (layers, heads, rows); NaN where it is not defined."""
        there = ~np.isnan(rows)
        self.totals[name] = self.totals.get(name, 0.0) + np.where(there, rows, 0.0).sum(axis=-1)
        self.counts[name] = self.counts.get(name, 0.0) + there.sum(axis=-1)

    def mean(self, name: str) -> Array:
        """Return the mean of a measure over its rows, NaN where there was none."""
        total, n = (each.get(name, np.zeros(self.copying.shape)) for each in (self.totals, self.counts))
        return np.where(n > 0, total / np.maximum(n, 1), np.nan)

    def study(self) -> Study:
        """Return what was measured."""
        times, weight = self.totals["kind"], self.totals["kind_weight"]
        most = times.argmax(axis=0)
        often, weights = (np.take_along_axis(each, most[None], axis=0)[0] for each in (times, weight))
        measures = {name: measure(name, self.mean(name)) for name in (*OF_ROWS, *list(MEANINGS)[:3])}
        measures["copying"] = measure("copying", self.copying, kind="signed")
        measures["kind_share"] = measure("kind_share", often / self.n_texts)
        measures["kind_weight"] = measure("kind_weight", weights / often)
        kinds = np.array(KINDS, dtype=object)[most]
        return Study(measures, kinds, self.n_texts, self.n_rows, elsewhere=tuple(self.elsewhere))


def measure(name: str, array: Array, *, kind: str = "share", axes: tuple[str, ...] = AXES, **about: Any) -> Step:
    """Return a measure of every head as a step."""
    row = STATISTICS.get(name)
    symbol = row.formula if row else rf"\mathrm{{{name.replace('_', ' ')}}}"
    array = array.view()
    array.flags.writeable = False
    meaning = about.get("meaning") or (row.note if row else MEANINGS[name])
    return Step(name, array, symbol, axes, kind, symbol, meaning)
