"""Whom a next word is owed to: each head knocked out, the logit as a sum, and parts of another sentence put in."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import streamlit as st

from attnviz.analysis.circuits import maps
from attnviz.analysis.circuits.attribution import Attribution, attribute, decoder_of
from attnviz.analysis.circuits.behaviours import Behaviour, behaviours, named
from attnviz.analysis.circuits.interventions import knock_out
from attnviz.analysis.circuits.prompts import prompts
from attnviz.arrays import Array
from attnviz.engine.cost.need import MB, SHORT, Need
from attnviz.engine.records.trace import Trace
from attnviz.models.next_words import most_likely
from attnviz.models.sampling import softmax
from attnviz.pictures import figures
from attnviz.pictures.charts import arcs
from attnviz.pictures.stage_record import Stage
from attnviz.settings.counting import ordinal
from attnviz.settings.faults import ConfigError
from attnviz.settings.language import Words
from attnviz.text.cell_sentence import percent
from attnviz.text.head_roles import Roles, in_short, in_words
from attnviz.text.query_sentences import visible_token
from attnviz.ui.components import number_tables
from attnviz.ui.components.pickers import next_word_link
from attnviz.ui.components.stage import heatmap
from attnviz.ui.panels.depth import another_sentence, head_roles
from attnviz.ui.panels.depth.head_maps import kept, number, stage
from attnviz.ui.panels.depth.next_word import WORDS as NEXT
from attnviz.ui.panels.depth.next_word import is_offered, shown_word
from attnviz.ui.session import admission, widgets
from attnviz.ui.session.browser.component import checked_index, report
from attnviz.ui.session.failures import refused
from attnviz.ui.session.notices import notice, paragraph
from attnviz.ui.session.selection import Selection

WORDS = Words(
    {
        "difference": "“{word}” has {share}, “{other}” has {other_share}: their logits are {logit} apart.",
        "sum": "As a sum: {heads} from the heads, {feed_forward} from the feed-forward blocks, {embedded} from the "
        "vector of the last word itself, {bias} from biases. The scale of the last norm is held, so it is exact.",
        "off": "Without the head",
        "off_phrase": "change of the difference when this head alone is knocked out",
        "direct": "Its own part",
        "direct_phrase": "what the head itself adds to the difference: these add up",
        "positions": "From which word",
        "positions_phrase": "what the heads of a layer bring from each word: these add up too",
        "open": "Press a head to open it above.",
        "looks": "looks most at",
        "role": "what it does here",
        "tested": "by test over {n} prompts",
        "arcs": "The same as arcs, from the word that a head reads, as its layer finds it, to the last word behind "
        "that layer: thickness is the number, red adds and blue takes away. The largest: {largest}. {n} are drawn; "
        "what is too thin comes to {rest} in all.",
        "arc": "head {head} from “{token}” {amount}",
        "why": "It is owed most to head {head}: without it the difference goes from {logit} to {left}.",
        "then": "Then the likeliest next word is “{word}” ({share}).",
        "behind": "The first word is not ahead, so no head is owed a lead; exchange the two words.",
        "by_test": "Head {head} by test: {does}.",
        "number": "head",
        "not_importance": "Attention is not importance: head {head} gives {weight} of its weight at the end to "
        "“{token}”, and without it the difference changes by {change} of {logit}.",
        "wait": "Knocking out one head after another",
    }
)
# It runs the model once for each head, from its layer on, and as often again for another sentence.
NEED = Need(fixed=24 * MB, held=2, made=1, busy=0.5, drawn=48, most=4 * SHORT)
KEY, OPEN, MOST = "owed", "owed-open", "_owed-most"
LARGE, LITTLE = 0.5, 0.05
"""A head that gives this much weight to one word, and makes so little of the difference, shows that these are two."""
LISTED, NAMED = 12, 3


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
        with st.spinner(WORDS["wait"]):
            _difference(trace, selection, words)
        return another_sentence.draw(trace, selection, words)
    except ConfigError as error:
        notice(refused(error))
        return selection


def opened(trace: Trace) -> tuple[int, int] | None:
    """Return the layer and the head that were pressed in a map since the last run, from 0; None as a rule."""
    if next_word_link.is_pressed(OPEN):
        layer, head = st.session_state.get(MOST, (len(trace.layers), 0))
        return (layer, head) if layer < len(trace.layers) and head < trace.config.n_heads else None
    for key in (KEY, another_sentence.KEY):
        pick = report(key).get("picked")
        if isinstance(pick, dict) and pick.get("stage") in ("off", "direct", another_sentence.HEADS):
            try:
                layer = checked_index(pick.get("row"), len(trace.layers))
                head = checked_index(pick.get("column"), trace.config.n_heads)
            except ValueError:
                continue
            if layer is not None and head is not None:
                return layer, head
    return None


def _runs(trace: Trace, how: str) -> int:
    """Return how many whole runs it takes: each begins at its layer, which is half of one on average."""
    corpus = len(prompts()) if how == "corpus" else 0
    layers = len(trace.layers)
    return corpus + math.ceil(layers * (2 * trace.config.n_heads + len(trace.query_tokens)) / 2)


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
        trace, ("off", words, selection.head_off), lambda: maps.without_each_head(trace, *words, selection.head_off)
    )
    shares = softmax(model.scores(trace)[-1])
    word, other = (shown_word(trace, each) for each in words)
    facts = {"share": percent(float(shares[words[0]])), "other_share": percent(float(shares[words[1]]))}
    parts = {"feed_forward": found.feed_forward.sum(), "embedded": found.embedded, "bias": found.bias}
    each = {name: number(x) for name, x in {"heads": found.heads.sum(), **parts}.items()}
    said = WORDS["difference"].format(word=word, other=other, logit=number(found.logit), **facts)
    tested = head_roles.of_prompts(trace)
    paragraph([said, *_why(trace, words, off, found, tested or {})])
    if found.logit > 0 and (most := _most(off)) is not None:
        st.session_state[MOST] = most
        next_word_link.show_head(_name(*most), key=OPEN)
    paragraph([WORDS["sum"].format(**each)])
    heatmap.show(_of_heads(trace, off, found), key=KEY)
    paragraph([WORDS["open"], *_disagreement(trace, off, found)])
    _arcs(trace, found)
    _table(trace, off, found, _roles(trace, words), tested)


def _most(off: Array) -> tuple[int, int] | None:
    """Return the head without which most of the difference is lost; None where nothing is lost without any."""
    layer, head = (int(at) for at in np.unravel_index(int(off.argmin()), off.shape))
    return (layer, head) if off[layer, head] < 0 else None


def _why(trace: Trace, words: tuple[int, int], off: Array, found: Attribution, tested: Roles) -> list[str]:
    """Return what is said of the head without which most of the difference is lost, and what it does by test."""
    if found.logit <= 0:
        return [WORDS["behind"]]
    most = _most(off)
    if most is None:
        return []
    layer, head = most
    facts = {"head": _name(layer, head), "logit": number(found.logit), "left": number(found.logit + off[layer, head])}
    does = in_words(tested, layer, head)
    model = decoder_of(trace)
    [(word, share)] = kept(trace, ("then", words, most), lambda: model.next_words(knock_out(trace, [most]), 1))
    then = WORDS["then"].format(word=visible_token(word), share=percent(share))
    return [
        WORDS["why"].format(**facts),
        then,
        *([WORDS["by_test"].format(head=facts["head"], does=does)] if does else []),
    ]


def _arcs(trace: Trace, found: Attribution) -> None:
    """Draw what each head brings from each word as arcs between the layers; the thick ones are named in words too."""
    shown = arcs.drawn(found.positions)
    if not shown:
        return
    largest = [
        WORDS["arc"].format(
            head=_name(layer, head), token=visible_token(trace.key_tokens[at]),
            amount=number(found.positions[layer, head, at]),
        )
        for layer, head, at in shown[:NAMED]
    ]  # fmt: skip
    rest = found.heads.sum() - sum(found.positions[at] for at in shown)
    said = WORDS["arcs"].format(largest="; ".join(largest), n=len(shown), rest=number(rest))
    paragraph([said])
    figure = arcs.arcs(found.positions, trace.query_tokens)
    st.plotly_chart(figures.as_written(figure), key="owed-arcs", config={"displayModeBar": False}, alt=said)


def _of_heads(trace: Trace, off: Array, found: Attribution) -> list[Stage]:
    columns = [visible_token(token) for token in trace.query_tokens]
    by_word = found.positions.sum(axis=1)
    return [
        stage(trace, "off", off, WORDS["off"], WORDS["off_phrase"]),
        stage(trace, "direct", found.heads, WORDS["direct"], WORDS["direct_phrase"]),
        stage(trace, "positions", by_word, WORDS["positions"], WORDS["positions_phrase"], columns),
    ]


def _disagreement(trace: Trace, off: Array, found: Attribution) -> list[str]:
    """Return the sentence on the head that looks hardest at one word and matters least, if there is one."""
    last = np.stack([layer["weights"].array[:, -1] for layer in trace.layers])
    special = 1 if len(trace.query_tokens) > 1 else 0  # what rests on the first token rests
    largest = np.where(abs(off) < LITTLE * abs(found.logit), last[..., special:].max(axis=-1, initial=0.0), 0.0)
    layer, head = np.unravel_index(int(largest.argmax()), largest.shape)
    if largest[layer, head] < LARGE:
        return []
    at = special + int(last[layer, head, special:].argmax())
    facts = {
        "head": _name(int(layer), int(head)), "weight": percent(float(largest[layer, head])),
        "token": visible_token(trace.key_tokens[at]), "change": number(off[layer, head]),
        "logit": number(found.logit),
    }  # fmt: skip
    return [WORDS["not_importance"].format(**facts)]


def _roles(trace: Trace, words: tuple[int, int]) -> dict[tuple[int, int], Behaviour]:
    return kept(trace, ("roles", words), lambda: named(behaviours([trace], [words])))


def _table(
    trace: Trace,
    off: Array,
    found: Attribution,
    here: dict[tuple[int, int], Behaviour],
    tested: Roles | None,
) -> None:
    """Draw the heads without which the difference changes most: what they add themselves, and where they look."""
    order = np.argsort(-abs(off), axis=None, kind="stable")[:LISTED]
    heads = [tuple(map(int, np.unravel_index(int(at), off.shape))) for at in order]
    last = {(i, h): trace.layers[i]["weights"].array[h, -1] for i, h in heads}
    at = {each: int(row.argmax()) for each, row in last.items()}
    looks = [f"{visible_token(trace.key_tokens[at[each]])} {percent(float(last[each][at[each]]))}" for each in at]
    frame = pd.DataFrame(
        {
            WORDS["number"]: [_name(i, h) for i, h in heads],
            WORDS["off"]: [float(off[i, h]) for i, h in heads],
            WORDS["direct"]: [float(found.heads[i, h]) for i, h in heads],
            WORDS["looks"]: looks,
            WORDS["role"]: [head_roles.on_this(here.get((i, h)), i, h) for i, h in heads],
        }
    )
    if tested is not None:
        n = len(prompts())
        frame[WORDS["tested"].format(n=n)] = [in_short(tested, i, h) for i, h in heads]
    number_tables.show(frame, hide_index=True, key="owed-table")
    if tested is not None:
        paragraph([head_roles.WORDS["about"].format(n=n)])


def _name(layer: int, head: int) -> str:
    """Return a head as layer and head, counted from 1: 2.3."""
    return f"{ordinal(layer)}.{ordinal(head)}"
