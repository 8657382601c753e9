"""Assignments: the field of a link, hostile ones, the students' seeds, and which questions a run can be asked."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnviz import Config, run
from attnviz.classroom import next_word_questions, question_codec, run_questions, score_variance
from attnviz.classroom.marking import assignments
from attnviz.classroom.marking.assignments import Assignment
from attnviz.classroom.question_kinds import QUESTIONS
from attnviz.classroom.resolved_question import ResolvedQuestion
from attnviz.settings import plain_text, url_codec
from attnviz.settings.faults import ConfigError
from attnviz.text.format.sentence_parts import plain
from attnviz.ui.session.selection import PANEL_NAMES, Selection
from tests.support.cases import for_each

CONFIG = Config(sentence="one two three four five", second_sentence="six seven eight", n_heads=3, d_k=4, d_v=2)
TASK = Assignment(
    task_title="Über <b>alles</b>",
    task_text="one\ntwo 猫",
    task_free=("n_heads", "sentence"),
    task_hidden=("weights", "cell"),
    task_questions=(
        question_codec.item("weight", {"query": 5, "key": 3}),
        question_codec.item("shape", {"whole": "heads"}),
    ),
)


def every_kind() -> list[question_codec.Item]:
    numbers = [question_codec.item("number", {"step": step}) for step in question_codec.AXES]
    apart = ("number", *run_questions.QUESTIONS)  # the latter need other settings; see test_run_questions.py
    return [*numbers, *(question_codec.item(kind, {}) for kind in question_codec.KINDS if kind not in apart)]


words = st.text(max_size=40)
chosen = st.lists(st.sampled_from(every_kind()), max_size=6)


@pytest.mark.slow
@settings(max_examples=12)
@given(words, st.text(max_size=200), st.lists(st.sampled_from(list(assignments.CONTROLS))), chosen, st.booleans())
def test_an_assignment_comes_back_from_its_link(
    title: str, text: str, free: list[str], items: list[question_codec.Item], own: bool
) -> None:
    task = Assignment(
        task_title=plain_text.clean(title),
        task_text=plain_text.clean(text, 5),
        task_free=tuple(free),
        task_questions=tuple(items),
        task_own=own,
    )
    task = assignments.with_setting(task, CONFIG)
    link = url_codec.query_string(CONFIG, Selection(page="assign", assigned=assignments.encode(task)))
    (config, selection), problems = url_codec.open_link(link, Config, Selection)
    assert (config, problems) == (CONFIG, [])
    if assignments.encode(task):
        assert assignments.decode(selection.assigned) == (task, [])
    else:
        assert task == Assignment()


def test_an_assignment_opens_as_it_was_given_whatever_a_student_has_changed() -> None:
    task = assignments.with_setting(Assignment(task_title="Heads", task_free=("n_heads",), task_own=True), CONFIG)
    field = assignments.encode(task)
    opened, faults = assignments.open_assignment(field, replace(CONFIG, n_heads=CONFIG.n_heads + 1))
    assert opened is not None
    assert (opened.task, opened.given, opened.problems, opened.unread, faults) == (task, CONFIG, (), (), [])
    assert opened.digest == assignments.digest(CONFIG, task)
    assert opened.of_student("Ada") == assignments.of_student(CONFIG, task, " ada ")
    assert opened.of_student("Ada").seed != opened.of_student("Bea").seed
    assert assignments.open_assignment("", CONFIG) == (None, [])
    nothing, problems = assignments.open_assignment(field[:-3], CONFIG)
    assert nothing is None
    assert "was cut" in problems[0]


@pytest.mark.slow
@given(st.text(max_size=300))
def test_any_text_is_read_without_raising(text: str) -> None:
    task, problems = assignments.decode(text)
    assert task is None
    assert bool(problems) == bool(text)


def forged(query: Any) -> str:
    held = base64.urlsafe_b64encode(json.dumps(query).encode()).decode().rstrip("=")
    return f"1.{assignments._check(held)}.{held}"


hostile = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=10,
)
named = st.dictionaries(
    st.sampled_from([*url_codec.labels(Assignment), "v", "without", "nonsense"]),
    hostile | st.sampled_from(["weight~head.0", "weight~head.1~query.2~key.9e9", "~~~~", "nothing.seed", "yes"]),
    max_size=6,
)


@pytest.mark.slow
@settings(max_examples=25)
@given(hostile | named)
def test_a_link_with_a_good_check_and_anything_in_it_is_read_without_raising(query: Any) -> None:
    task, _ = assignments.decode(forged(query))
    assert (task is not None) == isinstance(query, dict)
    if task is not None:
        config, _ = assignments.teacher_setting(CONFIG, task)
        assignments.resolved_questions(task, run(config))
        assignments.digest(config, task)
        assert assignments.decode(assignments.encode(task))[0] == (task if assignments.encode(task) else None)


def test_every_problem_is_said() -> None:
    task, problems = assignments.decode(forged({"task_questions": "weight~head.0", "task_own": "perhaps", "x": "1"}))
    assert task == Assignment()
    assert len(problems) == 3
    assert all(problem.startswith("The assignment in this link: ") for problem in problems)


@pytest.mark.parametrize(
    "change", [lambda field: field[:-3], lambda field: field.replace("eyJ", "eyK"), lambda f: f * 99]
)
def test_a_link_that_was_cut_or_changed_says_so(change: Any) -> None:
    assert assignments.decode(change(assignments.encode(TASK))) == (None, [assignments.PROBLEMS["cut"]])
    assert assignments.decode("2.x.y") == (None, [assignments.PROBLEMS["version"]])


@for_each(
    "wrong",
    [
        ("weight", ()),
        ("nonsense", ()),
        ("weight", (("head", True), ("query", 1), ("key", 1), ("tolerance", 0.005))),
        ("weight", (("head", 1), ("query", 129), ("key", 1), ("tolerance", 0.005))),
        ("shape", (("whole", "w_q"),)),
        ("shape", (("whole", "heads"), ("key", 1))),
        3,
    ],
)
def test_a_question_that_is_none_is_refused(wrong: Any) -> None:
    with pytest.raises(ConfigError):
        Assignment(task_questions=(wrong,))


def test_students_have_seeds_of_their_own_that_stay() -> None:
    digest = assignments.digest(CONFIG, TASK)
    seeds = [assignments.seed(digest, f"student {n}") for n in range(50)]
    assert len(set(seeds)) == 50
    assert all(0 <= seed < assignments.N_SEEDS for seed in seeds)
    assert [assignments.seed(123_456, name) for name in ("Ada", "17")] == [81_606, 708_510]
    assert assignments.seed(digest, " ADA  Lovelace") == assignments.seed(digest, "ada lovelace")
    assert assignments.seed(digest + 1, "Ada") != assignments.seed(digest, "Ada")


def test_a_student_has_other_numbers_and_the_same_task() -> None:
    one, two = (run(assignments.of_student(CONFIG, TASK, name)) for name in ("Ada", "Bob"))
    assert not np.allclose(one["weights"].array, two["weights"].array)
    asks = [
        [plain(ask.words) for ask in assignments.resolved_questions(TASK, trace) if isinstance(ask, ResolvedQuestion)]
        for trace in (one, two)
    ]
    assert asks[0] == asks[1]
    shared = replace(TASK, task_own=False)
    assert assignments.of_student(CONFIG, shared, "Ada") == CONFIG


def test_an_assignment_that_was_given_out_keeps_its_digest_and_the_numbers_of_each_student() -> None:
    field = "1.36d6dac0.eyJ2IjoiMSIsInRhc2tfdGl0bGUiOiJ4In0"  # as version 1 of an address wrote it
    found = {}
    for query in ("v=1&n_heads=2", "v=1&initialiser=by_hand", "v=2&initialiser=by_hand"):
        (config,), _ = url_codec.open_link(query, Config)
        opened, problems = assignments.open_assignment(field, config)
        assert opened is not None
        assert problems == []
        found[query] = opened.digest, opened.of_student("Ada").seed
    assert found["v=1&n_heads=2"] == (918381, 386173)
    assert found["v=1&initialiser=by_hand"] == (1629359, 124626)
    assert found["v=2&initialiser=by_hand"] != found["v=1&initialiser=by_hand"]


def test_heads_that_an_older_link_leaves_free_keep_their_numbers_whatever_a_student_made_of_them():
    query = {"v": "1", "task_free": "initialiser", "given_initialiser": "by_hand"}
    payload = base64.urlsafe_b64encode(json.dumps(query).encode()).decode().rstrip("=")
    field = f"1.{assignments._check(payload)}.{payload}"
    opened = []
    for initialiser in ("by_hand", "normal", "identity"):
        (config,), _ = url_codec.decode({"v": "1", "initialiser": initialiser}, Config)
        found, problems = assignments.open_assignment(field, config)
        assert problems == []
        opened.append((found.given, found.digest, found.problems, found.unread))
    assert opened[0][0] == Config(initialiser="by_hand", solved_anew=True)
    assert opened == opened[:1] * 3


def test_the_digest_is_of_all_but_the_words_and_what_is_free() -> None:
    task = assignments.with_setting(TASK, CONFIG)
    digest = assignments.digest(CONFIG, task)
    assert assignments.digest(replace(CONFIG, n_heads=1, sentence="other"), task) == digest
    assert assignments.teacher_setting(replace(CONFIG, n_heads=1, sentence="other"), task) == (CONFIG, [])
    assert assignments.digest(CONFIG, replace(task, task_title="x", task_text="y")) == digest
    others = [
        assignments.digest(replace(CONFIG, d_model=3), task),
        assignments.digest(CONFIG, replace(task, task_free=("n_heads",))),
        assignments.digest(CONFIG, replace(task, task_hidden=())),
        assignments.digest(CONFIG, replace(task, task_feedback=False)),
        assignments.digest(CONFIG, replace(task, task_questions=task.task_questions[:1])),
    ]
    assert len({digest, *others}) == 6


def test_the_seed_is_never_free_where_it_follows_from_the_name() -> None:
    task = Assignment(task_free=("seed", "mask"))
    assert (task.free, "seed" in task.locked) == (("mask",), True)
    assert replace(task, task_own=False).free == ("mask", "seed")


def test_every_kind_can_be_asked_and_every_kind_is_a_question_of_lessons() -> None:
    asked = set(QUESTIONS) - {*score_variance.MEASURES, *next_word_questions.QUESTIONS}
    assert {kind.question for kind in question_codec.KINDS.values()} == asked
    task = Assignment(task_questions=tuple(every_kind()))
    trace = run(replace(CONFIG, second_sentence="", mask="causal", n_layers=2))
    found = assignments.resolved_questions(task, trace)
    assert [ask for ask in found if isinstance(ask, str)] == []
    assert all(plain(ask.words).startswith("Layer 1. ") for ask in found if isinstance(ask, ResolvedQuestion))


def test_a_question_that_the_run_has_no_place_for_says_why() -> None:
    task = Assignment(task_questions=(question_codec.item("weight", {"head": 9}),))
    assert assignments.resolved_questions(task, run(CONFIG)) == ("head is 9; weights has 1 to 3 there",)


def test_what_gives_an_answer_away_is_known() -> None:
    found = assignments.resolved_questions(TASK, run(CONFIG))
    assert assignments.given_away(TASK, found) == (1,)
    hidden = replace(TASK, task_hidden=("weights", *assignments.PANELS))
    assert assignments.given_away(hidden, found) == ()
    assert assignments.given_away(replace(hidden, task_hidden=("scores", *assignments.PANELS)), found) == (1,)


def test_panels_are_called_as_on_the_page() -> None:
    assert {name: row.label for name, row in assignments.PANELS.items()}.items() <= {
        name: row.label for name, row in PANEL_NAMES.items()
    }.items()


def test_a_change_to_what_the_setting_is_already_is_told() -> None:
    items = [
        question_codec.item("rows_changed", {"whole": "weights", "change": name}) for name in ("causal", "no_mask")
    ]
    task = Assignment(task_questions=(question_codec.item("weight", {}), *items))
    assert assignments.unchanged(task, Config(mask="causal")) == (2,)
    assert assignments.unchanged(task, Config()) == (3,)
    assert assignments.unchanged(task, Config(mask="window")) == ()


def test_wording_and_points_travel_in_the_link_and_change_neither_digest_nor_answer() -> None:
    worded = replace(TASK, task_words=("How much of {query} goes to {key}, {of} <b>all</b>?",), task_points=(2, 0.5))
    assert assignments.decode(assignments.encode(worded)) == (worded, [])
    assert assignments.digest(CONFIG, worded) == assignments.digest(CONFIG, TASK)
    assert (worded.points, TASK.points) == ((2.0, 0.5), (1.0, 1.0))
    plain_ask, asked = (assignments.resolved_questions(task, run(CONFIG))[0] for task in (TASK, worded))
    assert isinstance(asked, ResolvedQuestion)
    assert isinstance(plain_ask, ResolvedQuestion)
    assert plain(asked.words) == "How much of “five” goes to “eight”, {of} <b>all</b>?"
    assert (asked.value, asked.right) == (plain_ask.value, plain_ask.right)


def test_what_is_not_worded_or_weighted_leaves_no_trace_in_the_link() -> None:
    same = replace(TASK, task_words=("", ""), task_points=(1, 1.0))
    assert (same, assignments.encode(same)) == (TASK, assignments.encode(TASK))
    assert replace(TASK, task_words=("a  b\nc", "")).task_words == ("a b c",)


@for_each(
    "wrong", [{"task_words": ("x" * 301,)}, {"task_words": (3,)}, {"task_points": (-1,)}, {"task_points": ("2",)}]
)
def test_wordings_and_points_that_are_none_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=r"^task_(words|points) holds .*; give "):
        replace(TASK, **wrong)


def test_points_of_a_link_that_cannot_be_read_are_said() -> None:
    task, problems = assignments.decode(forged({"task_points": "2 nan 1e9 3", "task_words": "a\n" + "b" * 999}))
    assert task is not None
    assert task.task_points == (2.0, 1.0, 1.0, 3.0)
    assert [len(words) for words in task.task_words] == [1, 300]
    assert len(problems) == 1
