"""One word through the layers: its vector beside another's, and the next words that would be read off after each."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from attnviz.analysis import vectors_by_layer
from attnviz.arrays import Array
from attnviz.engine.pretrained import model_registry
from attnviz.engine.records.trace import Trace
from attnviz.pictures.charts.bars import bars
from attnviz.settings.counting import ordinal
from attnviz.settings.language import Words, sign
from attnviz.text.format.number_format import localised
from attnviz.text.query_sentences import visible_token
from attnviz.ui.components import number_tables
from attnviz.ui.session import widgets
from attnviz.ui.session.notices import paragraph
from attnviz.ui.session.selection import Selection

WORDS = Words(
    {
        "one": "The output of this setting is not as wide as its input, so there is nothing to follow through the "
        "layers.",
        "word": "Word",
        "other": "beside",
        "word_a": "Word of A",
        "word_b": "Word of B",
        "angle": "The cosine of the angle between the vectors of “{one}” and “{other}”, before the first layer (0) and "
        "after each: {first} at first, {last} at the end.",
        "mean": "Vectors of trained models lean the same way, so compare with the average over all pairs of words.",
        "layer": "after layer",
        "cosine": "cosine",
        "average": "average over all pairs",
        "next": "The words that would come next after “{word}”, read off after each layer: the last norm, then the "
        "output matrix. After the last layer this is what the model itself says; earlier it is only a reading.",
        "encoder": "{name} reads whole sentences and does not write on, so there are no next words to show.",
        "rank": "{n}.",
    }
)
SHOWN = 5


def panel(trace: Trace, selection: Selection) -> Selection:
    """Draw the cosine of two words of the sentence by layer, and next words where the model writes on."""
    vectors = vectors_by_layer.streams(trace)
    if len(vectors) < 2:
        paragraph([WORDS["one"]])
        return selection
    tokens = trace.query_tokens
    first, second = vectors_by_layer.two_words(tokens)
    if _writes_on(trace):  # what comes next is asked at the end
        first, second = len(tokens) - 1, first if second == len(tokens) - 1 else second
    left, right, _ = st.columns([1, 1, 2])
    with left:
        selection = _word(selection, "query", WORDS["word"], tokens, first)
    with right:
        selection = _word(selection, "key", WORDS["other"], tokens, second)
    row = first if selection.query is None else selection.query
    other = second if selection.key is None else selection.key
    draw(vectors, vectors, (row, other), (tokens[row], tokens[other]))
    _next(trace, row)
    return selection


def compared(trace: Trace, second: Trace, selection: Selection) -> Selection:
    """Draw the cosine between a word of one run and a word of another, where their vectors are of one width."""
    a, b = vectors_by_layer.streams(trace), vectors_by_layer.streams(second)
    if min(len(a), len(b)) < 2 or a[0].shape[1] != b[0].shape[1]:
        return selection
    first, other = vectors_by_layer.shared_word(trace.query_tokens, second.query_tokens)
    left, right, _ = st.columns([1, 1, 2])
    with left:
        selection = _word(selection, "query", WORDS["word_a"], trace.query_tokens, first)
    with right:
        selection = _word(selection, "word_b", WORDS["word_b"], second.query_tokens, other)
    row = first if selection.query is None else selection.query
    column = min(other if selection.word_b is None else selection.word_b, len(second.query_tokens) - 1)
    draw(a, b, (row, column), (trace.query_tokens[row], second.query_tokens[column]))
    return selection


def draw(
    a: Sequence[Array],
    b: Sequence[Array],
    at: tuple[int, int],
    words: tuple[str, str],
) -> None:
    """Draw the cosines as bars and as a table, beside the average over all pairs."""
    cosine, mean = vectors_by_layer.by_layer(a, b, *at)
    one, other = map(visible_token, words)
    ends = {name: f"{x:.2f}".replace("-", "−") for name, x in (("first", cosine[0]), ("last", cosine[-1]))}
    sentence = localised(WORDS["angle"].format(one=one, other=other, **ends))
    paragraph([sentence, WORDS["mean"]])
    frame = pd.DataFrame({WORDS["layer"]: range(len(cosine)), WORDS["cosine"]: cosine, WORDS["average"]: mean})
    chart, table = st.columns([3, 2])
    with chart:
        pairs = [(str(layer), float(x)) for layer, x in enumerate(cosine)]
        st.plotly_chart(bars(pairs), key="cosines", config={"displayModeBar": False}, alt=sentence)
    with table:
        number_tables.show(frame, hide_index=True, key="cosines-table")


def _word(selection: Selection, field: str, label: str, tokens: Sequence[str], otherwise: int) -> Selection:
    """Draw the choice of a token, and return the selection."""
    return widgets.choose_available(
        selection, field, label, range(len(tokens)), otherwise=otherwise,
        words=lambda at: f"{ordinal(at)} {visible_token(tokens[at])}",
    )  # fmt: skip


def _writes_on(trace: Trace) -> bool:
    """Return whether the run is that of a model that goes on with next words."""
    model = model_registry.find(trace.config.model)
    return model is not None and model.writes_on


def _next(trace: Trace, row: int) -> None:
    """Draw the likeliest next words after every layer."""
    model = model_registry.find(trace.config.model)
    if model is None:
        return
    if not model.writes_on:
        paragraph([WORDS["encoder"].format(name=trace.config.model.partition("~")[0])])
        return
    paragraph([WORDS["next"].format(word=visible_token(trace.query_tokens[row]))])
    words = model.logit_lens(trace, row, SHOWN)
    listed = {
        WORDS["rank"].format(n=ordinal(n)): [f"{visible_token(word)}  {_percent(share)}" for word, share in column]
        for n, column in enumerate(zip(*words))
    }
    number_tables.show(pd.DataFrame({WORDS["layer"]: range(len(words))} | listed), hide_index=True, key="next-words")


def _percent(share: float) -> str:
    return localised(f"{100 * share:.1f}") + sign(" %")
