"""Sentences for the visitor that may hold the visitor's own words: always as plain text, never as markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attnviz.settings.language import sign
from attnviz.text.format import html_math
from attnviz.text.format.sentence_parts import Sentence


def notice(*sentences: str, kind: str = "note") -> None:
    """Draw one line for each sentence; `kind` is "note" (something to know) or "fault" (something to mend)."""
    if sentences:
        st.html(_lines(sentences, kind))


def _lines(sentences: Sequence[str], kind: str) -> str:
    is_fault = kind == "fault"  # which names what has to be typed otherwise
    lines = "".join(f"<p>{html_math.quoting(sentence, is_typed=is_fault)}</p>" for sentence in sentences)
    role = "alert" if is_fault else "status"
    return f'<div class="attn-{kind}" role="{role}">{lines}</div>'


def typeset(*sentences: Sentence) -> None:
    """Draw one quiet line of sentences in parts: names of matrices typeset, numbers as the language has them."""
    st.html(f'<p class="attn-line">{sign(" ").join(map(html_math.sentence, sentences))}</p>')


def paragraph(words: Iterable[str], container: DeltaGenerator | None = None, notes: Sequence[str] = ()) -> None:
    """Draw one quiet line, here or in a container that was kept for it; notes above it are of the same element."""
    above = _lines(notes, "note") if notes else ""
    (container or st).html(f'{above}<p class="attn-line">{html_math.quoting(sign(" ").join(words))}</p>')
