"""Another sentence beside this one: what becomes of two next words with each part of its run in the place of ours."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from attnviz.analysis.circuits import maps
from attnviz.analysis.circuits.maps import Patched
from attnviz.engine.records.trace import Trace
from attnviz.engine.run import run
from attnviz.settings.language import Words, sign
from attnviz.text.cell_sentence import percent
from attnviz.text.query_sentences import visible_token
from attnviz.ui.components.stage import heatmap
from attnviz.ui.panels.depth.head_maps import kept, number, stage
from attnviz.ui.panels.depth.next_word import shown_word
from attnviz.ui.session import session_state, widgets
from attnviz.ui.session.notices import paragraph
from attnviz.ui.session.selection import Selection

WORDS = Words(
    {
        "other": "Where does the answer come from? Put parts of another sentence's run into this one. It has to have "
        "as many tokens and should differ in one word.",
        "swap": "Take this sentence with “{word}” for the last “{other}”",
        "way": "The other sentence's difference minus this one's is {whole}. Where the whole of that stands in one "
        "cell, that cell carries the answer.",
        "path": "The path of the answer: {places}.",
        "place": "after layer {n} “{word}” moves {share} of it",
        "spread": "after layer {n} no one word moves half of it",
        "stream": "Each word's vector after each layer",
        "stream_phrase": "change of the difference when this vector is that of the other sentence",
        "heads": "Each head",
        "heads_phrase": "change with its output there",
    }
)
HALF = 0.5
KEY, HEADS = "owed-patched", "patched-heads"


def draw(trace: Trace, selection: Selection, words: tuple[int, int]) -> Selection:
    """Draw another sentence, and what becomes of the difference with each part of its run."""
    paragraph([WORDS["other"]])
    selection = widgets.checked(widgets.draw(selection, "other_text"))
    config = trace.config.chosen
    swapped = _swapped(config.sentence, *(shown_word(trace, each) for each in words))
    if swapped is not None:
        label = WORDS["swap"].format(word=shown_word(trace, words[0]), other=shown_word(trace, words[1]))
        chosen = replace(selection, other_text=swapped)
        st.button(label, key="owed-swap", on_click=session_state.adopt, args=(config, chosen))
    if not selection.other_text.strip():
        return selection
    setting = replace(config, sentence=selection.other_text)
    patched: Patched = kept(
        trace, ("other", words, selection.other_text), lambda: maps.with_each_part(trace, run(setting), *words)
    )
    columns = [visible_token(token) for token in trace.query_tokens]
    stream = stage(trace, "patched-stream", patched.stream, WORDS["stream"], WORDS["stream_phrase"], columns)
    paragraph([WORDS["way"].format(whole=number(patched.whole)), *_path(patched, columns)])
    heatmap.show([stream], key="owed-stream")
    heatmap.show([stage(trace, HEADS, patched.heads, WORDS["heads"], WORDS["heads_phrase"])], key=KEY)
    return selection


def _path(patched: Patched, columns: Sequence[str]) -> list[str]:
    """Return the sentence on the word that carries the answer behind each layer; none if nothing is to be moved."""
    places = [
        WORDS["place" if share > HALF else "spread"].format(n=n, word=columns[at], share=percent(share))
        for n, (at, share) in enumerate(patched.path, 1)
    ]
    return [WORDS["path"].format(places=sign("; ").join(places))] if places else []


def _swapped(sentence: str, word: str, other: str) -> str | None:
    """Return a sentence with one word for the last of another; None where either does not stand in it.

    >>> _swapped("When Mary and John came, John gave", "mary", "john")
    'When Mary and John came, Mary gave'
    >>> _swapped("when she met her brother he gave", "she", "he")
    'when she met her brother she gave'
    """
    words, others = _found(sentence, word), _found(sentence, other)
    if not words or not others or word.lower() == other.lower():
        return None
    return sentence[: others[-1].start()] + words[0][0] + sentence[others[-1].end() :]


def _found(sentence: str, word: str) -> list[re.Match[str]]:
    """Return where a word stands in a sentence as a whole word."""
    return list(re.finditer(rf"(?<!\w){re.escape(word)}(?!\w)", sentence, re.IGNORECASE)) if word else []
