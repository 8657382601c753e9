"""The three faces above the setting: by hand, random, trained."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest

from attnviz import load
from attnviz.engine.pretrained.model_registry import MODELS
from attnviz.models import hosting
from attnviz.ui.panels import faces
from tests.ui.test_app import APP, clean, opened, page_text


@pytest.fixture(autouse=True)
def offered() -> Iterator[None]:
    hosting.offer_those_in_the_package()
    yield
    MODELS.clear()


def test_one_press_leads_from_one_face_to_another() -> None:
    small = f"small~{load('small').digest}"
    at = AppTest.from_file(APP, default_timeout=30).run()
    first = {**at.query_params}
    assert (at.button_group(key=faces.KEY).value, clean(at)) == ("by_hand", True)
    at.button_group(key=faces.KEY).set_value("trained").run()
    assert clean(at)
    assert (at.query_params["model"], at.query_params["sentence"]) == (small, faces.SENTENCE)
    assert "sentences that a program wrote" in page_text(at)
    assert faces.WORDS["of_trained"] in page_text(at)
    at.button_group(key=faces.KEY).set_value("random").run()
    assert clean(at)
    assert "model" not in at.query_params
    assert "initialiser" not in at.query_params
    at.button_group(key=faces.KEY).set_value("by_hand").run()
    assert {**at.query_params} == first


def test_it_follows_the_setting_and_keeps_a_sentence_of_ones_own() -> None:
    small = f"small~{load('small').digest}"
    at = opened(sentence="zog has the ball")
    assert at.button_group(key=faces.KEY).value == "random"
    at.selectbox(key="model").set_value(small).run()
    assert (at.button_group(key=faces.KEY).value, clean(at)) == ("trained", True)
    assert "Not in the vocabulary: zog." in page_text(at)
    at.button_group(key=faces.KEY).set_value("by_hand").run()
    assert (at.query_params["sentence"], clean(at)) == ("zog has the ball", True)
