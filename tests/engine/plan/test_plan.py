"""The plan of a layer: what it says, and that nothing else decides what a run records and how slopes go back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from attnviz import Config, gradients, run
from attnviz.engine.plan import page, plans
from attnviz.engine.plan.lengths import axes_of, lengths_of
from attnviz.engine.plan.plans import plan_of
from attnviz.engine.plan.tracing import Page
from attnviz.engine.plan.values import Value, side_by_side
from attnviz.exports.workbook.layers import sheets
from tests.support.slopes import anything

PLAIN = """\
w_q [head, model, d_k]       weight
w_k [kv_head, model, d_k]    weight
w_v [kv_head, model, d_v]    weight
queries [head, query, d_k] = X @ w_q
keys [kv_head, key, d_k]   = as_keys(X) @ w_k
values [kv_head, key, d_v] = as_keys(X) @ w_v
allowed [query, key]         given
scores [head, query, key]  = score(queries, keys)
scaled [head, query, key]  = scores * scale
capped [head, query, key]  = scaled
masked [head, query, key]  = only_where(allowed, capped)
weights [head, query, key] = normalise(masked)
heads [head, query, d_v]   = mix(weights, values)
concat [query, joined]     = side_by_side(heads)
w_o [joined, out]            weight
output [query, out]        = concat @ w_o"""


def test_the_plan_of_plain_attention_is_the_paper() -> None:
    assert str(plan_of(Config())) == PLAIN


def test_a_run_records_the_steps_of_its_plan_in_their_order() -> None:
    for number in range(60):
        trace = run(anything(number))
        plan = plan_of(trace.config)
        for layer in trace.layers:
            assert list(layer) == list(plan), trace.config
            assert [step.axes for step in layer.values()] == [value.axes for value in plan.values()]


def test_numbers_of_a_setting_make_no_other_plan() -> None:
    config = Config(softcap=2.0, position="rope")
    for other in (replace(config, softcap=3.0), replace(config, temperature=0.5, seed=9), replace(config, scale=0.1)):
        assert plan_of(other) is plan_of(config)


def test_a_factor_in_the_page_is_followed_by_the_run_and_by_the_slopes(monkeypatch: pytest.MonkeyPatch) -> None:
    said = page.mix
    config = Config(sentence="the cat sat on", n_heads=2, residual=True, feed_forward="gelu")
    plain = run(config)
    monkeypatch.setattr(page, "mix", lambda *args: 3.0 * said(*args))
    plans.layer_plan.cache_clear()
    try:
        trace = run(config)
        assert np.allclose(trace["heads"].array, 3.0 * plain["heads"].array, rtol=1e-12, atol=0)
        slopes = gradients(trace, {(0, "heads"): np.ones(trace["heads"].shape)})
        weights = plain["weights"].array
        of_values = np.broadcast_to(3.0 * weights.sum(axis=1)[..., None], trace["values"].shape)
        assert np.allclose(slopes["values"].array, of_values, rtol=1e-12, atol=0)
    finally:
        plans.layer_plan.cache_clear()


def test_a_workbook_has_a_block_for_each_line_of_a_head() -> None:
    config = Config(sentence="a b c", n_heads=2, mask="causal", bias="alibi", softcap=2.0)
    steps = [name for name, value in plan_of(config).items() if value.axes[0] in ("head", "kv_head")]
    steps = [name for name in steps if plan_of(config)[name].op != "weight"]
    for sheet in sheets(run(config)).sheets[-3:-1]:
        headings = [block.heading.split(" · ") for block in sheet.blocks]
        named = [heading[1] for heading in headings if len(heading) == 4]
        assert sorted(named) == sorted(steps), sheet.name


def test_axes_that_do_not_meet_are_refused() -> None:
    X, W = Value("input", (), ("query", "model"), "X"), Value("weight", (), ("d_ff", "out"), "w_2")
    with pytest.raises(ValueError, match="X @ w_2: model does not meet d_ff"):
        X @ W
    with pytest.raises(ValueError, match="not there"):
        side_by_side(X) @ Page(plans.parts_of(Config())).weight("b_o", X)


def test_a_factor_that_is_1_costs_nothing() -> None:
    values = plan_of(Config())["values"]
    scaled = Value("*", (values, Value("setting", name="temperature")), values.axes)
    counts = {}
    for temperature in (1.0, 2.0):
        config = Config(temperature=temperature, n_heads=2, n_kv_heads=1, d_v=3)
        counts[temperature] = lengths_of(config, axes_of(config, 5, 7)).n_multiply_adds(scaled)
    assert counts == {1.0: 0, 2.0: 7 * 3}


def test_formulas_follow_what_a_step_is_made_of(monkeypatch: pytest.MonkeyPatch) -> None:
    said = page.normalise
    assert run(Config(mask="causal"))["weights"].formula.startswith(r"a_{ij} = \frac{e^{z_{ij}}}")
    monkeypatch.setattr(page, "normalise", lambda S, *rest: said(S, *rest) + -0.5 * said(S, *rest))
    plans.layer_plan.cache_clear()
    try:
        trace = run(Config(mask="causal"))
        assert trace["weights"].array[0].sum(axis=-1) == pytest.approx(0.5)
        assert not trace["weights"].formula.startswith("a_{ij}")
    finally:
        monkeypatch.undo()
        plans.layer_plan.cache_clear()
