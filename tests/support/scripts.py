"""Runs exported scripts and holds every step that they name against a run; and the settings to do it with."""

from __future__ import annotations

import ast
import contextlib
import io
import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations
from types import CodeType
from typing import Any

import numpy as np

from attnviz import (
    MASKS,
    NORMALISERS,
    Config,
    Trace,
    run,
)
from attnviz.exports.script.rows import VARIABLES
from tests.support.tables import TABLES

SMALL = {
    "sentence": "the cat sat, the mat",
    "d_model": 7,
    "n_heads": 3,
    "d_k": 5,
    "d_v": 2,
    "d_a": 4,
    "d_ff": 6,
    "own_numbers": "1 0.1 -2\n3 4 5 6 7 8 9\n0.30000000000000004",
}

RAGGED = {"n_heads": 4, "n_kv_heads": 2, "d_k": (3, 2), "d_v": (1, 4)}
TWO = {"n_layers": 2, "residual": True}
HAND = {"initialiser": "by_hand", "bos": True, "mask": "causal"}
NEARLY_TIED = tuple(
    (0, "masked", index, score)
    for (i, j), score in {(0, 0): 50.0, (0, 1): 50.0 - 1e-9, (1, 1): 50.0 - 2e-9, (1, 0): 50.0 - 1e-6}.items()
    for index in ((0, i, j), (1, i, j))
)


def equal_but_for_rounding(n: int) -> tuple[tuple[int, str, tuple[int, ...], float], ...]:
    """Return edits after which all scores of heads 0 and 1 are one number, whose terms are added in other orders.

    In head 0 they cancel to zero, so that only the size of the terms tells that what is left is rounding.
    """
    found = []
    for head, last in enumerate((-0.3, 0.3)):
        orders = list(permutations((0.1, 0.2, last)))[:n]
        for token in range(n):
            found += [(0, "queries", (head, token, column), 1.0 if column < 3 else 0.0) for column in range(3)]
            found += [(0, "keys", (head, token, column), x) for column, x in enumerate(orders[token])]
    return tuple(found)


ROUNDED = equal_but_for_rounding(6)
"""Scores that are the largest of their row, or equal to it but for rounding, or below it for all that."""

EDITS = (
    (None, "token_embeddings", (1, 2), 3.0),
    (None, "positions", (0, 1), -1.5),
    (None, "embedded", (2, 2), 0.25),
    (0, "w_q", (1, 2, 0), 2.0),
    (0, "w_k", (0, 3, 1), 1e-3),
    (0, "queries", (2, 1, 0), -1.0),
    (0, "scores", (0, 1, 2), 4.0),
    (0, "scaled", (1, 1, 2), -4.0),
    (0, "capped", (2, 2, 1), 0.5),
    (0, "allowed", (1, 0), 0.0),
    (0, "allowed", (0, 1), 1.0),
    (0, "masked", (0, 2, 1), float("-inf")),
    (0, "weights", (0, 0, 0), 0.125),
    (0, "values", (0, 0, 1), 7.0),
    (0, "heads", (1, 1, 1), 6.0),
    (0, "concat", (1, 1), 5.0),
    (0, "output", (3, 0), -2.0),
)


def _rows() -> dict[str, dict[str, Any]]:
    """Every row of every table by itself; what it needs stands with it."""
    needs = {"patterns": HAND | TWO | {"d_model": 12}, "norm": TWO}
    return {f"{field}-{name}": needs.get(field, {}) | {field: name} for field, rows in TABLES.items() for name in rows}


SETTINGS: dict[str, dict[str, Any]] = _rows() | {
    "plain": {},
    "biases": {"projection_bias": True, "score": "additive"},
    "grouped": {"n_heads": 4, "n_kv_heads": 2},
    "one_kv_head": {"n_kv_heads": 1, "score": "general"},
    "cross": {"second_sentence": "a dog, a cat", "mask": "causal", "position": "random"},
    "cross_one_hot": {"second_sentence": "a cat", "embedding": "one_hot", "bias": "t5", "score": "location"},
    "cross_padded": {"second_sentence": "a cat", "pad_to": 8, "mask": ("padding", "custom"), "embedding": "own"},
    "ragged_rope": RAGGED | {"position": "rope", "projection_bias": True, "initialiser": "linear"},
    "ragged_additive": RAGGED | {"score": "additive", "projection_bias": True, "initialiser": "linear"},
    "ragged_general": RAGGED | {"score": "general", "initialiser": "orthogonal"},
    "ragged_location": RAGGED | {"score": "location", "initialiser": "identity", "projection_bias": True},
    "ragged_keys_only": {"d_k": (3, 2, 4), "initialiser": "normal", "projection_bias": True, "scale": 0.3},
    "ragged_values_only": {"d_v": (3, 2), "tied": True},
    "additive_orthogonal": {"score": "additive", "initialiser": "orthogonal"},
    "additive_identity": {"score": "additive", "initialiser": "identity", "projection_bias": True},
    "tied": {"tied": True, "n_heads": 4, "n_kv_heads": 2, "projection_bias": True, "initialiser": "normal"},
    "tied_by_hand": {"tied": True, "initialiser": "by_hand", "n_heads": 4, "n_kv_heads": 2},
    "by_hand_induction": HAND | TWO | {"patterns": ("previous", "induction"), "d_model": 12, "n_heads": 2},
    "by_hand_edited": HAND | TWO | {"d_model": 12, "tied": True, "edits": ((0, "w_q", (1, 2, 0), 2.0),)},
    "by_hand_values_edited": HAND
    | TWO
    | {"patterns": "induction", "edits": ((0, "w_v", (0, 0, 0), 2.0), (1, "w_q", (0, 0, 0), 2.0))},
    "learned": {"initialiser": "learned", "task": "backwards", "learn_steps": 4},
    "learned_additive": {"initialiser": "learned", "learn_steps": 4, "score": "additive", "second_sentence": "a dog"},
    "learned_location": {"initialiser": "learned", "learn_steps": 4, "score": "location", "task": "dates"},
    "learned_shared": {"initialiser": "learned", "learn_steps": 4, "score": "general", "n_heads": 4, "n_kv_heads": 2},
    "learned_layers": TWO
    | {"initialiser": "learned", "task": "recall", "learn_steps": 4, "projection_bias": True, "score": "additive"}
    | {"edits": ((0, "w_q", (1, 2, 0), 2.0), (1, "score_v", (0, 1), 2.0), (1, "scores", (0, 1, 1), 3.0))},
    "three_layers": {"n_layers": 3, "residual": True, "norm": "pre", "feed_forward": "gelu", "projection_bias": True},
    "today": TWO | {"norm": "rms", "feed_forward": "swiglu", "residual": True, "position": "rope", "d_ff": 7},
    "geglu": {"norm": "rms", "feed_forward": "geglu", "projection_bias": True, "initialiser": "linear", "d_ff": 5},
    "geglu_post": {"norm": "post", "feed_forward": "geglu", "edits": ((0, "ff_gate", (1, 2), 2.0),)},
    "gelu_tanh": {"norm": "pre", "feed_forward": "gelu_tanh", "projection_bias": True, "initialiser": "normal"},
    "layers_cross": TWO | {"second_sentence": "a dog", "norm": "post", "feed_forward": "relu", "score": "additive"},
    "post_alone": {"norm": "post", "feed_forward": "relu", "output_projection": False},
    "no_output_matrix": {"output_projection": False, "d_v": (3, 1), "feed_forward": "gelu", "projection_bias": True},
    "emptied": {"mask": ("causal", "no_self"), "bos": True},
    "emptied_all": {"mask": "custom", "custom_cells": "", "normaliser": "entmax15"},
    "emptied_columns": {"mask": "no_self", "sentence": "one", "normalise_over": "queries"},
    "capped": {"softcap": 2.0, "scale": 3.0, "bias": "linear", "temperature": 0.5},
    "scale_zero": {"scale": 0.0, "normaliser": "hardmax"},
    "scale_one": {"scale": 1.0, "temperature": 2.0, "normaliser": "quiet_softmax"},
    "t5_before_only": {"bias": "t5", "t5_bidirectional": False, "t5_n_buckets": 4, "sentence": "a b c d e f g h i j"},
    "alibi_8": {"bias": "alibi", "n_heads": 8},
    "odd_rope": {"position": "rope", "rope_base": 100.0},
    "rope_1": {"position": "rope", "d_k": 1},
    "edits": {"edits": EDITS},
    "edits_masked": {"edits": EDITS, "mask": "causal", "bias": "alibi", "softcap": 3.0},
    "edits_tied": {"edits": EDITS, "tied": True, "position": "none", "output_projection": False},
    "edits_layers": TWO | {"edits": (*EDITS, (1, "allowed", (2, 2), 0.0), (1, "added", (1, 1), 3.0))},
    "edits_tied_shared": {
        "edits": ((0, "w_q", (1, 2, 0), 2.0), (0, "b_q", (3, 0), 1.5)),
        "tied": True,
        "n_heads": 4,
        "n_kv_heads": 2,
        "projection_bias": True,
    },
    "nearly_tied": {"normaliser": "hardmax", "edits": NEARLY_TIED},
    "all_tied": {"normaliser": "hardmax", "d_k": 3, "position": "none", "edits": ROUNDED},
    "all_tied_columns": {"normaliser": "hardmax", "d_k": 3, "normalise_over": "queries", "edits": ROUNDED},
    "nearly_tied_columns": {"normaliser": "hardmax", "normalise_over": "queries", "edits": NEARLY_TIED},
    "edits_bias": {"bias": "linear", "edits": ((0, "bias", (1, 2, 0), float("-inf")),)},
    "edits_infinite": {"mask": "causal", "edits": ((0, "values", (1, 4, 1), float("-inf")),)},
    "edits_nowhere": {"edits": ((0, "scores", (9, 9, 9), 1.0), (4, "scores", (0, 0, 0), 1.0), (0, "x'y", (), 1.0))},
}
"""The settings of scripts in the tests: every row of every table, and what can go wrong together."""

FORMULA = {"score": "formula"}
SETTINGS |= {
    "typed_tanh": FORMULA | {"score_formula": "sum(tanh(q*k)) / sqrt(d_k) - 0.1*abs(i-j)"},
    "typed_general": FORMULA | {"score_formula": "q @ W @ k", "n_kv_heads": 1},
    "typed_additive": FORMULA | {"score_formula": "t = tanh(q@W_q + b + k@W_k); sum(t * v)", "projection_bias": True},
    "typed_without_biases": FORMULA | {"score_formula": "sum(tanh(q@U + b) * v) + sum(k * u) * g"},
    "typed_list": FORMULA | {"score_formula": "sum(q * W[j]) + b[j] / tau - h", "second_sentence": "a dog"},
    "typed_cosine": FORMULA | {"score_formula": "alpha * dot(unit(q), unit(k)) + ratio(i, j)", "n_layers": 2},
    "typed_few": FORMULA | {"score_formula": "mean(k) if j > 1 else max(k, 0.1) @ k"},
    "typed_only_positions": FORMULA
    | {"score_formula": "2**(j - i) // 3 + h % 2", "edits": ((0, "scores", (0, 0, 1), 2.0),)},
    "typed_ragged": RAGGED | FORMULA | {"score_formula": "mean(exp(q*k)) + sum(tanh(q@U) * c) * g + max(k * u) + d_k"},
    "typed_ragged_biases": RAGGED
    | FORMULA
    | {"score_formula": "sum(q*b) - norm(k@A + w) + W[j] @ q + c[j]", "projection_bias": True, "initialiser": "linear"},
    "typed_ragged_identity": RAGGED | FORMULA | {"score_formula": "sum(u*k) + b @ q", "initialiser": "identity"},
    "typed_ragged_orthogonal": RAGGED | FORMULA | {"score_formula": "sum(u*k)", "initialiser": "orthogonal"},
    "typed_names": FORMULA
    | {"score_formula": "np = tanh(q*k); lambda_ = sum(np)\nhidden = np*np; sum(hidden) + lambda_"},
    "typed_mask": {"mask": ("formula", "causal"), "mask_formula": "token[j] != 'the' and (i - j) % 2 == 0 or i == j"},
    "typed_mask_of_words": {"mask": "formula", "mask_formula": "token[i] == token[j] or not token[j] in ('cat', 'a')"},
    "typed_mask_of_keys": {"mask": "formula", "mask_formula": "j < 3", "second_sentence": "a dog ran home"},
    "typed_mask_of_nothing": {"mask": "formula", "mask_formula": "near = abs(i - j) < n; 1 < 2 and near"},
    "typed_bias": {"bias": "formula", "bias_formula": "-abs(i-j) * 2**(-8*h/n_heads)", "mask": "causal"},
    "typed_bias_alike": {"bias": "formula", "bias_formula": "j / n", "second_sentence": "a dog"},
    "typed_relu": {"normaliser": "formula", "normaliser_formula": "relu(x) / n", "mask": "causal"},
    "typed_quiet": {
        "normaliser": "formula",
        "normaliser_formula": "m = max(x); e = exp(x - m); e / (exp(-m) + sum(e))",
        "temperature": 0.7,
        "mask": ("causal", "no_self"),
    },
    "typed_odd_normaliser": {
        "normaliser": "formula",
        "normaliser_formula": "abs(x) / (1 + norm(x)) + (x > mean(x)) * 0.1 * h + min(x) * 0.01 * (j - i)",
        "mask": "causal",
    },
    "typed_over_queries": {
        "normaliser": "formula",
        "normaliser_formula": "exp(x - max(x) - 0.1*j) / sum(exp(x - max(x) - 0.1*j)) + n / 9",
        "normalise_over": "queries",
        "temperature": 0.7,
        "mask": "no_self",
    },
    "typed_constant_normaliser": {"normaliser": "formula", "normaliser_formula": "1 / n", "mask": "window"},
    "typed_all": FORMULA
    | TWO
    | {
        "score_formula": "sum(max(q, k) * abs(q - k)) / 9",
        "mask": "formula",
        "bias": "formula",
        "normaliser": "formula",
        "normaliser_formula": "sigmoid(x) * sign(j + 1)",
    },
}
"""Formulas that are typed."""

SETTINGS |= {
    f"over_queries-{name}": {"normalise_over": "queries", "normaliser": name, "temperature": 0.7, "mask": "causal"}
    for name in NORMALISERS
}
SETTINGS |= {
    f"emptied-{name}": {"normaliser": name, "mask": ("causal", "no_self"), "temperature": 0.7} for name in NORMALISERS
}


def config(name: str) -> Config:
    """One of the settings."""
    return Config(**SMALL | SETTINGS[name])


def sampled(number: int) -> Config:
    """One of many settings in which rows of all tables meet; always the same for the same number."""
    deal = random.Random(number)  # noqa: S311 - nothing secret
    chosen: dict[str, Any] = {field: deal.choice(list(rows)) for field, rows in TABLES.items()}
    if chosen["initialiser"] == "by_hand":  # in a deeper layer its large matrices make much of the last bits
        chosen |= {"norm": "none", "n_layers": 1}
    heads = deal.choice([(1, None), (3, None), (4, 2), (4, 1)])
    return Config(
        **SMALL
        | chosen
        | {
            "mask": tuple(deal.sample(list(MASKS), deal.choice([1, 1, 2]))),
            "n_heads": heads[0],
            "n_kv_heads": heads[1],
            "d_k": deal.choice([1, 4, (3, 2), (2, 5)]),
            "d_v": deal.choice([3, (1, 2)]),
            "second_sentence": deal.choice(["", "", "a cat saw it"]),
            "n_layers": chosen.get("n_layers", deal.choice([1, 1, 2, 3])),
            "pad_to": deal.choice([0, 7]),
            "softcap": deal.choice([0.0, 1.5]),
            "scale": deal.choice([None, None, 0.7]),
            "temperature": deal.choice([1.0, 0.6]),
            "seed": number,
        }
        | {name: deal.random() < 0.5 for name in ("residual", "projection_bias", "tied", "output_projection", "bos")},
    )


@dataclass(frozen=True)
class Executed:
    """What a script held at the end of each layer, by the names of its variables, and what it printed."""

    layers: list[dict[str, np.ndarray]]
    printed: str


def execute(source: str) -> Executed:
    """Run a script in a namespace of its own, looking at what it holds at the end of each layer.

    A warning is an error, as in every test, but where a number that was changed to infinity is multiplied by zero.
    """
    space: dict[str, Any] = {"__name__": "script"}
    layers: list[dict[str, np.ndarray]] = []
    printed = io.StringIO()
    odd = "ignore" if "0 times infinity" in source else "warn"
    with contextlib.redirect_stdout(printed), np.errstate(invalid=odd), np.printoptions():
        for block, again in _blocks(ast.parse(source).body):
            for layer in range(space["n_layers"]) if again else [None]:
                if again:
                    space["layer"] = layer
                for piece in block:
                    if isinstance(piece, str):
                        layers.append(_arrays(space))
                        if len(layers) < space.get("n_layers", np.inf):
                            _forget(space)
                    else:
                        exec(piece, space)  # noqa: S102
    if len(layers) < space.get("n_layers", np.inf):
        layers.append(_arrays(space))
    return Executed(layers, printed.getvalue())


def _blocks(body: list[ast.stmt]) -> Iterator[tuple[list[CodeType | str], bool]]:
    """The script in pieces of code, with a word where a layer ends; and whether they are the loop over the layers."""
    before: list[ast.stmt] = []
    for statement in body:
        if isinstance(statement, ast.For) and isinstance(statement.target, ast.Name) and statement.target.id == "layer":
            yield _pieces(before), False
            yield _pieces(statement.body), True
            before = []
        else:
            before.append(statement)
    yield _pieces(before), False


def _pieces(body: list[ast.stmt]) -> list[CodeType | str]:
    """Statements up to the end of a layer, compiled together."""
    pieces: list[CodeType | str] = []
    rest: list[ast.stmt] = []
    for statement in body:
        if _hands_on(statement):
            pieces += [compile(ast.Module(rest, []), "script", "exec"), "end of a layer"]
            rest = []
        rest.append(statement)
    return [*pieces, compile(ast.Module(rest, []), "script", "exec")]


def _hands_on(node: ast.AST) -> bool:
    """Whether this is the line that makes the output of one layer the input of the next."""
    return (
        isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id == "X"
        and isinstance(node.value, ast.Name)
        and node.value.id != "E"
    )


KEPT = ("E", "P", "X", "E_kv", "P_kv", "X_kv", "M", "B")


def _forget(space: dict[str, Any]) -> None:
    """Take from the next layer what this one computed, so that it has to compute its own; only its result stays."""
    result = space.copy()
    for name in VARIABLES.values():
        if name not in KEPT:
            space.pop(name, None)
    space |= {name: result[name] for name in RESULTS if name in result}


RESULTS = ("C", "Y", "Y_added", "Y_normed", "G", "G_added", "G_normed")


def _arrays(space: dict[str, Any]) -> dict[str, np.ndarray]:
    """Copies, so that what a later line changes does not show."""
    wanted = {name: space[name] for name in VARIABLES.values() if name in space}
    return {name: np.array(value.numpy() if hasattr(value, "numpy") else value) for name, value in wanted.items()}


DRAWN = ("w_", "b_", "score_", "token_embeddings")


def compare(trace: Trace, executed: Executed, tolerance: float, *, bits: bool) -> None:
    """Every step of the run against its variable; one without a variable must be one that changes nothing."""
    assert len(executed.layers) == len(trace.layers)
    for number, (steps, found) in enumerate(zip(trace.layers, executed.layers)):
        here = steps if number else {**trace.around, **steps}
        for name, step in here.items():
            if VARIABLES[name] not in found:
                assert _changes_nothing(name, here), f"{name} is missing in layer {number}"
                continue
            array = found[VARIABLES[name]]
            assert array.shape == step.shape, f"{name} in layer {number}"
            if bits and name.startswith(DRAWN) and trace.config.initialiser != "orthogonal":
                np.testing.assert_array_equal(array, step.array, err_msg=f"{name} in layer {number}")
            else:
                _close(array, step.array, tolerance, f"{name} in layer {number}")


def _close(array: np.ndarray, wanted: np.ndarray, tolerance: float, where: str) -> None:
    finite = np.abs(wanted[np.isfinite(wanted)], dtype=float)
    size = max(float(finite.max(initial=0.0)), 1.0)
    np.testing.assert_allclose(array, wanted, rtol=tolerance, atol=tolerance * size, err_msg=where)


BEFORE = {"scaled": "scores", "capped": "scaled", "masked": "capped", "output": "concat", "embedded_kv": "embedded"}


def _changes_nothing(name: str, here: Any) -> bool:
    if name == "allowed":
        return bool(here[name].array.all())
    if name.startswith("positions"):
        return not here[name].array.any()
    return name in BEFORE and np.array_equal(here[name].array, here[BEFORE[name]].array, equal_nan=True)


def traced(name_or_number: str | int) -> tuple[Config, Trace]:
    """A setting and its run."""
    setting = config(name_or_number) if isinstance(name_or_number, str) else sampled(name_or_number)
    return setting, run(setting)


HOSTILE = (
    "it's \"quoted\" 'twice'",
    'triple """ quotes \'\'\' and """',
    "back\\slash \\n \\u0041 \\",
    "</script><script>alert(1)</script> <!-- {braces} {0} %s $x$ `tick`",
    "lone \ud800 surrogate \udfff",
    "bidi \u202e\u2066 marks \u200f \u2028 \u2029 line",
    "# comment np.zeros( normal(0) at= rope( math.pi",
    "']; raise SystemExit #",
    "{tokens} {K} {T} layer 0 \x00 \x1b[31m null",
)
"""Sentences that try to be something else than a string."""
