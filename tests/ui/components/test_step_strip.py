"""The strip's messages to the browser, and its reading of the answers."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from streamlit.testing.v1 import AppTest

from attnviz import Config, run
from attnviz.pictures import colours, pipeline_strip
from attnviz.ui.components.pickers import step_strip
from tests.support.cases import for_each

PAGE = Path(__file__).parents[2] / "browser" / "scripts" / "strip.py"
ENTRIES = pipeline_strip.entries(run(Config(sentence="the cat sat", mask="causal")), 0)


def unpacked(data: bytes):
    text, _, pixels = data.partition(b"\0")
    return json.loads(text), pixels


def test_the_pixels_are_those_of_the_thumbnails_in_their_order():
    header, pixels = unpacked(step_strip.packed(ENTRIES, "scores"))
    at = 0
    for step, entry in zip(header["steps"], ENTRIES, strict=True):
        width, height = step["size"]
        picture = np.frombuffer(pixels[at : at + width * height], np.uint8).reshape(height, width)
        np.testing.assert_array_equal(picture, entry.thumbnail)
        assert tuple(header["scales"][step["scale"]]) == entry.colours
        at += width * height
    assert at == len(pixels)


def test_the_colours_are_those_of_all_pictures():
    header, _ = unpacked(step_strip.packed(ENTRIES, None))
    by_name = {step["name"]: header["scales"][step["scale"]] for step in header["steps"]}
    assert by_name["scores"] == list(colours.SIGNED)
    assert by_name["weights"] == list(colours.SHARE)
    assert header["masked"] == colours.MASKED[0]


def test_what_changes_nothing_and_what_goes_into_others_is_folded():
    header, _ = unpacked(step_strip.packed(ENTRIES, None))
    shown = [step["symbol"] for step in header["steps"] if not step["folded"]]
    assert shown == ["X", "Q", "K", "V", "S", "S′", "Ŝ", "A", "Z", "C", "W_O", "Y"]


def test_no_token_is_sent():
    words = ("zebra", "giraffe", "okapi")
    entries = pipeline_strip.entries(run(Config(sentence=" ".join(words), second_sentence="okapi", bos=True)), 0)
    data = step_strip.packed(entries, None)
    for word in (*words, "<bos>"):
        assert word.encode() not in data


def test_a_strip_of_eight_heads_and_twelve_tokens_is_small():
    entries = pipeline_strip.entries(run(Config(sentence="a b c d e f g h i j k l", n_heads=8)), 0)
    assert len(step_strip.packed(entries, None)) < 16_000


@for_each("answer", [None, "nothing", "Scores", 3, True, [], {}, ["scores"], {"name": "scores"}, ""])
def test_nothing_is_chosen_that_is_not_there(answer):
    assert step_strip.read(answer, ENTRIES) is None


def test_a_step_that_is_there_is_chosen():
    assert step_strip.read("scores", ENTRIES) == "scores"


def test_the_page_takes_up_what_was_chosen():
    app = AppTest.from_file(str(PAGE)).run()
    assert not app.exception
    assert app.text[-1].value == "Chosen scores, 0 times"
    app.session_state["strip"] = {"chosen": "weights"}
    app.run()
    assert app.text[-1].value == "Chosen weights, 1 times"
    proto = app.get("bidi_component")[1].proto  # after the scripts
    assert proto.component_name == "attnviz_step_strip"
    app.run()
    header, _ = unpacked(app.get("bidi_component")[1].proto.bytes)
    assert header["chosen"] == "weights"
