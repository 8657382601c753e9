"""Practice: every deal has one answer, found here another way; a record says which question suits next."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from attnviz import Config, knock_out, load, run
from attnviz.classroom import new_forms, open_questions
from attnviz.classroom.context.hints import HOW
from attnviz.classroom.practice.deals import KINDS_OF_DEALS, MASKS, STOPS, deal
from attnviz.classroom.practice.dealt import Dealt
from attnviz.classroom.practice.kinds import KINDS, LEVELS
from attnviz.classroom.practice.record import (
    Answer,
    Asked,
    as_csv,
    decode,
    encode,
    following,
    level_of,
    missed,
    results,
)
from attnviz.engine.pretrained.model_registry import MODELS
from attnviz.models import hosting
from attnviz.text.format.sentence_parts import plain
from tests.support.cases import for_each

DEALS = range(5)
CASES = [(kind, level) for kind in KINDS for level in range(1, LEVELS + 1)]


@pytest.fixture(autouse=True)
def models() -> Iterator[None]:
    """The models of the package, as the page offers them."""
    hosting.offer_those_in_the_package()
    yield
    MODELS.clear()


def softmax(row: list[float]) -> list[float]:
    """The weights of a row of scores, by the definition."""
    raised = [math.exp(each) for each in row]
    return [each / sum(raised) for each in raised]


def rows_of_weights(dealt: Dealt) -> list[list[list[float]]]:
    """The weights of every head, from queries and keys alone; 0 where the mask forbids."""
    config, (Q, K) = dealt.config, (dealt.trace[name].array for name in ("queries", "keys"))
    factor = config.scale if config.scale is not None else 1 if config.score == "dot" else 1 / math.sqrt(Q.shape[2])
    heads = []
    for q, k in zip(Q, K):  # heads that share keys are asked for their shapes alone
        weights = [[0.0] * len(k) for _ in q]
        for i, query in enumerate(q):
            open_keys = [j for j in range(len(k)) if allowed(config.mask, i, j)]
            scores = [float(sum(a * b for a, b in zip(query, k[j]))) * factor / config.temperature for j in open_keys]
            for j, weight in zip(open_keys, softmax(scores)):
                weights[i][j] = weight
        heads.append(weights)
    return heads


def allowed(masks: Any, i: int, j: int) -> bool:
    """Whether query i may attend to key j under the masks that are practised."""
    by_name = {
        "none": True,
        "causal": j <= i,
        "no_self": i != j,
        "window": i - 1 <= j <= i + 1,
        "prefix": j <= i or j in (0, 1),
    }
    return all(by_name[name] for name in ([masks] if isinstance(masks, str) else masks))


def answered_by_model(dealt: Dealt) -> Any:
    """What is right of a next word, from the shares of all words, with and without each head."""
    model, slide = load("small"), dealt.slide.question
    assert slide is not None
    shares = dict(model.next_words(dealt.config.sentence, 1000))
    words = slide.at["words"]
    if slide.kind == "next_word":
        return {max(range(len(words)), key=lambda at: shares[words[at]])}
    if slide.kind == "times_as_likely":
        return (shares[words[0]] / shares[words[1]]) ** (1 / slide.at["temperature"])
    trace, left = model(dealt.config.sentence), {}
    for layer, head in np.ndindex(3, 4):
        off = dict(model.next_words(knock_out(trace, [(layer, head)]), 1000))
        left[f"head {layer + 1}.{head + 1}"] = math.log(off[words[0]] / off[words[1]])
    least = min(left, key=left.__getitem__)
    return {[plain(option) for option in dealt.question.options].index(least)}


def spread_by_hand(dealt: Dealt) -> float:
    """The standard deviation of products of as many random entries, by its rule; what is asked is close to it."""
    question = dealt.slide.question
    assert question is not None
    d_k, value = question.at["d_k"], dealt.question.value
    rule = math.sqrt(d_k) / {"one": 1, "root": math.sqrt(d_k), "width": d_k}[question.at["divisor"]]
    assert dealt.question.is_right(rule), "whoever goes by the rule is right"
    return value if abs(value - rule) < 0.05 * rule else math.nan


def answered(dealt: Dealt) -> Any:
    """What is right, found from queries and keys, or from the words of the question."""
    if dealt.config.model:
        return answered_by_model(dealt)
    question, slide = dealt.question, dealt.slide.question
    A, text = rows_of_weights(dealt), plain(question.words)
    assert slide is not None
    at = slide.at
    head = int(text.split("Head ")[1].split(":")[0]) - 1 if text.startswith("Head ") else 0
    if question.form == "order":
        query = dealt.trace.query_tokens.index(text.split("“")[1].split("”")[0])
        row = A[head][query]
        return tuple(sorted((j for j in range(len(row)) if row[j]), key=lambda j: -row[j]))
    if question.form == "mask":
        n = len(dealt.trace.key_tokens)
        return {i * n + j for i in range(n) for j in range(n) if allowed(dealt.config.mask, i, j)}
    if question.form == "cell":
        return cell(A[head], text, dealt.trace.query_tokens)
    if slide.kind == "spread":
        return spread_by_hand(dealt)
    if slide.kind == "largest_weight":
        return sum(max(row) for row in A[0]) / len(A[0])
    if slide.kind == "highest_key":
        row = A[head][at["query"] - 1]
        return {row.index(max(row))}
    if slide.kind == "weight":
        return A[head][at["query"] - 1][at["key"] - 1]
    if slide.kind == "number" and at["step"] == "heads":
        V = dealt.trace["values"].array[head]
        return sum(w * V[j, at["column"] - 1] for j, w in enumerate(A[head][at["query"] - 1]))
    if slide.kind == "number":
        Q, K = (dealt.trace[name].array[head] for name in ("queries", "keys"))
        score = float(sum(a * b for a, b in zip(Q[at["query"] - 1], K[at["key"] - 1])))
        return score / math.sqrt(Q.shape[1]) if at["step"] == "scaled" else score
    if slide.kind == "sum":
        line = dealt.trace[at["step"]].array[head]
        if at["step"] == "weights":
            line = np.array(A[head])
        return float(sum(line[at["query"] - 1] if "query" in at else line[:, at["key"] - 1]))
    if slide.kind == "size":
        return float(math.prod(len_of(dealt, at["step"])))
    if slide.kind == "true_or_false":
        return {0 if holds(dealt, at["says"], head) else 1}
    if slide.kind == "shape":
        return " × ".join(map(str, dealt.trace[at["step"]].array.shape))
    if slide.kind == "rows_changed":
        other = run(changed(dealt, at["change"]))
        apart = np.abs(other[at["step"]].array - dealt.trace[at["step"]].array).max(axis=(0, 2))
        return set(np.flatnonzero(apart > 1e-9).tolist())
    return None


def len_of(dealt: Dealt, step: str) -> tuple[int, ...]:
    """The lengths of the axes of a step, from the setting."""
    c, n = dealt.config, len(dealt.config.sentence.split())
    m = len(c.second_sentence.split()) or n
    d_k, d_v, kv = c.key_widths()[0], c.value_widths()[0], c.n_kv_heads or c.n_heads
    return {
        "queries": (c.n_heads, n, d_k),
        "keys": (kv, m, d_k),
        "values": (kv, m, d_v),
        "scores": (c.n_heads, n, m),
        "weights": (c.n_heads, n, m),
        "heads": (c.n_heads, n, d_v),
        "w_q": (c.n_heads, c.d_model, d_k),
        "w_k": (kv, c.d_model, d_k),
    }[step]


def holds(dealt: Dealt, says: str, head: int) -> bool:
    """Whether a statement holds, by loops over the numbers of its head."""
    A, S = dealt.trace["weights"].array[head], dealt.trace["scores"].array[head]
    n = len(A)
    return {
        "symmetric": lambda: all(abs(S[i, j] - S[j, i]) < 1e-9 for i in range(n) for j in range(n)),
        "rows_sum_to_one": lambda: all(abs(sum(A[i]) - 1) < 1e-9 for i in range(n)),
        "columns_sum_to_one": lambda: all(abs(sum(A[:, j]) - 1) < 1e-9 for j in range(n)),
        "looks_ahead": lambda: any(A[i, j] > 1e-9 for i in range(n) for j in range(i + 1, n)),
    }[says]()


def changed(dealt: Dealt, change: dict[str, Any]) -> Any:
    """The setting with a change."""
    return replace(dealt.config, **change)


def cell(A: list[list[float]], text: str, tokens: Any) -> set[int]:
    """The cell that a question asks for, read from its words."""
    words = [tokens.index(part.split("”")[0]) for part in text.split("“")[1:]]
    n = len(A)
    if "causal mask" in text:
        i, j = max(((i, j) for i in range(n) for j in range(i + 1, n)), key=lambda at: A[at[0]][at[1]])
    elif "any query" in text:
        j = words[0]
        i = max(range(n), key=lambda row: A[row][j])
    else:
        i, j = words if " gives " in text else words[::-1]
    return {i * n + j}


def check(dealt: Dealt, kind: str) -> None:
    """A deal against the answer that is found another way."""
    question, right = dealt.question, answered(dealt)
    if question.form == "number":
        assert question.value == pytest.approx(right, rel=1e-9, abs=1e-9)
        assert question.is_right(right)
    elif question.form == "order":
        assert (question.in_order, question.is_right(right)) == (right, True)
        assert not question.is_right(right[::-1])
    elif kind == "shape":
        assert [plain(question.options[at]) for at in question.right] == [right]
    elif question.form in ("cell", "mask", "one", "some"):
        assert question.right == right
    elif question.form == "slider":
        check_slider(dealt)
    else:
        assert question.form == "text"
        assert question.why
    assert not question.is_right(()) or (question.form == "some" and not right)


def check_slider(dealt: Dealt) -> None:
    """A slider is right where the weight is what is wanted."""
    text, slider = plain(dealt.question.words), dealt.slider
    assert slider is not None
    tokens = dealt.trace.query_tokens
    query, key = (tokens.index(part.split("”")[0]) for part in text.split("“")[1:])
    wanted, tolerance = Decimal(text.split(" is ")[1].split(",")[0]), Decimal(text.split("±")[1].rstrip("."))
    for at in range(len(STOPS[slider.name])):
        config = slider.moved(dealt.config, at)
        weight = rows_of_weights(replace(dealt, config=config, trace=run(config)))[0][query][key]
        is_right = abs(Decimal(f"{weight:.2f}") - wanted) <= tolerance  # as it is read
        assert dealt.question.is_right((at,)) == is_right
        said = dealt.question.feedback((at,))
        assert is_right or ("too large" in said) == (weight > wanted)
    assert not dealt.question.is_right((slider.start,))


@for_each("kind, level", CASES)
def test_every_deal_has_the_answer_that_is_found_another_way(kind: str, level: int) -> None:
    for number in DEALS[:3]:
        check(deal(Asked(kind, level, number)), kind)


@pytest.mark.slow(seconds=20)
@for_each("kind", [kind for kind in KINDS if kind != "own_words"])
def test_two_hundred_deals_of_every_kind_have_the_answer_that_is_found_another_way(kind: str) -> None:
    for number in range(200):
        dealt = deal(Asked(kind, 1 + number % LEVELS, number))
        check(dealt, kind)
        question = dealt.question
        taken = [each.name for each in question.mistakes if abs(each.value - question.value) <= question.tolerance]
        assert not taken, f"a known mistake counts as right in {kind} {number}"
        if kind == "weight":
            check_scores_differ(dealt)


def test_a_deal_is_the_same_again_and_another_number_has_other_numbers() -> None:
    for kind in KINDS:
        one, same = (deal(Asked(kind, 2, 5)) for _ in range(2))
        assert (one.config, one.question.words) == (same.config, same.question.words)
        assert len({deal(Asked(kind, 2, n)).config for n in DEALS}) > 3
    assert KINDS_OF_DEALS.keys() == KINDS.keys()


def test_a_wrong_cell_and_a_wrong_mask_are_told_apart_by_their_rule() -> None:
    dealt = deal(Asked("cell", 1, 0))
    n = len(dealt.trace.key_tokens)
    (right,) = dealt.question.right
    i, j = divmod(right, n)
    assert i != j
    assert "across the diagonal" in dealt.question.feedback((j * n + i,))
    assert "row is right" in dealt.question.feedback((i * n + i,))
    trace = run(Config(sentence="a b c", mask="causal"))
    question = new_forms.mask(trace)
    grid = np.tri(3, dtype=bool)
    for drawn, words in (
        (grid.T, "mirrored"),
        (grid == 0, "forbids what is allowed"),
        (np.tri(3, k=-1, dtype=bool), "diagonal"),
        (np.ones((3, 3), bool), "should be forbidden: 3 "),
        (np.zeros((3, 3), bool), "should be allowed: 6 "),
    ):
        assert words in question.feedback(tuple(np.flatnonzero(drawn).tolist()))
    assert question.feedback(tuple(np.flatnonzero(grid).tolist())) == "Right."


def test_every_mask_to_draw_has_words() -> None:
    dealt = {deal(Asked("mask", level, number)).config.mask for level in range(1, 5) for number in range(40)}
    masks = (each["mask"] for each in MASKS.values())
    assert dealt == {mask if isinstance(mask, tuple) else (mask,) for mask in masks}


def test_a_record_goes_to_text_and_back_and_a_browser_can_say_anything() -> None:
    record = (Answer(Asked("weight", 2, 17), True), Answer(Asked("shape", 1, 0), False))
    assert decode(encode(record)) == record
    for text in ("", "x", "weight.2", "weight.0.1.1", "weight.2.1.7", "weight.2.٣.1", "weight.2.99999.1", "no.1.1.1"):
        assert decode(text) == ()
    assert len(decode("\n".join(f"shape.1.{n}.1" for n in range(9000)))) == 500
    assert as_csv(record).splitlines()[1] == "A weight,2,17,yes"


def test_the_level_follows_the_learner_and_what_was_missed_comes_again_until_it_is_right() -> None:
    asked = [Asked("weight", 1, n) for n in range(4)]
    record = tuple(Answer(each, True) for each in asked[:2])
    assert (level_of(record, "weight"), level_of(record, "shape")) == (2, 1)
    record = (*record, Answer(asked[2], False))
    assert (level_of(record, "weight"), missed(record)) == (1, (asked[2],))
    assert missed((*record, Answer(asked[2], True))) == ()
    assert results(record) == {"weight": (2, 3)}
    assert following(record, asked[2], stay=True) == Asked("weight", 1, 3)
    assert following(record, asked[2], stay=False) == Asked("shape", 1, 0)


def test_hints_of_known_kinds_are_there() -> None:
    for kind in ("shape", "weight", "number", "highest_key"):
        assert deal(Asked(kind, 3, 1)).question.how in HOW


@pytest.mark.parametrize("level", [3, 4])
def test_a_number_computed_from_what_is_read_counts_as_right(level: int) -> None:
    for number in range(30):
        dealt = deal(Asked("number", level, number))
        at = dealt.slide.question.at  # type: ignore[union-attr]
        head, query, column = at["head"] - 1, at["query"] - 1, at["column"] - 1
        weights, values = (dealt.trace[name].array[head].round(2) for name in ("weights", "values"))
        assert dealt.question.is_right(float((weights[query] @ values[:, column]).round(2))), number
        assert not dealt.question.is_right(0.0)


def test_a_mask_is_spoken_of_where_there_is_one() -> None:
    for level in range(1, LEVELS + 1):
        dealt = deal(Asked("order", level, 1))
        has_mask = bool(np.isneginf(dealt.trace["masked"].array).any())
        assert ("mask" in plain(dealt.question.words)) == has_mask


def test_an_order_is_asked_with_the_picture_of_its_head_alone() -> None:
    heads = set()
    for number in DEALS:
        dealt = deal(Asked("order", 4, number))
        asked = dealt.slide.question
        assert asked is not None
        (shown,) = open_questions.pictures(dealt.slide, asked, dealt.question, dealt.trace, dealt.trace)
        head = asked.at["head"] - 1
        assert np.array_equal(shown.array, dealt.trace["masked"].array[head : head + 1])
        assert plain(dealt.question.words).startswith(f"Head {head + 1}:")
        assert shown.names == (f"head {head + 1}",)
        heads.add(head)
    assert heads == {0, 1}


def test_no_weight_is_asked_for_in_a_row_with_equal_scores() -> None:
    """The weights of equal scores are equal, whatever is done to them: there is nothing to compute."""
    for level in range(1, LEVELS + 1):
        for number in range(8):
            check_scores_differ(deal(Asked("weight", level, number)))


def check_scores_differ(dealt: Dealt) -> None:
    """The scores of the row whose weight is asked for are as many as there are keys."""
    at = dealt.slide.question.at  # type: ignore[union-attr]
    Q, K = (dealt.trace[name].array[at["head"] - 1] for name in ("queries", "keys"))
    open_keys = [j for j in range(len(K)) if allowed(dealt.config.mask, at["query"] - 1, j)]
    scores = [round(sum(a * b for a, b in zip(Q[at["query"] - 1], K[j])), 9) for j in open_keys]
    assert len(set(scores)) == len(scores) > 1, scores


def test_yes_and_no_are_right_about_as_often_and_each_statement_is_met_both_ways() -> None:
    met = []
    for level in range(1, LEVELS + 1):
        for number in range(40):
            dealt = deal(Asked("true_or_false", level, number))
            assert dealt.slide.question is not None
            met.append((dealt.slide.question.at["says"], 0 in dealt.question.right))
    assert 60 < sum(is_yes for _, is_yes in met) < 100
    assert len(set(met)) == 8


def test_a_wrong_order_is_told_what_it_is_the_order_of() -> None:
    seen = set()
    for number in range(40):
        dealt = deal(Asked("order", (1, 3, 4)[number % 3], number))
        question, at = dealt.question, dealt.slide.question.at  # type: ignore[union-attr]
        A, right = dealt.trace["weights"].array, dealt.question.in_order
        head, query = at["head"] - 1, at["query"] - 1
        none = [key for key in range(A.shape[2]) if not A[head, query, key]]
        assert all(question.feedback((*right, key)).endswith(" it stays out.") for key in none)
        assert question.feedback(right[:-1]).endswith("a key is missing.")
        orders = {at: in_order(A[at]) for at in np.ndindex(A.shape[:2])}
        for order in {*orders.values()} - {right, right[::-1]}:
            if {*order} != {*right}:
                continue
            said = question.feedback(order)
            if "right for head" in said:
                seen.add("head")
                assert orders[int(said.split("head ")[1].split(":")[0]) - 1, query] == order
            elif "right for the word in row" in said:
                seen.add("row")
                assert orders[head, int(said.split("row ")[1].split(":")[0]) - 1] == order
            elif "down the column" in said:
                seen.add("column")
                assert in_order(A[head, :, query]) == order
            else:
                assert order not in {orders[at] for at in orders if at[0] == head or at[1] == query}
    assert seen >= {"head", "row"}


def in_order(line: Any) -> tuple[int, ...]:
    """The positions of weights above 0, the largest first."""
    return tuple(sorted((j for j in range(len(line)) if line[j]), key=lambda j: -line[j]))


def test_a_wrong_cell_is_told_what_can_be_found_first() -> None:
    """Where no query is named, there is no row to find."""
    for number in range(20):
        of_key, ahead = (deal(Asked("cell", level, number)) for level in (3, 4))
        for dealt in (of_key, ahead):
            n = len(dealt.trace.key_tokens)
            (right,) = dealt.question.right
            for at in {*range(n * n)} - {right}:
                (i, j), said = divmod(at, n), dealt.question.feedback((at,))
                assert "the row of the query" not in said
                if dealt is ahead:
                    assert ("allows that cell" in said) == (j <= i)
                    assert ("would forbid that cell" in said) == (j > i)
                elif j == right % n:
                    assert "column is right" in said or "diagonal" in said
