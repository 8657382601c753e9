"""The word view's messages to the browser, and its reading of the answers."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
from streamlit.testing.v1 import AppTest

from attnviz import Config, run
from attnviz.pictures.colours import SHARE
from attnviz.text.query_sentences import query_weights, sentence
from attnviz.ui.components.sentence.attention_lines import Request, payload, read
from tests.support.cases import for_each

PAGE = str(Path(__file__).parents[2] / "browser/scripts/word.py")
TRACE = run(Config(sentence="the cat sat on it", n_heads=3, mask="causal"))


def test_numbers_of_one_head_travel_as_bytes() -> None:
    for head in (1, None):
        found = query_weights(TRACE, 0, head)
        sent = payload(found, 2)
        weights = np.frombuffer(base64.b64decode(sent["weights"]), "<f4").reshape(5, 5)
        masked = np.unpackbits(np.frombuffer(base64.b64decode(sent["masked"]), np.uint8), count=25).reshape(5, 5)
        assert np.array_equal(weights, found.weights.astype(np.float32))
        assert np.array_equal(masked == 1, found.masked)
        assert (sent["head"], sent["n_heads"], sent["chosen"], sent["scale"]) == (head, 3, 2, list(SHARE))


def test_sentences_keep_our_words_and_the_visitors_apart() -> None:
    found = query_weights(TRACE, 0, 0)
    for query, parts in enumerate(payload(found, None)["sentences"]):
        expected = [("token", part[0]) if isinstance(part, list) else ("text", part) for part in parts]
        assert tuple(expected) == sentence(found, query)


def test_a_long_sentence_stays_small_on_the_wire() -> None:
    long = run(Config(sentence=" ".join(f"word{i}" for i in range(64)), n_heads=16, tokeniser="whitespace"))
    sent = payload(query_weights(long, 0, 3), None)
    assert len(sent["queries"]) == 64
    assert len(json.dumps(sent)) < 45_000


@for_each(
    "answer, expected",
    [
        ({"query": 4, "head": 2}, Request(4, 2)),
        ({"query": None, "head": None}, Request(None, None)),
        ({"query": 5, "head": 0}, None),
        ({"query": -1, "head": 0}, None),
        ({"query": 0, "head": 3}, None),
        ({"query": True, "head": 0}, None),
        ({"query": 1.0, "head": 0}, None),
        ({"query": "1", "head": 0}, None),
        ([1, 2], None),
        (None, None),
    ],
)
def test_a_browser_can_say_anything(answer: Any, expected: Request | None) -> None:
    assert read({"choice": answer}, TRACE) == expected


def test_no_answer_is_none() -> None:
    assert read(None, TRACE) is None
    assert read("choice", TRACE) is None


def drawn(at: AppTest) -> dict[str, Any]:
    assert not at.exception
    return json.loads(at.get("bidi_component")[1].proto.json)  # after the scripts


def test_a_choice_is_drawn_in_the_run_in_which_it_arrives() -> None:
    at = AppTest.from_file(PAGE, default_timeout=30).run()
    assert (drawn(at)["head"], drawn(at)["chosen"]) == (0, None)
    at.session_state["word"] = {"choice": {"query": 2, "head": None}}
    at.run()
    assert (drawn(at)["head"], drawn(at)["chosen"]) == (None, 2)
    assert at.text[0].value == "Asked Request(query=2, head=None), 1 times"


def test_what_the_browser_may_not_ask_for_changes_nothing() -> None:
    at = AppTest.from_file(PAGE, default_timeout=30).run()
    at.session_state["word"] = {"choice": {"query": 99, "head": None}}
    at.run()
    assert (drawn(at)["head"], drawn(at)["chosen"]) == (0, None)
    assert at.text[0].value == "Asked None, 0 times"
