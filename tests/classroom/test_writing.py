"""Lessons in the making: all faults at once, two languages in a file, links, and settings as slides."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from attnviz import Config, ConfigError, run
from attnviz.classroom import question_codec
from attnviz.classroom.writing import all_faults, check_lesson, draft, lesson_link
from attnviz.lessons.catalogue import LESSONS, written
from attnviz.lessons.read_lesson import read_lesson
from attnviz.settings.language import set_language
from tests.support.cases import for_each

FILE = written("why_minus_infinity")
TWO = """
title = "Who reads the first word?"
title_de = "Wer liest das erste Wort?"
about = "A mask."
about_de = "Eine Maske."
source = "arXiv:1706.03762"
minutes = 5
goal = "Say it."
known = "You know it."
[setting]
sentence = "the cat sat"
n_heads = 1
mask = "causal"
[[slides]]
text = "Each word."
text_de = "Jedes Wort: [[weights.1.1.1.1]]."
steps = ["weights"]
[slides.question]
kind = "weight"
at = {query = 1, key = 1}
why = "One key."
why_de = "Ein Key."
"""
RECORDED = "10818bdK8ksyUlVsFVQOrxSiQsA"


def admit(config: Config) -> None:
    """Let every setting be computed."""


def test_all_faults_are_said_together_each_with_its_cure() -> None:
    text = (
        FILE.replace("d_k = 2", "heads = 2\nseeed = 1", 1)
        .replace("minutes = 12", 'minutes = "12"', 1)
        .replace('"masked", "weights"]', '"maskd", "weigths"]', 1)
    )
    lesson, faults = all_faults.gone_through("in this file", text, lambda: admit)
    assert lesson is None
    said = "\n".join(faults)
    for part in (
        "minutes of the lesson in this file is '12', and has to be a whole number",
        "sets 'heads', which is no setting; did you mean “n_heads”?",
        "sets 'seeed', which is no setting; did you mean “seed”?",
        "slide 1 of the lesson in this file: there is no step 'maskd'; did you mean “masked”?",
        "slide 1 of the lesson in this file: there is no step 'weigths'; did you mean “weights”?",
    ):
        assert said.count(part) == 1, part


def test_faults_of_several_slides_name_each_slide() -> None:
    at = FILE.rindex("[[slides]]")
    text = FILE[:at].replace("[[slides]]", "[[slides]]\nnote = 'x'", 1) + FILE[at:].replace("text = ", "txt = ", 1)
    lesson, faults = all_faults.gone_through("in this file", text, lambda: admit)
    n = FILE.count("[[slides]]")
    assert lesson is None
    assert any(fault.startswith("slide 1 of") and "did you mean “notes”?" in fault for fault in faults)
    assert any(fault.startswith(f"slide {n} of") and "has no text" in fault for fault in faults)
    assert any(fault.startswith(f"slide {n} of") and "did you mean “text”?" in fault for fault in faults)


def test_a_lesson_without_faults_is_the_lesson() -> None:
    lesson, faults = all_faults.gone_through("why_minus_infinity", FILE, lambda: admit)
    assert (lesson, faults) == (LESSONS["why_minus_infinity"], ())


def test_one_file_speaks_the_language_of_the_page() -> None:
    english, german = (read_lesson("two", TWO, language=code) for code in ("en", "de"))
    assert (english.title, german.title) == ("Who reads the first word?", "Wer liest das erste Wort?")
    assert (english.slides[0].text, german.goal) == ("Each word.", "Say it.")
    question = german.slides[0].question
    assert question is not None
    assert question.why == "Ein Key."
    assert english.setting == german.setting
    try:
        set_language("de")
        assert read_lesson("two", TWO).title == german.title
    finally:
        set_language("en")


def test_what_is_wrong_in_the_other_language_is_said_too() -> None:
    lesson, faults = all_faults.gone_through(
        "two", TWO.replace("[[weights.1.1.1.1]]", "[[weights.9.9.9.9]]"), lambda: admit
    )
    assert lesson is not None
    assert len(faults) == 1
    assert faults[0].startswith("de: slide 1 of the lesson two: the text names [[weights.9.9.9.9]]")


def test_a_lesson_comes_back_from_its_link() -> None:
    for text in (TWO, FILE):
        field = lesson_link.pack(text)
        assert lesson_link.unpack(field) == text
    assert lesson_link.pack("".join(f"{n * n}" for n in range(9_000))) == ""


def test_a_link_that_was_made_is_read_for_ever() -> None:
    assert lesson_link.unpack(RECORDED) == 'title = "é"\n'


@for_each("field", ["", "2abc", "1000000AAAA", "1", RECORDED[:-1], RECORDED + "A"])
def test_a_link_that_is_not_whole_says_so(field: str) -> None:
    with pytest.raises(ConfigError, match="ask for the link again"):
        lesson_link.unpack(field)


def test_a_link_that_unpacks_to_too_much_is_refused() -> None:
    long = lesson_link.pack("a" * 1_000_000)
    assert long
    with pytest.raises(ConfigError):
        lesson_link.unpack(long)


SETTINGS = (
    Config(),
    Config(sentence='say "a\\b" 猫', n_heads=2, d_k=(3, 2), mask=("causal", "window"), scale=0.5, seed=7),
    Config(n_heads=2, edits=((0, "scores", (0, 1, 1), -1.5), (None, "embedded", (0, 0), 2.0)), temperature=2.0),
    Config(embedding="own", own_numbers="1 0; 0 1", sentence="a b", d_model=2, score="formula", score_formula="q @ k"),
    Config(normaliser="entmax", normaliser_knobs={"entmax.alpha": 1.5}),
    Config(n_layers=2, residual=True, norm="rms", second_sentence="x y z", n_kv_heads=1),
)


@for_each("config", SETTINGS)
def test_a_setting_comes_back_from_the_file_that_begins_with_it(config: Config) -> None:
    assert draft.base_of(draft.beginning(config)) == config


@for_each("config", SETTINGS)
def test_a_setting_comes_back_from_the_slide_that_was_made_of_it(config: Config) -> None:
    for base in (Config(n_heads=3, mask="causal"), Config()):
        slide = draft.slide(config, base, {"text": "Look.\n\nAgain.", "text_de": "Schau: 'so'."}, ("weights",))
        text = draft.beginning(base) + slide
        lesson = read_lesson("mine", text)
        assert lesson.config == base
        assert lesson.on(lesson.slides[0]) == config
        assert lesson.slides[0].text == "Look.\n\nAgain."
        assert read_lesson("mine", text, language="de").slides[0].text == "Schau: 'so'."


def test_every_kind_of_question_becomes_one_of_a_lesson_that_opens() -> None:
    config = Config(sentence="one two three", n_heads=2, d_model=4, d_k=2, d_v=2, mask="prefix", prefix_length=2)
    text = draft.beginning(config)
    for kind in question_codec.KINDS:
        question = question_codec.to_question(question_codec.item(kind, {}))
        text += draft.slide(config, config, {"text": "Look.", "why": "So."}, ("scores", "weights"), question)
    lesson, faults = all_faults.gone_through("mine", text, lambda: admit)
    assert faults == ()
    assert lesson is not None
    asked = [slide.question.kind for slide in lesson.slides if slide.question]
    assert asked == [kind.question for kind in question_codec.KINDS.values()]
    changed = next(slide.question for slide in lesson.slides if slide.question and "change" in slide.question.at)
    assert changed.at["change"] == {"mask": "causal"}
    assert changed.why == "So."


def test_what_cannot_be_read_has_no_setting() -> None:
    assert draft.base_of("[") is None
    assert draft.base_of(draft.beginning(Config()).replace("[setting]", "[setting]\nn_heads = 99")) is None


def test_a_file_of_one_language_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[Config] = []
    monkeypatch.setattr(check_lesson, "run", lambda config: runs.append(config) or run(config))
    all_faults.gone_through("one", FILE, lambda: admit)
    once = len(runs)
    runs.clear()
    check_lesson.opened("one", FILE, admit)
    assert once == len(runs) > 0
    runs.clear()
    all_faults.gone_through("two", TWO, lambda: admit)
    twice = len(runs)
    runs.clear()
    check_lesson.opened("two", TWO, admit)
    assert twice == 2 * len(runs)


def test_what_is_too_large_together_is_said_once_where_it_becomes_so() -> None:
    slide = '[[slides]]\ntext = "Here."\nsteps = ["weights"]\nchange = {{seed = {n}}}\n'

    def admitting() -> Callable[[Config], None]:
        asked: list[Config] = []

        def admit(config: Config) -> None:
            asked.append(config)
            if len(asked) > 4:
                raise ConfigError("too much")

        return admit

    head = FILE.partition("[[slides]]")[0]
    text = head + "".join(slide.format(n=n) for n in range(9))
    lesson, faults = all_faults.gone_through("mine", text, admitting)
    assert lesson is None
    assert len(faults) == 1
    assert re.match("slide [2-5] of the lesson mine: too much", faults[0])


FAULTY = """
title = 3
abut = "x"
source = "s"
minutes = 500
goal = "g"
known = "k"
[setting]
heads = 1
n_heads = 99
mask = "casual"
[[slides]]
text = "Look."
txt = 3
steps = ["score"]
[slides.question]
kind = "wieght"
at = {query = "a", kee = 3}
[[slides]]
text = 4
[slides.change]
n_heads = 77
d_k = -3
"""


def test_every_fault_of_a_file_is_said_at_once() -> None:
    lesson, faults = all_faults.gone_through("own", FAULTY, lambda: lambda config: None)
    assert lesson is None
    said = [
        ("has no about", "the lesson own"),
        ("title of the lesson own is 3", ""),
        ("'abut'", "did you mean “about”?"),
        ("takes 500 minutes", "choose 1 to 90"),
        ("sets 'heads'", "did you mean “n_heads”?"),
        ("n_heads is 99", "choose 1 to 16"),
        ("mask is 'casual'", "the setting of the lesson own"),
        ("'txt'", "slide 1"),
        ("no question called 'wieght'", "did you mean “weight”?"),
        ("no step 'score'", "did you mean “scores”?"),
        ("query of `at`", "a whole number"),
        ("'kee'", "did you mean “key”?"),
        ("text of slide 2", "a text in quotes"),
        ("n_heads is 77", "slide 2"),
        ("d_k is -3", "slide 2"),
    ]
    assert len(faults) == len(said)
    for parts in said:
        assert [fault for fault in faults if all(part in fault for part in parts)], parts
