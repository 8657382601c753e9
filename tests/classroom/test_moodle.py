"""Questions for Moodle: the file against the grammar of its importer, and its answers against a computation of their
own from the tables that stand in the questions."""

from __future__ import annotations

import csv
import io
import xml.etree.ElementTree as ET
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

from attnviz import Config, run
from attnviz.classroom import question_codec
from attnviz.classroom.context.hints import HINTS
from attnviz.classroom.marking import assignments, moodle, question_list
from attnviz.classroom.marking.assignments import Assignment
from attnviz.classroom.resolved_question import ResolvedQuestion
from attnviz.settings.language import LANGUAGES, set_language
from tests.classroom.test_assignments import every_kind
from tests.support import moodle_grammar
from tests.support.cases import for_each

CONFIG = Config(sentence="one <two> three & four", n_heads=2, d_model=5, d_k=3, d_v=2, mask="causal")
ALL = Assignment(task_title="Week 3/4", task_questions=tuple(every_kind()), task_points=(2.0, 0.5))
WEIGHT = Assignment(task_questions=(question_codec.item("weight", {"head": 2, "query": 4, "key": 3}),))


def questions(text: str) -> list[ET.Element]:
    return [each for each in ET.fromstring(text.encode()) if each.get("type") != "category"]  # noqa: S314


class Tables(HTMLParser):
    """The numbers of the tables of a text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables: list[list[list[float]]] = []
        self.is_cell = False
        self.feed(text)
        self.tables = [[row for row in table if row] for table in self.tables]

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.is_cell = tag == "td"
        if tag == "table":
            self.tables.append([])
        if tag == "tr":
            self.tables[-1].append([])

    def handle_data(self, data: str) -> None:
        if self.is_cell:
            self.tables[-1][-1].append(float(data.replace("−∞", "-inf").replace("−", "-").replace(",", ".")))
            self.is_cell = False


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("versions", [1, 5])
def test_the_importer_reads_every_kind(language: str, versions: int) -> None:
    set_language(language)
    try:
        text = moodle.xml(CONFIG, ALL, versions, "https://example.org/attnviz/")
    finally:
        set_language("en")
    assert moodle_grammar.faults(text) == []
    found = questions(text)
    assert len(found) == versions * len(ALL.task_questions)
    assert {each.get("type") for each in found} == {"numerical", "multichoice", "essay"}
    assert [each.findtext("defaultgrade") for each in found[::versions][:3]] == ["2", "0.5", "1"]
    categories = [each.findtext("category/text") for each in ET.fromstring(text.encode()).findall("question[category]")]  # noqa: S314
    assert len(categories) == (1 if versions == 1 else len(ALL.task_questions))
    assert all(path.startswith("$course$/top/Week 3//4") for path in categories if path)
    assert len(set(categories)) == len(categories)


def test_the_grammar_finds_what_is_wrong() -> None:
    text = moodle.xml(CONFIG, ALL)
    for old, new in (
        ("<single>true", "<single>maybe"),
        ('fraction="100"', 'fraction="99"'),
        ("<tolerance>0.005", "<tolerance>0,005"),
        ("<penalty>0.3333333</penalty>", ""),
        ('type="essay"', 'type="poem"'),
    ):
        assert old in text
        assert moodle_grammar.faults(text.replace(old, new))


@pytest.mark.parametrize("version", range(3))
def test_the_answer_follows_from_the_table_in_the_question(version: int) -> None:
    """A softmax of the scaled scores that are printed gives the weight, in each version another one."""
    question = questions(moodle.xml(CONFIG, WEIGHT, 5))[version]
    (scaled,) = Tables(question.findtext("questiontext/text", "")).tables
    row = np.array(scaled[3])
    weights = np.exp(row - row.max()) / np.exp(row - row.max()).sum()
    right = question.find("answer")
    assert right is not None
    assert float(right.findtext("text", "")) == pytest.approx(weights[2], abs=2e-4)
    assert float(right.findtext("tolerance", "")) == 0.005
    values = {each.findtext("answer/text") for each in questions(moodle.xml(CONFIG, WEIGHT, 5))}
    assert len(values) == 5


def test_a_known_mistake_gets_its_feedback_as_on_the_page() -> None:
    (question,) = questions(moodle.xml(CONFIG, WEIGHT))
    (ask,) = assignments.resolved_questions(WEIGHT, run(CONFIG))
    assert isinstance(ask, ResolvedQuestion)
    answers = [
        (float(each.findtext("text", "")), float(each.findtext("tolerance", "")), each.findtext("feedback/text", ""))
        for each in question.findall("answer")[:-1]
    ]
    assert {HINTS["scale"], HINTS["columns"]} <= {words for _, _, words in answers}
    assert question.findall("answer")[-1].findtext("text") == "*"
    for typed, _, _ in answers[1:]:  # the platform takes the first answer that is near enough
        words = next(words for value, near, words in answers if abs(value - typed) <= near)
        assert unescape(words).replace("<i>d</i><sub><i>k</i></sub>", "d_k") == ask.mistake(typed)


def test_what_is_typed_by_a_teacher_or_a_visitor_stays_text() -> None:
    task = replace(WEIGHT, task_words=("<script>{query}</script>",), task_text="<b>1 & 2</b>")
    text = moodle.xml(CONFIG, task)
    assert moodle_grammar.faults(text) == []
    (question,) = questions(text)
    words = question.findtext("questiontext/text", "")
    assert "<script>" not in words
    assert "&lt;script&gt;" in words
    assert "one &lt;two&gt; three &amp; four" in words
    info = ET.fromstring(text.encode()).findtext("question/info/text")  # noqa: S314
    assert info == "&lt;b&gt;1 &amp; 2&lt;/b&gt;"


def test_of_rows_that_change_each_has_its_share_and_none_may_be_right() -> None:
    items = [
        question_codec.item("rows_changed", {"whole": "weights", "change": name}) for name in ("causal", "no_mask")
    ]
    found = questions(moodle.xml(CONFIG, Assignment(task_questions=tuple(items))))
    shares = [[float(each.get("fraction", "")) for each in question.findall("answer")] for question in found]
    n = len(run(CONFIG).query_tokens)
    assert shares[0] == [-100.0] * n + [100.0]  # the mask is causal already
    assert shares[1][-1] == -100.0
    changed = [share > 0 for share in shares[1][:-1]]
    assert changed == [True] * (n - 1) + [False]


def test_what_a_run_has_no_answer_to_is_left_out_and_known() -> None:
    task = replace(WEIGHT, task_questions=(*WEIGHT.task_questions, question_codec.item("weight", {"head": 9})))
    asked = assignments.resolved_questions(task, run(CONFIG))
    assert moodle.left_out(asked) == (2,)
    assert len(questions(moodle.xml(CONFIG, task))) == 1


def test_a_table_has_every_question_with_what_is_right() -> None:
    task = replace(ALL, task_questions=(*ALL.task_questions, question_codec.item("weight", {"head": 9})))
    rows = list(csv.DictReader(io.StringIO(question_list.csv(CONFIG, task))))
    assert [row["number"] for row in rows] == [str(n + 1) for n in range(len(task.task_questions))]
    assert rows[-1]["explanation"] == "head is 9; weights has 1 to 2 there"
    for row, ask in zip(rows, assignments.resolved_questions(task, run(CONFIG))[:-1]):
        assert isinstance(ask, ResolvedQuestion)
        if ask.form == "number":
            assert ask.is_right(float(row["answer"]))
        elif ask.options:
            listed = row["options"].split(" | ")
            assert ask.is_right([listed.index(each) for each in row["answer"].split(" | ") if each])
    assert [row["points"] for row in rows[:3]] == ["2.0", "0.5", "1.0"]


SETTINGS = (
    {"mask": ("none",)},
    {"second_sentence": "x y", "mask": ("none",)},
    {"n_layers": 2, "residual": True},
    {"n_kv_heads": 1},
    {"normaliser": "sparsemax"},
    {"initialiser": "identity", "embedding": "one_hot", "position": "none"},
    {"sentence": "w " * 30},
    {"score": "additive", "temperature": 2.0},
)


@pytest.mark.slow
@for_each("setting", SETTINGS)
def test_the_importer_reads_the_questions_of_any_setting(setting: dict[str, Any]) -> None:
    config = replace(CONFIG, **setting)
    text = moodle.xml(config, ALL, 5)
    assert moodle_grammar.faults(text) == []
    assert len(questions(text)) > 40


@pytest.mark.slow
def test_the_answers_of_a_hundred_versions_follow_from_their_tables() -> None:
    """Scores are products of rows, weights their softmax, outputs sums of values by weight."""
    items = (
        question_codec.item("number", {"step": "scores", "query": 4, "key": 3}),
        question_codec.item("weight", {"query": 4, "key": 3}),
        question_codec.item("number", {"step": "heads", "query": 4, "column": 2}),
    )
    task = Assignment(task_questions=items)
    config = replace(CONFIG, sentence="one two three four five", score="dot")
    found = questions(moodle.xml(config, task, 100))
    assert len(found) == 300
    for n, question in enumerate(found):
        tables = [np.array(table) for table in Tables(question.findtext("questiontext/text", "")).tables]
        if n < 100:
            queries, keys = tables
            by_hand = queries[3] @ keys[2]
        elif n < 200:
            by_hand = (np.exp(tables[0][3]) / np.exp(tables[0][3]).sum())[2]
        else:
            weights, values = tables
            by_hand = weights[3] @ values[:, 1]
        right = question.find("answer")
        assert right is not None
        assert abs(by_hand - float(right.findtext("text", ""))) <= float(right.findtext("tolerance", "")), n
