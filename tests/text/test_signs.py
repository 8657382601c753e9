"""Numbers and signs of the language in what a reader sees or hears beside sentences, in every language."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from attnviz import Config, run
from attnviz.analysis import variance_and_sharing
from attnviz.pictures import plotly_figure, stages
from attnviz.pictures.charts import learning_curves, variance_charts
from attnviz.pictures.charts.bars import bars
from attnviz.settings.language import LANGUAGES, aside, set_language, sign, tag
from attnviz.text.cell_sentence import percent
from attnviz.text.format.number_format import DECIMAL_COMMA
from attnviz.text.format.sentence_parts import name_token, plain
from attnviz.text.step_names import shape_in_words
from attnviz.ui.components.answer import rail
from attnviz.ui.session import field_widgets

CONFIG = Config(sentence="the cat the mat", n_heads=2, mask="causal")


@pytest.fixture(autouse=True)
def _english_again() -> Iterator[None]:
    yield
    set_language("en")


@pytest.mark.parametrize("code", LANGUAGES)
def test_axes_of_charts_and_what_a_pointer_reads_there_have_the_decimal_sign(code: str) -> None:
    trace = run(CONFIG)
    spreads = variance_and_sharing.spread_by_width(trace, 0, "unit", (1, 5, 64))
    set_language(code)
    charts = [
        bars([("1", 0.5)]),
        learning_curves.loss_chart((0, 1), (0.5, 0.25)),
        learning_curves.share_chart((0, 1), (0.5, 1.0), (0.5, 1.0)),
        variance_charts.spread_chart(spreads, 5, reference=True),
        variance_charts.largest_chart(spreads, 5),
        plotly_figure.heatmaps(trace).to_plotly_json(),
    ]
    decimal = "," if code in DECIMAL_COMMA else "."
    assert [chart["layout"]["separators"][0] for chart in charts] == [decimal] * len(charts)
    ticks = charts[3]["layout"]["yaxis"]["ticktext"]
    assert f"0{decimal}1" in ticks
    assert ("1\u202f000" if code in DECIMAL_COMMA else "1,000") in ticks
    assert getattr(field_widgets, "_short")(0.25) == f"0{decimal}25"  # noqa: B009


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_picture_in_words_has_the_decimal_sign(code: str) -> None:
    trace = run(CONFIG)
    set_language(code)
    points = {stage.alt for stage in stages.side_by_side(trace, 0) if re.search(r"\d\.\d", stage.alt)}
    commas = {stage.alt for stage in stages.side_by_side(trace, 0) if re.search(r"\d,\d", stage.alt)}
    assert bool(points) == (code not in DECIMAL_COMMA)
    assert bool(commas) == (code in DECIMAL_COMMA)


def test_chinese_has_no_space_before_a_percent_sign_and_its_own_brackets_commas_and_colons() -> None:
    trace = run(CONFIG)
    said = {}
    for code in ("en", "zh"):
        set_language(code)
        name = plain(name_token(trace.query_tokens, 2))
        said[code] = (percent(0.62), percent(0.001), name, aside("a", "", "b"), "a" + sign(": ") + "b")
    assert said["en"] == ("62 %", "< 1 %", "“the” (3)", "a, b", "a: b")
    assert said["zh"] == ("62%", "< 1%", "“the”（3）", "a，b", "a：b")
    assert shape_in_words(trace["weights"]).count("、") == 2


def test_the_page_is_in_simplified_letters_where_it_is_chinese() -> None:
    assert [tag(code) for code in LANGUAGES] == ["en", "de", "es", "zh-Hans"]


@pytest.mark.parametrize("code", LANGUAGES)
def test_no_mask_is_one_short_word_on_the_rail(code: str) -> None:
    set_language(code)
    (said,) = [chip["value"] for chip in rail.chips(Config()) if chip["name"] == "mask"]
    assert re.fullmatch(r"\w{1,7}", said)
