"""Products and the decomposition that are the same from every matrix library: held to NumPy's own, and to the bit."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from attnviz import Config, run
from attnviz.engine.numerics import buffer_pool, fixed_order
from tests.support.cases import for_each

NUMBERS = np.random.default_rng(11)


def one_by_one(A: np.ndarray, B: np.ndarray) -> list[list[float]]:
    """Return A B, each entry added up from the first product to the last."""
    made = []
    for row in A.tolist():
        made.append([])
        for column in B.T.tolist():
            total = 0.0
            for a, b in zip(row, column):
                total += a * b
            made[-1].append(total)
    return made


def test_a_product_is_added_up_from_the_first_to_the_last_to_the_bit() -> None:
    A, B = NUMBERS.normal(size=(5, 37)), NUMBERS.normal(size=(37, 3))
    assert fixed_order.product(A, B).tolist() == one_by_one(A, B)
    with fixed_order.required(True):
        assert buffer_pool.product(A, B).tolist() == one_by_one(A, B)
        found: list[bool] = []
        other = threading.Thread(target=lambda: found.append(fixed_order.is_required()))
        other.start()
        other.join()
        assert found == [False]  # what another visitor runs meanwhile is not slowed down
    assert not fixed_order.is_required()


def test_products_of_stacks_of_empty_and_of_infinite_matrices_are_those_of_numpy() -> None:
    A, B = NUMBERS.normal(size=(2, 1, 4, 6)), NUMBERS.normal(size=(3, 6, 5))
    np.testing.assert_allclose(fixed_order.product(A, B), A @ B, rtol=1e-13)
    np.testing.assert_array_equal(fixed_order.product(np.ones((2, 0)), np.ones((0, 3))), np.zeros((2, 3)))
    with np.errstate(invalid="ignore"):
        infinite = fixed_order.product(np.array([[np.inf, 1.0]]), np.array([[0.0, 2.0], [1.0, 1.0]]))
    np.testing.assert_array_equal(infinite, [[np.nan, np.inf]])


@for_each("shape", [(1, 1), (7, 16), (16, 7), (9, 9), (33, 50), (3, 0), (0, 3)])
@for_each("kind", ["random", "repeated", "nearly dependent", "orthogonal", "large", "zero"])
def test_a_decomposition_is_that_of_the_matrix(shape: tuple[int, int], kind: str) -> None:
    X = np.random.default_rng(len(kind)).normal(size=shape)
    if kind == "repeated":
        X = X[[0] * len(X)]
    if kind == "nearly dependent":
        X[1::2] = X[: len(X) // 2] + 1e-7 * X[1::2]
    if kind == "orthogonal":
        X = np.eye(*shape)
    X = X * {"large": 1e200, "zero": 0.0}.get(kind, 1.0)
    U, s, V = fixed_order.svd(X)
    largest = np.abs(X).max(initial=0.0)
    np.testing.assert_allclose(U * s @ V, X, rtol=0, atol=1e-14 * largest)
    np.testing.assert_allclose(U.T @ U, np.eye(len(s)), rtol=0, atol=1e-13)
    np.testing.assert_allclose(V @ V.T, np.eye(len(s)), rtol=0, atol=1e-13)
    known = np.linalg.svd(X, compute_uv=False)
    np.testing.assert_allclose(s, known[: len(s)], rtol=1e-13, atol=1e-14 * largest)
    assert (known[len(s) :] <= 1e-11 * largest).all()  # what is left out is nothing


def test_nothing_of_a_run_with_heads_set_by_hand_is_left_to_the_matrix_library(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arrays: object, **options: object) -> None:
        raise AssertionError("a product or a decomposition in an order of its own")

    config = Config(initialiser="by_hand", n_layers=2, residual=True, norm="pre", feed_forward="gelu")
    before = run(config)
    monkeypatch.setattr(np, "matmul", refuse)
    monkeypatch.setattr(np.linalg, "svd", refuse)
    fixed_order._many.cache_clear()
    np.testing.assert_array_equal(run(config).result.array, before.result.array)
    with pytest.raises(AssertionError, match="of its own"):
        run(Config())
