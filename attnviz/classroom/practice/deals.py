"""The deals of each kind of question: a small setting, what is drawn of it, and the question with its answer."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from attnviz.arrays import Array
from attnviz.classroom import new_forms, question_codec
from attnviz.classroom.context.question_context import SAME
from attnviz.classroom.new_forms import Slider
from attnviz.classroom.practice import checks, of_models
from attnviz.classroom.practice.dealt import Dealt, UnfitError, known, new
from attnviz.classroom.practice.draw import MOST_TRIES, Draw
from attnviz.classroom.practice.model_answers import answers
from attnviz.classroom.practice.record import Asked
from attnviz.classroom.question_kinds import resolve
from attnviz.classroom.run_questions import STOPS
from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.engine.run import run
from attnviz.lessons.lesson import Question
from attnviz.settings.counting import index_of, ordinal
from attnviz.settings.language import Words, translate
from attnviz.text.format.sentence_parts import fill, name_token

ASK = Words(
    {
        "order": "Head {head}: put the keys in order of the weight that {query} gives them, the largest first.",
        "order_allowed": "Head {head}: put the keys in order of the weight that {query} gives them, the largest first. "
        "Keys that the mask forbids stay out.",
        "gives": "Head {head}: which cell holds the weight that {query} gives {key}?",
        "gets": "Head {head}: which cell holds the weight that {key} gets from {query}?",
        "most_given_to": "Head {head}: which cell holds the largest weight that {key} gets from any query?",
        "ahead": "Head {head}: which cell holds the largest weight that a causal mask would forbid?",
        "causal": "Draw the causal mask: a word may attend to itself and to what comes before it.",
        "no_self": "Draw the mask: a word may attend to every word but itself.",
        "window": "Draw the mask: a word may attend to itself and to its direct neighbours.",
        "causal_window": "Draw the mask: a word may attend to itself and to the word just before it.",
        "prefix": "Draw the mask: causal, but everyone may attend to the first two words.",
        "causal_no_self": "Draw the mask: a word may attend only to what comes before it, and not to itself.",
        "temperature": "Set the temperature so that the weight {query} gives {key} is {weight}, within ±{tolerance}.",
        "scale": "Set the scale, which multiplies every score, so that the weight {query} gives {key} is {weight}, "
        "within ±{tolerance}.",
        "word": "One word is replaced: “{old}” becomes “{new}”. Which rows of “{{step}}” change?",
    }
)

HALF = 0.005
"""What reading a number with two decimals may leave out."""
NEAREST = 0.02
"""Two weights of a row are at least so far apart where it is asked which is larger: two decimals tell them apart."""


def deal(asked: Asked) -> Dealt:
    """Return the question of a kind, a level and a number: the same on every machine.

    >>> deal(Asked("weight", 1, 0)).config.sentence
    'dogs chase cats'
    """
    for attempt in range(MOST_TRIES):
        try:
            return KINDS_OF_DEALS[asked.kind](Draw(asked, attempt), asked.level)
        except UnfitError:
            continue
    raise RuntimeError(f"nothing fit to be asked was found for {asked}")


def _shape(draw: Draw, level: int) -> Dealt:
    sizes: dict[str, Any] = {"d_k": draw.one_of("d_k", (2, 3, 5)), "d_v": draw.one_of("d_v", (2, 4, 7))}
    if level > 1:
        sizes["n_heads"] = draw.one_of("heads", (2, 3))
    if level > 2:
        sizes["second_sentence"] = draw.setting(3 if level == 3 else 4)["sentence"]
    if level > 3:
        sizes |= {"n_heads": 4, "n_kv_heads": 2}
    steps = (("queries", "values"), ("scores", "heads"), ("keys", "weights", "heads"), ("keys", "values", "concat"))
    config = Config(**draw.setting(5 if level > 2 else draw.one_of("words", (3, 4)), **sizes))
    step = draw.one_of("step", steps[index_of(level)])
    return known(config, (step,), Question("shape", at={"step": step}))


def _number(draw: Draw, level: int) -> Dealt:
    words = 3 if level < 3 else 4
    setting = draw.bits(words, d_k=3)
    step = ("scores", "scaled", "heads", "heads")[index_of(level)]
    if level == 2:
        setting |= {"score": "scaled_dot", "d_k": 4}
    if level > 2:
        setting |= {"mask": "causal", "d_k": 2}
    if level == 4:
        setting = draw.setting(4, mask="causal", n_heads=2)
    at: dict[str, Any] = {"step": step, "head": draw.ordinal("head", 1, setting["n_heads"])}
    at["query"] = draw.ordinal("query", 2, words)
    at |= {"column": draw.ordinal("column", 1, 2)} if step == "heads" else {"key": draw.ordinal("key", 1, words)}
    ask = question_codec.ASKS["head query column" if step == "heads" else "head query key"]
    config = Config(**setting)
    if step == "heads":
        at["tolerance"] = _rounding(run(config), at)
    dealt = known(config, (step,), Question("number", ask, at))
    if abs(dealt.question.value) < max(NEAREST, 2 * dealt.question.tolerance):
        raise UnfitError  # 0 can be guessed
    return dealt


def _rounding(trace: Trace, at: dict[str, Any]) -> float:
    """Return how far off an entry of a head's output may be if what it is computed from is read with two decimals."""
    head = index_of(at["head"])
    weights = trace["weights"].array[head, index_of(at["query"])]
    values = trace["values"].array[head, :, index_of(at["column"])]
    off = sum(
        float(np.abs(factor).sum()) for factor, read in ((values, weights), (weights, values)) if (read % 1).any()
    )
    return math.ceil(off + 1) * HALF  # a hundredth's half for each, and for the result


def _weight(draw: Draw, level: int) -> Dealt:
    setting = draw.bits(3 if level < 3 else 4)
    if level == 2:
        setting |= {"score": "scaled_dot", "d_k": 4}
    if level == 3:
        setting |= {"mask": "causal"}
    if level == 4:
        setting = draw.setting(4, mask="causal", n_heads=2)
    query = draw.ordinal("query", 2, 3 if level < 3 else 4)
    key = draw.ordinal("key", 1, query)
    head = draw.ordinal("head", 1, setting["n_heads"])
    at = {"head": head, "query": query, "key": key, "tolerance": 0.01}
    dealt = known(Config(**setting), ("weights",), Question("weight", at=at))
    row = dealt.trace["masked"].array[index_of(head), index_of(query)]
    if not 0.05 < dealt.question.value < 0.95 or np.diff(np.sort(row[np.isfinite(row)])).min(initial=1) <= SAME:
        raise UnfitError  # equal scores have equal weights, whatever is done to them
    return dealt


def _row(draw: Draw, level: int) -> tuple[Config, Trace, int, int]:
    """Return a run, and a head and a query, counted from 1, whose weights differ enough to be told apart."""
    words = (3, 4, 5, 6)[index_of(level)]
    mask = ("none", "causal", "causal", "no_self")[index_of(level)]
    config = Config(**draw.setting(words, mask=mask, n_heads=1 + (level > 2)))
    trace = run(config)
    head, query = draw.ordinal("head", 1, config.n_heads), draw.ordinal("query", 3, words)
    row = trace["weights"].array[index_of(head), index_of(query)]
    _apart(row[row > 0])
    return config, trace, head, query


def _apart(weights: Array) -> None:
    if np.diff(np.sort(weights)).min(initial=1) < NEAREST:
        raise UnfitError


def _highest_key(draw: Draw, level: int) -> Dealt:
    config, _, head, query = _row(draw, level)
    return known(config, ("weights",), Question("highest_key", at={"head": head, "query": query}))


def _order(draw: Draw, level: int) -> Dealt:
    config, trace, head, query = _row(draw, level)
    question = new_forms.order(trace, index_of(head), index_of(query))
    name = "order_allowed" if np.isneginf(trace["masked"].array).any() else "order"
    words = fill(ASK[name], head=str(head), query=name_token(trace.query_tokens, index_of(query)))
    return new(config, trace, ("masked",), replace(question, words=words), head=head, query=query)


def _cell(draw: Draw, level: int) -> Dealt:
    words = (3, 4, 4, 5)[index_of(level)]
    config = Config(**draw.setting(words, n_heads=1 + (level > 2)))
    trace = run(config)
    head = draw.whole("head", config.n_heads)
    A = trace["weights"].array[head]
    row = draw.whole("row", words)
    column = (row + 1 + draw.whole("column", words - 1)) % words
    if level == 3:
        row = int(A[:, column].argmax())
        _apart(np.sort(A[:, column])[-2:])
    if level == 4:
        ahead = np.triu(A, 1)
        row, column = map(int, np.unravel_index(ahead.argmax(), A.shape))
        _apart(np.sort(ahead.ravel())[-2:])
    ask = ("gives", "gets", "most_given_to", "ahead")[index_of(level)]
    tokens = trace.query_tokens
    names = {"query": name_token(tokens, row), "key": name_token(tokens, column)}
    other = "cell_of_key" if level == 3 else "cell_ahead" if level == 4 else "cell_other"
    question = new_forms.cell(trace, head, row, column, asked=other)
    asked = replace(question, words=fill(ASK[ask], head=str(ordinal(head)), **names))
    return new(config, trace, ("weights",), asked, head=ordinal(head))


MASKS: dict[str, dict[str, Any]] = {
    "causal": {"mask": "causal"},
    "no_self": {"mask": "no_self"},
    "window": {"mask": "window", "reach": 1},
    "causal_window": {"mask": ("causal", "window"), "reach": 1},
    "causal_no_self": {"mask": ("causal", "no_self")},
    "prefix": {"mask": "prefix", "prefix_length": 2},
}
"""The masks that are to be drawn, as settings."""


def _mask(draw: Draw, level: int) -> Dealt:
    pairs = (("causal", "no_self"), ("window", "causal"), ("causal_window", "causal_no_self"), ("prefix", "window"))
    name = draw.one_of("mask", pairs[index_of(level)])
    config = Config(**draw.setting((3, 4, 5, 6)[index_of(level)], **MASKS[name]))
    trace = run(config)
    return new(config, trace, (), replace(new_forms.mask(trace), words=fill(ASK[name])))


def _rows_changed(draw: Draw, level: int) -> Dealt:
    steps = ("weights",), ("weights", "queries"), ("heads", "weights"), ("heads", "values")
    step = draw.one_of("step", steps[index_of(level)])
    setting = draw.setting(4 if level < 3 else 5, mask="causal" if level > 2 else "none")
    if level < 3:
        name = draw.one_of("change", ("causal", "not_itself", "hot"))
        _, change, ask = question_codec.CHANGES[name]
        question = Question("rows_changed", translate(ask), {"step": step, "change": change})
        return known(Config(**setting), (step,), question)
    words = setting["sentence"].split()
    at = draw.whole("word", len(words) - 1)
    other = draw.one_of("other", SPARE)
    change = {"sentence": " ".join([*words[:at], other, *words[at + 1 :]])}
    ask = ASK["word"].format(old=words[at], new=other)
    return known(Config(**setting), (step,), Question("rows_changed", ask, {"step": step, "change": change}))


SPARE = ("blue", "seven", "lamps", "never")
"""Words for others of a sentence."""


def _slider(draw: Draw, level: int) -> Dealt:
    name = "temperature" if level % 2 else "scale"
    words, tolerance = (3, 3, 4, 5)[index_of(level)], 0.04 if level < 3 else 0.02
    stops = STOPS[name]
    wanted = draw.one_of("stop", [at for at in range(1, len(stops) - 1) if stops[at] != 1])
    config = Config(**draw.setting(words, mask="causal" if level > 2 else "none"))
    query = draw.whole("query", words - 2) + 2
    slider = Slider(name, stops, stops.index(1.0))
    traces = [run(slider.moved(config, at)) for at in range(len(stops))]
    rows = [trace["weights"].array[0, query] for trace in traces]
    key = int(rows[wanted].argmax())
    weights = [round(float(row[key]), 2) for row in rows]
    question = new_forms.slider(slider, weights, weights[wanted], tolerance)
    if slider.start in question.right or len(question.right) > 3 or not 0.3 < weights[wanted] < 0.95:
        raise UnfitError
    tokens = traces[slider.start].query_tokens
    names = {"query": name_token(tokens, query), "key": name_token(tokens, key)}
    said = fill(ASK[name], weight=f"{weights[wanted]:.2f}", tolerance=f"{tolerance:g}", **names)
    dealt = new(traces[slider.start].config, traces[slider.start], ("scores", "weights"), replace(question, words=said))
    return replace(dealt, slider=slider)


def _own_words(draw: Draw, level: int) -> Dealt:
    prompts = answers()
    ask, answer, change = prompts[draw.asked.deal % len(prompts)]
    config = Config(**draw.setting(4, **change))
    question = resolve(Question("own_words", ask, why=answer), run(config))
    return new(config, run(config), ("scores", "weights"), question)


KINDS_OF_DEALS: dict[str, Callable[[Draw, int], Dealt]] = {
    "shape": _shape,
    "number": _number,
    "weight": _weight,
    "sum": checks.of_sum,
    "size": checks.of_size,
    "true_or_false": checks.verdict,
    "highest_key": _highest_key,
    "cell": _cell,
    "order": _order,
    "mask": _mask,
    "rows_changed": _rows_changed,
    "slider": _slider,
    "spread": of_models.spread,
    "largest_weight": of_models.largest_weight,
    "next_word": of_models.next_word,
    "times_as_likely": of_models.times_as_likely,
    "head_owed": of_models.head_owed,
    "own_words": _own_words,
}
"""How each kind is dealt, by the names in KINDS."""
