"""A part of the page that fails: a sentence in its place, a line in the log, and all else as it was."""

from __future__ import annotations

import logging
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from attnviz import ConfigError
from attnviz.ui.pages.experiments import EXPERIMENTS
from attnviz.ui.pages.panels import PANELS
from attnviz.ui.pages.registry import PAGES
from attnviz.ui.session import failures
from attnviz.ui.session.selection import Selection

APP = str(Path(__file__).parents[3] / "app.py")
WORDS = "the secret word"


def fails(trace: Any, selection: Selection, *further: Any) -> Selection:
    st.text("a first part")
    raise RuntimeError(f"no {trace.config.sentence}")


def refuses(trace: Any, selection: Selection, *further: Any) -> Selection:
    raise ConfigError("heads is 9; choose 1 to 4")


def starts_again(trace: Any, selection: Selection, *further: Any) -> Selection:
    if "again" not in st.session_state:
        st.session_state["again"] = True
        st.rerun()
    st.stop()


def opened(**query: str) -> AppTest:
    at = AppTest.from_file(APP, default_timeout=60)
    for name, value in {"v": "1", "sentence": WORDS, **query}.items():
        at.query_params[name] = value
    return at.run()


def faults(at: AppTest) -> list[str]:
    return [each.proto.body for each in at.get("html") if 'class="attn-fault"' in each.proto.body]


def test_a_panel_that_fails_says_so_and_the_rest_of_the_page_stands(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(failures, "are_contained", True)
    monkeypatch.setitem(PANELS, "word", replace(PANELS["word"], body=fails))
    monkeypatch.setitem(EXPERIMENTS, "mask_values", replace(EXPERIMENTS["mask_values"], body=fails))
    monkeypatch.setitem(PAGES, "compare", replace(PAGES["compare"], page=fails))
    for query in ({"panel": "word"}, {"page": "experiments"}, {"page": "compare"}):
        caplog.clear()
        with caplog.at_level(logging.ERROR):
            at = opened(**query)
        assert not at.exception
        (said,) = faults(at)
        number = re.search(r"the number ([0-9a-f]{6})", said)
        assert number, said
        assert "secret" not in said
        assert at.sidebar.slider  # the controls are there
        assert at.query_params["sentence"] == WORDS
        (record,) = [each for each in caplog.records if each.name == failures.__name__]
        assert number[1] in record.getMessage()
        assert "in fails" in record.getMessage()
        assert "RuntimeError" in record.getMessage()
        assert "secret" not in record.getMessage()  # what a visitor typed is nobody else's


def test_a_panel_that_refuses_a_setting_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failures, "are_contained", True)
    monkeypatch.setitem(PANELS, "word", replace(PANELS["word"], body=refuses))
    assert [re.sub("<.*?>", "", each) for each in faults(opened(panel="word"))] == ["Heads is 9; choose 1 to 4."]


def test_what_begins_or_ends_a_run_passes_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failures, "are_contained", True)
    monkeypatch.setitem(PAGES, "compare", replace(PAGES["compare"], page=starts_again))
    at = opened(page="compare")
    assert at.session_state["again"]
    assert not faults(at)
