"""The deals of what is checked at a glance or by adding up: a sum, a count of numbers, a yes or no."""

from __future__ import annotations

from typing import Any

from attnviz.classroom.practice.dealt import Dealt, UnfitError, known
from attnviz.classroom.practice.draw import Draw
from attnviz.engine.records.config import Config
from attnviz.lessons.lesson import Question
from attnviz.settings.counting import index_of

STATED = (
    ("rows_sum_to_one", "looks_ahead"),
    ("columns_sum_to_one", "looks_ahead"),
    ("symmetric", "columns_sum_to_one"),
    ("symmetric", "rows_sum_to_one", "columns_sum_to_one", "looks_ahead"),
)
"""What is stated at each level."""
SETTINGS: dict[str, tuple[dict[str, Any], ...]] = {
    "rows_sum_to_one": ({}, {"normaliser": "sigmoid"}, {"normalise_over": "queries"}, {"mask": "causal"}),
    "columns_sum_to_one": ({}, {"normalise_over": "queries"}, {"mask": "causal"}),
    "looks_ahead": ({}, {"mask": "causal"}, {"mask": "no_self"}, {"mask": ("causal", "window"), "reach": 1}),
    "symmetric": ({}, {"tied": True}),
}
"""The settings in which it is stated; each answer is met in some."""


def of_sum(draw: Draw, level: int) -> Dealt:
    """Return the sum of a row or a column: of whole scores first, then of weights."""
    words = (3, 3, 4, 4)[index_of(level)]
    mask = "causal" if level > 2 else "none"
    setting = draw.setting(words, mask=mask, n_heads=1 + (level > 3)) if level > 1 else draw.bits(words, d_k=3)
    axis = draw.one_of("axis", ("query", "key")) if level == 1 else "key"
    step = "scores" if level == 1 else "weights"
    at: dict[str, Any] = {"step": step, "head": draw.ordinal("head", 1, setting["n_heads"])}
    at[axis] = draw.ordinal("line", 1, words)
    dealt = known(Config(**setting), (step,), Question("sum", at=at))
    near = [each for each in dealt.question.mistakes if abs(each.value - dealt.question.value) < 0.1]
    if near or not dealt.question.mistakes:  # a sum along the other axis that is nearly the same is none
        raise UnfitError
    return dealt


def of_size(draw: Draw, level: int) -> Dealt:
    """Return how many numbers a step has."""
    sizes: dict[str, Any] = {"d_k": draw.one_of("d_k", (2, 3, 5)), "d_v": draw.one_of("d_v", (2, 4, 7))}
    sizes |= {"d_model": draw.one_of("d_model", (6, 8, 10))}
    if level > 1:
        sizes["n_heads"] = draw.one_of("heads", (2, 3))
    if level > 2:
        sizes["second_sentence"] = draw.setting(3)["sentence"]
    if level > 3:
        sizes |= {"n_heads": 4, "n_kv_heads": 2}
    steps = (("queries", "values"), ("scores", "heads"), ("weights", "keys", "w_q"), ("keys", "values", "w_k"))
    config = Config(**draw.setting(4 if level < 3 else 5, **sizes))
    step = draw.one_of("step", steps[index_of(level)])
    return known(config, (step,), Question("size", at={"step": step}))


def verdict(draw: Draw, level: int) -> Dealt:
    """Return a statement about a run: as often true as not."""
    says = draw.one_of("says", STATED[index_of(level)])
    change = draw.one_of("setting", SETTINGS[says])
    words, n_heads = (3, 4, 4, 5)[index_of(level)], 1 + (level > 3)
    config = Config(**draw.setting(words, n_heads=n_heads, **change))
    question = Question("true_or_false", at={"says": says, "head": draw.ordinal("head", 1, n_heads)})
    dealt = known(config, ("scores", "weights"), question)
    wanted = Draw(draw.asked).whole("answer", 2)  # of the deal, whichever of its draws is looked at
    if dealt.question.right != {wanted}:
        raise UnfitError
    return dealt
