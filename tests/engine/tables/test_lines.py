"""Rows that are nothing but their line: their knobs, and the papers they come from by hand."""

from __future__ import annotations

import math
from pkgutil import iter_modules

import numpy as np
import pytest

from attnviz import NORMALISERS, SCORES, Config, ConfigError, FormulaError, attend, normaliser, run, score
from attnviz.engine.records.typed_rows import normaliser_of
from attnviz.engine.tables import normalisers, scores
from attnviz.formula.evaluation.functions import normaliser_function
from attnviz.formula.reader import parse
from attnviz.settings import url_codec
from attnviz.settings.language import set_language
from tests import reference
from tests.support.cases import for_each

SINK = "softmax_with_sink.sink"


def test_a_sink_a_head_is_one_more_key_that_gives_nothing() -> None:
    sinks = (0.5, -2.0, 1.0)
    config = Config(n_heads=4, normaliser="softmax_with_sink", normaliser_knobs={SINK: sinks}, mask="causal")
    layer = run(config).layers[0]
    for h, sink in enumerate((*sinks, sinks[-1])):
        for row, weights in zip(layer["masked"].array[h].tolist(), layer["weights"].array[h].tolist()):
            total = math.exp(sink) + sum(math.exp(x) for x in row)
            np.testing.assert_allclose(weights, [math.exp(x) / total for x in row], rtol=1e-13)


def test_a_temperature_below_its_floor_is_the_floor() -> None:
    q, k = np.array([[3.0, 4.0]]), np.array([[4.0, 3.0], [0.0, 0.0]])
    steps = attend(q, k, k, score="scaled_cosine", params={"tau": 0.25})
    np.testing.assert_allclose(steps.scores, [[0.96 / 0.25, 0.0]], rtol=1e-14)
    steps = attend(q, k, k, score="scaled_cosine", params={"tau": -7.0})
    np.testing.assert_allclose(steps.scores, [[96.0, 0.0]], rtol=1e-14)


def test_qk_norm_looks_at_no_length() -> None:
    q, k, gains = np.array([[3.0, 4.0]]), np.array([[4.0, 3.0]]), {"u": [2.0, 1.0], "w": [1.0, 0.5]}
    by_hand = (0.6 * 2 * 0.8 + 0.8 * 0.6 * 0.5) * 2 / math.sqrt(2)
    for size in (1.0, 1e-8, 1e100):
        found = attend(size * q, k / size, k, score="qk_norm", params=gains).scores
        np.testing.assert_allclose(found, [[by_hand]], rtol=1e-13)


def test_knobs_at_their_default_are_the_same_setting() -> None:
    assert Config(normaliser_knobs={SINK: 0}) == Config(normaliser_knobs={SINK: (0, 0.0)}) == Config()
    assert Config(normaliser_knobs={SINK: [1, 2, 2]}).normaliser_knobs == ((SINK, (1.0, 2.0)),)


@pytest.mark.parametrize("value", [{SINK: 1.5}, {SINK: (0.1, -20.0, 3.0)}])
def test_knobs_travel_in_the_link(value: dict) -> None:
    config = Config(normaliser="softmax_with_sink", normaliser_knobs=value)
    (again,), problems = url_codec.open_link(url_codec.query_string(config), Config)
    assert (again, problems) == (config, [])


@for_each(
    "value", [{"sink": 1}, {SINK: 21}, {SINK: "1"}, {SINK: ()}, {SINK: (0,) * 17}, {SINK: math.nan}, {SINK: True}, 3]
)
def test_a_knob_that_is_none_is_refused(value: object) -> None:
    with pytest.raises(ConfigError, match="normaliser_knobs"):
        Config(normaliser_knobs=value)  # type: ignore[arg-type]


@for_each(
    "text, kept",
    [
        (f"{SINK}~99_2", ((SINK, (20.0, 2.0)),)),
        (f"nothing.here~3~~{SINK}~2", ((SINK, 2.0),)),
        (f"{SINK}~a", ()),
        ("~~~~", ()),
        ("~", ()),
        (f"{SINK}~" + "1_" * 400, ()),
    ],
)
def test_a_link_with_other_knobs_opens_and_says_so(text: str, kept: tuple) -> None:
    (config,), problems = url_codec.decode({"normaliser_knobs": text}, Config)
    assert config.normaliser_knobs == kept
    assert bool(problems) == (text != "~~~~")


def test_a_row_read_in_one_language_speaks_every_other() -> None:
    config = Config(normaliser="softmax_with_sink", normaliser_knobs={SINK: 3.25})
    set_language("de")
    try:
        assert normaliser_of(config).label == "Softmax mit Senke"
    finally:
        set_language("en")
    assert normaliser_of(config).label == "Softmax with a sink"


def test_attend_takes_a_row_with_its_knobs_set() -> None:
    x, unit = np.array([[1.0, 0.5, -1.0]]), np.eye(3)
    steps = attend(x, unit, unit, score="dot", normaliser=normaliser("entmax", alpha=2.0))
    np.testing.assert_allclose(steps.weights, [[0.75, 0.25, 0.0]], atol=1e-15)
    sinks = normaliser("softmax_with_sink", sink=(0, 9))
    heads = attend(np.stack([x, x]), unit[None], unit[None], score="dot", normaliser=sinks)
    assert (heads.weights.sum(axis=-1)[0] > heads.weights.sum(axis=-1)[1]).all()
    with pytest.raises(ConfigError, match="choose one of"):
        normaliser("softmax", alpha=2.0)
    with pytest.raises(ConfigError, match="choose 1"):
        normaliser("entmax", alpha=3.0)


def test_a_typed_normaliser_is_the_row_that_its_line_says() -> None:
    x, unit = np.array([[1.0, 0.5, -1.0]]), np.eye(3)
    line = "p = relu(x)**2; p / sum(p)"
    typed = normaliser("mine", line)
    traced = normaliser("mine", lambda x: np.maximum(x, 0) ** 2 / (np.maximum(x, 0) ** 2).sum())
    for made in (typed, traced):
        steps = attend(x, unit, unit, score="dot", normaliser=made)
        np.testing.assert_allclose(steps.weights, [[0.8, 0.2, 0.0]], atol=1e-15)
    assert typed.label == "mine"
    held = Config(normaliser=typed)
    assert (held.normaliser, held.normaliser_formula) == ("formula", line)
    assert held == Config(normaliser="formula", normaliser_formula=line)
    sharper = Config(normaliser=normaliser("entmax", alpha=1.25))
    assert sharper == Config(normaliser="entmax", normaliser_knobs={"entmax.alpha": 1.25})
    assert Config(normaliser=normaliser("softmax")) == Config()
    for call, said in (
        (lambda: normaliser("mine", "x +"), "x"),
        (lambda: normaliser("mine", lambda x: np.fft.fft(x)), "line|formula"),
        (lambda: normaliser("mine", line, alpha=2.0), "a line has its numbers in it; leave out alpha"),
        (lambda: normaliser("mine", 3), "a normaliser is 3; give a line such as"),
        (lambda: Config(normaliser=lambda x: x), r"normaliser=attnviz\.normaliser\('mine', function\)"),
        (lambda: Config(score=lambda q, k: q @ k), r"score is a function; .* score=attnviz\.score\('mine', function\)"),
        (lambda: Config(score=typed), "the row 'mine' is a normaliser; choose it with normaliser="),
        (lambda: Config(normaliser=score("own", "sum(q*k)")), "the row 'own' is a score; choose it with score="),
    ):
        with pytest.raises(ConfigError, match=said):
            call()


def test_every_line_is_in_its_table() -> None:
    for package, rows in ((scores, SCORES), (normalisers, NORMALISERS)):
        files = {file.name for file in iter_modules(package.__path__)} - {"row", "slopes", "shared", "python_function"}
        assert files == set(rows) - {"formula"} == {file.ROW.name for file in package.LISTED}


ROWS = np.random.default_rng(7).normal(size=(40, 9)) * np.geomspace(0.05, 30, 40)[:, None]


@for_each("alpha", [1.05, 1.2, 1.5, 1.77, 2.0])
def test_entmax_of_every_order_is_its_line_and_its_definition(alpha: float) -> None:
    row = normaliser_of(Config(normaliser="entmax", normaliser_knobs={"entmax.alpha": alpha}))
    X = np.where(np.random.default_rng(8).random(ROWS.shape) < 0.3, -np.inf, ROWS)
    X[3] = -np.inf
    open_ = [[x for x in values if x > -np.inf] for values in X.tolist()]
    wanted = [reference.entmax(values, alpha) if values else [] for values in open_]
    for T in (1.0, 0.01):
        np.testing.assert_allclose(row.fn(X, T), normaliser_function(row.typed)(X, T), rtol=0, atol=1e-12)
    for made, values, opinion in zip(row.fn(X), X, wanted):
        np.testing.assert_allclose(made[values > -np.inf], opinion, rtol=0, atol=1e-12)
        assert not made[values == -np.inf].any()


@pytest.mark.parametrize(("alpha", "name"), [(1.5, "entmax15"), (2.0, "sparsemax")])
def test_entmax_holds_the_rows_between_which_it_lies(alpha: float, name: str) -> None:
    row = normaliser_of(Config(normaliser="entmax", normaliser_knobs={"entmax.alpha": alpha}))
    np.testing.assert_allclose(row.fn(ROWS), NORMALISERS[name].fn(ROWS), rtol=0, atol=1e-13)


@for_each(
    "text, kind",
    [("level(q * k, 2)", "score"), *((f"level(x, {power})", "normaliser") for power in ("0.5", "x", "1e9", "n"))],
)
def test_a_level_is_of_a_row_and_a_power(text: str, kind: str) -> None:
    with pytest.raises(FormulaError, match="level"):
        parse(text, kind)
