"""The settings that are recorded: the same ones in every checkout, by their names.

A row of a table that is not in `ROWS` has settings of its own, so that it leaves those of all others as they were.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

Setting = dict[str, Any]
"""What a run is made of, as JSON has it: `config`, or `model` or `brought`; `supplied` names parameters to supply."""

MODELS = Path(__file__).resolve().parents[2] / "tests" / "models"
WORDS = ("a", "rose", "is", "the", "cat", "who", "sat", "on", "red", "mats", "while", "rain", "fell")
SCORE_LINES = (
    "sum(tanh(q*k)) / sqrt(d_k) - 0.1*abs(i-j)", "q @ W @ k", "hidden = tanh(q@W_q + b + k@W_k); sum(hidden * v)",
    "-0.5 * sum((q - k)**2)", "sum(exp(-abs(q - k)) * v) * g", "sum(v * tanh(q @ U + k @ A + b))", "i - j",
    "sum(q * W[:, j])", "g*sum(q*k) if j <= i and not i == 2 else tau", "max(q*k) / (1 + h)", "dot(unit(q), unit(k))",
    "sum(q) * (1 if (-2)**0.5 < 1 else 2)", "exp(1000) * sum(k) + 5 % 0",
)  # fmt: skip
NORMALISER_LINES = (
    "e = exp(x - max(x)); e / sum(e)", "relu(x) / n", "sigmoid(x - mean(x))", "x / (n - 1)",
    "exp(x - max(x)) / (1 + sum(exp(x - max(x))))", "e = exp(x - max(x)); ratio(e, sum(e))", "x - mean(x)",
)  # fmt: skip
MASK_LINES = ('token[j] != "the"', "j <= i and (i - j) % 3 == 0", "not (j == i)", 'token[i] in ("cat", "a") or j < 2')
BIAS_LINES = ("-log(1 + abs(i - j))", "i * (h % -2)", "-abs(i-j) * 2**(-8*h/n_heads)", "0.3 % 0.1 * j - -i", "j / n")

ROWS: Mapping[str, tuple[str, ...]] = {
    field: tuple(names.split())
    for field, names in {
        "tokeniser": "words whitespace characters pieces",
        "embedding": "normal uniform binary one_hot spelling meaning own",
        "position": "none sinusoidal random rope",
        "bias": "none alibi t5 linear formula",
        "mask": "none causal padding window dilated block prefix global_window no_self custom formula",
        "initialiser": "glorot normal uniform binary linear identity orthogonal by_hand learned",
        "patterns": "previous same_word first uniform next induction alike",
        "score": "scaled_dot dot general additive cosine gaussian negative_distance location multiplicative_tanh "
        "qk_norm scaled_cosine formula",
        "normaliser": "softmax sparsemax entmax15 sigmoid hardmax quiet_softmax linear entmax relu_over_n "
        "softmax_with_sink squared_relu_over_n formula",
        "norm": "none pre post rms",
        "feed_forward": "none relu gelu gelu_tanh swiglu geglu",
        "normalise_over": "keys queries",
        "task": "translation dates backwards recall induction coreference",
    }.items()
}
"""The rows that the numbered settings choose from; to add one would change them all."""

SEVERAL = ("mask", "patterns")
"""The fields that hold more than one name."""
OF_A_ROW = 6
"""How many settings a row has that is not in ROWS."""


def every(n: int, tables: Mapping[str, Any]) -> dict[str, Setting]:
    """Return n numbered settings, those of rows that came later, of trained models and of numbers that were brought."""
    found = {f"{number:03}": numbered(number) for number in range(n)}
    if n:
        found |= of_later_rows(tables)
        names = sorted(path.parent.name for path in MODELS.glob("*/expected.npz"))
        found |= {f"model-{name}-{at}": _of_model(name, at) for name in names for at in (0, 1)}
        found |= {f"brought-{at}": _brought(at) for at in range(9)}
    return found


def of_later_rows(tables: Mapping[str, Any]) -> dict[str, Setting]:
    """Return settings of each row of the tables that is not in ROWS."""
    found = {}
    for field, rows in tables.items():
        for row in (row for row in rows if row not in ROWS[field]):
            for at in range(OF_A_ROW):
                setting = numbered(10_000 + at)
                setting["config"][field] = [row] if field in SEVERAL else row
                found[f"{field}-{row}-{at}"] = setting
    return found


def numbered(number: int) -> Setting:
    """Return a setting in which anything may be on; every number is another."""
    dice = random.Random(number)  # noqa: S311 - nothing secret
    config = _words(dice) | _heads(dice) | _scores(dice) | _blocks(dice)
    if config["initialiser"] == "learned":  # these learn in one layer, of their own sentences
        config |= {"d_model": 8, "n_heads": 2, "d_k": [3], "d_v": [3], "n_layers": dice.choice((1, 2))}
        config["n_kv_heads"] = 2
    if dice.random() < 0.3:
        config["edits"] = [_edit(dice, config) for _ in range(dice.randint(1, 4))]
    setting: Setting = {"config": config}
    if dice.random() < 0.08:
        names = dice.sample(("w_q", "w_k", "w_v", "w_o", "b_q", "b_o"), k=dice.randint(1, 4))
        setting["supplied"] = [name for name in names if not (config["tied"] and name in ("w_q", "b_q"))]
    return setting


def _words(dice: random.Random) -> dict[str, Any]:
    tokeniser = dice.choice(ROWS["tokeniser"]) if dice.random() < 0.3 else "words"
    most = 2 if tokeniser == "characters" else 7
    embedding = dice.choice(ROWS["embedding"])
    return {
        "sentence": " ".join(dice.choices(WORDS, k=dice.randint(1, most))),
        "second_sentence": " ".join(dice.choices(WORDS, k=dice.choice((0, 0, 0, 1, min(5, most))))),
        "seed": dice.randrange(1000),
        "tokeniser": tokeniser,
        "piece_length": dice.choice((2, 4)),
        "bos": dice.random() < 0.2,
        "eos": dice.random() < 0.1,
        "pad_to": dice.choice((0, 0, 9)),
        "max_tokens": dice.choice((64, 64, 64, 4)),
        "embedding": embedding,
        "own_numbers": "1 2; 3 -4; 0.5 0.25" if embedding == "own" else "",
        "own_numbers_second": "1 0.5; 3 4; 5 6" if embedding == "own" else "",
        "d_model": dice.randint(1, 12),
        "position": dice.choice(ROWS["position"]),
        "rope_base": dice.choice((10000.0, 50.0)),
    }


def _heads(dice: random.Random) -> dict[str, Any]:
    n_kv_heads, group = dice.randint(1, 3), dice.choice((1, 1, 2, 3))
    return {
        "n_heads": n_kv_heads * group,
        "n_kv_heads": n_kv_heads,
        "d_k": [dice.randint(1, 6) for _ in range(dice.choice((1, 1, 2, 3)))],
        "d_v": [dice.randint(1, 6) for _ in range(dice.choice((1, 1, 2, 3)))],
        "initialiser": dice.choice(ROWS["initialiser"]),
        "patterns": dice.choices(ROWS["patterns"], k=3),
        "sharpness": dice.choice((6.0, 3.0)),
        "solved_anew": dice.random() < 0.3,
        "task": dice.choice(ROWS["task"]),
        "learn_steps": dice.choice((0, 1, 2)),
        "learn_rate": 0.02,
        "learn_batch": 2,
        "projection_bias": dice.random() < 0.4,
        "tied": dice.random() < 0.25,
        "output_projection": dice.random() < 0.8,
    }


def _scores(dice: random.Random) -> dict[str, Any]:
    masks = dice.sample(ROWS["mask"][1:], k=dice.choice((1, 1, 2))) if dice.random() < 0.65 else ["none"]
    return {
        "score": dice.choice((*ROWS["score"], "formula", "scaled_dot")),
        "score_formula": dice.choice(SCORE_LINES),
        "d_a": dice.randint(1, 5),
        "scale": dice.choice((None, None, 0.5, 1.0, -2.0, 0.0)),
        "softcap": dice.choice((0.0, 0.0, 2.0)),
        "bias": dice.choice(ROWS["bias"]),
        "bias_formula": dice.choice(BIAS_LINES),
        "bias_slope": dice.choice((0.5, 2.0)),
        "t5_n_buckets": dice.choice((32, 4)),
        "t5_max_distance": dice.choice((128, 65)),
        "t5_bidirectional": dice.random() < 0.7,
        "mask": masks,
        "mask_formula": dice.choice(MASK_LINES),
        "reach": dice.randint(0, 2),
        "dilation": dice.randint(1, 3),
        "block_size": dice.randint(1, 3),
        "prefix_length": dice.randint(0, 3),
        "n_global": dice.randint(0, 2),
        "custom_cells": dice.choice(("1: 1, 2: 1-2, 3: 1-3", "1: 2, 3: 1, 4: 1-4, 5: 2-5")),
        "normaliser": dice.choice((*ROWS["normaliser"], "formula", "softmax")),
        "normaliser_formula": dice.choice(NORMALISER_LINES),
        "normaliser_knobs": dice.choice(({}, {"entmax.alpha": 1.7, "softmax_with_sink.sink": 0.5})),
        "normalise_over": dice.choice(("keys", *ROWS["normalise_over"])),
        "temperature": dice.choice((1.0, 1.0, 0.7, 3.0)),
    }


def _blocks(dice: random.Random) -> dict[str, Any]:
    return {
        "n_layers": dice.choice((1, 1, 2, 3)),
        "residual": dice.random() < 0.5,
        "norm": dice.choice(ROWS["norm"]),
        "feed_forward": dice.choice(ROWS["feed_forward"]),
        "d_ff": dice.choice((3, 8)),
    }


def _edit(dice: random.Random, config: Mapping[str, Any]) -> list[Any]:
    """Return a changed number, which mostly fits; one that does not is left out by a run, with a note."""
    layer, head = dice.randrange(config["n_layers"]), dice.randrange(config["n_heads"])
    kv_head = dice.randrange(config["n_kv_heads"])
    row, key, narrow = dice.randrange(3), dice.randrange(3), dice.randrange(2)
    step, at = dice.choice(
        (
            *((step, [head, row, key]) for step in ("scores", "scaled", "capped", "masked", "weights")),
            *((step, [head, row, narrow]) for step in ("queries", "heads", "w_q")),
            *((step, [kv_head, row, narrow]) for step in ("keys", "values", "w_k", "w_v")),
            *((step, [row, narrow]) for step in ("output", "added", "concat", "w_o", "bias", "embedded")),
        )
    )
    return [None if step == "embedded" else layer, step, at, round(dice.uniform(-2, 2), 3)]


def _of_model(name: str, at: int) -> Setting:
    changes = {"mask": ["no_self"], "temperature": 2.0, "edits": [[1, "scores", [0, 1, 0], 1.5]]} if at else {}
    return {"model": name, "text": ("the cat saw a dog", "a cat")[at], "changes": changes}


def _brought(at: int) -> Setting:
    words = list(WORDS[: 3 + at % 3])
    fields = ({}, {"mask": ["causal"], "temperature": 0.7}, {"score": "gaussian", "normaliser": "sparsemax"})[at // 3]
    return {"brought": ("of_weights", "of_scores", "of_vectors")[at % 3], "tokens": words, "config": fields}


def as_fields(written: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the fields of a setting as a Config takes them: a list of JSON is a tuple."""
    for name, value in written.items():
        yield name, _tuples(value)


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
