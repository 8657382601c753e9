"""`run`: a sentence in, every step of every layer out, and what may and may not change together."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from attnviz import (
    BIASES,
    EMBEDDINGS,
    INITIALISERS,
    MASKS,
    NORMALISERS,
    POSITIONS,
    SCORES,
    Config,
    ConfigError,
    Step,
    Trace,
    run,
)
from tests import reference
from tests.support.cases import for_each
from tests.support.tables import TABLES

CLOSE = {"rtol": 1e-11, "atol": 1e-12}
FIVE = "one two three four five"
SEVEN = "uno dos tres cuatro cinco seis siete"
FOLLOWED = ("tokeniser", "embedding", "position", "initialiser", "score", "mask", "bias", "normaliser")
"""The fields whose every row the opinion of `tests/reference.py` can follow from the sentence to the output."""
ATTENTION = ["queries", "keys", "values", *reference.STEPS[:-1], "heads", "concat", "output"]
Arrays = dict[str, np.ndarray]
DRAWN = [name for name in EMBEDDINGS if name not in ("own", "one_hot")]


def arrays(trace: Trace, layer: int = 0) -> Arrays:
    """Every array of one layer by its name."""
    return {name: trace.layers[layer][name].array for name in trace.layers[layer]}


def widths(sizes: int | tuple[int, ...], groups: int) -> list[int]:
    """One width a group: the last of a tuple goes for all that follow."""
    sizes = (sizes,) if isinstance(sizes, int) else sizes
    return [sizes[min(g, len(sizes) - 1)] for g in range(groups)]


def opinion(config: Config, x_q: np.ndarray, x_kv: np.ndarray, layer: Arrays) -> list[reference.Attention]:
    """Each head alone and unpadded, in plain Python, from the layer's own parameters cut to their true widths."""
    groups = config.n_kv_heads or config.n_heads
    found = []
    for h in range(config.n_heads):
        g = h // (config.n_heads // groups)
        d_k, d_v = widths(config.d_k, groups)[g], widths(config.d_v, groups)[g]
        q, k, v = (
            reference.project(x.tolist(), layer["w_" + name][at][:, :d].tolist(), bias_of(layer, "b_" + name, at, d))
            for x, name, at, d in ((x_q, "q", h, d_k), (x_kv, "k", g, d_k), (x_kv, "v", g, d_v))
        )
        masked, capped = layer["masked"][h], layer["capped"][h]
        found.append(
            reference.attend(
                q,
                k,
                v,
                score=config.score,
                params=own_parameters(config.score, layer, h, d_k),
                allowed=(masked != -np.inf).tolist(),
                bias=np.where(masked == -np.inf, 0, masked - capped).tolist(),
                scale=config.scale,
                softcap=config.softcap,
                normaliser=config.normaliser,
                temperature=config.temperature,
            )
        )
    return found


def bias_of(layer: Arrays, name: str, at: int, width: int) -> list[float] | None:
    """The projection bias of one head, if there are any."""
    return layer[name][at, :width].tolist() if name in layer else None


def own_parameters(score: str, layer: Arrays, h: int, d_k: int) -> dict[str, list]:
    """The score's own parameters of one head, cut to its width; only the additive b comes and goes with the biases."""
    cut = {
        "general": {"W": ("score_w", np.s_[h, :d_k, :d_k])},
        "additive": {
            "W_q": ("score_w_q", np.s_[h, :d_k]),
            "W_k": ("score_w_k", np.s_[h, :d_k]),
            "v": ("score_v", np.s_[h]),
            "b": ("score_b", np.s_[h]),
        },
        "location": {"W": ("score_w", np.s_[h, :d_k])},
        "multiplicative_tanh": {"W": ("score_w", np.s_[h, :d_k, :d_k])},
        "qk_norm": {"u": ("score_vector_u", np.s_[h, :d_k]), "w": ("score_vector_w", np.s_[h, :d_k])},
        "scaled_cosine": {"tau": ("score_tau", np.s_[h])},
    }.get(score, {})
    return {name: layer[step][at].tolist() for name, (step, at) in cut.items() if step in layer or name != "b"}


def assert_heads(config: Config, layer: Arrays, heads: list[reference.Attention]) -> None:
    """The layer's padded arrays hold each head's own numbers, and concat joins true widths."""
    for h, alone in enumerate(heads):
        for name in ("scores", "scaled", "capped", "masked", "weights"):
            np.testing.assert_allclose(layer[name][h], getattr(alone, name), **CLOSE, err_msg=f"{name} of head {h}")
        width = len(alone.output[0])
        np.testing.assert_allclose(layer["heads"][h, :, :width], alone.output, **CLOSE, err_msg=f"head {h}")
        assert not layer["heads"][h, :, width:].any()
    joined = np.array(reference.concat([alone.output for alone in heads]))
    np.testing.assert_allclose(layer["concat"], joined, **CLOSE)
    output = joined if "w_o" not in layer else joined @ layer["w_o"] + layer.get("b_o", 0)
    np.testing.assert_allclose(layer["output"], output, **CLOSE)


# Config -------------------------------------------------------------------------------------------------------------


def test_defaults_are_constants():
    config = Config()
    assert (config.d_model, config.n_heads, config.d_k, config.d_v, config.mask) == (16, 4, 4, 4, ("none",))
    assert Config(d_model=64).d_k == Config(n_heads=8).d_k == 4
    assert (config.n_layers, config.residual, config.norm, config.feed_forward) == (1, False, "none", "none")
    assert config.n_kv_heads is None
    assert config.scale is None
    assert config.normalise_over == "keys"


def test_config_is_frozen_and_knows_equals():
    config = Config(n_heads=2)
    with pytest.raises(dataclasses.FrozenInstanceError):
        config.n_heads = 3
    assert config == Config(n_heads=2) != Config(n_heads=3)
    assert dataclasses.replace(config, n_heads=3) == Config(n_heads=3)


def test_a_config_error_is_a_value_error():
    assert issubclass(ConfigError, ValueError)


@for_each("field", FOLLOWED)
def test_a_name_that_is_in_no_table(field):
    for wrong in ("", "nonesuch", "None ", 3, None, ["x"]):
        with pytest.raises(ConfigError, match=field):
            Config(**{field: wrong})


@for_each(
    "wrong",
    [
        {"n_heads": 0}, {"n_heads": 10**9}, {"n_heads": 2.5}, {"n_heads": "4"}, {"d_model": 0}, {"d_model": 10**9},
        {"d_model": math.nan}, {"d_k": 0}, {"d_k": (2, 0)}, {"d_k": ()}, {"d_v": -1}, {"d_v": 1.5}, {"n_layers": 0},
        {"n_layers": 10**6}, {"temperature": 0}, {"temperature": -1}, {"temperature": math.inf}, {"scale": math.nan},
        {"scale": math.inf}, {"softcap": -1}, {"n_heads": 4, "n_kv_heads": 3}, {"n_heads": 2, "n_kv_heads": 4},
        {"n_kv_heads": 0}, {"seed": "a"}, {"normalise_over": "heads"}, {"mask": ("causal", "nonesuch")},
        {"tied": "yes"},
    ],
)  # fmt: skip
def test_settings_that_cannot_be_used(wrong):
    with pytest.raises(ConfigError) as caught:
        Config(**wrong)
    assert list(wrong)[-1] in str(caught.value), "the message names the setting"


# Trace --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("second", ["", SEVEN])
def test_the_names_and_shapes_of_the_steps(second):
    config = Config(sentence=FIVE, second_sentence=second, n_heads=6, n_kv_heads=2, d_model=9, d_k=4, d_v=3, n_layers=2)
    trace, n_k = run(config), 7 if second else 5
    assert isinstance(trace, Trace)
    assert len(trace.layers) == 2
    expected = {
        "queries": (6, 5, 4),
        "keys": (2, n_k, 4),
        "values": (2, n_k, 3),
        **dict.fromkeys(("scores", "scaled", "capped", "masked", "weights"), (6, 5, n_k)),
        "heads": (6, 5, 3),
        "concat": (5, 18),
        "output": (5, 9),
        "w_q": (6, 9, 4),
        "w_k": (2, 9, 4),
        "w_v": (2, 9, 3),
        "w_o": (18, 9),
    }
    for layer in trace.layers:
        assert {name: layer[name].array.shape for name in expected} == expected
        assert [name for name in layer if name in ATTENTION] == ATTENTION, "in the order of the computation"
    assert trace["embedded"].array.shape == (5, 9)
    assert trace["output"].array.shape == (5, 9)
    if second:
        assert trace["embedded_kv"].array.shape == (7, 9)
    assert trace.query_tokens == tuple(FIVE.split())
    assert trace.key_tokens == tuple((second or FIVE).split())


def every_step(trace: Trace) -> list[Step]:
    """The steps of all layers, and those around them."""
    around = [trace[name] for name in ("token_embeddings", "positions", "embedded", "output")]
    return around + [layer[name] for layer in trace.layers for name in layer]


RICH = Config(
    sentence=FIVE, second_sentence=SEVEN, n_heads=4, n_kv_heads=2, d_model=9, d_k=(4, 3), d_v=(2, 6), n_layers=2,
    residual=True, norm="pre", feed_forward="gelu", d_ff=11, score="additive", position="sinusoidal", bias="t5",
    mask=("causal", "window"), projection_bias=True, softcap=5.0,
)  # fmt: skip


def test_every_step_says_what_it_is():
    trace = run(RICH)
    for step in every_step(trace):
        assert isinstance(step, Step)
        assert len(step.axes) == len(set(step.axes)) == step.array.ndim, step.name
        assert all(isinstance(word, str) and word for word in (*step.axes, step.symbol, step.formula)), step.name
        assert step.kind in ("signed", "share", "allowed"), step.name
        assert step.array.dtype == (bool if step.kind == "allowed" else np.float64), step.name
    assert trace.layers[0]["weights"].kind == "share"
    assert trace.layers[0]["scores"].kind == "signed"


def test_every_step_is_read_only():
    for step in every_step(run(RICH)):
        with pytest.raises(ValueError):
            step.array[...] = 0
        with pytest.raises(dataclasses.FrozenInstanceError):
            step.array = np.zeros(3)


def test_axes_of_one_name_have_one_size():
    trace = run(RICH)
    for layer in trace.layers:
        sizes: dict[str, int] = {}
        for name in layer:
            for axis, size in zip(layer[name].axes, layer[name].array.shape, strict=True):
                assert sizes.setdefault(axis, size) == size, f"{axis} of {name}"
    axes = {name: trace.layers[0][name].axes for name in ("scores", "scaled", "capped", "masked", "weights")}
    assert len(set(axes.values())) == 1


def test_a_step_that_does_not_exist():
    trace = run(Config(sentence=FIVE))
    for missing in (lambda: trace["nonesuch"], lambda: trace.layers[0]["nonesuch"]):
        with pytest.raises(KeyError):
            missing()


def test_the_layers_steps_are_also_the_traces():
    trace = run(Config(sentence=FIVE))
    np.testing.assert_array_equal(trace["weights"].array, trace.layers[0]["weights"].array)


def test_the_same_config_gives_the_same_numbers():
    one, two = run(RICH), run(dataclasses.replace(RICH))
    for ours, theirs in zip(every_step(one), every_step(two), strict=True):
        np.testing.assert_array_equal(ours.array, theirs.array)


def test_another_seed_gives_other_numbers():
    one, two = (arrays(run(dataclasses.replace(RICH, seed=seed))) for seed in (0, 1))
    for name in ("w_q", "w_k", "w_v", "w_o", "score_w_q", "scores", "output"):
        assert (one[name] != two[name]).mean() > 0.5, name


def test_no_two_projections_are_dealt_the_same_numbers():
    layers = run(Config(sentence=FIVE, n_heads=3, n_layers=2, d_model=8, d_k=5, d_v=5)).layers
    stacks = [layer[name].array for layer in layers for name in ("w_q", "w_k", "w_v")]
    values = np.concatenate([stack.ravel() for stack in stacks])
    assert len(np.unique(values)) > 0.99 * len(values)


# Every row of every table against the opinion -----------------------------------------------------------------------


@for_each("second", ["", SEVEN])
@for_each("field, row", [(field, row) for field in FOLLOWED for row in TABLES[field]])
@pytest.mark.slow
def test_every_row_against_the_opinion(field, row, second):
    typed = {"own_numbers": "1 0 2 0 3 1\n" * 5, "own_numbers_second": "0 1 0 2 -1 1\n1 1 0 0 0 -2\n" * 4}
    sizes = {"d_model": 6, "n_heads": 3, "d_k": 4, "d_v": 2, "softcap": 4.0}
    config = Config(sentence=FIVE, second_sentence=second, **{**sizes, **typed, "position": "none", field: row})
    trace = run(config)
    layer, x = arrays(trace), trace["embedded"].array
    x_kv = trace["embedded_kv"].array if second else x
    np.testing.assert_allclose(x, trace["token_embeddings"].array + trace["positions"].array, rtol=0, atol=1e-15)
    if row == "rope":  # is turned after the projection: test_positions_biases
        return
    assert_heads(config, layer, opinion(config, x, x_kv, layer))
    np.testing.assert_array_equal(trace["output"].array, layer["output"])


# Masks and their settings -------------------------------------------------------------------------------------------


def cells(**settings) -> np.ndarray:
    """Which (query, key) cells are open in a run."""
    return arrays(run(Config(n_heads=1, **settings)))["masked"][0] != -np.inf


RULES = {
    "none": ({}, lambda i, j: True),
    "causal": ({}, lambda i, j: j <= i),
    "window": ({"reach": 1}, lambda i, j: abs(i - j) <= 1),
    "dilated": ({"reach": 1, "dilation": 2}, lambda i, j: abs(i - j) in (0, 2)),
    "block": ({"block_size": 2}, lambda i, j: i // 2 == j // 2),
    "prefix": ({"prefix_length": 2}, lambda i, j: j <= i or j < 2),
    "global_window": ({"reach": 1, "n_global": 2}, lambda i, j: abs(i - j) <= 1 or i < 2 or j < 2),
    "no_self": ({}, lambda i, j: i != j),
    "custom": ({"custom_cells": ((0, 3), (4, 0), (2, 2))}, lambda i, j: (i, j) in ((0, 3), (4, 0), (2, 2))),
    "formula": ({"mask_formula": "i >= j - 1 and j % 2 == 0"}, lambda i, j: i >= j - 1 and j % 2 == 0),
    "padding": ({"pad_to": 8}, lambda i, j: j < 5),
}


@for_each("mask", MASKS)
def test_what_each_mask_allows(mask):
    settings, rule = RULES[mask]
    n = settings.get("pad_to", 5)
    expected = [[rule(i, j) for j in range(n)] for i in range(n)]
    assert cells(sentence=FIVE, mask=mask, **settings).tolist() == expected


@for_each("mask", [name for name in MASKS if name != "padding"])
def test_masks_compare_positions_in_cross_attention(mask):
    settings, rule = RULES[mask]
    opened = cells(sentence=FIVE, second_sentence=SEVEN, mask=mask, **settings)
    assert opened.tolist() == [[rule(i, j) for j in range(7)] for i in range(5)]


def test_padding_concerns_keys():
    opened = cells(sentence=SEVEN, second_sentence="uno dos", pad_to=7, mask="padding")
    assert opened.tolist() == [[True, True] + [False] * 5] * 7


def test_padded_runs_have_pad_tokens_and_marks_of_begin_and_end():
    trace = run(Config(sentence="one two", pad_to=6, bos=True, eos=True))
    assert trace.query_tokens == ("<bos>", "one", "two", "<eos>", "<pad>", "<pad>")


def test_what_is_cut_is_said():
    whole, cut = (run(Config(sentence=FIVE, max_tokens=n)) for n in (5, 3))
    assert len(whole.query_tokens) == 5
    assert not whole.notes
    assert cut.query_tokens == tuple(FIVE.split()[:3])
    assert cut.notes


def test_all_masks_have_to_allow():
    names = ("causal", "window", "no_self")
    both = cells(sentence=SEVEN, mask=names, reach=2)
    apart = [cells(sentence=SEVEN, mask=name, reach=2) for name in names]
    np.testing.assert_array_equal(both, np.logical_and.reduce(apart))


def test_masked_keys_are_as_good_as_deleted():
    """Padding hides keys: the words get what they get without it."""
    short, long = (run(Config(sentence=FIVE, pad_to=n, mask="padding")) for n in (0, 9))
    np.testing.assert_allclose(long["output"].array[:5], short["output"].array, **CLOSE)
    assert not long["weights"].array[:, :, 5:].any()


def test_causal_attention_does_not_know_what_comes():
    short, long = (run(Config(sentence=s, mask="causal", n_layers=3, residual=True)) for s in (FIVE, f"{FIVE} {SEVEN}"))
    np.testing.assert_allclose(long["output"].array[:5], short["output"].array, **CLOSE)


def test_a_row_that_may_read_nothing_is_zero_and_said():
    trace = run(Config(sentence=FIVE, mask="custom", custom_cells=((0, 1), (1, 1))))
    weights = trace["weights"].array
    assert (weights[:, :2, 1] == 1).all()
    assert not weights[:, 2:].any()
    assert trace.notes
    assert all(isinstance(note, str) for note in trace.notes)
    assert not run(Config(sentence=FIVE)).notes


def test_a_sum_of_zero_is_said():
    trace = run(Config(sentence=FIVE, normaliser="linear", score="negative_distance", mask="no_self"))
    assert not trace["weights"].array.any()
    assert trace.notes


# Heads of different widths and shared keys ----------------------------------------------------------------------------


@for_each("score", SCORES)
@for_each("grouped", [False, True])
def test_heads_of_different_widths_are_computed_as_if_alone(score, grouped):
    config = Config(
        sentence=FIVE,
        second_sentence=SEVEN,
        d_model=6,
        n_heads=4,
        n_kv_heads=2 if grouped else None,
        d_k=(3, 5) if grouped else (3, 1, 5),
        d_v=(4, 2) if grouped else (2, 4, 1, 3),
        score=score,
        d_a=3,
        projection_bias=True,
        initialiser="normal",
        normaliser="entmax15",
        temperature=3.0,
    )
    trace = run(config)
    layer = arrays(trace)
    assert layer["queries"].shape == (4, 5, 5)
    assert layer["values"].shape == (2 if grouped else 4, 7, 4)
    assert_heads(config, layer, opinion(config, trace["embedded"].array, trace["embedded_kv"].array, layer))
    d_v = [4, 4, 2, 2] if grouped else [2, 4, 1, 3]
    assert layer["concat"].shape == (5, sum(d_v))
    assert layer["w_o"].shape == (sum(d_v), 6)


def test_a_short_tuple_of_widths_repeats_its_last():
    short, full = (arrays(run(Config(sentence=FIVE, n_heads=4, d_k=d, d_v=d))) for d in ((2, 3), (2, 3, 3, 3)))
    for name, array in full.items():
        np.testing.assert_array_equal(short[name], array, err_msg=name)


@for_each("score", SCORES)
def test_a_wider_neighbour_changes_no_number_of_a_head(score):
    """Zeros that are added up at the end of a row may move the last bit, and no more."""
    even, ragged = (arrays(run(Config(sentence=FIVE, n_heads=3, d_k=d, d_v=d, score=score))) for d in (3, (3, 9, 3)))
    for name in ("scores", "scaled", "weights"):
        for h in (0, 2):
            np.testing.assert_allclose(ragged[name][h], even[name][h], **CLOSE, err_msg=name)
    np.testing.assert_allclose(ragged["heads"][::2, :, :3], even["heads"][::2], **CLOSE)


@for_each("n_kv_heads", [1, 2, 3, 6, None])
def test_queries_share_keys_in_order(n_kv_heads):
    config = Config(sentence=FIVE, n_heads=6, n_kv_heads=n_kv_heads, d_model=7, d_k=3, d_v=2)
    trace = run(config)
    layer, x = arrays(trace), trace["embedded"].array
    assert len(layer["keys"]) == len(layer["w_k"]) == len(layer["values"]) == (n_kv_heads or 6)
    assert_heads(config, layer, opinion(config, x, x, layer))


# Layers -------------------------------------------------------------------------------------------------------------


def layer_norm(x: np.ndarray) -> np.ndarray:
    """Each row less its mean, over its standard deviation."""
    return (x - x.mean(-1, keepdims=True)) / x.std(-1, keepdims=True)


def rms_norm(x: np.ndarray) -> np.ndarray:
    """Each row over the length that it has for each of its numbers."""
    return x * math.sqrt(x.shape[-1]) / np.linalg.norm(x, axis=-1, keepdims=True)


BEFORE = {"pre": layer_norm, "rms": rms_norm}
ACTIVATIONS = {
    "relu": lambda x: max(x, 0.0),
    "gelu": lambda x: x * normal_cdf(x),
    "gelu_tanh": lambda x: x / (1 + math.exp(-2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    "swiglu": lambda x: x / (1 + math.exp(-x)),
    "geglu": lambda x: x * normal_cdf(x),
}


def block(config: Config, layer: Arrays, x: np.ndarray) -> np.ndarray:
    """One layer's result from its input, its attention and its own matrices."""
    y = x + layer["output"] if config.residual else layer["output"]
    y = layer_norm(y) if config.norm == "post" else y
    if config.feed_forward == "none":
        return y
    z = BEFORE[config.norm](y) if config.norm in BEFORE else y
    activated = np.vectorize(ACTIVATIONS[config.feed_forward])(z @ layer["w_1"] + layer["b_1"])
    if config.feed_forward in ("swiglu", "geglu"):
        activated = activated * (z @ layer["w_3"] + layer["b_3"])
    z = activated @ layer["w_2"] + layer["b_2"]
    z = y + z if config.residual else z
    return layer_norm(z) if config.norm == "post" else z


def normal_cdf(x: float) -> float:
    """The share of a normal distribution below x."""
    return (1 + math.erf(x / math.sqrt(2))) / 2


@for_each("second", ["", SEVEN])
@for_each("feed_forward", ["none", *ACTIVATIONS])
@for_each("norm", ["none", "pre", "post", "rms"])
def test_layers_with_everything_around_attention(norm, feed_forward, second):
    config = Config(
        sentence=FIVE, second_sentence=second, n_layers=3, residual=True, norm=norm, feed_forward=feed_forward,
        d_model=6, n_heads=2, d_k=3, d_v=5, d_ff=7, projection_bias=True, initialiser="linear",
    )  # fmt: skip
    trace = run(config)
    x = trace["embedded"].array
    for i in range(3):
        layer = arrays(trace, i)
        x_q = BEFORE[norm](x) if norm in BEFORE else x
        x_kv = trace["embedded_kv"].array if second else x_q
        plain = {"rtol": 1e-3, "atol": 1e-3}  # a layer norm may add a little to the variance
        np.testing.assert_allclose(layer["queries"], x_q @ layer["w_q"] + layer["b_q"][:, None], **plain)
        if not (second and norm in BEFORE):
            np.testing.assert_allclose(layer["keys"], x_kv @ layer["w_k"] + layer["b_k"][:, None], **plain)
        x = block(config, layer, x)
    np.testing.assert_allclose(trace["output"].array, x, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("second", ["", SEVEN], ids=["self", "cross"])
def test_a_layer_reads_what_the_former_made(second):
    config = Config(sentence=FIVE, second_sentence=second, n_layers=3, d_model=6, output_projection=False)
    trace = run(config)
    x = trace["embedded"].array
    for i in range(3):
        layer = arrays(trace, i)
        heads = opinion(config, x, trace["embedded_kv"].array if second else x, layer)
        assert_heads(config, layer, heads)
        x = layer["output"]
        assert x.shape == (5, 6), "W_O leads back to d_model, wanted or not"
    np.testing.assert_array_equal(trace["output"].array, x)


def test_a_residual_adds_the_input():
    trace = run(Config(sentence=FIVE, residual=True, output_projection=False, d_model=6))
    layer = arrays(trace)
    assert layer["output"].shape == (5, 6)
    np.testing.assert_allclose(trace["output"].array, trace["embedded"].array + layer["output"], rtol=0, atol=1e-15)


def test_without_an_output_projection_the_output_is_concat():
    trace = run(Config(sentence=FIVE, output_projection=False, n_heads=3, d_v=(2, 3, 4)))
    np.testing.assert_array_equal(trace["output"].array, trace["concat"].array)
    assert trace["output"].array.shape == (5, 9)


# Given projections and edits ------------------------------------------------------------------------------------------


def given(heads: int = 2, d_model: int = 6) -> dict[str, np.ndarray]:
    draw = np.random.default_rng(11)
    return {
        "w_q": draw.normal(size=(heads, d_model, 3)),
        "w_k": draw.normal(size=(heads, d_model, 3)),
        "w_v": draw.normal(size=(heads, d_model, 4)),
        "w_o": draw.normal(size=(heads * 4, d_model)),
        "b_q": draw.normal(size=(heads, 3)),
        "b_o": draw.normal(size=d_model),
    }


GIVEN = Config(sentence=FIVE, d_model=6, n_heads=2, d_k=3, d_v=4, n_layers=2, projection_bias=True)


def test_given_projections_are_used_in_every_layer():
    mine = given()
    trace = run(GIVEN, projections=mine)
    x = trace["embedded"].array
    for i in range(2):
        layer = arrays(trace, i)
        for name, array in mine.items():
            np.testing.assert_array_equal(layer[name], array, err_msg=name)
        assert_heads(GIVEN, layer, opinion(GIVEN, x, x, layer))
        x = layer["output"]


@for_each("name", ["w_q", "w_k", "w_v", "w_o"])
def test_what_is_not_given_is_drawn_as_ever(name):
    drawn, mixed = arrays(run(GIVEN)), arrays(run(GIVEN, projections={name: given()[name]}))
    for other in ("w_q", "w_k", "w_v", "w_o", "b_q"):
        expected = given()[name] if other == name else drawn[other]
        np.testing.assert_array_equal(mixed[other], expected, err_msg=other)


def test_a_list_of_projections_is_one_a_layer():
    drawn = [arrays(run(GIVEN), i) for i in range(2)]
    trace = run(GIVEN, projections=[{"w_q": given()["w_q"]}, {"w_v": given()["w_v"]}])
    for i, mine in enumerate(("w_q", "w_v")):
        for name in ("w_q", "w_k", "w_v"):
            expected = given()[name] if name == mine else drawn[i][name]
            np.testing.assert_array_equal(arrays(trace, i)[name], expected, err_msg=f"{name} of layer {i}")


def test_a_list_of_projections_for_other_layers_than_there_are():
    for dicts in ([given()], [given()] * 3):
        with pytest.raises(ValueError):
            run(GIVEN, projections=dicts)


def test_heads_of_different_width_are_given_as_lists():
    draw = np.random.default_rng(12)
    config = Config(sentence=FIVE, d_model=6, n_heads=3, d_k=(2, 5, 3), d_v=(4, 1, 2))
    mine = {
        "w_q": [draw.normal(size=(6, d)) for d in (2, 5, 3)],
        "w_k": [draw.normal(size=(6, d)) for d in (2, 5, 3)],
        "w_v": [draw.normal(size=(6, d)) for d in (4, 1, 2)],
    }
    trace = run(config, projections=mine)
    layer, x = arrays(trace), trace["embedded"].array
    for name, matrices in mine.items():
        for h, matrix in enumerate(matrices):
            np.testing.assert_array_equal(layer[name][h, :, : matrix.shape[1]], matrix)
            assert not layer[name][h, :, matrix.shape[1] :].any()
    assert_heads(config, layer, opinion(config, x, x, layer))


@for_each(
    "wrong",
    [
        {"w_q": np.ones((3, 6, 3))},
        {"w_q": np.ones((2, 5, 3))},
        {"w_o": np.ones((7, 6))},
        {"nonesuch": np.ones((2, 6, 3))},
    ],
)
def test_projections_that_do_not_fit(wrong):
    with pytest.raises(ValueError):
        run(GIVEN, projections=wrong)


@for_each(
    "step, index",
    [("queries", (1, 2, 0)), ("keys", (0, 3, 1)), ("values", (1, 0, 2)), ("scores", (1, 4, 2)), ("scaled", (0, 0, 0)),
     ("masked", (1, 1, 3)), ("weights", (0, 2, 2)), ("heads", (1, 3, 0)), ("concat", (2, 1)), ("output", (4, 5))],
)  # fmt: skip
@for_each("layer", [0, 1])
def test_an_edit_changes_one_number_and_all_that_follows(layer, step, index):
    before, after = run(GIVEN), run(GIVEN, edits=((layer, step, index, 7.5),))
    names = [(i, name) for i in range(2) for name in before.layers[i]]
    changed = {(i, name) for i, name in names if (arrays(before, i)[name] != arrays(after, i)[name]).any()}
    for i, name in names[: names.index((layer, step))]:
        assert (i, name) not in changed, f"{name} of layer {i} comes before the edit"
    differs = arrays(before, layer)[step] != arrays(after, layer)[step]
    assert [tuple(at) for at in np.argwhere(differs)] == [index]
    assert arrays(after, layer)[step][index] == 7.5
    assert (before["output"].array != after["output"].array).any()
    assert (1, "output") in changed


def test_what_follows_an_edit_uses_it():
    layer = arrays(run(Config(sentence=FIVE, n_heads=2, d_k=4), edits=((0, "scores", (1, 2, 3), 40.0),)))
    np.testing.assert_allclose(layer["scaled"], layer["scores"] / 2, **CLOSE)
    alone = reference.attend_heads(layer["scores"] / 2, np.tile(np.eye(5), (2, 1, 1)), layer["values"], score="dot")
    np.testing.assert_allclose(layer["weights"], alone.weights, **CLOSE)
    np.testing.assert_allclose(layer["heads"], alone.output, **CLOSE)
    assert layer["weights"][1, 2, 3] > 0.99


def test_two_edits_both_count():
    edits = ((0, "queries", (0, 0, 0), 3.0), (0, "weights", (1, 1, 1), 0.25))
    layer = arrays(run(GIVEN, edits=edits))
    assert layer["queries"][0, 0, 0] == 3
    assert layer["weights"][1, 1, 1] == 0.25


# The wrong way round, and tied matrices -----------------------------------------------------------------------------


@for_each("normaliser", NORMALISERS)
def test_normalising_over_queries_is_the_transposed_sum(normaliser):
    settings = {"sentence": FIVE, "second_sentence": SEVEN, "temperature": 2.0, "mask": "no_self"}
    layer = arrays(run(Config(**settings, normalise_over="queries", normaliser=normaliser)))
    for h in range(4):
        columns = [reference.weigh(column, normaliser, 2.0) for column in layer["masked"][h].T.tolist()]
        np.testing.assert_allclose(layer["weights"][h].T, columns, **CLOSE)
    np.testing.assert_allclose(layer["heads"], layer["weights"] @ layer["values"], **CLOSE)


def test_over_queries_the_columns_add_to_one_and_the_rows_do_not():
    weights = run(Config(sentence=FIVE, normalise_over="queries", mask="causal"))["weights"].array
    np.testing.assert_allclose(weights.sum(-2), 1, rtol=1e-14)
    assert (abs(weights.sum(-1) - 1) > 1e-3).any()


def test_tied_queries_and_keys_are_one_matrix():
    layer = arrays(run(Config(sentence=FIVE, tied=True)))
    np.testing.assert_array_equal(layer["w_q"], layer["w_k"])
    np.testing.assert_array_equal(layer["queries"], layer["keys"])
    np.testing.assert_allclose(layer["scores"], layer["scores"].swapaxes(-1, -2), **CLOSE)
    assert (layer["w_q"] != layer["w_v"]).any()
    free = arrays(run(Config(sentence=FIVE)))
    assert (free["w_q"] != free["w_k"]).any()


# Change one thing, and only that changes ------------------------------------------------------------------------------

PER_HEAD = [name for name in BIASES if name != "alibi"]  # by its definition, a slope of ALiBi knows the number of heads


def assert_heads_stay(fewer: Config, more: Config) -> None:
    """The heads of `fewer` are the first heads of `more`, bit for bit; an orthogonal W_O is one whole by definition."""
    small, large = arrays(run(fewer)), arrays(run(more))
    for name, array in small.items():
        if name in ("w_o", "b_o", "output", "allowed"):
            continue
        there = large[name][:, : array.shape[1]] if name == "concat" else large[name][: len(array)]
        np.testing.assert_array_equal(there, array, err_msg=name)
    if fewer.initialiser != "orthogonal":
        np.testing.assert_array_equal(large["w_o"][: len(small["w_o"])], small["w_o"])


@pytest.mark.slow
@for_each("initialiser", [name for name in INITIALISERS if name != "learned"])  # heads learn together
@for_each("score", SCORES)
def test_another_head_leaves_the_others_exactly_as_they_were(score, initialiser):
    settings = {"score": score, "initialiser": initialiser, "projection_bias": True, "d_k": 5, "d_v": 3}
    for n in (1, 3, 7):
        fewer, more = (Config(sentence=FIVE, **settings, n_heads=heads) for heads in (n, n + 1))
        assert_heads_stay(fewer, more)


@for_each("bias", PER_HEAD)
@for_each("position", POSITIONS)
def test_another_head_leaves_the_others_whatever_else_is_on(position, bias):
    settings = {"sentence": FIVE, "second_sentence": SEVEN, "position": position, "bias": bias, "mask": "causal"}
    fewer, more = (Config(**settings, n_heads=heads, d_model=40, d_k=17) for heads in (5, 6))
    assert_heads_stay(fewer, more)


@for_each("normaliser", NORMALISERS)
def test_another_head_leaves_the_others_under_every_normaliser(normaliser):
    fewer, more = (Config(sentence=f"{FIVE} {SEVEN}", normaliser=normaliser, n_heads=heads, d_k=7) for heads in (2, 3))
    assert_heads_stay(fewer, more)


def test_another_group_leaves_the_others():
    fewer, more = (Config(sentence=FIVE, n_heads=h, n_kv_heads=h // 3) for h in (6, 9))
    assert_heads_stay(fewer, more)


def test_another_layer_leaves_the_former_ones():
    two, three = (run(Config(sentence=FIVE, n_layers=n, feed_forward="relu", residual=True)) for n in (2, 3))
    for i in range(2):
        for name, array in arrays(two, i).items():
            np.testing.assert_array_equal(arrays(three, i)[name], array, err_msg=name)


@for_each("score", SCORES)
def test_another_token_leaves_every_draw(score):
    """Normal draws: Glorot's limits of the location score know the number of keys by definition."""
    settings = {"score": score, "bias": "t5", "position": "random", "initialiser": "normal"}
    short, long = (run(Config(sentence=s, **settings)) for s in (FIVE, FIVE + " six"))
    np.testing.assert_array_equal(long["embedded"].array[:5], short["embedded"].array)
    ours, theirs = arrays(short), arrays(long)
    for name in ("w_q", "w_k", "w_v", "w_o"):
        np.testing.assert_array_equal(theirs[name], ours[name])
    np.testing.assert_allclose(theirs["masked"][:, :5, :5], ours["masked"], **CLOSE)


@for_each("embedding", [name for name in EMBEDDINGS if name != "own"])
def test_a_wider_model_appends_columns_to_the_embeddings(embedding):
    narrow, wide = (run(Config(sentence=FIVE, embedding=embedding, d_model=d)) for d in (7, 12))
    np.testing.assert_array_equal(wide["token_embeddings"].array[:, :7], narrow["token_embeddings"].array)


@for_each("embedding", DRAWN)
def test_a_token_has_one_vector_wherever_it_stands(embedding):
    here = Config(sentence="the cat saw the dog", embedding=embedding)
    there = Config(sentence="a dog and the cat", second_sentence="cat", embedding=embedding)
    one, two = (run(config)["token_embeddings"].array for config in (here, there))
    np.testing.assert_array_equal(one[0], one[3])
    np.testing.assert_array_equal(one[[4, 0, 1]], two[[1, 3, 4]])
    assert (one[1] != one[4]).any()


def test_one_hot_counts_words_by_first_appearance_over_both_sentences():
    trace = run(Config(sentence="b a b", second_sentence="a c", embedding="one_hot", d_model=4, position="none"))
    assert trace["embedded"].array.tolist() == [[1, 0, 0, 0], [0, 1, 0, 0], [1, 0, 0, 0]]
    assert trace["embedded_kv"].array.tolist() == [[0, 1, 0, 0], [0, 0, 1, 0]]


def test_own_numbers_go_by_position():
    trace = run(Config(sentence="so so", embedding="own", own_numbers="1 2 3\n4 5 6", d_model=3, position="none"))
    assert trace["embedded"].array.tolist() == [[1, 2, 3], [4, 5, 6]]


@for_each("score", [name for name in SCORES if name != "location"])
def test_without_positions_permuting_words_permutes_the_output(score):
    order = [3, 0, 4, 2, 1]
    settings = {"position": "none", "score": score, "n_layers": 2, "residual": True, "norm": "pre"}
    there = run(Config(sentence=FIVE, **settings, feed_forward="relu"))
    here = run(Config(sentence=" ".join(np.array(FIVE.split())[order]), **settings, feed_forward="relu"))
    np.testing.assert_allclose(here["output"].array, there["output"].array[order], **CLOSE)
    weights = there["weights"].array[:, order][:, :, order]
    np.testing.assert_allclose(here["weights"].array, weights, **CLOSE)


@for_each("position", [name for name in POSITIONS if name != "none"])
def test_with_positions_it_does_not(position):
    order = [3, 0, 4, 2, 1]
    there = run(Config(sentence=FIVE, position=position))
    here = run(Config(sentence=" ".join(np.array(FIVE.split())[order]), position=position))
    assert abs(here["output"].array - there["output"].array[order]).max() > 1e-3


def test_permuting_the_second_sentence_changes_nothing():
    settings = {"sentence": FIVE, "position": "none"}
    there, here = (run(Config(second_sentence=s, **settings)) for s in (SEVEN, " ".join(SEVEN.split()[::-1])))
    np.testing.assert_allclose(here["output"].array, there["output"].array, **CLOSE)


def test_a_scale_moves_into_the_queries():
    mine = {name: w for name, w in given().items() if name.startswith("w")}
    config = Config(sentence=FIVE, d_model=6, n_heads=2, d_k=3, d_v=4, scale=-0.75)
    outside = run(config, projections=mine)
    inside = run(dataclasses.replace(config, scale=1.0), projections={**mine, "w_q": -0.75 * mine["w_q"]})
    np.testing.assert_allclose(outside["scaled"].array, inside["scaled"].array, **CLOSE)
    np.testing.assert_allclose(outside["output"].array, inside["output"].array, **CLOSE)


@for_each("initialiser", INITIALISERS)
def test_what_each_initialiser_promises(initialiser):
    d, width = 40, 24
    config = Config(sentence=FIVE, d_model=d, n_heads=3, d_k=width, d_v=width, initialiser=initialiser)
    w = run(config).layers[0]["w_q"].array
    expected = {
        "glorot": lambda: 0.95 < abs(w).max() / math.sqrt(6 / (d + width)) <= 1,
        "linear": lambda: 0.95 < abs(w).max() / math.sqrt(1 / d) <= 1,
        "normal": lambda: abs(w.mean()) < 0.1 and abs(w.std() - 1) < 0.1 and abs(w).max() > 2,
        "uniform": lambda: w.min() >= 0 and w.max() < 1 and abs(w.mean() - 0.5) < 0.05,
        "binary": lambda: set(np.unique(w)) == {0, 1} and abs(w.mean() - 0.5) < 0.1,
        "orthogonal": lambda: np.allclose(w.swapaxes(-1, -2) @ w, np.eye(width), rtol=0, atol=1e-12),
    }
    if initialiser in expected:
        assert expected[initialiser]()
        assert (w[0] != w[1]).any()
