"""The interactive file without a browser: its numbers bit for bit, its own rules, and no way out for a token."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attnviz import NORMALISERS, Config, Trace, run
from attnviz.engine.external.traces import of_scores, of_weights
from attnviz.exports import formats, interactive_html
from attnviz.exports.bundle import joined
from attnviz.exports.paper.layout import drawing
from attnviz.pictures import stages
from attnviz.pictures.headings import PAINT, SWITCH
from attnviz.pictures.static.text_metrics import word
from attnviz.settings.language import set_language
from attnviz.ui.panels.typed_formula import EXAMPLES
from tests.support import interactive_file, scripts

HOSTILE = (
    "</script><script>alert(1)</script> <!-- ]]> &amp; \u2028x \ud800y a\x00b \"'><img/src=x> constructor __proto__"
)


class Reader(HTMLParser):
    """Tags, and the text within those that hold no markup."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self._open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if self._open:
            self.texts.setdefault(self._open[-1], []).append(data)


def held(text: str) -> dict[str, Any]:
    (run_text,) = re.findall(r'<script id="run" type="application/json">(.*?)</script>', text, re.DOTALL)
    return dict(json.loads(run_text))


def numbers(step: dict[str, Any]) -> np.ndarray:
    held = base64.b64decode(step["base64"])
    if step["form"] == "rounded":
        return np.frombuffer(held, "<f2").astype(float).reshape(step["shape"]) * 2.0 ** -step["power"]
    return np.frombuffer(held, "<f8").reshape(step["shape"])


@pytest.mark.parametrize(
    "settings",
    [
        {"n_heads": 3, "d_k": (3, 2, 4), "d_v": (2, 5, 1), "mask": "causal"},
        {"n_layers": 2, "bias": "alibi", "score": "additive"},
        {"second_sentence": "x y z", "n_kv_heads": 2},
    ],
)
def test_every_number_is_held_bit_for_bit(settings: dict[str, Any]) -> None:
    trace = run(Config(sentence="a b c d e", **settings))
    found = held(interactive_html.html(trace))
    assert len(found["layers"]) == len(trace.layers)
    for layer, steps in zip(found["layers"], trace.layers):
        assert {"queries", "keys", "values", "scores", "masked", "weights", "heads"} <= set(layer["steps"])
        for name, step in layer["steps"].items():
            np.testing.assert_array_equal(numbers(step), steps[name].array)
        for stage in layer["stages"]:
            array = steps[stage["name"]].array
            assert stage["widths"] == list(steps[stage["name"]].widths or [array.shape[2]] * array.shape[0])


def test_steps_between_are_held_where_they_were_changed() -> None:
    config = Config(sentence="a b c")
    assert "scaled" not in held(interactive_html.html(run(config)))["layers"][0]["steps"]
    edited = run(config, edits=[(0, "scaled", (1, 2, 0), 7.0)])
    steps = held(interactive_html.html(edited))["layers"][0]["steps"]
    assert numbers(steps["scaled"])[1, 2, 0] == 7.0
    assert "capped" not in steps


def test_infinity_and_nan_travel() -> None:
    trace = of_scores([[1.0, -np.inf, 2.0], [0.0, 1.0, 2.0]], ["a", "b"], ["x", "y", "z"])
    steps = held(interactive_html.html(trace))["layers"][0]["steps"]
    np.testing.assert_array_equal(numbers(steps["scores"]), trace["scores"].array)
    with np.errstate(invalid="ignore"):
        odd = run(Config(sentence="a b"), edits=[(0, "values", (0, 1, 1), -np.inf)])
    heads = numbers(held(interactive_html.html(odd))["layers"][0]["steps"]["heads"])
    assert not np.isfinite(heads).all()
    np.testing.assert_array_equal(heads, odd["heads"].array)


def test_the_page_allows_its_own_script_and_style_and_nothing_else() -> None:
    text = interactive_html.html(run(Config(sentence="a b c")))
    policy = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)[0]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    (style,) = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    for rule, own in (("script-src", script), ("style-src", style)):
        digest = base64.b64encode(hashlib.sha256(own.encode()).digest()).decode()
        assert rules.pop(rule) == f"'sha256-{digest}'"
    assert rules == {"default-src": "'none'", "base-uri": "'none'", "form-action": "'none'"}
    assert not re.search(r"(?:https?:)?//\w+\.|url\(|@import|fetch\(|XMLHttp|innerHTML|eval\(", script + style)
    assert len(text) - len(re.findall(r'<script id="run".*?</script>', text, re.DOTALL)[0]) < 100_000


def test_no_token_becomes_markup() -> None:
    trace = run(Config(sentence=HOSTILE, tokeniser="whitespace", n_heads=2))
    text = interactive_html.html(trace)
    text.encode()
    plain = Reader(interactive_html.html(run(Config(sentence="a", n_heads=2))))
    found = Reader(text)
    tables = {"table", "tr", "th", "td", "caption"}
    assert {tag for tag, _ in found.tags} <= {tag for tag, _ in plain.tags} | tables
    assert [tag for tag, _ in found.tags].count("script") == 2
    assert not any(name.startswith("on") or name in ("src", "href") for _, names in found.tags for name in names)
    assert held(text)["queries"] == [word(token) for token in trace.query_tokens]
    assert set(map(word, trace.query_tokens)) <= set(found.texts["th"])


def test_without_scripts_there_are_tables_while_they_are_not_too_large() -> None:
    trace = run(Config(sentence="a b c", n_heads=2, n_layers=2))
    found = Reader(interactive_html.html(trace))
    assert [tag for tag, _ in found.tags].count("table") == 4
    first = [float(each) for each in found.texts["td"][:3]]
    assert first == pytest.approx(trace.layers[0]["weights"].array[0, 0].tolist(), rel=6e-3)
    large = interactive_html.html(run(Config(sentence=" ".join(["w"] * 40), n_heads=4)))
    assert "<table>" not in large
    assert "6,400 weights" in large


def test_what_is_to_be_said_of_a_run_is_said() -> None:
    first, second = (np.eye(2)[None, None],), (np.eye(3)[None, None, 2:],)
    text = interactive_html.html(of_weights((first, second), ["a", "b", "c", "<b>&"]))
    assert '<p id="notes" class="quiet">The last token, “&lt;b&gt;&amp;”, is left out: it was written last' in text
    assert 'id="notes"' not in interactive_html.html(of_weights(np.eye(2)))


@pytest.mark.parametrize("given", ["weights", "scores"])
def test_attention_that_was_given_has_a_file_too(given: str) -> None:
    made: dict[str, Any] = {"weights": of_weights, "scores": of_scores}
    trace: Trace = made[given]([[0.5, 0.5, 0.0], [0.1, 0.2, 0.7]], ["a", "b"], ["x", "y", "z"])
    found = held(interactive_html.html(trace))
    assert found["sentence"] == "a b"
    assert given in found["layers"][0]["steps"]


@pytest.mark.parametrize("name", [name for name, row in NORMALISERS.items() if getattr(row, "written", None)])
def test_what_a_row_says_in_the_place_of_a_line_is_handed_what_it_names(name: str) -> None:
    page = interactive_html.html(run(Config(sentence="a b", normaliser=name)))
    found = re.search(r"const written = \((.*?)\) => (\w+)\((.*?)\);", page)
    assert found is not None
    handed, named = (set(re.findall("[a-z]+", found[group])) for group in (1, 3))
    assert named <= handed
    assert f"function {found[2]}(" in page


def test_the_words_of_the_script_are_all_there() -> None:
    script = interactive_html._script()
    used = set(re.findall(r"\bwords\.(\w+)", script)) | {"scaled", "capped"}
    assert used == {*interactive_html.WORDS, *SWITCH, *PAINT}


def test_a_negative_factor_stands_in_brackets(node: str) -> None:
    formats = joined(interactive_html.SCRIPT.with_name("formats.js"))
    code = f"{formats}\nconsole.log(factor(-3), factor(3), products([2, -0.5, -1], [-3, -4, 1]))"
    made = subprocess.run([node, "-e", code], check=True, capture_output=True, encoding="utf-8")
    assert made.stdout.strip() == "(−3) 3 2 × (−3) + (−0.5) × (−4) + (−1) × 1"


def test_the_arithmetic_of_every_cell_of_what_was_typed_comes_out_at_its_number(node: str, tmp_path: Path) -> None:
    typed = {
        name: run(replace(scripts.config(name), edits=())) for name in scripts.SETTINGS if name.startswith("typed_")
    }
    for kind, lines in EXAMPLES.items():
        for line in lines.values():
            settings = {kind: "formula", f"{kind}_formula": line}
            typed[line] = run(Config(**settings, sentence="a king saw the queen", n_heads=2))
    found = interactive_file.disagreeing([*typed.values()], node, tmp_path)
    assert {name: wrong for name, wrong in zip(typed, found, strict=True) if wrong} == {}


def test_a_german_pdf_and_file_have_commas_at_the_ends_of_the_scale() -> None:
    trace = run(Config(sentence="the cat sat"))
    set_language("de")
    try:
        ends = [
            text.text for text in drawing(stages.side_by_side(trace, 0)[2]).texts if re.search(r"\d\D\d", text.text)
        ]
        data = str(formats.export("html", trace))
    finally:
        set_language("en")
    assert ends
    assert all(re.fullmatch(r"[−+]\d+,\d+", end) for end in ends)
    assert '"has_comma":true' in data.replace(" ", "")
