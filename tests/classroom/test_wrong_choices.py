"""Every wrong choice is told the rule that leads to it, and what is told is true, by loops over the numbers."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from attnviz import Config, run
from attnviz.classroom.context.hints import HOW
from attnviz.classroom.predicates import PREDICATES
from attnviz.classroom.question_kinds import resolve
from attnviz.classroom.resolved_question import ResolvedQuestion
from attnviz.classroom.wrong_choices.keys import KEYS
from attnviz.classroom.wrong_choices.rows import ROWS
from attnviz.classroom.wrong_choices.shapes import SHAPES
from attnviz.classroom.wrong_choices.verdicts import FOUND, NO, YES
from attnviz.engine.records.trace import Trace
from attnviz.engine.tables.tokenisers import PAD
from attnviz.lessons.catalogue import LESSONS
from attnviz.lessons.lesson import Question
from attnviz.text import step_names
from attnviz.text.captions import NAMES
from attnviz.text.format.sentence_parts import plain, within_sentence
from tests.support.cases import for_each

CHOICES = ("one", "cell")
"""Forms in which one of the options is chosen."""
RANKED = {"second", "smallest", "smaller", "negative", "share"}
"""Rules that say how a key stands in its row where no other rule leads to it."""


def hint(resolved: ResolvedQuestion, answer: tuple[int, ...]) -> str:
    message = resolved.feedback(answer)
    assert message.startswith("Not quite. ")
    return message.removeprefix("Not quite. ")


def of_library() -> Iterator[tuple[str, Question, ResolvedQuestion, Trace, Trace]]:
    """Every choice question of the lessons, with its run and that of its lesson."""
    for name, lesson in LESSONS.items():
        own = run(lesson.config)
        for n, slide in enumerate(lesson.slides, 1):
            if slide.question is not None:
                trace = run(lesson.on(slide))
                found = resolve(slide.question, trace, own)
                if found.form in CHOICES:
                    yield f"{name} {n}", slide.question, found, trace, own


@pytest.mark.slow
def test_no_wrong_choice_of_a_lesson_is_without_a_rule_of_its_own() -> None:
    without, n = list[str](), 0
    for at, _, found, _, _ in of_library():
        for option in {*range(len(found.options))} - found.right:
            n += 1
            said = found.mistake((option,))
            if not said or said in HOW.values():
                without.append(f"{at}: {plain(found.options[option])}")
    assert n > 200
    assert without == []


def runs() -> Iterator[Config]:
    """Settings of several heads, layers, masks and biases."""
    for seed in range(90):
        mask, bias = (("none", "causal", "no_self")[seed % 3], ("none", "alibi", "linear")[seed % 5 % 3])
        n_heads, d_model, width = ((3, 6, 3), (1, 5, 5), (1, 6, 2))[seed % 3]
        widths = {"n_heads": n_heads, "d_model": d_model, "d_k": width, "d_v": width}
        sentence = "a b c d e f g h i" if seed % 9 == 2 else "a b c d e"
        yield Config(sentence=sentence, mask=mask, bias=bias, seed=seed, n_layers=1 + (seed % 7 == 0), **widths)


@pytest.mark.slow
def test_every_wrong_option_of_every_choice_is_told_the_rule_that_leads_to_it() -> None:
    """No lesson says one thing of all of them."""
    told = Counter[str]()
    for _, question, found, trace, _ in of_library():
        if question.kind in ("highest_key", "shape"):
            told.update(_told(question, found, trace))
    assert "smaller" not in told  # that other keys get more is the last that is said
    for seed, config in enumerate(runs()):
        trace = run(config)
        for step in ("scores", "queries", "concat", "w_q", "heads"):
            question = Question("shape", "", {"step": step})
            told.update(_told(question, resolve(question, trace), trace))
        at = {"head": 1 + seed % config.n_heads, "query": 2 + seed % 4, "layer": config.n_layers}
        question = Question("highest_key", "", at)
        told.update(_told(question, resolve(question, trace), trace))
    for shared, widths in ((2, {"d_k": 3, "d_v": 4}), (4, {"d_k": 4, "d_v": 2})):
        cross: dict[str, Any] = {"second_sentence": "u v w x y", "n_kv_heads": shared, **widths}
        trace = run(Config(sentence="a b c", n_heads=4, d_model=6, **cross))
        for step in ("queries", "keys", "values", "heads"):
            question = Question("shape", "", {"step": step})
            told.update(_told(question, resolve(question, trace), trace))
    assert {*told} == {*SHAPES, *KEYS}  # each rule is met


def _told(asked: Question, found: ResolvedQuestion, trace: Trace) -> list[str]:
    """Return the names of the rules that the wrong options are told, each found to hold."""
    holds = _key_rules if asked.kind == "highest_key" else _shape_rules
    told = []
    for option in {*range(len(found.options))} - found.right:
        rules = holds(asked, trace, found, option)
        said = hint(found, (option,))
        assert said in rules.values(), (said, rules)
        told.append(next(name for name, words in rules.items() if words == said).split()[0])
        assert told[-1] not in RANKED or not {each.split()[0] for each in rules} - RANKED, (said, rules)
    return told


def _shape_rules(asked: Question, trace: Trace, found: ResolvedQuestion, option: int) -> dict[str, str]:
    steps = trace.layers[0]
    wrong = tuple(int(n) for n in plain(found.options[option]).split(" × "))
    around = {**steps, "embedded": trace["embedded"]}
    right = {**steps, **trace.around}[asked.at["step"]].shape
    rules = {
        "swapped": wrong[::-1][:2] == right[-2:] and wrong[:-2] == right[:-2],
        "no_heads": len(right) == 3 and wrong == right[1:],
        "as_one_head": asked.at["step"] == "concat" and wrong == (right[0], right[1] // trace.config.n_heads),
        "unshared": trace.config.n_kv_heads is not None and wrong == (trace.config.n_heads, *right[1:]),
        "keys_wide": asked.at["step"] in ("values", "heads") and wrong == (*right[:-1], trace["keys"].shape[-1]),
        "values_wide": asked.at["step"] in ("queries", "keys") and wrong == (*right[:-1], trace["values"].shape[-1]),
        "less": len(right) == 2 and wrong == right[1:],
        "one_more": wrong == (*right[:-1], right[-1] + 1),
        "doubled": wrong == (*right[:-1], right[-1] * 2),
    }
    said = {name: SHAPES[name].format(n=len(right)) for name, holds in rules.items() if holds}
    for name in ("heads", "scores", "concat", "embedded"):
        if around[name].shape == wrong:
            words = f"{within_sentence(NAMES[name])} {step_names.plain(around[name].symbol)}"
            said[f"step {name}"] = SHAPES["step"].format(step=words)
    return said


def test_the_shape_without_heads_is_offered_wherever_there_are_several() -> None:
    for n_heads in (1, 2, 3):
        trace = run(Config(sentence="a b c d", n_heads=n_heads, d_k=3, d_v=2, d_model=6))
        for step in ("queries", "values", "scores", "weights", "heads", "w_q"):
            found = resolve(Question("shape", "", {"step": step}), trace)
            offered = {plain(option) for option in found.options}
            one_head = " × ".join(map(str, trace[step].shape[1:]))
            assert n_heads == 1 or one_head in offered
    for _, question, found, trace, _ in of_library():
        step = {**trace.layers[0], **trace.around}.get(question.at.get("step", ""))
        if question.kind == "shape" and step is not None and len(step.shape) == 3 and step.shape[0] > 1:
            assert " × ".join(map(str, step.shape[1:])) in {plain(option) for option in found.options}


def _key_rules(asked: Question, trace: Trace, found: ResolvedQuestion, option: int) -> dict[str, str]:
    head, query, at = asked.at.get("head", 1) - 1, asked.at["query"] - 1, asked.at.get("layer", 1) - 1
    layer, group = trace.layers[at], (asked.at.get("head", 1) - 1) // trace.config.group_size
    A, masked, capped = (layer[name].array for name in ("weights", "masked", "capped"))
    n_heads, n, m = A.shape
    allowed = [j for j in range(m) if masked[head, query, j] > -math.inf]
    rules = {"forbidden": KEYS["forbidden"]} if option not in allowed else {}
    if query < m and option < n and is_top([A[head, i, query] for i in range(n)], option):
        rules["column"] = KEYS["column"]
    for h in {*range(n_heads)} - {head}:
        if is_top(A[h, query], option):
            rules[f"head {h}"] = KEYS["head"].format(head=h + 1)
    for i in {*range(n)} - {query}:
        if is_top(A[head, i], option):
            rules[f"row {i}"] = KEYS["row"].format(row=i + 1)
    for other in {*range(len(trace.layers))} - {at}:
        for h in range(n_heads):
            if is_top(trace.layers[other]["weights"].array[h, query], option):
                name, where = ("layer", {}) if h == head else ("other_layer", {"head": h + 1})
                rules[f"{name} {other} {h}"] = KEYS[name].format(layer=other + 1, **where)
    if not trace.config.second_sentence and option == query:
        rules["itself"] = KEYS["itself"]
    if at == 0 and "embedded" in trace.around:
        X = trace["embedded"].array
        Y = trace["embedded_kv"].array if trace.config.second_sentence else X
        others = {j: dot(X[query], Y[j]) for j in range(m) if trace.config.second_sentence or j != query}
        if option in others and all(others[option] > others[j] + 1e-9 for j in others if j != option):
            rules["alike"] = KEYS["alike"]
    if option in allowed and all(capped[head, query, option] > capped[head, query, j] for j in allowed if j != option):
        rules["unbiased"] = KEYS["unbiased"]
    larger = sum(A[head, query, j] > A[head, query, option] + 1e-9 for j in range(m))
    facts = {
        "second": larger == 1,
        "smallest": option in allowed
        and all(A[head, query, option] < A[head, query, j] for j in allowed if j != option),
        "negative": dot(layer["queries"].array[head, query], layer["keys"].array[group, option]) < 0,
        "share": A[head, query, option] < sum(A[head, query]) / len(allowed),
        "smaller": larger > 1,
    }
    return rules | {name: KEYS[name].format(n=larger) for name, is_so in facts.items() if is_so}


def dot(one: Any, other: Any) -> float:
    """The product of two vectors, entry by entry."""
    return float(sum(a * b for a, b in zip(one, other)))


def is_top(row: Any, at: int) -> bool:
    """Whether a number is larger than all others of its row, and not by rounding alone."""
    return all(row[at] > number + 1e-9 for n, number in enumerate(row) if n != at)


def test_rows_wrongly_chosen_are_told_without_the_right_ones() -> None:
    trace = run(Config(sentence="one two three four five", n_heads=2, d_k=3, d_v=2, d_model=6, mask="causal", seed=2))
    changed = resolve(Question("rows_changed", "", {"head": 2, "change": {"mask": "none"}}), trace)
    assert changed.right == {0, 1, 2, 3}
    given = {(): "none", (0, 1): "missing", (0, 1, 4): "both", (4,): "others", (0, 1, 2, 3, 4): "all"}
    assert {chosen: hint(changed, chosen) for chosen in given} == {chosen: ROWS[name] for chosen, name in given.items()}
    later = resolve(Question("rows_changed", "", {"head": 2, "change": {"mask": ("causal", "window")}}), trace)
    stays = {*range(5)} - {*later.right}
    assert hint(later, tuple(stays)) == ROWS["others"]
    assert hint(later, (*later.right, min(stays))) == ROWS["too_many"]


CHANGED: tuple[dict[str, Any], ...] = ({"mask": "none"}, {"mask": ("causal", "no_self")}, {"sentence": "a b x d"})


@for_each("change", CHANGED)
def test_what_is_said_of_any_choice_of_rows_is_so(change: dict[str, Any]) -> None:
    config = Config(sentence="a b c d", mask="causal", seed=4)
    for step in ("weights", "keys", "heads", "scores"):
        found = resolve(Question("rows_changed", "", {"step": step, "change": change}), run(config))
        one, other = (run(each)[step].array for each in (config, replace(config, **change)))
        new = {i for i in range(4) if (one[..., i, :] != other[..., i, :]).any()}
        across = {j for j in range(one.shape[-1]) if (one[..., j] != other[..., j]).any()}
        for chosen in map(set, itertools.chain.from_iterable(itertools.combinations(range(4), n) for n in range(5))):
            if chosen == new:
                continue
            said = hint(found, tuple(chosen))
            so = {
                "none": not chosen and bool(new),
                "others": chosen == {0, 1, 2, 3} - new,
                "changed_columns": step in ("weights", "scores") and chosen == across,
                "all": len(chosen) == 4,
                "none_of": bool(chosen) and not chosen & new,
                "too_many": bool(chosen - new) and not new - chosen,
                "missing": bool(new - chosen) and not chosen - new,
                "both": bool(chosen - new) and bool(new - chosen),
            }
            assert said in {ROWS[name] for name, is_so in so.items() if is_so}, (step, chosen, said)
            assert so["others"] <= (said in (ROWS["none"], ROWS["others"], ROWS["all"]))


def numbers(said: str, words: str) -> dict[str, int]:
    """The numbers that were filled into words."""
    parts = re.split(r"\{(\w+)\}", words)
    pattern, seen = "", list[str]()
    for n, part in enumerate(parts):
        is_new = n % 2 and part not in seen
        pattern += re.escape(part) if n % 2 == 0 else f"(?P<{part}>\\d+)" if is_new else f"(?P={part})"
        seen += [part] if is_new else []
    found = re.fullmatch(pattern, said)
    assert found is not None, (said, words)
    return {name: int(number) for name, number in found.groupdict().items()}


def is_true(says: str, holds: bool, said: str, question: Question, trace: Trace, own: Trace) -> bool:
    """Whether what is said of a wrong yes or no is so, by the numbers of the cell that it names."""
    table = NO if holds else YES
    name = next(each for each in (says, "tied", "oblong") if each in table and _fits(said, table[each]))
    at = {**{"head": question.at.get("head", 1)}, **numbers(said, table[name])}
    h, i, j = at["head"] - 1, at.get("row", 1) - 1, at.get("column", 1) - 1
    A, S, Q, K = (trace[each].array for each in ("weights", "scores", "queries", "keys"))
    k = K[h // trace.config.group_size]
    if holds:
        return {
            "tied": lambda: (Q[h] == k).all(),
            "looks_ahead": lambda: j > i and A[h, i, j] > 0,
            "mostly_one_key": lambda: max(A[h, i]) > 0.5,
            "product_has_full_rank": lambda: at["n"] == min(trace.config.key_widths()) >= trace.config.d_model,
        }.get(name, lambda: True)()
    if name == "same":
        other = run(replace(trace.config, **question.at["change"])) if "change" in question.at else own
        step = question.at["step"]
        one, two = (each[step].array.reshape(-1, *each[step].array.shape[-2:]) for each in (trace, other))
        return bool((one[:, i, j] != two[:, i, j]).any())
    return {
        "symmetric": lambda: S[h, i, j] != S[h, j, i],
        "oblong": lambda: S.shape[1] != S.shape[2],
        "rows_sum_to_one": lambda: abs(sum(A[h, i]) - 1) > 1e-9,
        "columns_sum_to_one": lambda: abs(sum(A[h, :, j]) - 1) > 1e-9,
        "looks_ahead": lambda: not any(A[h, a, b] for a in range(len(A[h])) for b in range(a + 1, A.shape[2])),
        "mostly_one_key": lambda: max(A[h, i]) <= 0.5,
        "padding_is_not_read": lambda: A[h, i, j] > 0 and trace.key_tokens[j] == PAD and trace.query_tokens[i] != PAD,
        "groups_agree": lambda: (
            h // trace.config.group_size == (at["other"] - 1) // trace.config.group_size
            and A[h, i, j] != A[at["other"] - 1, i, j]
        ),
        "product_has_full_rank": lambda: at["n"] == min(trace.config.key_widths()) < trace.config.d_model,
        "scores_follow_distance": lambda: _are_apart(trace, h, (i, j), (at["row2"] - 1, at["column2"] - 1)),
        "values_within_limit": lambda: (
            abs(trace["w_v"].array[h, i, j]) > math.sqrt(6 / sum(trace["w_v"].array.shape[1:]))
        ),
        "scores_of_queries": lambda: abs(dot(Q[h, i], k[j]) - S[h, i, j]) > 1e-9,
    }[name]()


def _fits(said: str, words: str) -> bool:
    return re.fullmatch(re.sub(r"\\\{\w+\\\}", r"\\d+", re.escape(words)), said) is not None


def _are_apart(trace: Trace, h: int, one: tuple[int, int], other: tuple[int, int]) -> bool:
    S, tokens = trace["scores"].array[h], trace.query_tokens
    same_words = [tokens[at] for at in one] == [tokens[at] for at in other]
    return same_words and one[0] - one[1] == other[0] - other[1] and S[one] != S[other]


def verdicts() -> Iterator[tuple[str, Question, Trace, Trace]]:
    """Yes-or-no questions of the lessons, and of other settings where the answer is the other one."""
    for at, question, _, trace, own in of_library():
        if question.kind == "true_or_false":
            yield at, question, trace, own
    for seed in range(12):
        usual = {"sentence": "a b a b", "n_heads": 2, "d_model": 4, "seed": seed}
        cross = {"second_sentence": "x y z"} if seed % 4 == 3 else {}
        config = Config(**usual, **cross, mask=("none", "causal")[seed % 2], sharpness=seed % 3)
        trace = run(config)
        for says in ("symmetric", "rows_sum_to_one", "columns_sum_to_one", "looks_ahead", "mostly_one_key"):
            yield f"{says} {seed}", Question("true_or_false", "", {"says": says, "head": 2}), trace, trace
        if not cross:
            follows = Question("true_or_false", "", {"says": "scores_follow_distance"})
            yield f"distance {seed}", follows, trace, trace
        for step, change in (("values", {"mask": "causal"}), ("weights", {"temperature": 2.0})):
            same = Question("true_or_false", "", {"says": "same", "step": step, "change": change})
            yield f"same {seed}", same, trace, trace
    for changes in ({"normaliser": "sigmoid"}, {"normalise_over": "queries"}, {"d_k": 4}, {"initialiser": "identity"}):
        trace = run(Config(sentence="a b c", n_heads=1, d_model=4, mask="none", **changes))
        for says in ("rows_sum_to_one", "columns_sum_to_one", "product_has_full_rank", "scores_of_queries"):
            yield f"{changes}", Question("true_or_false", "", {"says": says}), trace, trace


@pytest.mark.slow
def test_a_wrong_yes_or_no_is_told_where_it_can_be_seen_and_it_is_so() -> None:
    assert FOUND.keys() == PREDICATES.keys() <= {*YES} & {*NO}
    met = set[tuple[str, bool]]()
    for at, question, trace, own in verdicts():
        found = resolve(question, trace, own)
        (wrong,) = {0, 1} - found.right
        holds, said = wrong == 1, hint(found, (wrong,))
        assert is_true(question.at["says"], holds, said, question, trace, own), (at, said)
        met.add((question.at["says"], holds))
    assert len(met) >= 20
    assert {says for says, _ in met} == {*PREDICATES}
