"""The next word: the likeliest words, one of them drawn and written on, and what each layer would have said."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pandas as pd
import streamlit as st

from attnviz.analysis.circuits.attribution import decoder_of
from attnviz.arrays import Array
from attnviz.engine.pretrained import model_registry
from attnviz.engine.records.trace import Trace
from attnviz.models.model import Model
from attnviz.models.next_words import most_likely, rank
from attnviz.models.sampling import Sampling, softmax
from attnviz.settings.counting import ordinal
from attnviz.settings.faults import ConfigError
from attnviz.settings.language import Words, sign
from attnviz.settings.plain_text import clean
from attnviz.text.cell_sentence import percent
from attnviz.text.query_sentences import visible_token
from attnviz.ui.components import number_tables
from attnviz.ui.components.pickers import next_word_link
from attnviz.ui.panels.depth import cache
from attnviz.ui.panels.depth.head_maps import kept
from attnviz.ui.session import session_state, widgets
from attnviz.ui.session.failures import refused
from attnviz.ui.session.notices import notice, paragraph
from attnviz.ui.session.selection import Selection

WORDS = Words(
    {
        "none": "Only a model that writes on has next words; choose one as the model, if this page offers one.",
        "next": "After this sentence comes “{word}” ({share}).",
        "drawn": "The ten likeliest, with the share with which each is drawn. This seed draws “{word}” at this place.",
        "write": "Write on",
        "how": "The word is appended to the sentence, and each map gets a row. The rows of the words before stay what "
        "they were, in a causal model: below stands what of them a cache keeps.",
        "full": "This model reads {n} tokens here, and the sentence has as many; shorten it to write on.",
        "end": "This seed ends the text here; another one may go on.",
        "unseen": "That is a sign that cannot be seen, and a sentence holds none; another seed may go on.",
        "word": "word",
        "share": "share",
        "bar": "of all",
        "spare": "A spare word such as {words} stands for any word that the model does not know; in training such "
        "words replaced others now and then, so one of them is expected at times.",
        "ends": "{words} is the mark between two texts; where it is drawn, the text ends.",
        "unknown": "{words} stands for a word that the model does not know.",
        "layer": "after layer",
        "lens": "What would have been said after each layer: the last norm, then the output matrix. After the last "
        "layer this is what the model itself says; earlier it is only a reading, the logit lens.",
        "rank": "{n}.",
        "named": "“{word}”",
        "place": "rank {rank}, {share}",
        "is": "“{word}” has rank {rank} of {all} and {share}.",
    }
)
SHOWN, LENS = 10, 3
LINK = "next-word-link"


def is_offered(trace: Trace) -> bool:
    """Return whether the run is that of a model that goes on with next words."""
    model = model_registry.find(trace.config.model)
    return model is not None and model.writes_on


def link(trace: Trace) -> None:
    """Draw the likeliest next word above the maps, and the question whom it is owed to; nothing for other runs."""
    if is_offered(trace):  # a large vocabulary takes a while, and each click draws this once more
        [(best, share)] = kept(trace, LINK, lambda: decoder_of(trace).next_words(trace, 1))
        next_word_link.show(_read(best), percent(share), key=LINK)


def panel(trace: Trace, selection: Selection) -> Selection:
    """Draw the next words of the last token, a button that writes on, and the same after every layer."""
    if not is_offered(trace):
        paragraph([WORDS["none"]])
        return selection
    model, scores = decoder_of(trace), decoder_of(trace).scores(trace)
    selection = _controls(selection)
    how = Sampling(selection.draw_temperature, selection.draw_top_k, selection.draw_top_p)
    [(best, share)] = most_likely(softmax(scores[-1]), 1)
    paragraph([WORDS["next"].format(word=shown_word(trace, best), share=percent(share))])
    likely, writing = st.columns([3, 2])
    with likely:
        drawn = [(n, x) for n, x in most_likely(how.shares(scores[-1]), SHOWN) if x]
        frame = pd.DataFrame(
            [(shown_word(trace, n), percent(x), x) for n, x in drawn],
            columns=[WORDS["word"], WORDS["share"], WORDS["bar"]],
        )
        bar = st.column_config.ProgressColumn(format=" ", min_value=0.0, max_value=1.0)
        st.dataframe(frame, column_config={WORDS["bar"]: bar}, hide_index=True, key="next-drawn")
        say_special(trace, [n for n, _ in drawn])
    with writing:
        _write_on(trace, model, selection, how)
    cache.draw(trace)
    return _by_layer(trace, softmax(scores), selection)


def _controls(selection: Selection) -> Selection:
    fields = ("draw_seed", "draw_temperature", "draw_top_k", "draw_top_p")
    for column, name in zip(st.columns(4, vertical_alignment="bottom"), fields):
        with column:
            selection = widgets.draw(selection, name)
    return widgets.checked(selection)


def _write_on(trace: Trace, model: Model, selection: Selection, how: Sampling) -> None:
    """Draw the word that the seed draws, and the button that appends it to the sentence."""
    said, config = model.drawn(trace, selection.draw_seed, how), trace.config.chosen
    longer = config.sentence if said is None else clean(config.sentence + said)
    is_full = len(trace.query_tokens) >= min(trace.config.max_tokens, model.most_tokens)
    if said is not None:
        paragraph([WORDS["drawn"].format(word=visible_token(said.strip() or said))])
    st.button(
        WORDS["write"], key="write-on", type="primary", disabled=is_full or longer == config.sentence,
        on_click=session_state.adopt, args=(replace(config, sentence=longer), selection),
    )  # fmt: skip
    if is_full:
        paragraph([WORDS["full"].format(n=len(trace.query_tokens))])
    elif said is None:
        paragraph([WORDS["end"]])
    else:
        paragraph([WORDS["how" if longer != config.sentence else "unseen"]])


def _by_layer(trace: Trace, shares: Array, selection: Selection) -> Selection:
    """Draw the likeliest words after every layer, and the rank and share of the one that is named."""
    named, _ = st.columns([1, 2])
    with named:
        selection = widgets.checked(widgets.draw(selection, "next_word"))
    listed = {
        WORDS["rank"].format(n=ordinal(n)): [
            f"{shown_word(trace, number)}  {percent(share)}" for number, share in column
        ]
        for n, column in enumerate(zip(*(most_likely(each, LENS) for each in shares)))
    }
    if selection.next_word.strip():
        try:
            number = decoder_of(trace).word_number(selection.next_word, trace)
        except ConfigError as error:
            notice(refused(error))
        else:
            places = [(rank(each, number), float(each[number])) for each in shares]
            word, (at, share) = shown_word(trace, number), places[-1]
            facts = {"word": word, "rank": at, "all": len(shares[-1]), "share": percent(share)}
            paragraph([WORDS["is"].format(**facts)])
            column = [WORDS["place"].format(rank=at, share=percent(share)) for at, share in places]
            listed[WORDS["named"].format(word=word)] = column
    paragraph([WORDS["lens"]])
    frame = pd.DataFrame({WORDS["layer"]: range(len(shares))} | listed)
    number_tables.show(frame, hide_index=True, key="next-by-layer")
    return selection


def say_special(trace: Trace, numbers: Iterable[int]) -> None:
    """Say of each kind of word among some, by their numbers, what it is where it is no word of a language."""
    model, lent, found = decoder_of(trace), decoder_of(trace).lent(trace), dict[str, list[str]]()
    for number in dict.fromkeys(numbers):
        kind = "" if number in lent else model.kind_of(number)
        if kind:
            found.setdefault(kind, []).append(WORDS["named"].format(word=shown_word(trace, number)))
    said = {"spare": WORDS["spare"], "end": WORDS["ends"], "unknown": WORDS["unknown"]}
    if found:
        paragraph([said[kind].format(words=sign(", ").join(words)) for kind, words in found.items()])


def shown_word(trace: Trace, number: int) -> str:
    """Return a word as it is read: one of the visitor's own for the spare one that it took, no letter for a space."""
    model = decoder_of(trace)
    return _read(model.lent(trace).get(number) or model.piece(number))


def _read(piece: str) -> str:
    return visible_token(piece.removeprefix("Ġ").removeprefix("▁") or piece)
