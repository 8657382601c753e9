"""Memory that is used again: never while anybody can still see what is in it."""

from __future__ import annotations

import threading
import tracemalloc

import numpy as np
import pytest

from attnviz import attend
from attnviz.engine.numerics import buffer_pool
from tests.support.cases import for_each

LARGE = (buffer_pool.SMALL // 8 + 1,)


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch):
    monkeypatch.setattr(buffer_pool, "_free", {})


def where(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def test_memory_is_used_again_once_the_array_is_gone():
    array = buffer_pool.empty(LARGE)
    address = where(array)
    del array
    assert where(buffer_pool.empty(LARGE)) == address


@for_each(
    "see",
    [
        lambda a: a,
        lambda a: a[5:],
        lambda a: a.reshape(-1, 1).T[:, ::2].view(),
        lambda a: memoryview(a),
        lambda a: np.asarray(memoryview(a)),
        lambda a: np.broadcast_to(a, (3, *a.shape)),
    ],
)
def test_memory_is_not_used_again_while_anything_sees_it(see):
    array = buffer_pool.empty(LARGE)
    array[:] = 1.0
    seen = see(array)
    del array
    other = buffer_pool.empty(LARGE)
    other[:] = 2.0
    assert (np.asarray(seen) == 1.0).all()


def test_memory_of_another_size_is_left_alone():
    address = where(buffer_pool.empty(LARGE))
    assert where(buffer_pool.empty((LARGE[0] + 1,))) != address
    assert where(buffer_pool.empty(LARGE)) == address


def test_what_is_kept_is_bounded_and_the_newest(monkeypatch):
    monkeypatch.setattr(buffer_pool, "KEPT", 2 * 8 * LARGE[0])
    arrays = [buffer_pool.empty(LARGE) for _ in range(5)]
    addresses = [where(array) for array in arrays]
    while arrays:
        del arrays[0]
    assert [where(piece) for piece in buffer_pool._free.values()] == addresses[3:]


def test_a_small_array_is_left_to_numpy():
    assert buffer_pool.empty((4, 4)).base is None
    assert buffer_pool.empty((3, 0)).shape == (3, 0)


def test_a_second_call_takes_no_new_memory_and_leaves_the_first_alone():
    q, k, v = np.random.default_rng(1).normal(size=(3, 400, 8))
    first = attend(q, k, v)
    weights = first.weights.copy()
    attend(k, q, v)
    tracemalloc.start()
    attend(v, q, k)
    taken = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert taken < first.weights.nbytes
    np.testing.assert_array_equal(first.weights, weights)


def test_threads_never_share_memory():
    shared = []

    def work(mark: float) -> None:
        for _ in range(200):
            array = buffer_pool.empty(LARGE)
            array[::64] = mark
            if (array[::64] != mark).any():
                shared.append(mark)

    threads = [threading.Thread(target=work, args=(float(mark),)) for mark in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert shared == []
