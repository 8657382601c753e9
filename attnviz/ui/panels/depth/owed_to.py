"""Whom a next word is owed to: each head knocked out, the logit as a sum, and parts of another sentence put in."""

from __future__ import annotations

import math

import numpy as np
import streamlit as st

from attnviz.analysis.circuits import maps
from attnviz.analysis.circuits.attribution import Attribution, attribute, decoder_of
from attnviz.analysis.circuits.behaviours import Behaviour, behaviours, named
from attnviz.analysis.circuits.interventions import parts_of
from attnviz.analysis.circuits.maps import Without
from attnviz.analysis.circuits.prompts import prompts
from attnviz.engine.cost.need import MB, SHORT, Need
from attnviz.engine.records.trace import Trace
from attnviz.models.next_words import most_likely
from attnviz.models.sampling import softmax
from attnviz.pictures import figures
from attnviz.pictures.charts import arcs
from attnviz.pictures.stage_record import Stage
from attnviz.settings.counting import ordinals
from attnviz.settings.faults import ConfigError
from attnviz.settings.language import Words, sign
from attnviz.text.cell_sentence import percent
from attnviz.text.query_sentences import visible_token
from attnviz.ui.components.pickers import next_word_link
from attnviz.ui.components.stage import heatmap
from attnviz.ui.panels.depth import another_sentence, head_roles, owed_parts, owed_products
from attnviz.ui.panels.depth.head_maps import kept, number, pressed, stage
from attnviz.ui.panels.depth.next_word import WORDS as NEXT
from attnviz.ui.panels.depth.next_word import is_offered, shown_word
from attnviz.ui.panels.depth.owed_parts import name as name_of
from attnviz.ui.session import admission, widgets
from attnviz.ui.session.browser.stage_events import Event, last
from attnviz.ui.session.failures import refused
from attnviz.ui.session.notices import notice, paragraph
from attnviz.ui.session.selection import Selection

WORDS = Words(
    {
        "difference": "“{word}” has {share}, “{other}” has {other_share}: their logits are {logit} apart.",
        "sum": "As a sum: {heads} from the heads, {feed_forward} from the feed-forward blocks, {embedded} from the "
        "vector of the last word itself, {bias} from biases. The scale of the last norm is held, so it is exact.",
        "sum_alone": "As a sum: {heads} from the heads, {embedded} from the vector of the last word itself, {bias} "
        "from biases. The scale of the last norm is held, so it is exact.",
        "equal": "Both words are “{word}”, so there is no difference to explain; name another one after “rather than”.",
        "off": "Difference",
        "off_phrase": "its change without this part",
        "share": "Share",
        "share_phrase": "what “{word}” has without this part",
        "direct": "Its own part",
        "direct_phrase": "these add up",
        "positions": "From which word",
        "positions_phrase": "what the heads of a layer bring from each word: these add up too",
        "open": "Press a head to open it above, a word to see its products.",
        "blocks": "FF is the feed-forward block of a layer: with it, the vector of the last word and biases, all of "
        "“{title}” adds up to {logit}.",
        "arcs": "The same as arcs, from the word that a head reads, as its layer finds it, to the last word after "
        "that layer: thickness is the number, red adds and blue takes away. The largest: {largest}. {n} are drawn; "
        "what is too thin comes to {rest} in all.",
        "arc": "head {head} from “{token}” {amount}",
        "not_importance": "Attention is not importance: head {head} gives {weight} of its weight at the end to "
        "“{token}”, and without it the difference changes by {change} of {logit}.",
        "wait": "Knocking out one head after another",
    }
)
# It runs the model once for each head and block, from its layer on, and as often again for another sentence.
NEED = Need(fixed=24 * MB, held=2, made=1, busy=0.5, drawn=48, most=4 * SHORT)
KEY, OPEN, OPEN_BY_SHARE = "owed", "owed-open", "owed-open-share"
PARTS = KEY, another_sentence.KEY, OPEN, OPEN_BY_SHARE
"""The keys of what opens a head."""
LARGE, LITTLE = 0.5, 0.05
"""A head that gives this much weight to one word, and makes so little of the difference, shows that these are two."""
NAMED = 3
BLOCK = "FF"
WORDS_KEY, _WORD = "owed-words", "_owed-word"


def panel(trace: Trace, selection: Selection) -> Selection:
    """Draw two words, the sum that their difference is, what it is without each head, and with another sentence's."""
    if not is_offered(trace):
        paragraph([NEXT["none"]])
        return selection
    if not admission.admitted(NEED, trace, again=_runs(trace, selection.head_off)):
        return selection
    for column, name in zip(st.columns(3, vertical_alignment="bottom"), ("next_word", "instead_of", "head_off")):
        with column:
            selection = widgets.draw(selection, name)
    selection = widgets.checked(selection)
    try:
        words = _words(trace, selection)
        if words[0] == words[1]:
            notice(WORDS["equal"].format(word=shown_word(trace, words[0])))
            return selection
        with st.spinner(WORDS["wait"]):
            _difference(trace, selection, words)
        return another_sentence.draw(trace, selection, words)
    except ConfigError as error:
        notice(refused(error))
        return selection


def opened(pick: Event, trace: Trace) -> tuple[int, int | None] | None:
    """Return the layer and the head that a pick in a map stands for, from 0; None for a pick elsewhere.

    The head is None for the feed-forward block of the layer.
    """
    at = pressed(pick, ("off", "share", "direct", another_sentence.HEADS), (len(trace.layers), len(parts_of(trace, 0))))
    return None if at is None else (at[0], at[1] if at[1] < trace.config.n_heads else None)


def _runs(trace: Trace, how: str) -> int:
    """Return how many whole runs it takes: each begins at its layer, which is half of one on average."""
    corpus = len(prompts()) if how == "corpus" else 0
    layers = len(trace.layers)
    parts = len(parts_of(trace, 0)) + trace.config.n_heads
    return corpus + math.ceil(layers * (parts + len(trace.query_tokens)) / 2)


def _words(trace: Trace, selection: Selection) -> tuple[int, int]:
    """Return the two words by their numbers: those that are named, or the likeliest and its rival."""
    model = decoder_of(trace)
    first, second = (number for number, _ in most_likely(softmax(model.scores(trace)[-1]), 2))
    word = model.word_number(selection.next_word, trace) if selection.next_word.strip() else first
    if selection.instead_of.strip():
        return word, model.word_number(selection.instead_of, trace)
    return word, _rival(trace, word) or (first if word != first else second)


def _rival(trace: Trace, word: int) -> int | None:
    """Return, where a word was taken from the sentence, the sentence's word whose row of output is most like its own.

    So it is the other name where one of two is said. None for a word that does not stand in the sentence.
    """
    inside = {*trace.token_ids}
    others = [n for n in sorted(inside - {word}) if shown_word(trace, n).isalpha()] if word in inside else []
    U = np.asarray(decoder_of(trace).words_table[[word, *others]], dtype=float)
    likeness = U[1:] @ U[0] / np.linalg.norm(U[1:], axis=1)
    return others[int(likeness.argmax())] if others else None


def _difference(trace: Trace, selection: Selection, words: tuple[int, int]) -> None:
    """Draw the sum, the maps of heads, and a table of the heads that do most."""
    model, found = decoder_of(trace), attribute(trace, *words)
    off = kept(
        trace, ("off", words, selection.head_off), lambda: maps.without_each_part(trace, *words, selection.head_off)
    )
    shares = softmax(model.scores(trace)[-1])
    word, other = (shown_word(trace, each) for each in words)
    facts = {"share": percent(float(shares[words[0]])), "other_share": percent(float(shares[words[1]]))}
    parts = {"feed_forward": found.feed_forward.sum(), "embedded": found.embedded, "bias": found.bias}
    each = {name: number(x) for name, x in {"heads": found.heads.sum(), **parts}.items()}
    said = WORDS["difference"].format(word=word, other=other, logit=number(found.logit), **facts)
    tested = head_roles.of_prompts(trace)
    paragraph([said, *owed_parts.by_difference(trace, off, found.logit, tested or {})])
    paragraph(owed_parts.by_share(trace, words, off, found.logit))
    _ways_to_heads(off, found)
    paragraph([WORDS["sum" if found.has_blocks else "sum_alone"].format(**each)])
    heatmap.show(_of_parts(trace, off, found, word), key=KEY)
    heatmap.show([_of_words(trace, found)], key=WORDS_KEY)
    blocks = WORDS["blocks"].format(title=WORDS["direct"], logit=number(found.logit))
    paragraph([WORDS["open"], *([blocks] if found.has_blocks else []), *_disagreement(trace, off, found)])
    owed_products.draw(trace, selection, words, found, owed_parts.most(off.difference) or (0, 0))
    _of_word(trace, found, words)
    _arcs(trace, found)
    owed_parts.table(trace, words[0], off, found)
    owed_parts.roles_table(trace, off, _roles(trace, words), tested)


def _of_word(trace: Trace, found: Attribution, words: tuple[int, int]) -> None:
    """Draw the products of the word that was pressed, or of the one from which most is brought."""
    by_word = found.positions.sum(axis=1)
    now = pressed(last("pick", WORDS_KEY), ("positions",), (by_word.shape[0], by_word.shape[1]))
    layer, key = now or st.session_state.get(_WORD) or (len(by_word), 0)
    if layer >= by_word.shape[0] or key >= by_word.shape[1]:
        layer, key = np.unravel_index(int(abs(by_word).argmax()), by_word.shape)
    elif now is not None:
        st.session_state[_WORD] = now
    owed_products.of_word(trace, words, (int(layer), int(key)), is_open=now is not None)


def _arcs(trace: Trace, found: Attribution) -> None:
    """Draw what each head brings from each word as arcs between the layers; the thick ones are named in words too."""
    shown = arcs.drawn(found.positions)
    if not shown:
        return
    largest = [
        WORDS["arc"].format(
            head=name_of(layer, head), token=visible_token(trace.key_tokens[at]),
            amount=number(found.positions[layer, head, at]),
        )
        for layer, head, at in shown[:NAMED]
    ]  # fmt: skip
    rest = found.heads.sum() - sum(found.positions[at] for at in shown)
    said = WORDS["arcs"].format(largest=sign("; ").join(largest), n=len(shown), rest=number(rest))
    paragraph([said])
    figure = arcs.arcs(found.positions, trace.query_tokens)
    st.plotly_chart(figures.as_written(figure), key="owed-arcs", config={"displayModeBar": False}, alt=said)


def _ways_to_heads(off: Without, found: Attribution) -> None:
    """Draw the way to the head that counts most by the difference, and to the one by the share if it is another."""
    n = found.heads.shape[1]
    by_difference = owed_parts.most(off.difference[:, :n]) if found.logit > 0 else None
    by_share = owed_parts.most((off.share - off.before)[:, :n])
    ways = {OPEN: by_difference, OPEN_BY_SHARE: by_share if by_share != by_difference else None}
    with st.container(horizontal=True, key="owed-ways"):
        for key, at in ways.items():
            if at is not None:
                next_word_link.show_head(name_of(*at), at, key=key)


def _of_parts(trace: Trace, off: Without, found: Attribution, word: str) -> list[Stage]:
    """Return the maps of heads and feed-forward blocks."""
    parts = [*map(str, ordinals(trace.config.n_heads)), *([BLOCK] if found.has_blocks else [])]
    share = WORDS["share_phrase"].format(word=word)
    return [
        stage(trace, "off", off.difference, WORDS["off"], WORDS["off_phrase"], parts, of="part"),
        stage(trace, "share", off.share, WORDS["share"], share, parts, of="part", kind="share"),
        stage(trace, "direct", found.parts, WORDS["direct"], WORDS["direct_phrase"], parts, of="part"),
    ]


def _of_words(trace: Trace, found: Attribution) -> Stage:
    """Return the map of what the heads of a layer bring from each word."""
    columns = [visible_token(token) for token in trace.query_tokens]
    by_word = found.positions.sum(axis=1)
    return stage(trace, "positions", by_word, WORDS["positions"], WORDS["positions_phrase"], columns)


def _disagreement(trace: Trace, without: Without, found: Attribution) -> list[str]:
    """Return the sentence on the head that looks hardest at one word and matters least, if there is one."""
    off = without.difference[:, : trace.config.n_heads]
    last = np.stack([layer["weights"].array[:, -1] for layer in trace.layers])
    special = 1 if len(trace.query_tokens) > 1 else 0  # what rests on the first token rests
    largest = np.where(abs(off) < LITTLE * abs(found.logit), last[..., special:].max(axis=-1, initial=0.0), 0.0)
    layer, head = np.unravel_index(int(largest.argmax()), largest.shape)
    if largest[layer, head] < LARGE:
        return []
    at = special + int(last[layer, head, special:].argmax())
    facts = {
        "head": name_of(int(layer), int(head)), "weight": percent(float(largest[layer, head])),
        "token": visible_token(trace.key_tokens[at]), "change": number(off[layer, head]),
        "logit": number(found.logit),
    }  # fmt: skip
    return [WORDS["not_importance"].format(**facts)]


def _roles(trace: Trace, words: tuple[int, int]) -> dict[tuple[int, int], Behaviour]:
    return kept(trace, ("roles", words), lambda: named(behaviours([trace], [words])))
