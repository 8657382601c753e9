"""The page of trained models: what it says, and that nothing else decides what a run through a model records."""

from __future__ import annotations

import numpy as np
import pytest

from attnviz.engine.plan import model_page, plans
from attnviz.engine.pretrained.model_plans import model_plan
from attnviz.engine.pretrained.pretrained_config import PretrainedConfig
from attnviz.engine.records.trace import Trace
from attnviz.models.run_cache import RUNS
from tests.support.cases import for_each
from tests.support.small_models import NAMES, given, model

NORMED_QUERIES = """\
projected_queries [head, query, d_k] = normed @ w_q
g_q [d_k]                              weight
normed_queries [head, query, d_k]    = norm(projected_queries) * g_q
queries [head, query, d_k]           = rope(normed_queries)"""

FORMULAS = {
    "bert": {
        "ff_hidden": r"F = f((\mathrm{LN}(X + Y) \odot g_1 + c_1) W_1 + b_1)",
        "output": "Y = C W_O + b_O",
    },
    "gemma2": {
        "output_normed": r"\hat Y = \mathrm{RMS}(Y) \odot g_1'",
        "ff_added": r"X + \hat Y + \hat G",
        "final_normed": r"H = \mathrm{RMS}(X + \hat Y + \hat G) \odot g_F",
    },
    "gpt_neox": {
        "projected_queries": r"\tilde Q_h = \hat X W_Q^h + b_Q^h",
        "ff_normed": r"\hat Y = \mathrm{LN}(X) \odot g_2 + c_2",
        "ff_added": "X + Y + G",
    },
    "qwen3": {"normed_keys": r"\hat K_h = \mathrm{RMS}(\tilde K_h) \odot g_K", "keys": r"K_h = R\, \hat K_h"},
}


def setting(trace: Trace) -> PretrainedConfig:
    assert isinstance(trace.config, PretrainedConfig)
    return trace.config


def test_the_page_says_what_a_family_has() -> None:
    assert NORMED_QUERIES in str(model_plan(setting(model("qwen3")("a cat")), 0))
    bert = model_plan(setting(model("bert")("a cat")), None)
    assert str(bert["embedded"].args[0]) == "norm(embedded_sum) * g_e + c_e"
    assert str(bert["embedded_sum"].args[0]) == "token_embeddings + positions + token_types"


@for_each("name", [*NAMES, "vit"])
def test_a_run_records_the_steps_of_its_plan_in_their_order(name: str) -> None:
    trace = model(name)(given(name, "a cat"))
    for i, layer in enumerate(trace.layers):
        plan = model_plan(setting(trace), i)
        assert list(layer) == list(plan)
        assert [step.axes for step in layer.values()] == [value.axes for value in plan.values()]
    assert list(trace.around) == ["token_embeddings", *model_plan(setting(trace), None)]


def test_a_formula_says_what_is_computed() -> None:
    for name, formulas in FORMULAS.items():
        layer = model(name)("a cat").layers[-1]
        assert {step: layer[step].formula for step in formulas} == formulas


def test_a_factor_in_the_page_is_followed_by_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    said, plain = model_page.side_by_side, dict(model("llama")("a cat sat").layers[0])  # a run that is kept is lazy
    monkeypatch.setattr(model_page, "side_by_side", lambda Z: 3.0 * said(Z))
    plans.trained_plan.cache_clear()
    RUNS.clear()
    try:
        layer = model("llama")("a cat sat").layers[0]
        np.testing.assert_allclose(layer["concat"].array, 3.0 * plain["concat"].array, rtol=1e-12)
        np.testing.assert_allclose(layer["output"].array, 3.0 * plain["output"].array, rtol=1e-12)
    finally:
        plans.trained_plan.cache_clear()
        RUNS.clear()
