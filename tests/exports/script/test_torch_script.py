"""The exported PyTorch script: run in float64, and every step held against the engine's own."""

from __future__ import annotations

import ast

import numpy as np
import pytest

from attnviz import Config, run
from attnviz.exports.script.torch_script import torch_script
from tests.support import scripts
from tests.support.cases import for_each

pytestmark = pytest.mark.usefixtures("torch")


@for_each("name", scripts.SETTINGS)
def test_the_script_computes_what_the_page_shows(name):
    config, trace = scripts.traced(name)
    scripts.compare(trace, scripts.execute(torch_script(config)), 1e-9, bits=True)


@pytest.mark.parametrize("first", range(0, 30, 10))
def test_so_it_does_where_rows_of_all_tables_meet(first):
    for number in range(first, first + 10):
        config, trace = scripts.traced(number)
        scripts.compare(trace, scripts.execute(torch_script(config)), 1e-9, bits=True)


def config(**more) -> Config:
    return Config(**{"sentence": "a b c a d", "d_model": 6, "n_heads": 3, "d_k": 2, "d_v": 2} | more)


CALL, MODULE = "scaled_dot_product_attention(", "MultiheadAttention(d_model"


@for_each(
    "more",
    [
        {},
        {"mask": "causal"},
        {"mask": ("window", "padding"), "pad_to": 7},
        {"mask": ("no_self", "causal"), "bos": True},
        {"bias": "t5"},
        {"bias": "alibi", "mask": "no_self", "temperature": 0.4},
        {"score": "dot"},
        {"scale": -0.7, "mask": "no_self"},
        {"scale": 0.0, "temperature": 0.5},
        {"n_kv_heads": 1, "d_v": 5, "mask": "prefix"},
        {"second_sentence": "x y z", "mask": "causal"},
        {"second_sentence": "x y z w v u t s", "mask": "causal", "position": "rope"},
        {"d_k": (3, 2), "score": "dot", "d_v": (1, 4)},
        {
            "n_layers": 2,
            "norm": "pre",
            "mask": "causal",
            "edits": ((1, "allowed", (0, 3), 1.0), (0, "heads", (1, 1, 1), 2.0)),
        },
    ],
)
def test_the_one_call_is_used_where_it_can_do_it(more):
    setting = config(**more)
    script = torch_script(setting)
    assert script.count(CALL) == 1
    scripts.compare(run(setting), scripts.execute(script), 1e-9, bits=True)


@for_each(
    "more",
    [
        {"score": "cosine"},
        {"normaliser": "sparsemax"},
        {"normalise_over": "queries"},
        {"softcap": 3.0},
        {"d_k": (3, 2)},
        {"edits": ((0, "masked", (0, 1, 2), 1.0),)},
        {"edits": ((0, "weights", (0, 1, 2), 1.0),)},
    ],
)
def test_elsewhere_the_steps_stand_alone(more):
    script = torch_script(config(**more))
    assert CALL not in script
    assert MODULE not in script
    assert "Z = A @ V" in script


@for_each(
    "more",
    [
        {},
        {"mask": "causal"},
        {"mask": "no_self", "projection_bias": True, "initialiser": "normal"},
        {"bias": "t5", "mask": "prefix"},
        {"bias": "alibi"},
        {"second_sentence": "x y z w", "mask": "window"},
        {"n_layers": 2, "norm": "pre", "residual": True, "tied": True},
    ],
)
def test_the_module_is_shown_where_it_has_the_shape(more):
    setting = config(**more)
    script = torch_script(setting)
    assert script.count(MODULE) == 1
    assert "assert torch.allclose(Y_module, Y)" in script  # so that running it compares them
    scripts.compare(run(setting), scripts.execute(script), 1e-9, bits=True)


@for_each(
    "more",
    [
        {"d_v": 3},
        {"n_kv_heads": 1},
        {"scale": 0.7},
        {"score": "dot"},
        {"temperature": 0.5},
        {"position": "rope"},
        {"output_projection": False},
        {"mask": ("no_self", "causal")},
        {"edits": ((0, "queries", (0, 1, 1), 2.0),)},
        {"edits": ((0, "output", (0, 1), 2.0),)},
    ],
)
def test_it_is_not_shown_where_it_would_say_something_else(more):
    assert CALL in torch_script(config(**more))
    assert MODULE not in torch_script(config(**more))


def test_what_the_module_is_compared_with_can_differ():
    script = torch_script(config(mask="no_self"))
    with pytest.raises(AssertionError):
        scripts.execute(script.replace("attn_mask=~M", "attn_mask=M"))


def test_the_polarities_are_those_of_this_version(torch):
    Q, V = torch.zeros(1, 2, 1), torch.tensor([[[1.0], [5.0]]])
    may = torch.tensor([[True, False], [True, True]])
    out = torch.nn.functional.scaled_dot_product_attention(Q, Q, V, attn_mask=may)
    assert out.flatten().tolist() == [1.0, 3.0]
    module = torch.nn.MultiheadAttention(1, 1)
    _, weights = module(V[0], V[0], V[0], attn_mask=~may)
    assert weights[0].tolist() == [1.0, 0.0]


def test_numbers_are_drawn_and_kept_in_float64():
    script = torch_script(config())
    found = scripts.execute(script).layers[0]
    assert {array.dtype for array in found.values()} == {np.dtype(float)}
    assert script.index("set_default_dtype(torch.float64)") < script.index("E = ")


@pytest.mark.parametrize("sentence", scripts.HOSTILE[-3:])
def test_a_sentence_is_not_translated(sentence):
    setting = config(sentence=sentence, tokeniser="whitespace", n_heads=1)
    trace = run(setting)
    tokens = next(line for line in _statements(torch_script(setting)) if line.startswith("tokens ="))
    assert tuple(ast.literal_eval(tokens.removeprefix("tokens = "))) == trace.query_tokens
    scripts.compare(trace, scripts.execute(torch_script(setting)), 1e-9, bits=True)


def _statements(script: str) -> list[str]:
    return [ast.unparse(statement) for statement in ast.parse(script).body]


def test_every_line_fits_and_is_in_torch():
    for name in scripts.SETTINGS:
        script = torch_script(scripts.config(name))
        assert max(map(len, script.splitlines())) <= 120, name
        steps = script[script.index("# Embedding") :]
        assert not [word for word in ("np.", "axis", "keepdims", ".copy()") if word in steps], name
