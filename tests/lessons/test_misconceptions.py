"""The fifteen short lessons: each runs, and all that a slide says holds for its numbers, whatever the seed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from attnviz import Config, run
from attnviz.analysis import statistics
from attnviz.analysis.mask_forms import FILLS
from attnviz.classroom import open_questions, slides
from attnviz.classroom.measures import measure_text
from attnviz.classroom.question_kinds import resolve
from attnviz.engine.run import Trace
from attnviz.engine.tables.normalisers import NORMALISERS
from attnviz.lessons.catalogue import LESSONS
from attnviz.lessons.lesson import Lesson
from attnviz.lessons.predicates import PREDICATES
from tests.support.cases import for_each

SEEDS = range(3)
NAMES = [
    "what_q_k_v",
    "why_root",
    "softmax_axis",
    "rows_and_columns",
    "why_minus_infinity",
    "mask_polarity",
    "padding",
    "one_or_many",
    "must_divide",
    "what_w_o_does",
    "why_both",
    "what_is_added",
    "order",
    "self_cross_grouped",
    "not_explanation",
]
CONFUSIONS = tuple(LESSONS[name] for name in NAMES)
BY_NAME = {lesson.name: lesson for lesson in CONFUSIONS}
KINDS = ["highest_key", "weight", "number", "sum", "size", "shape", "rows_changed", "true_or_false"]
KINDS += ["spread", "largest_weight"]
SHARED_PREDICATES = ["symmetric", "rows_sum_to_one", "columns_sum_to_one", "same", "looks_ahead"]
SAME = 1e-9


@pytest.fixture(autouse=True, params=[SEEDS, pytest.param(range(20), marks=pytest.mark.slow)], ids=["few", "many"])
def seeds(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have every test look at few seeds, and at many where there is time."""
    monkeypatch.setitem(globals(), "SEEDS", request.param)


def config(name: str, number: int | None = None, seed: int = 0, **changes: Any) -> Config:
    """The setting of a lesson, or of one of its slides, counted from 1."""
    lesson = BY_NAME[name]
    found = lesson.config if number is None else lesson.on(lesson.slides[number - 1])
    return replace(found, seed=seed, **changes)


def arrays(trace: Trace, *steps: str) -> tuple[np.ndarray, ...]:
    return tuple(trace[step].array for step in steps)


def at_each_seed(name: str, *numbers: int | None) -> Iterator[tuple[Trace, ...]]:
    """Runs of slides of one lesson with the same seed, seed by seed; None is the lesson's own setting."""
    for seed in SEEDS:
        yield tuple(run(config(name, number, seed)) for number in numbers)


def same(one: Trace, other: Trace, *steps: str) -> bool:
    """Whether steps are the same to the last bit."""
    return all(np.array_equal(one[step].array, other[step].array) for step in steps)


def changed(one: Config, other: Config, step: str) -> list[int]:
    """The rows of a step that differ between two settings, counted from 1."""
    apart = np.abs(run(one)[step].array - run(other)[step].array)
    return (np.flatnonzero(apart.reshape(-1, *apart.shape[-2:]).max(axis=(0, 2)) > SAME) + 1).tolist()


def attention(S: np.ndarray) -> np.ndarray:
    """Softmax over the last axis, written anew."""
    E = np.exp(S - S.max(axis=-1, keepdims=True))
    return E / E.sum(axis=-1, keepdims=True)


# The form ------------------------------------------------------------------------------------------------------------


def test_there_are_fifteen_with_names_for_links() -> None:
    assert len(set(NAMES)) == 15
    assert all(re.fullmatch(r"[a-z]+(_[a-z]+)*", name) for name in NAMES)
    assert len({lesson.title for lesson in CONFUSIONS}) == 15


@for_each("lesson", CONFUSIONS)
def test_a_lesson_is_short_asks_and_names_what_it_draws(lesson: Lesson) -> None:
    assert lesson.title.endswith("?")
    assert lesson.about.endswith(".")
    assert lesson.source
    assert 3 <= len(lesson.slides) <= 7
    assert sum(slide.question is not None for slide in lesson.slides) >= 2
    own = run(lesson.config)
    for slide in lesson.slides:
        trace = run(lesson.on(slide))
        assert not set(slide.steps) - {*trace.around, *trace.layers[slide.layer]}
        assert not slide.beside or not set(slide.steps) - {*own.around, *own.layers[0]}
        assert not slide.beside or slide.change
        assert max(len(trace.query_tokens), len(trace.key_tokens)) <= 8


@for_each("lesson", CONFUSIONS)
def test_a_change_changes_and_nothing_in_it_is_idle(lesson: Lesson) -> None:
    for slide in lesson.slides:
        for name, value in slide.change.items():
            assert getattr(lesson.on(slide), name) != getattr(lesson.config, name), (name, value)


@for_each("lesson", CONFUSIONS)
def test_a_question_names_what_is_there(lesson: Lesson) -> None:
    for slide in lesson.slides:
        if slide.question is None:
            continue
        question, trace = slide.question, run(lesson.on(slide))
        assert question.kind in KINDS
        assert not set("${}") & set(question.ask)
        says = question.at.get("says")
        assert (says in PREDICATES or says in SHARED_PREDICATES) == (question.kind == "true_or_false")
        assert says not in PREDICATES or (question.ask and question.why)
        step = trace[question.at.get("step", "weights")]
        sizes = {"head": trace.config.n_heads, "query": len(trace.query_tokens), "key": len(trace.key_tokens)}
        assert all(1 <= question.at[axis] <= n for axis, n in sizes.items() if axis in question.at)
        if "change" in question.at:
            assert run(replace(lesson.on(slide), **question.at["change"]))[step.name].shape == step.shape


@for_each("lesson", CONFUSIONS)
def test_the_words_are_a_textbook_s(lesson: Lesson) -> None:
    for slide in lesson.slides:
        texts = [slide.text] + ([slide.question.ask, slide.question.why] if slide.question else [])
        assert not any("!" in text or "  " in text for text in texts)
        assert slide.text.count("$") % 2 == 0
        assert slide.text.count("**") % 2 == 0
        for reference in re.findall(r"\[\[(.*?\..*?)\]\]", slide.text):
            step, layer, *index = reference.split(".")
            array = run(lesson.on(slide)).layers[int(layer) - 1][step].array
            assert np.isfinite(array[tuple(int(number) - 1 for number in index)])


# What the slides say -------------------------------------------------------------------------------------------------


def test_what_q_k_v() -> None:
    for hard, soft, sharp, moved, self_made in at_each_seed("what_q_k_v", 1, 2, 3, 4, 5):
        (V,), (S, A) = arrays(hard, "values"), arrays(hard, "scores", "weights")
        assert V.ravel().tolist() == [10, 20, 40]
        assert S.tolist() == A.tolist() == [[[0, 1, 0]]]
        assert hard["heads"].array.item() == 20
        assert soft["weights"].array.ravel() == pytest.approx([1 / (np.e + 2), np.e / (np.e + 2), 1 / (np.e + 2)])
        assert (soft["weights"].array > 0).all()
        assert soft["weights"].array.argmax() == 1
        assert np.array_equal(sharp["scaled"].array, 10 * soft["scaled"].array)
        assert sharp["heads"].array.item() == pytest.approx(20, abs=0.01)
        assert moved["values"].array[0, 2, 0] == 10 * V[0, 2, 0]
        assert same(soft, moved, "scores", "weights")
        assert moved["heads"].array.item() > 2 * soft["heads"].array.item()
        X = self_made["embedded"].array
        for step, matrix in (("queries", "w_q"), ("keys", "w_k"), ("values", "w_v")):
            np.testing.assert_allclose(self_made[step].array[0], X @ self_made[matrix].array[0], atol=1e-12)


def slope(A: np.ndarray) -> float:
    """The mean size of a_j (delta_jk - a_k)."""
    return float(np.abs(A[..., :, None] * (np.eye(A.shape[-1]) - A[..., None, :])).mean())


def test_why_root() -> None:
    for narrow, wide, root, width in at_each_seed("why_root", 1, 2, 4, 5):
        narrow_root = run(replace(narrow.config, score="scaled_dot"))
        model = run(replace(root.config, d_model=128))
        spread = [trace["scaled"].array.std() for trace in (narrow, wide, root, width, model, narrow_root)]
        assert 2.5 < spread[1] / spread[0] < 6.5
        assert all(0.6 < spread[k] < 1.5 for k in (2, 4, 5))
        assert spread[3] == pytest.approx(spread[2] / 8)
        peaks = [statistics.largest(trace["weights"].array).mean() for trace in (narrow, wide, root, width)]
        assert peaks[3] < 0.22 < peaks[2] < 0.5 < peaks[1]
        assert (statistics.largest(wide["weights"].array) > 0.5).mean() > 0.5
        assert slope(wide["weights"].array) < slope(root["weights"].array) / 2
        entries = np.concatenate([wide["queries"].array.ravel(), wide["keys"].array.ravel()])
        assert entries.var() == pytest.approx(1, abs=0.2)
        assert same(wide, root, "queries", "keys", "scores")
    assert (config("why_root").d_k, config("why_root", 1).d_k) == (64, 4)


def test_what_why_root_says_in_numbers_is_what_its_runs_give() -> None:
    text = {
        number: f"{slide.text} {slide.question.ask if slide.question else ''}"
        for number, slide in enumerate(BY_NAME["why_root"].slides, 1)
    }
    narrow, wide = (run(config("why_root", number)) for number in (1, 2))
    assert f"{scores_of(narrow).std():.1f}" == "2.2"
    assert "about 2.2" in text[2]
    assert f"{softmax_by_hand(scores_of(narrow)).max(axis=-1).mean():.2f}" == "0.57"
    assert "about 0.57" in text[3]
    assert f"{scores_of(wide).std():.1f}" == "8.3"
    last = BY_NAME["why_root"].slides[5]
    assert last.question is not None
    trace = run(config("why_root", 6))
    found = resolve(last.question, trace)
    assert found.value == pytest.approx(scores_of(trace).std() / 16)
    assert found.is_right(1 / 4)
    assert {
        picture.array.shape[-1] for picture in open_questions.pictures(last, last.question, found, wide, trace)
    } == {16}
    assert "divided first" in found.feedback(4.0)
    assert "by the root of the divisor only" in found.feedback(1.0)


def test_the_table_and_the_controls_of_why_root_show_the_law() -> None:
    lesson = BY_NAME["why_root"]
    table = [line.split("|") for line in slides.fill_numbers("[[divisors]]", run(lesson.config)).splitlines()[2:]]
    rows = {int(row[1]): [float(cell) for cell in row[2:8]] for row in table}
    assert list(rows) == [1, 4, 16, 64, 256]
    Q, K = (np.random.default_rng(n).normal(size=(1000, 6, 256)) for n in (0, 1))
    for d_k, row in rows.items():
        S = Q[..., :d_k] @ K[..., :d_k].swapaxes(1, 2)
        by = [S, S / np.sqrt(d_k), S / d_k]
        expected = [*(each.std() for each in by), *(softmax_by_hand(each).max(axis=-1).mean() for each in by)]
        assert row == pytest.approx(expected, rel=0.03)
    undivided, under_root = ([row[at] for row in rows.values()] for at in (3, 4))
    assert undivided == sorted(undivided)
    assert np.ptp(under_root[1:]) < 0.02
    slide = lesson.slides[6]
    assert slide.control is not None
    width, divisor = slide.control.moves
    for by, column in zip(divisor.choices, (0, 1, 2)):
        for choice in width.choices:
            tried = run(lesson.on(slide, tried=[choice, by]))
            shown = [float(measure_text(name, tried, tried)) for name in slide.control.measures]
            assert shown == pytest.approx([rows[int(choice.label)][column + at] for at in (0, 3)], rel=5e-3)


def test_float16_has_no_large_negative_number_of_the_lesson() -> None:
    with np.errstate(over="ignore"):
        assert np.isneginf(np.float16(-1e9))
    assert np.finfo(np.float16).max == 65504
    assert "65504" in BY_NAME["why_minus_infinity"].slides[3].question.why  # type: ignore[union-attr]
    assert [np.exp(kind(-1e9)) for kind in (np.float32, np.float64)] == [0, 0]


def scores_of(trace: Trace) -> np.ndarray:
    return np.einsum("hid,hjd->hij", trace["queries"].array, trace["keys"].array)


def softmax_by_hand(S: np.ndarray) -> np.ndarray:
    return attention(S)


def test_softmax_axis() -> None:
    for right, wrong, leaky, causal, cross in at_each_seed("softmax_axis", 1, 2, 3, 4, 5):
        A, B, C = (trace["weights"].array for trace in (right, wrong, leaky))
        assert A.sum(axis=-1) == pytest.approx(1)
        assert np.abs(A.sum(axis=-2) - 1).max() > 0.01
        Z, V = arrays(right, "heads", "values")
        assert (V.min(axis=1, keepdims=True) <= Z).all()
        assert (V.max(axis=1, keepdims=True) >= Z).all()
        assert same(right, wrong, "masked")
        assert B.sum(axis=-2) == pytest.approx(1)
        assert np.abs(B.sum(axis=-1) - 1).max() > 0.01
        assert (C[:, -1, -1] == 1).all()
        assert (C[:, -1].sum(axis=-1) > 1).all()
        assert (C[:, 0].sum(axis=-1) < 1).all()
        up = {"sentence": "the cat sat up"}
        assert changed(leaky.config, replace(leaky.config, **up), "weights") == [1, 2, 3, 4]
        assert changed(causal.config, replace(causal.config, **up), "weights") == [4]
        assert cross["weights"].array.shape == (2, 4, 3)
        assert cross["weights"].array.sum(axis=(1, 2)) == pytest.approx(4)


def test_rows_and_columns() -> None:
    for plain, edited in at_each_seed("rows_and_columns", 1, 4):
        A = plain["weights"].array
        assert set(A.ravel().tolist()) == {0, 1}
        assert A[0].argmax(axis=-1).tolist() == [0, 0, 1, 2, 3]
        assert A[1].argmax(axis=-1).tolist() == [0] * 5
        assert A.sum(axis=-1).tolist() == [[1] * 5] * 2
        assert A[1].sum(axis=0).tolist() == [5, 0, 0, 0, 0]
        assert A[0, 2, 1] == 1
        assert A[0, 1, 2] == 0
        assert np.diagonal(A[0].T, 1).tolist() == [1] * 4
        assert not np.allclose(plain["scores"].array[0], plain["scores"].array[0].T)
        assert same(plain, edited, "weights")
        assert changed(plain.config, edited.config, "values") == [2]
        assert changed(plain.config, edited.config, "heads") == [3]
        assert np.array_equal(plain["heads"].array[1], edited["heads"].array[1])


def test_why_minus_infinity() -> None:
    allowed = np.tri(4, dtype=bool)
    normalise = lambda S: NORMALISERS["softmax"].fn(S, 1.0)  # noqa: E731
    for masked, zeros, after, large, uniform, empty in at_each_seed("why_minus_infinity", 1, 2, 3, 4, 5, 6):
        X, S, A = arrays(masked, "embedded", "scores", "weights")
        assert np.array_equal(S[0], X @ X.T)
        assert (masked["weights"].array[0][~allowed] == 0).all()
        fill = {name: FILLS[name].fn(S[0], allowed, normalise, -1e9) for name in FILLS}
        np.testing.assert_allclose(zeros["weights"].array[0], fill["zero_score"], atol=1e-15)
        assert zeros["weights"].array[0, 0, 0] == pytest.approx(np.e / (np.e + 3))
        assert zeros["weights"].array[0, 0, 0] < 0.5
        np.testing.assert_allclose(after["weights"].array[0], fill["zero_after"], atol=1e-15)
        assert (after["weights"].array[0].sum(axis=-1)[:3] < 1).all()
        np.testing.assert_allclose(fill["renormalised"], A[0], atol=1e-15)
        assert np.array_equal(large["weights"].array, A)
        assert (large["masked"].array[0][~allowed] == -1e9).all()
        assert not empty["weights"].array[0, 0].any()
        assert empty.notes
        assert uniform["weights"].array[0, 0].tolist() == [0.25] * 4
        assert np.array_equal(uniform["masked"].array == -1e9, np.isneginf(empty["masked"].array))
        np.testing.assert_allclose(uniform["weights"].array[0, 1:], empty["weights"].array[0, 1:])
        with np.errstate(invalid="ignore"):
            assert np.isnan(attention(np.full(4, -np.inf))).all()
        assert attention(np.full(4, -1e9)).tolist() == [0.25] * 4


def test_a_negative_score_takes_less_than_a_forbidden_zero() -> None:
    zeros = run(config("why_minus_infinity", 2, mask="none", own_numbers="1 0; -1 1; 1 1; -1 1"))
    S, A = arrays(zeros, "masked", "weights")
    assert S[0, 1, 0] < 0
    assert A[0, 1, 2] > A[0, 1, 0]


def test_mask_polarity() -> None:
    for right, turned in at_each_seed("mask_polarity", 1, 2):
        M, N = (trace["allowed"].array.astype(bool) for trace in (right, turned))
        assert M.sum(axis=1).tolist() == [1, 2, 3, 4]
        assert np.array_equal(N, ~M)
        assert same(right, turned, "scores")
        assert not turned["weights"].array[:, 3].any()
        up = {"sentence": "the cat sat up"}
        assert changed(right.config, replace(right.config, **up), "output") == [4]
        assert changed(turned.config, replace(turned.config, **up), "output") == [1, 2, 3]
        added = right["capped"].array + np.where(M, 0.0, -np.inf)
        assert np.array_equal(added, right["masked"].array)


def test_padding() -> None:
    for none, columns, longer, both, rows in at_each_seed("padding", 1, 2, 3, 4, 5):
        assert none.query_tokens == ("cats", "purr", *["<pad>"] * 3)
        np.testing.assert_allclose(none["weights"].array, 0.2)
        A = columns["weights"].array[0]
        np.testing.assert_allclose(A[:, :2], 0.5)
        assert not A[:, 2:].any()
        assert len(longer.query_tokens) == 8
        np.testing.assert_allclose(longer["heads"].array[:, :2], columns["heads"].array[:, :2], atol=1e-12)
        alone = run(replace(columns.config, pad_to=0, mask="none"))
        np.testing.assert_allclose(alone["heads"].array, columns["heads"].array[:, :2], atol=1e-12)
        assert np.array_equal(both["weights"].array[:, :2], columns["weights"].array[:, :2])
        assert not both["weights"].array[:, 2:].any()
        assert changed(columns.config, both.config, "heads") == [3, 4, 5]
        np.testing.assert_array_equal(rows["weights"].array[:, :2], none["weights"].array[:, :2])
        says = PREDICATES["padding_is_not_read"]
        assert [says(trace) for trace in (none, columns, longer, both, rows)] == [False, True, True, True, False]


def test_one_or_many() -> None:
    for own, edited, two in at_each_seed("one_or_many", None, 3, 4):
        X, W, Q = arrays(own, "embedded", "w_q", "queries")
        assert W.shape == (3, 6, 2)
        wide = X @ np.concatenate(list(W), axis=1)
        np.testing.assert_allclose(wide, np.concatenate(list(Q), axis=1), atol=1e-12)
        assert own["w_q"].array.size == two["w_q"].array.size == 36
        assert len(two["scores"].array) == 2
        assert np.argwhere(edited["embedded"].array != X).tolist() == [[2, 5]]
        apart = np.abs(edited["queries"].array - Q)
        assert (apart[:, 2].max(axis=-1) > SAME).all()
        assert not apart[:, [0, 1, 3]].any()


def test_must_divide() -> None:
    for ragged, other, even in at_each_seed("must_divide", None, 2, 4):
        assert [ragged["queries"].head(h).shape[1] for h in range(3)] == [4, 3, 2]
        assert [ragged["keys"].head(h).shape[1] for h in range(3)] == [4, 3, 2]
        assert ragged["w_q"].shape[1] == ragged["w_k"].shape[1] == 7
        assert ragged.config.d_v == (2, 1, 5)
        assert ragged["concat"].shape == (4, 8)
        assert ragged["w_o"].shape == (8, 7)
        assert ragged["output"].shape == ragged["embedded"].shape == (4, 7)
        assert same(ragged, other, "queries", "keys", "scores", "weights")
        assert other["heads"].head(2).shape[1] == 2
        assert even["concat"].shape == even["embedded"].shape == (4, 6)
        one = run(replace(even.config, n_heads=1, d_k=6, d_v=6))
        assert all(even[name].array.size == one[name].array.size == 36 for name in ("w_q", "w_k", "w_v", "w_o"))


def test_what_w_o_does() -> None:
    for own, without, silenced in at_each_seed("what_w_o_does", None, 3, 4):
        Z, C, W, Y = arrays(own, "heads", "concat", "w_o", "output")
        assert np.array_equal(C, np.concatenate(list(Z), axis=1))
        np.testing.assert_allclose(Z[0] @ W[:2] + Z[1] @ W[2:], Y, atol=1e-12)
        assert (np.abs(W) > 0).all()
        assert same(own, without, "heads", "concat")
        assert np.array_equal(without["output"].array, C)
        assert same(own, silenced, "weights", "heads", "concat")
        assert np.abs(silenced["output"].array - Y).max() > SAME
        np.testing.assert_allclose(silenced["output"].array, Z[0] @ W[:2], atol=1e-12)
        edits = (*silenced.config.edits, (0, "values", (1, 0, 0), 9.0))
        assert changed(silenced.config, replace(silenced.config, edits=edits), "heads") == [1, 2, 3]
        assert changed(silenced.config, replace(silenced.config, edits=edits), "output") == []
        assert PREDICATES["heads_add_up"](own)


def test_why_both() -> None:
    for own, tied, before, at_itself in at_each_seed("why_both", None, 3, 5, 6):
        X, W_Q, W_K, S = (x if x.ndim == 2 else x[0] for x in arrays(own, "embedded", "w_q", "w_k", "scores"))
        M = W_Q @ W_K.T
        np.testing.assert_allclose(X @ M @ X.T, S, atol=1e-12)
        assert M.shape == (6, 6)
        assert np.linalg.matrix_rank(M) == 2
        assert W_Q.size + W_K.size < M.size
        assert not PREDICATES["product_has_full_rank"](own)
        T = tied["scores"].array[0]
        assert same(own, tied, "w_q")
        assert np.array_equal(tied["w_q"].array, tied["w_k"].array)
        assert np.abs(S - S.T).max() > SAME
        np.testing.assert_allclose(T, T.T, atol=1e-12)
        np.testing.assert_allclose(np.diag(T), (tied["queries"].array[0] ** 2).sum(axis=1), atol=1e-12)
        assert T.max() == pytest.approx(np.diag(T).max())
        assert (tied["weights"].array[0].argmax(axis=1) == np.arange(5)).any()
        assert np.abs(tied["weights"].array[0].sum(axis=0) - 1).max() > SAME
        A, B = before["weights"].array[0], at_itself["weights"].array[0]
        assert (A[[0, 1, 2, 3, 4], [0, 0, 1, 2, 3]] > 0.9).all()
        assert (np.diag(B) > 0.9).all()


def test_what_is_added() -> None:
    for own, dot, untanh, masked in at_each_seed("what_is_added", None, 2, 4, 5):
        u, w = untanh["score_vector_u"].array, untanh["score_vector_w"].array
        parts = untanh["queries"].array[0] @ u.ravel(), untanh["keys"].array[0] @ w.ravel()
        np.testing.assert_allclose(untanh["scores"].array[0], np.add.outer(*parts), atol=1e-12)
        A = untanh["weights"].array[0]
        np.testing.assert_allclose(A, np.broadcast_to(A[0], A.shape), atol=1e-12)
        Q, K, W_q, W_k, v = (x[0] for x in arrays(own, "queries", "keys", "score_w_q", "score_w_k", "score_v"))
        left, right = Q @ W_q, K @ W_k
        S = np.tanh(left[:, None] + right[None]) @ v
        np.testing.assert_allclose(own["scores"].array[0], S, atol=1e-12)
        assert np.abs(S).max() <= np.abs(v).sum()
        assert PREDICATES["scores_within_v"](own)
        assert PREDICATES["scores_within_v"](run(replace(own.config, initialiser="normal", d_k=9)))
        assert same(own, dot, "queries", "keys", "values")
        assert "score_v" not in dot.layers[0]
        np.testing.assert_allclose(dot["scores"].array[0], Q @ K.T, atol=1e-12)
        flat = attention((left @ v)[:, None] + (right @ v)[None])
        np.testing.assert_allclose(flat, np.broadcast_to(flat[0], flat.shape), atol=1e-12)
        assert np.abs(own["weights"].array[0] - own["weights"].array[0, 0]).max() > SAME
        assert same(own, masked, "scores", "capped")
        assert np.isneginf(masked["masked"].array).any()
        assert np.array_equal(own["scaled"].array, own["scores"].array)


def test_order() -> None:
    swapped = {"sentence": "man bites dog"}
    for plain, moved, placed, causal, rotary in at_each_seed("order", None, 1, 2, 4, 5):
        np.testing.assert_allclose(moved["output"].array, plain["output"].array[::-1], atol=1e-12)
        assert changed(plain.config, moved.config, "output") == [1, 3]
        assert changed(placed.config, replace(placed.config, **swapped), "output") == [1, 2, 3]
        assert changed(causal.config, replace(causal.config, **swapped), "output") == [1, 2, 3]
        E, P, X = arrays(placed, "token_embeddings", "positions", "embedded")
        W = placed["w_q"].array[0]
        assert np.array_equal(E + P, X)
        np.testing.assert_allclose(E @ W + P @ W, placed["queries"].array[0], atol=1e-12)
        np.testing.assert_allclose(np.hstack([E, P]) @ np.vstack([W, W]), X @ W, atol=1e-12)
        says = PREDICATES["scores_follow_distance"]
        assert says(rotary)
        assert not says(run(replace(rotary.config, position="sinusoidal")))
        S = rotary["scores"].array
        np.testing.assert_allclose(S[:, 0, 1], S[:, 2, 3], atol=1e-12)
        assert np.abs(S[:, 0, 1] - S[:, 0, 3]).max() > SAME
        assert same(rotary, run(replace(rotary.config, position="none")), "embedded")


def test_self_cross_grouped() -> None:
    for own, cross, grouped, multi in at_each_seed("self_cross_grouped", None, 2, 3, 5):
        assert own["weights"].shape == (4, 3, 3)
        assert cross["weights"].shape == (4, 3, 5)
        assert cross["heads"].shape[1] == 3
        assert same(own, cross, "queries")
        assert same(own, grouped, "queries")
        assert same(own, multi, "queries")
        assert [len(trace["keys"].array) for trace in (own, grouped, multi)] == [4, 2, 1]
        assert np.array_equal(grouped["weights"].array[0], own["weights"].array[0])
        Q, K = arrays(grouped, "queries", "keys")
        np.testing.assert_allclose(Q[1] @ K[0].T, grouped["scores"].array[1], atol=1e-12)
        np.testing.assert_allclose(Q[2] @ K[1].T, grouped["scores"].array[2], atol=1e-12)
        assert not PREDICATES["groups_agree"](grouped)
        kept = [trace["keys"].array.size + trace["values"].array.size for trace in (own, multi)]
        assert kept[0] == 4 * kept[1]


def test_not_explanation() -> None:
    for own, random, muted, one, other in at_each_seed("not_explanation", None, 1, 3, 5, 6):
        assert PREDICATES["mostly_one_key"](random)
        A = random["weights"].array
        assert min(np.abs(A[g] - A[h]).max() for g in range(4) for h in range(g)) > 0.1
        assert (own["weights"].array[0, :, 0] > 0.9).all()
        assert same(own, muted, "weights")
        V = muted["values"].array
        assert not V[0, 0].any()
        assert np.array_equal(V[0, 1:], own["values"].array[0, 1:])
        small, large = (np.abs(trace["heads"].array).max() for trace in (muted, own))
        assert small < 0.1 * large
        assert one.key_tokens[0] == one.key_tokens[3]
        assert one["weights"].array[0, 0].tolist() == [1, 0, 0, 0, 0]
        assert other["weights"].array[0, 0].tolist() == [0, 0, 0, 1, 0]
        assert changed(one.config, other.config, "heads") == []
        assert np.abs(one["heads"].array[0, 0]).max() > 0.01


# What the questions ask ----------------------------------------------------------------------------------------------


def test_every_predicate_can_hold_and_fail() -> None:
    small = Config(sentence="a b a", n_heads=2, d_model=3, d_k=3)
    cases = {
        "mostly_one_key": (replace(small, mask="causal"), replace(small, initialiser="by_hand", patterns=("uniform",))),
        "padding_is_not_read": (replace(small, pad_to=5, mask="padding"), replace(small, pad_to=5)),
        "heads_add_up": (replace(small, d_v=(2, 1)), replace(small, projection_bias=True, initialiser="normal")),
        "groups_agree": (small, replace(small, n_kv_heads=1)),
        "product_has_full_rank": (small, replace(small, d_k=2)),
        "scores_within_v": (replace(small, score="additive"), None),
        "scores_follow_distance": (replace(small, position="none"), replace(small, bias="none")),
        "values_within_limit": (
            replace(small, initialiser="glorot"),
            replace(small, edits=((0, "w_v", (0, 0, 0), 9.0),)),
        ),
        "scores_of_queries": (small, replace(small, edits=((0, "scores", (1, 2, 0), 99.0),))),
    }
    assert list(cases) == list(PREDICATES)
    for name, (holds, fails) in cases.items():
        assert PREDICATES[name](run(holds)) is True, name
        assert fails is None or PREDICATES[name](run(fails)) is False, name
    beyond = replace(small, score="additive", edits=((0, "scores", (1, 2, 0), 99.0),))
    assert PREDICATES["scores_within_v"](run(beyond)) is False


@for_each("lesson", CONFUSIONS)
def test_yes_and_no_are_the_same_for_every_seed(lesson: Lesson) -> None:
    for slide in lesson.slides:
        if slide.question and slide.question.at.get("says") in PREDICATES:
            says = PREDICATES[slide.question.at["says"]]
            assert len({says(run(lesson.on(slide, seed))) for seed in SEEDS}) == 1
