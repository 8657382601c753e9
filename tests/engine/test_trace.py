"""What a step says of itself is true of this run."""

from __future__ import annotations

from copy import copy, deepcopy
from dataclasses import replace

import numpy as np
import pytest

from attnviz import NORMALISERS, TASKS, Config, ConfigError, attend, heatmaps, learn, run, show
from tests.support.cases import for_each


@for_each(
    "settings, step, holds, lacks",
    [
        ({}, "scores", r"Q_h K_{h}^\top", "g(h)"),
        ({"n_kv_heads": 2}, "scores", r"K_{g(h)}", "K_{h}"),
        ({"n_kv_heads": 2}, "heads", r"V_{g(h)}", "V_{h}"),
        ({"score": "additive"}, "scores", "tanh", "+ b"),
        ({"score": "additive", "projection_bias": True}, "scores", "+ b", "g(h)"),
        ({}, "weights", r"z = \hat S", "/ "),
        ({"temperature": 0.5}, "weights", r"z = \hat S / 0.5", "cdot"),
        ({"normalise_over": "queries"}, "weights", r"a_{\cdot j}", r"\sum_l"),
    ],
)
def test_formulas_are_those_of_the_setting(settings: dict[str, object], step: str, holds: str, lacks: str) -> None:
    formula = run(Config(**settings))[step].formula  # type: ignore[arg-type]
    assert holds in formula
    assert lacks not in formula


@for_each("edit", [(0, "scores", (0, 0, 0), "x"), ("a", "scores", (0, 0, 0), 1.0), (0, "scores", 3, 1.0), 7])
def test_an_edit_that_is_none_is_refused_with_its_form(edit: object) -> None:
    with pytest.raises(ConfigError, match="give \\(layer, step, index, value\\)"):
        run(Config(), edits=[edit])  # type: ignore[list-item]


def test_linear_weights_of_huge_scores_still_add_to_one() -> None:
    weights = NORMALISERS["linear"].fn(np.array([1e308, 1e308, -1e308]))
    np.testing.assert_array_equal(weights, [0.5, 0.5, 0.0])


@for_each("wrong", [{"params": 3}, {"temperature": "warm"}, {"softcap": "tight"}])
def test_an_argument_of_the_wrong_kind_is_refused_in_words(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="give a"):
        attend(np.ones((2, 2)), np.ones((2, 2)), np.ones((2, 2)), **wrong)  # type: ignore[arg-type]


def test_a_step_that_is_not_there_is_said_and_a_trace_is_shown_in_one_line() -> None:
    trace = run(Config(sentence="the cat", n_heads=2))
    with pytest.raises(KeyError, match=r"there is no step 'foo'; choose one of: .*weights"):
        trace["foo"]
    assert repr(trace).startswith("<Trace: 2 queries, 2 keys, 2 heads in each of 1 layers; ")
    assert len(repr(trace)) < 400


def test_a_layer_and_a_step_that_there_are_not_are_said() -> None:
    trace = run(Config(sentence="the cat", n_layers=2))
    for at in (2, 9, -3):
        with pytest.raises(IndexError, match=f"there is no layer {at}; this has 2, choose 0 to 1"):
            trace.layers[at]
    assert trace.layers[-1] is trace.layers[1]
    assert trace.layers[:5] == trace.layers
    assert deepcopy(trace).layers[1]["weights"].shape == trace["weights"].shape
    with pytest.raises(KeyError, match=r"there is no step 'foo'; choose one of: .*weights"):
        trace.layers[0]["foo"]
    assert trace.layers[0].get("foo") is None
    with pytest.raises(TypeError, match=r"layers are counted from 0: write trace\.layers\[0\]\['weights'\]"):
        trace.layers["weights"]  # type: ignore[call-overload]
    for record, kind in ((trace, "Trace"), (trace.layers[0], "Steps")):
        with pytest.raises(AttributeError, match=rf"a {kind} has no attribute weights; write \['weights'\] for"):
            getattr(record, "weights")  # noqa: B009
        with pytest.raises(AttributeError, match=f"'{kind}' object has no attribute 'foo'"):
            getattr(record, "foo")  # noqa: B009
    with pytest.raises(ConfigError, match="heatmaps takes a Trace, not ndarray; call heatmaps\\(of_weights"):
        heatmaps(np.eye(2))  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="a trace has its own tokens and no batch; give it alone"):
        show(trace, ["the", "cat"])


def test_a_setting_that_there_is_not_names_the_one_that_is_meant() -> None:
    for make, said in (
        (lambda: Config(heads=2), r"a Config has no heads; did you mean n_heads, n_kv_heads\?"),
        (lambda: replace(Config(), normalizer="softmax"), r"no normalizer; did you mean normaliser"),
        (lambda: TASKS["backwards"].config(posiiton="none"), r"no posiiton; did you mean position\?"),
        (lambda: Config(qqq=2), r"a Config has no qqq; help\(attnviz\.Config\) lists its settings"),
    ):
        with pytest.raises(TypeError, match=said):
            make()
    assert copy(Config(n_heads=2)) == Config(n_heads=2)
    with pytest.raises(
        ConfigError, match=r"learn takes a Config, not 'backwards'; call learn\(TASKS\['backwards'\]\.config\(\)"
    ):
        learn("backwards")
    with pytest.raises(ConfigError, match=r"learn takes a Config, not 3; call learn\("):
        learn(3)


def test_a_setting_in_the_wrong_type_is_said() -> None:
    with pytest.raises(ConfigError, match=r"run takes a Config, not 'the cat'; call run\(Config\(sentence="):
        run("the cat")
    with pytest.raises(ConfigError, match="n_heads is '4', a text; give the number 4"):
        Config(n_heads="4")
    with pytest.raises(ConfigError, match="n_heads is 'many'; choose 1 to 16"):
        Config(n_heads="many")


def test_a_trace_draws_itself_in_a_notebook() -> None:
    drawn = run(Config(sentence='a "quoted" <b>'))._repr_html_()
    assert drawn.startswith('<iframe sandbox="allow-scripts" srcdoc="')
    assert drawn.count("<") == 2  # nothing of the file is outside the frame's attribute
    assert "&lt;script" in drawn
    assert drawn.endswith(
        "File &gt; Trust Notebook) or the cell has run again.</iframe>"
    )  # what is left in one that is not


def test_only_a_step_with_an_axis_has_true_widths_along_it() -> None:
    trace = run(Config(sentence="a b c", n_heads=2, d_k=(3, 2), d_v=(1, 2), score="additive", projection_bias=True))
    for name, step in trace.layers[0].items():
        assert set(step.true_widths) <= set(step.axes), name
    assert trace["heads"].true_widths == {"d_v": (1, 2)}
