"""The Export page without a browser: every kind is offered; link, frame and code are of the setting."""

from __future__ import annotations

import html
from urllib.parse import parse_qs, parse_qsl, urlsplit

import pytest

from attnviz import Config, run
from attnviz.exports import links
from attnviz.exports.formats import FORMATS, export
from attnviz.settings import short_link, url_codec
from attnviz.ui.pages import exports
from attnviz.ui.session.selection import Selection
from tests.ui.test_app import clean, opened, page_text


def labels(at) -> list[str]:
    return [element.proto.label for element in at.get("download_button")]


def test_every_kind_of_file_is_offered() -> None:
    assert sorted(name for names in exports.GROUPS.values() for name in names) == sorted(FORMATS)
    at = opened(page="take")
    assert clean(at)
    ready = {label.removeprefix("Save .") for label in labels(at) if label.startswith("Save .")}
    assert ready | {"xlsx"} == set(FORMATS)


def test_a_workbook_is_made_when_it_is_asked_for() -> None:
    pytest.importorskip("xlsxwriter")
    at = opened(page="take", sentence="a b", n_heads="1")
    at.button(key="make-xlsx").click().run()
    assert clean(at)
    assert "Save .xlsx" in labels(at)


@pytest.mark.slow
def test_a_workbook_that_would_be_too_large_is_refused_in_words() -> None:
    pytest.importorskip("xlsxwriter")
    at = opened(page="take", sentence="w " * 64, n_heads="16", d_model="256", d_k="64", n_layers="6")
    at.button(key="make-xlsx").click().run()
    assert clean(at)
    assert "seconds, and it allows 12 for one computation" in page_text(at)


def test_a_missing_library_is_named_with_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exports, "find_spec", lambda name: None)
    at = opened(page="take")
    assert clean(at)
    captions = [caption.value for caption in at.caption]
    assert sum("attnviz[xlsx]" in caption for caption in captions) == 1
    assert at.button(key="save-xlsx").disabled


def test_the_picture_is_copied_with_the_link_that_shows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    copied: dict[str, object] = {}
    monkeypatch.setattr(exports.svg_to_png, "button", lambda svg, **more: copied.update(more, svg=svg))
    at = opened(page="take", v="2", sentence="a b", n_heads="1", mask="causal")
    at.button(key="make-both").click().run()
    assert clean(at)
    assert copied["link"] == at.code[0].value
    (config,), _ = url_codec.decode(dict(parse_qsl(urlsplit(at.code[1].value).query)), Config)
    assert copied["svg"] == export("svg", run(config))


def test_the_link_opens_the_setting_and_the_frame_shows_it() -> None:
    at = opened(page="take", sentence="a & b", mask="causal", n_heads="3")
    short, link, frame = (at.code[n].value for n in range(3))
    assert len(short) < len(link)
    assert short_link.unpack(short.rpartition("/s/")[2]) == dict(parse_qsl(urlsplit(link).query))
    assert url_codec.open_link(link, Config, Selection)[0] == (
        Config(sentence="a & b", mask="causal", n_heads=3),
        Selection(),
    )
    source = html.unescape(frame.split('src="')[1].split('"')[0])
    assert source == f"{link}&embed=true"
    assert parse_qs(urlsplit(source).query)["sentence"] == ["a & b"]


def test_a_code_is_drawn_or_said_to_be_impossible() -> None:
    pytest.importorskip("segno")
    drawn = links.qr_svg("https://example.org/?v=1")
    assert drawn is not None
    assert drawn.startswith('<svg xmlns="http://www.w3.org/2000/svg"')  # or no browser draws it as a picture
    assert links.qr_svg("x" * links.MOST_IN_CODE) is not None
    assert links.qr_svg("x" * (links.MOST_IN_CODE + 1)) is None
    assert links.qr_svg("é" * links.MOST_IN_CODE) is None


def test_what_does_not_fit_into_the_link_is_said() -> None:
    at = opened(page="take", embedding="own", own_numbers="\n".join(["1.2345678 2.3456789"] * 400))
    assert clean(at)
    assert "Too long for a link, so it travels without: Your own numbers" in page_text(at)


def test_the_parts_are_chosen() -> None:
    at = opened(page="take")
    at.selectbox(key="pick-head").set_value(1).run()
    assert at.query_params["head"] == "2"
    at.selectbox(key="pick-head").set_value("none").run()
    assert "head" not in at.query_params
    at.selectbox(key="pick-step").set_value("values").run()
    assert at.query_params["step"] == "values"


def test_without_a_library_for_pixels_the_browser_draws_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exports.png, "missing", lambda: "no fonts")
    at = opened(page="take", sentence="a b", n_heads="1")
    assert "Save .png" not in labels(at)
    at.button(key="make-step.png").click().run()
    assert clean(at)
    assert "Save .step.png" not in labels(at)  # it is the browser's own button
