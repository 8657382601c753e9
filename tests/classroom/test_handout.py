"""Handouts: numbers of the run, blanks that are nowhere given away, and one file that needs nothing else."""

from __future__ import annotations

import re
from functools import cache
from html.parser import HTMLParser

import numpy as np
import pytest

from attnviz import Config, run
from attnviz.classroom import open_questions, question_codec
from attnviz.classroom.printed import blanks, handout
from attnviz.lessons.catalogue import LESSONS
from attnviz.lessons.lesson import Question
from attnviz.text.captions import NAMES
from attnviz.text.format.sentence_parts import within_sentence
from tests.support.cases import for_each

CONFIG = Config(sentence="one two three four five", n_heads=3, d_k=4, d_v=2, mask="causal", seed=5)
ITEMS = (
    question_codec.item("weight", {"head": 2, "query": 5, "key": 3}),
    question_codec.item("number", {"step": "scores", "head": 2, "query": 4, "key": 2}),
    question_codec.item("highest_key", {"head": 2, "query": 3}),
    question_codec.item("rows_changed", {"whole": "weights", "change": "no_mask"}),
)
QUESTIONS = tuple(map(question_codec.to_question, ITEMS))
HOSTILE = "<script>alert(1)</script> & “x”"


class Tables(HTMLParser):
    """The matrices of a handout by their captions: rows of (class, text)."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: dict[str, list[list[tuple[str, str]]]] = {}
        self.caption, self.inside, self.tags = "", "", []  # type: str, str, list[tuple[str, dict[str, str | None]]]
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.inside = tag if tag in ("caption", "td") else self.inside
        if tag == "caption":
            self.caption = ""
        elif tag == "tr" and self.caption:
            self.found[self.caption].append([])
        elif tag == "td" and self.caption:
            self.found[self.caption][-1].append((dict(attrs).get("class") or "", ""))

    def handle_endtag(self, tag: str) -> None:
        if tag == "caption":
            self.found[self.caption] = []
        if tag in ("caption", "td"):
            self.inside = ""
        if tag == "table":
            self.caption = ""

    def handle_data(self, data: str) -> None:
        if self.inside == "caption":
            self.caption += data
        elif self.inside == "td" and self.caption:
            row = self.found[self.caption][-1]
            row[-1] = (row[-1][0], row[-1][1] + data)


def html_of(solutions: bool, **options: object) -> str:
    return handout.html(CONFIG, solutions=solutions, questions=ITEMS, title=HOSTILE, text="a\nb", **options)  # type: ignore[arg-type]


def matrices(html: str) -> dict[str, list[list[tuple[str, str]]]]:
    return {name.split()[0]: [row for row in rows if row] for name, rows in Tables(html).found.items()}


@pytest.mark.slow
def test_the_matrices_are_those_of_the_run_and_solutions_fill_the_blanks() -> None:
    trace, empty, full = run(CONFIG), matrices(html_of(False)), matrices(html_of(True))
    assert list(empty) == list(full) == ["Q", "K", "V", "S", "S′", "Ŝ", "A", "Z"]
    names = {"Q": "queries", "K": "keys", "V": "values", "S": "scores", "A": "weights", "Z": "heads"}
    for symbol, name in names.items():
        step = trace[name]
        assert np.shape([[text for _, text in row] for row in full[symbol]]) == step.head(1).shape
        holes = (blanks.chosen(trace, 0, step, 0) | blanks.questioned(trace, 0, step, QUESTIONS))[1]
        for row, cells in enumerate(full[symbol]):
            for column, (kind, text) in enumerate(cells):
                assert float(text.replace("−", "-")) == float(f"{step.head(1)[row, column]:.4g}")
                assert kind == ("filled" if holes[row, column] else "")
                hole = ("blank", "") if holes[row, column] else ("", text)
                assert empty[symbol][row][column] == hole


@pytest.mark.slow
def test_what_is_asked_for_stands_nowhere_on_the_handout_with_blanks() -> None:
    trace = run(CONFIG)
    questioned = [trace["weights"].array[1, 4, 2], trace["scores"].array[1, 3, 1], *trace["weights"].array[1, 2, :3]]
    questioned += [trace["scaled"].array[1, 3, 1]]
    words, solved = html_of(False), html_of(True)
    for number in (f"{value:.4g}".replace("-", "−") for value in questioned):
        assert number in solved
        assert number not in words
    assert "☒" not in re.sub("<style>.*?</style>", "", words, flags=re.DOTALL)
    assert 'class="right"' in solved
    assert 'class="right"' not in words


@pytest.mark.slow
def test_the_seed_chooses_the_blanks_and_is_stated() -> None:
    assert html_of(False) == html_of(False)
    assert "chosen by seed 8" in html_of(False, seed=8)
    assert matrices(html_of(False, seed=8)) != matrices(html_of(False))


def test_blanks_are_allowed_cells_in_every_head_and_the_same_along_the_chain() -> None:
    trace = run(CONFIG)
    holes = {name: blanks.chosen(trace, 0, trace[name], 3) for name in (*blanks.CHAIN, "weights", "heads")}
    assert all(hole.any(axis=(1, 2)).all() for hole in holes.values())
    assert not holes["weights"][:, ~np.tri(5, dtype=bool)].any()
    for name in blanks.CHAIN:
        np.testing.assert_array_equal(holes[name], holes["scores"])
    assert not blanks.chosen(trace, 0, trace["queries"], 3).any()
    longer = run(Config(sentence="one two three four five six", n_heads=3, d_k=4, d_v=2, mask="causal", seed=5))
    np.testing.assert_array_equal(blanks.chosen(longer, 0, longer["heads"], 3)[:, :5] & ~holes["heads"], False)


def test_a_key_that_heads_share_is_asked_for_in_its_group() -> None:
    trace = run(Config(sentence="a b c", n_heads=4, n_kv_heads=2, d_k=3))
    questioned = Question("number", at={"step": "keys", "head": 3, "key": 2, "column": 3})
    assert np.argwhere(blanks.questioned(trace, 0, trace["keys"], [questioned])).tolist() == [[1, 1, 2]]
    assert not blanks.questioned(trace, 1, trace["keys"], [questioned]).any()


@cache
def of_lesson(name: str, solutions: bool) -> str:
    return handout.html(LESSONS[name], solutions=solutions)


@pytest.mark.slow
@for_each("name, solutions", [(name, at % 3 == 0) for at, name in enumerate(LESSONS)])
def test_every_lesson_prints(name: str, solutions: bool) -> None:
    html = of_lesson(name, solutions)
    safe(html)
    n = sum(slide.question is not None for slide in LESSONS[name].slides)
    assert html.count('<div class="question">') == n
    assert "[[" not in html
    assert ('class="right"' in html) <= solutions


FOLLOWS = {
    "embedded": [{"token_embeddings"}, {"positions"}],
    "queries": [{"embedded"}, {"w_q"}],
    "keys": [{"embedded", "embedded_kv"}, {"w_k"}],
    "values": [{"embedded", "embedded_kv"}, {"w_v"}],
    "scores": [{"queries"}, {"keys"}],
    "scaled": [{"scores"}],
    "masked": [{"scores", "scaled"}],
    "weights": [{"scores", "scaled", "masked"}],
    "heads": [{"weights"}, {"values"}],
    "output": [{"concat"}, {"w_o"}],
}


@cache
def sections(name: str) -> list[tuple[Config, dict[tuple[str, str], list[list[str]]]]]:
    """For each slide on paper the setting of its run, and by step and head the kinds of the cells of its tables."""
    lesson, steps = LESSONS[name], {within_sentence(text): step for step, text in NAMES.items()}
    found = []
    parts = of_lesson(name, False).split("<section>")[1:]
    for slide, part in zip(lesson.slides, parts, strict=True):
        own, trace = run(lesson.config), run(lesson.on(slide))
        trace = open_questions.run_of(slide.question, own, trace) if slide.question else trace
        tables = {}
        for caption, rows in Tables(part).found.items():
            text, _, head = caption.partition(", head ")
            step = next(step for words, step in steps.items() if text.endswith(f" {words}"))
            tables[step, head] = [[kind for kind, _ in row] for row in rows if row]
        found.append((trace.config, tables))
    return found


@pytest.mark.slow
@for_each("name", LESSONS)
def test_what_every_blank_follows_from_is_on_the_handout_before_it(name: str) -> None:
    printed: dict[Config, set[tuple[str, str]]] = {}
    for n, (config, tables) in enumerate(sections(name), 1):
        there = printed.setdefault(config, set())
        there.update(tables)
        for (step, head), rows in tables.items():
            if any("blank" in row for row in rows):
                for group in FOLLOWS[step]:
                    assert any((each, at) in there for each in group for at in {head, ""}), (
                        n,
                        step,
                        group,
                    )


@pytest.mark.slow
def test_blanks_are_many_and_grey_cells_few() -> None:
    tables = [rows for name in LESSONS for _, found in sections(name) for rows in found.values()]
    cells = [kind for rows in tables for row in rows for kind in row]
    assert cells.count("blank") > 200
    assert cells.count("elsewhere") < 0.05 * cells.count("blank")


def test_the_key_holds_the_answers_apart_from_the_handout() -> None:
    lesson = LESSONS["causal"]
    html = handout.key(lesson)
    safe(html)
    assert html.count('class="key"') == sum(slide.question is not None for slide in lesson.slides)
    assert "0.8818" in html


@pytest.mark.slow
def test_of_several_heads_a_table_says_which_it_is() -> None:
    captions = Tables(handout.html(LESSONS["softmax_axis"], solutions=True)).found
    assert any(caption.endswith(", head 1") for caption in captions)
    assert not any("head" in caption for caption in Tables(handout.html(LESSONS["tied"], solutions=True)).found)


def safe(html: str) -> None:
    """No script, nothing from elsewhere, and every tag closed that has to be."""
    tags = Tables(html).tags
    assert not {tag for tag, _ in tags} & {"script", "iframe", "img", "link", "object", "a"}
    values = [(name, value or "") for _, attrs in tags for name, value in attrs.items()]
    assert not [each for each in values if each[0].startswith("on") or each[0] in ("src", "href")]
    assert not re.search(r"https?://(?!www\.w3\.org)|@import|url\((?!#)", html)
    assert html.count("<table") == html.count("</table>")


def test_the_handout_needs_nothing_else_and_holds_a_visitors_words_as_text() -> None:
    config = Config(sentence="<b>x</b> <script> & \"'", tokeniser="whitespace", n_heads=1)
    for solutions in (True, False):
        html = handout.html(config, solutions=solutions, title=HOSTILE, text=HOSTILE, questions=(ITEMS[0],))
        safe(html)
        assert "&lt;script&gt;" in html


def test_too_many_words_for_paper_are_said_and_digits_are_checked() -> None:
    html = handout.html(Config(sentence=" ".join("abcdefghijklm"), n_heads=1), solutions=False)
    assert "too large for paper" in html
    assert matrices(html) == {}
    with pytest.raises(ValueError, match="choose 2 to 17"):
        handout.html(CONFIG, solutions=False, digits=1)


@pytest.mark.slow
def test_what_is_too_wide_for_paper_is_said_and_not_drawn_as_a_strip() -> None:
    solved = handout.html(LESSONS["causal"], solutions=True)
    page = handout.html(LESSONS["causal"], solutions=False)
    assert "X, what the layer reads: X = E + P   6 × 512. These are too many numbers for a picture on paper." in page
    assert ">501</text>" not in page + solved  # a column of it
    assert page.count("<svg") == 2  # the queries of eight heads, and those that they are joined from


@pytest.mark.slow
def test_the_bar_of_a_root_begins_where_its_sign_ends() -> None:
    page = handout.html(LESSONS["causal"], solutions=False)
    assert '<span class="surd">√</span><span class="root">' in page
    assert ".surd { font-size: 0; }" in page  # the sign is drawn with the bar, as high as what stands below it
    assert ".root::before" in page


@pytest.mark.slow
def test_names_of_matrices_in_questions_are_typeset_and_the_visitors_words_are_not() -> None:
    lesson = LESSONS["one_or_many"]
    for page in (handout.html(lesson, solutions=False), handout.html(lesson, solutions=True), handout.key(lesson)):
        assert "How many numbers are there in the <i>W</i><sub><i>Q</i></sub> of all three heads together?" in page
        assert "W_Q of" not in page
    item = question_codec.item("highest_key", {"query": 1})
    assert "“d_k”" in handout.html(Config(sentence="d_k is a word"), solutions=False, questions=[item])


def test_a_handout_asks_in_the_words_of_the_teacher() -> None:
    items = (question_codec.item("size", {"whole": "scores"}), question_codec.item("highest_key", {"query": 2}))
    html = handout.html(Config(), solutions=False, questions=items, words=("How many <cells>?",))
    assert "How many &lt;cells&gt;?" in html
    assert "How many numbers" not in html
    assert "which key does" in html
