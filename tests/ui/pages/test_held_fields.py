"""The fields that the maps follow while they are held: what one says stands in the address that is asked for."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs

import numpy as np

from attnviz import SCORES, Config, run
from attnviz.engine.external.traces import of_weights
from attnviz.settings import url_codec
from attnviz.settings.fields import settings
from attnviz.settings.kinds import Number, Text
from attnviz.settings.tuple_kinds import Widths
from attnviz.ui.pages import held_fields
from attnviz.ui.panels import stage_of_run, sweep
from attnviz.ui.session.field_widgets import stops_of
from attnviz.ui.session.selection import Selection
from tests.support.page_script import answers
from tests.support.sample_settings import repeated_words

ITEMS = {item.name: item for item in settings(Config)}


def moved(config: Config, key: str, dice: random.Random) -> tuple[str, Any]:
    """What the widget of a field says at another place, as the browser has it, and the value of the field there."""
    name, _, knob = key.partition(".")
    kind = ITEMS[name].metadata["kind"]
    match kind:
        case Text():
            text = dice.choice(("a rose & a=b", "Größe", "q*k/2"))
            return text, text
        case Widths():
            widths = tuple(dice.randint(1, 9) for _ in range(dice.randint(2, 3)))
            return ", ".join(map(str, widths)), widths
        case Number(stops=stops) if stops:
            offered = stops_of(kind, getattr(config, name))
            at = dice.randrange(len(offered))
            return str(at), offered[at]
        case Number():
            value = kind.low + kind.step * dice.randint(0, int((kind.high - kind.low) / kind.step))
            value = int(value) if kind.integer else float(value)
            return str(value), value
    number = kind.known[knob].low + kind.known[knob].step
    return repr(number), kind.check({**dict(getattr(config, name)), knob: number})


def cases() -> list[tuple[Config, str, str, Any]]:
    found, dice = [], random.Random(5)  # noqa: S311 - nothing secret
    for number in range(24):
        config = replace(repeated_words(number), mask=(("window", "prefix", "dilated", "causal")[number % 4],))
        config = replace(config, score=[*SCORES][number % len(SCORES)], normaliser=("entmax", "softmax")[number % 2])
        for key in held_fields.fields(config):
            found.append((config, key, *moved(config, key, dice)))
    return found


def test_what_a_field_says_stands_in_the_address_that_the_browser_asks_for() -> None:
    asked = cases()
    names = {key.partition(".")[0] for _, key, _, _ in asked}
    assert {
        "sentence",
        "seed",
        "d_model",
        "n_heads",
        "d_k",
        "temperature",
        "scale",
        "reach",
        "normaliser_knobs",
    } <= names
    assert not names & {"n_kv_heads", "custom_cells", "score", "tied"}, "it is not held, or not alone"
    selection = Selection(shown="queries", colours="common", key=1)
    questions = []
    for config, key, text, _ in asked:
        setting = url_codec.encode(config, selection) | {"lang": "en", "__edition": "abc"}
        follow = {"address": "attnviz/stage", "setting": setting, "fields": held_fields.fields(config)}
        questions.append({"ask": "address", "follow": follow, "said": {key: text}})
    followed = 0
    for (config, key, _, value), address in zip(asked, answers(questions), strict=True):
        path, _, query = address.partition("?")
        assert path == "attnviz/stage"
        (found, looked_at), problems = url_codec.decode(parse_qs(query, keep_blank_values=True), Config, Selection)
        if problems:  # others would have to change with it, and the route says so
            continue
        assert found == replace(config, **{key.partition(".")[0]: value})
        assert looked_at == replace(selection, lang="en")
        followed += 1
    assert followed > 0.6 * len(asked)


def test_a_field_that_says_what_it_has_said_is_known() -> None:
    questions, expected = [], []
    for config, key, text, value in cases():
        field, before = held_fields.fields(config)[key], getattr(config, key.partition(".")[0])
        now = field["now"] if isinstance(field["now"], str) else f"{field['now']:g}"
        for said, is_as_before in ((now, True), (text, value == before)):
            questions.append({"ask": "before", "field": field, "text": said})
            expected.append(is_as_before)
    assert answers(questions) == expected
    emptied = [{"ask": "before", "field": {"now": now}, "text": ""} for now in (3, 0, "3", "")]
    assert answers(emptied) == [True, True, False, True], "only a text can be empty"


def test_nothing_is_followed_where_no_address_tells_what_is_drawn(monkeypatch: Any) -> None:
    assert held_fields.of_run(run(Config()), Selection()) is not None
    assert held_fields.of_run(run(Config(initialiser="learned", learn_steps=5)), Selection()) is None
    assert held_fields.of_run(of_weights(np.eye(3)), Selection()) is None
    monkeypatch.setattr(sweep, "is_moving", lambda: True)
    assert held_fields.of_run(run(Config()), Selection()) is None


def test_the_bytes_depend_on_no_other_part_of_the_selection() -> None:
    trace = run(Config(sentence="a b c d e f " * 15, max_tokens=90, n_heads=3, n_layers=2, mask="causal"))
    seen = Selection(layer=1, shown="queries", from_query=30, from_key=4, head=1, colours="common")
    other = replace(seen, panel="table", digits=7, page="compare", play=True, lang="de")
    assert stage_of_run.looked_at(other) == seen
    made = {stage_of_run.stage_of_run(trace, each) for each in (seen, other, stage_of_run.looked_at(other))}
    assert len(made) == 1


def test_the_row_that_is_lit_is_that_of_the_run_that_follows() -> None:
    before = {"heads": 8, "focus": 5, "opening": [7, 3], "live": {"layer": 1, "knobs": [1]}}
    moved = {"live": {"layer": 1, "knobs": [2]}}
    expected = [
        ({}, [8, 5, [7, 3]]),
        ({"heads": 4, "opening": [1, 40, 2], "positions": {"query": [39, 40], "key": None}}, [4, None, [1, 1]]),
        ({"heads": 8, "opening": [1, 40, 2], "positions": {"query": None, "key": None}}, [8, 5, [1, 40]]),
        ({"heads": 2, "opening": None}, [2, None, [7, 3]]),
    ]
    found = answers([{"ask": "ahead", "data": before, "sent": sent | {"handles": [2]}} for sent, _ in expected])
    names = ("heads", "focus", "opening")
    assert found == [dict(zip(names, after, strict=True)) | moved for _, after in expected]
    without = before | {"live": None}
    assert answers([{"ask": "ahead", "data": without, "sent": {"handles": [2]}}]) == [without]
