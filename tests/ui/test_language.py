"""The language of the page: who chooses it, what it leaves alone, and that no sentence is said past it.

The second language here is one in which every sentence stands in brackets, so that a bare word is one that was missed.
"""

from __future__ import annotations

import html
import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict
from streamlit.testing.v1 import AppTest

from attnviz.classroom import question_codec
from attnviz.classroom.marking import assignments
from attnviz.engine.records.config import Config
from attnviz.engine.records.step_specs import AXES
from attnviz.lessons.catalogue import LESSONS
from attnviz.pictures.stage_bytes import MAGIC, unpacked
from attnviz.settings import kept, language, url_codec
from attnviz.settings.fields import settings
from attnviz.text.captions import NAMES
from attnviz.ui.main import OPENING
from attnviz.ui.session import locale
from attnviz.ui.session.browser import message
from attnviz.ui.session.selection import EXPERIMENT_NAMES, PANEL_NAMES
from tests.support import components
from tests.support.address import parameters
from tests.support.cases import for_each
from tests.support.languages import Marked
from tools import messages

pytestmark = pytest.mark.usefixtures("language_models")

APP = str(Path(__file__).parents[2] / "app.py")
INNERMOST = re.compile(r"⟦[^⟦⟧]*⟧")
WORD = re.compile(r"[A-Za-z]{2,}")
CELL = {"head": "1", "query": "2", "key": "1"}
STUDENT = assignments.encode(assignments.Assignment(task_questions=(question_codec.item("weight", {}),)))
FAULTS = {"n_heads": "99", "mask": "causal.nope", "colour": "1", "lang": "de", "sentence": ""}

ALLOWED = {
    "small",
    "plain",
    "full",  # the models of the package go by their names
    *NAMES.english,  # steps and
    *AXES.english,  # axes have one name each, in tables, files and code alike
    *language.LANGUAGES.values(),  # each by its own name
    "attnviz",
    "NaN",  # a number that is none, as programs write it
    "joined",  # the axis of heads side by side
    "A column:",  # said here, so that what a column is called is no name of an axis
}


@pytest.fixture
def bracketed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    report: set[str] = set()
    monkeypatch.setattr(language, "catalogue", lambda code: Marked(report.add))
    url_codec._labels.cache_clear()
    kept.clear_all()
    yield
    url_codec._labels.cache_clear()
    kept.clear_all()
    language.set_language("en")
    found = {english for english in report if messages.has_words(english) and "⟦" not in english}
    typed = {str(slide.change.get("score_formula", "")) for lesson in LESSONS.values() for slide in lesson.slides}
    typed |= {lesson.config.score_formula for lesson in LESSONS.values()}  # a formula is its own name
    unknown = found - messages.texts() - ALLOWED - typed
    assert unknown == set(), "these are said, but no translation is asked to have them"


def opened(**query: str) -> AppTest:
    """The page as a link opens it, every group of settings open; its tokens have no letters, so are no words."""
    at = AppTest.from_file(APP, default_timeout=60)
    for group in {item.metadata["group"] for item in settings(Config)} - {""}:
        at.session_state[f"group-{group}"] = True
    at.session_state["files"] = True
    for name, value in ({"v": "1", "sentence": "1 2 1 3", "d_model": "3", "d_k": "2", "n_heads": "2"} | query).items():
        at.query_params[name] = value
    return at.run()


SHOWN = ("label", "help", "placeholder", "options", "captions", "caption", "body", "text", "alt", "title")
"""Where a Streamlit element keeps what is read; the rest of it is names."""


def strings(found: Any, names: tuple[str, ...] | None = None) -> Iterator[str]:
    """The strings of something like JSON, or those below one of the names."""
    match found:
        case str():
            if names is None:
                yield found
        case list():
            for each in found:
                yield from strings(each, names)
        case dict():
            for name, each in found.items():
                yield from strings(each, None if names is None or name in names else names)


def of_element(element: Any) -> Iterator[str]:
    """What a visitor reads of one element."""
    proto = element.proto
    match type(proto).__name__:
        case "Code":
            return
        case "PlotlyChart":
            yield proto.alt
            yield from strings(json.loads(proto.spec), ("title", "text", "ticktext", "hovertext"))
        case "Dataframe" | "Arrow":
            frame = element.value
            names = [str(name) for name in (*frame.columns, *frame.index.names, *frame.columns.names) if name]
            yield from (f"A column: {name}" for name in names if WORD.search(name))
            for column in frame.columns:
                yield from (cell for cell in frame[column] if isinstance(cell, str))
        case "BidiComponent":
            yield from of_component(proto)
        case _:
            yield from strings(MessageToDict(proto), SHOWN)


def of_component(proto: Any) -> Iterator[str]:
    """What a component writes, or several that have one message."""
    which = proto.WhichOneof("data")
    data = (getattr(proto, which) if which else "") or "{}"
    if proto.component_name == components.MESSAGE:
        for part in message.parts(data).values():
            yield from of_data(part)
    elif not (which == "json" and isinstance(json.loads(data), str)):
        yield from of_data(data)


def of_data(data: bytes | str) -> Iterator[str]:
    """What a component writes of its data: bytes begin with a line of JSON, or are those of stages."""
    if isinstance(data, bytes) and data.startswith(MAGIC):
        whole = unpacked(data)[0]
    else:
        whole = json.loads(data.partition(b"\0")[0] if isinstance(data, bytes) else data)
    words = {name: whole[name] for name in ("words", "axes", "label", "failed", "steps", "sentences") if name in whole}
    for step in words.get("steps", ()):
        for name in ("name", "symbol", "shape", "formula", "stage"):
            step.pop(name)
    for sentence in words.pop("sentences", ()):
        yield "".join(part if isinstance(part, str) else part[0] for part in sentence)
    yield from strings(words)
    for stage in whole.get("stages", ()):
        yield from strings({name: stage[name] for name in ("title", "phrase", "shorter", "alt", "roles", "grey")})


def read(at: AppTest) -> Iterator[str]:
    """Everything that a visitor reads."""
    todo = [at._tree]
    while todo:
        node = todo.pop()
        children = getattr(node, "children", None)
        if children:
            todo += children.values()
        proto = getattr(node, "proto", None)
        if proto is not None:
            if children is not None:
                yield from strings(MessageToDict(proto), ("label",))
            else:
                yield from of_element(node)


def bare(text: str) -> str:
    """What stands outside of all brackets and is no markup, formula, width or code."""
    if text.lstrip().startswith("<style"):
        return ""
    text = re.sub(r'<div class="attn-formula">.*?</div>|<[^>]*>', " ", text)
    text, before = html.unescape(text).strip(), ""
    while before != text:
        before, text = text, INNERMOST.sub(" ", text)
    return re.sub(r"(?s)\$\$.*?\$\$|\$[^$]*\$|`[^`]*`|d_\w+", " ", text).strip()


def missed(at: AppTest, *others: str) -> set[str]:
    """What was said past the language; `others` are words of a visitor or of an example."""
    assert not at.exception
    found = {text for text in read(at) if WORD.search(bare(text)) and bare(text) not in ALLOWED}
    return {text for text in found if not {*WORD.findall(bare(text))} <= {*others}}


VISITS: tuple[dict[str, str], ...] = (
    {"panel": "cell", **CELL},
    {"panel": "statistics", "n_layers": "2", "residual": "yes"},
    {"page": "compare", "b_mask": "causal", "b_d_k": "3"},
    {"page": "lessons"},
    {"page": "assign"},
    {"page": "data"},
    {"page": "take"},
    FAULTS,
)
REST: tuple[dict[str, str], ...] = (
    *({"panel": name, **CELL} for name in PANEL_NAMES),
    *({"panel": name, "mask": "causal", "initialiser": "by_hand", "score": "additive"} for name in PANEL_NAMES),
    *({"page": "experiments", "experiment": name} for name in EXPERIMENT_NAMES),
    {"page": "experiments", "experiment": "mask_values", "empty_row": "yes", "mask": "no_self"},
    {"page": "compare"},
    {"page": "class"},
    {"page": "assign", "desk": "mark"},
    {"page": "assign", "desk": "student", "assigned": STUDENT},
    {"page": "assign", "assigned": STUDENT},
    {"n_kv_heads": "1", "n_layers": "3", "norm": "pre", "feed_forward": "gelu", "panel": "flow"},
    {"embedding": "own", "own_numbers": "1 2 nan"},
)


@pytest.mark.slow
@pytest.mark.usefixtures("bracketed")
@pytest.mark.parametrize("query", VISITS, ids=lambda query: "-".join(query.values())[:20])
def test_every_word_is_said_in_the_language(query: dict[str, str]) -> None:
    assert missed(opened(**{"lang": "de"} | query)) == set()


@pytest.mark.slow
@pytest.mark.usefixtures("bracketed")
@for_each("query", REST)
def test_every_word_of_every_page_is_said_in_the_language(query: dict[str, str]) -> None:
    assert missed(opened(**{"lang": "de"} | query)) == set()


@pytest.mark.slow
@pytest.mark.usefixtures("bracketed")
@pytest.mark.parametrize("name", LESSONS)
def test_every_word_of_every_lesson_is_said_in_the_language(name: str) -> None:
    slides = LESSONS[name].slides
    tokens = {word for slide in slides for word in WORD.findall(LESSONS[name].on(slide).sentence)}
    tokens |= {word for slide in slides if slide.question for word in slide.question.at.get("words", ())}
    tokens |= {"RMS"}  # a name in a formula
    for slide in range(1, len(slides) + 1):
        at = opened(page="lessons", lesson=name, slide=str(slide), lang="de")
        assert missed(at, *tokens) == set()
        language.set_language("de")  # here too, for AppTest says what lists hold by their words
        if any(button.key == "show-answer" for button in at.button):
            assert missed(at.button(key="show-answer").click().run(), *tokens) == set()


def test_the_check_for_missed_words_can_fail() -> None:
    assert missed(opened(lang="en")) > {"Explore", "Score function", "Scaled dot product"}
    assert bare("<p>⟦Head ⟦one⟧⟧, $x_{ab}$ `code` d_k</p>") == ","
    assert bare("⟦Head⟧ one") == "one"


def test_a_link_says_the_language_only_when_it_was_chosen() -> None:
    at = AppTest.from_file(APP, default_timeout=30).run()
    assert parameters(at) == url_codec.encode(OPENING)
    menu = at.menu_button(key=locale.MENU)
    assert (menu.label, menu.options) == ("English", ["Deutsch", "Español", "简体中文"])


@pytest.mark.slow
@pytest.mark.usefixtures("bracketed")
def test_a_link_that_says_nothing_but_its_language_opens_as_one_that_says_nothing() -> None:
    at = AppTest.from_file(APP, default_timeout=30)
    at.query_params["lang"] = "de"
    at.run()
    assert parameters(at) == url_codec.encode(OPENING) | {"lang": "de"}
    assert at.selectbox(key="score").label == "⟦Score function⟧"


def test_a_language_that_there_is_not_is_said_like_any_other_fault() -> None:
    at = opened(lang="xx")
    assert not at.exception
    assert any("Language was 'xx'; choose from auto, en, de, es, zh" in html.unescape(text) for text in read(at))


@pytest.mark.slow
@pytest.mark.usefixtures("bracketed")
def test_a_switch_changes_the_words_and_nothing_else() -> None:
    at = opened(panel="mask", b_seed="3")
    at.selectbox(key="score").set_value("cosine")
    at.multiselect(key="mask").set_value(["causal", "no_self"])
    at.multiselect(key="mask_starts").set_value(["window"]).run()
    before = parameters(at)
    at.menu_button(key=locale.MENU).click("de").run()
    language.set_language("de")  # here too, for AppTest says what lists hold by their words
    assert parameters(at) == before | {"lang": "de"}
    assert at.selectbox(key="score").value == "cosine"
    assert (at.selectbox(key="score").proto.set_value, at.selectbox(key="score").proto.raw_value) == (True, "⟦Cosine⟧")
    assert "⟦Cosine⟧" in at.selectbox(key="score").options
    assert at.multiselect(key="mask_starts").value == ["window"]
    at.menu_button(key=locale.MENU).click("en").run()
    language.set_language("en")
    assert parameters(at) == before | {"lang": "en"}
    assert at.selectbox(key="score").label == "Score function"


def test_a_new_language_says_that_it_is_new_and_where_it_is_corrected() -> None:
    for code in language.LANGUAGES:
        said = [each.value for each in opened(lang=code).caption if "LC_MESSAGES" in each.value]
        assert [f"attnviz/languages/{code}/" in each for each in said] == [True] * (code in language.NEW)


@pytest.mark.usefixtures("bracketed")
def test_what_a_button_does_before_the_page_is_said_in_its_language_too() -> None:
    at = opened(lang="de", panel="what_if")
    language.set_language("de")
    at.button(key="set_matrix").click().run()
    assert "⟦Nothing was changed: ⟦there is nothing to set; paste rows of numbers or choose a file⟧.⟧" in [
        element.proto.body.partition("<p>")[2].partition("</p>")[0] for element in at.get("html")
    ]


@pytest.mark.usefixtures("bracketed")
def test_a_file_that_is_made_in_a_thread_of_its_own_is_made_in_the_language_of_the_page() -> None:
    language.set_language("de")
    make = locale.in_current_language(lambda: language.translate("Weights"))
    found: list[str] = []
    thread = threading.Thread(target=lambda: found.append(make()))
    thread.start()
    thread.join()
    assert found == ["⟦Weights⟧"]
