"""Is this the same as ...?, functions that are traced, and the first number that is none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import attnviz
from attnviz import SCORES, FormulaError
from attnviz.formula.facts import nonfinite
from attnviz.formula.facts.equivalence import relation, same
from attnviz.formula.python_tracing import traced
from attnviz.formula.reader import parse
from tests.support.cases import for_each

ROWS = {name: parse(row.line) for name, row in SCORES.items() if row.line}


@for_each(
    "line, name, row",
    [
        ("q @ k", "same", "dot"),
        ("sum(k * q) / sqrt(d_k)", "same", "scaled_dot"),
        ("2 * q @ k", "times", "dot"),
        ("q @ U @ k", "same", "general"),
        ("q @ k - norm(k)**2 / 2", "shifted", "gaussian"),
        ("-norm(q - k)**2", "times", "gaussian"),
        ("sum(u * tanh(k@A + q@U + c))", "same", "additive"),
        ("sum(q * W[:, j])", "same", "location"),
        ("3 * (q @ k - norm(k)**2 / 2)", "tempered", "gaussian"),
    ],
)
def test_what_is_the_same_is_found(line: str, name: str, row: str) -> None:
    found = same(parse(line), ROWS)
    assert found is not None
    assert (found.name, found.row) == (name, row)
    assert "row" in found.in_words("row")


@for_each("line", ["sum(tanh(q*k))", "max(q*k)", "sum(abs(q - k))", "q @ k / 2 + j", "log(q @ k)"])
def test_what_is_not_the_same_is_not(line: str) -> None:
    assert same(parse(line), ROWS) is None


HOSTILE = [
    "q @ k if norm(q) < 100 else 0",
    "q @ k + relu(q @ k - 1000)",
    "min(q @ k, 50)",
    "q @ k if i < 60 else 0",
    "q @ k if h < 3 else j",
    "q @ k + i*(i-1)*(i-2)*(i-3)*(i-4)*(i-5)*sum(k)",
    "q @ k + (d_k-3)*(d_k-4)*(d_k-7)*sum(k)",
    "q @ k + exp(-100*norm(q))*sum(k)",
    "q @ k + 1e-13*sum(k)**2",
    "q @ k + sum(k)**2 * 0.000001**3",
    "q @ k + tanh(norm(k)*exp(-60))",
    "q @ k + sin(3.141592653589793*d_k)*sum(k)",
    "abs(q @ k)",
    "sqrt((q @ k)**2)",
    "q @ k * sign(norm(q) - 0.000001)",
    "q @ k + (d_k // 40)*sum(k)",
    "g * (q @ k)",
    "q @ W @ k + 1e-14 * sum(q @ W)**2",
    "1.00000001 * (q @ k)",
    "1.0000000001 * (q @ k - norm(k)**2 / 2)",
]
"""Lines that agree with the dot product, or the general one, on most numbers, and are something else."""


@for_each("line", HOSTILE)
def test_what_agrees_on_most_numbers_is_not_called_the_same(line: str) -> None:
    assert same(parse(line), ROWS) is None


def test_a_cosine_that_divides_by_zero_is_one_but_for_zeros() -> None:
    found = same(parse("dot(q, k) / (norm(q) * norm(k))"), ROWS)
    assert found is not None
    assert (found.name, found.row, found.but_zeros) == ("same", "cosine", True)
    assert found.in_words("Cosine").endswith("except for vectors of zeros")
    plain = same(parse("dot(unit(q), unit(k))"), ROWS)
    assert plain is not None
    assert not plain.but_zeros


def test_a_row_that_differs_is_not_hidden_by_a_larger_one() -> None:
    S = np.random.default_rng(2).normal(size=(2, 3, 4)) * np.array([1e14, 1.0])[:, None, None]
    other = S.copy()
    other[1, 0, 0] += 0.5
    assert relation(S, S) is not None
    assert relation(other, S) is None


@for_each("name", [name for name in ROWS if name not in ("scaled_dot",)])
def test_every_row_is_the_same_as_itself(name: str) -> None:
    found = same(parse(SCORES[name].line), ROWS)
    assert found is not None
    assert (found.name, found.row) == ("same", name)


def test_half_a_dot_product_is_no_scaled_one() -> None:
    found = same(parse("q @ k / 2"), ROWS)
    assert found is not None
    assert (found.name, found.row, found.factor) == ("times", "dot", 0.5)
    assert found.in_words("Dot") == "0.5 times Dot"
    third = same(parse("q @ k / 3"), ROWS)
    assert third is not None
    assert third.in_words("Dot") == "≈ 0.3333 times Dot"


@for_each(
    "function, line",
    [
        (lambda q, k: np.tanh(q * k).sum(), "sum(tanh(q * k))"),
        (lambda q, k, W: q @ W @ k, "(q @ W) @ k"),
        (lambda q, k, d_k, i, j: (q @ k) / np.sqrt(d_k) - 0.5 * np.abs(i - j), None),
        (lambda q, k: -np.linalg.norm(q - k), None),
        (lambda q, k, g: g * np.maximum(q, k).mean(), None),
        (lambda q, k: np.sum((q - k) ** 2, axis=-1) / -2, None),
    ],
)
def test_a_function_becomes_a_line(function: Callable[..., Any], line: str | None) -> None:
    formula = traced(function)
    assert line in (None, formula.text)
    assert attnviz.score("mine", function).plain == formula.text


@for_each(
    "function",
    [
        lambda q, k: np.fft.fft(q) @ k,
        lambda q, k: q if q > k else k,
        lambda q, k: 1.0,
        lambda q, k: np.sum(q * k, axis=0),
        lambda q, other: q @ other,
        lambda q, k: q * k,
    ],
)
def test_what_no_line_can_say_is_refused(function: Callable[..., Any]) -> None:
    with pytest.raises(FormulaError):
        traced(function)


def test_the_first_number_that_is_none_and_the_term_that_made_it() -> None:
    draws = np.random.default_rng(0)
    Q, K = draws.normal(size=(2, 4, 3)), draws.normal(size=(2, 5, 3))
    Q[1, 2] = 0.0
    formula = parse("dot(q, k) / (norm(q) * norm(k))")
    found = nonfinite.of_scores(formula, Q, K, {})
    assert found is not None
    assert (found.head, found.query, found.key) == (1, 2, 0)
    assert formula.text[slice(*found.span)] == formula.text
    assert "is nan, made from 0, 0, at query 3 and key 1 of head 2; 5 of 40 numbers" in found.words
    assert nonfinite.of_scores(parse("q @ k"), Q, K, {}) is None
    X = np.array([[[0.0, 1000.0, -np.inf]]])
    trouble = nonfinite.of_weights(parse("exp(x) / sum(exp(x))", "normaliser"), X, {})
    assert trouble is not None
    assert "exp(x) is inf, made from 1000" not in trouble.words or trouble.key == 1
    assert nonfinite.of_weights(parse("e = exp(x - max(x)); e / sum(e)", "normaliser"), X, {}) is None
