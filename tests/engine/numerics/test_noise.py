"""Randomness that can be addressed: the same for ever, and nothing moves what is already there."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from attnviz import Config, run
from attnviz.engine.numerics import noise
from attnviz.engine.numerics.noise import Address, normal, normal_each, uniform, uniform_each
from tests.support.cases import for_each

HERE = Address(7, "somewhere", (2,))
DRAWS = pytest.mark.parametrize("draw", [uniform, normal])


def plain_uniform(seed: int, name: str, *index: int) -> float:
    """The same rule in plain Python integers: blake2b, then SplitMix64 over each index."""
    state = int.from_bytes(hashlib.blake2b(f"{seed}/{name}".encode(), digest_size=8).digest(), "little")
    whole = 2**64 - 1
    for i in index:
        z = (state + (i + 1) * 0x9E3779B97F4A7C15) & whole
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & whole
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & whole
        state = z ^ (z >> 31)
    return (state >> 11) / 2**53


def test_every_uniform_is_a_function_of_its_address() -> None:
    drawn = uniform(HERE, (3, 5))
    assert [[plain_uniform(7, "somewhere", 2, i, j) for j in range(5)] for i in range(3)] == drawn.tolist()


def test_links_of_today_keep_their_numbers() -> None:
    """These hashes may never change: a link would show other numbers than the person saw who shared it."""
    assert hashlib.sha256(uniform(Address(0, "golden"), (64, 64)).tobytes()).hexdigest()[:16] == "64070cf7723f2b84"
    assert hashlib.sha256(normal(Address(0, "golden"), (64, 64)).tobytes()).hexdigest()[:16] == "e4ccde2dd4ef7125"


@DRAWS
def test_a_larger_array_holds_the_smaller_one(draw: object) -> None:
    assert (draw(HERE, (6, 9))[:4, :5] == draw(HERE, (4, 5))).all()  # type: ignore[operator]


@DRAWS
def test_leading_indices_may_stand_in_the_address_or_in_the_shape(draw: object) -> None:
    whole = draw(Address(7, "somewhere"), (4, 3))  # type: ignore[operator]
    assert (whole[2] == draw(HERE, (3,))).all()  # type: ignore[operator]


@for_each("shape", [(), (3,), (20, 25), (30, 25)])
def test_indices_beyond_those_that_are_folded_at_once_have_their_own_numbers(shape: tuple[int, ...]) -> None:
    whole = uniform(Address(7, "somewhere"), (20, *shape))
    for at in (0, 7, 8, 15, 19):
        assert (whole[at] == uniform(Address(7, "somewhere", (at,)), shape)).all(), at
    assert uniform(Address(7, "somewhere", (0,)), ()) == plain_uniform(7, "somewhere", 0)


@for_each("initialiser", ["glorot", "by_hand", "uniform", "binary", "linear", "orthogonal"])
def test_matrices_of_several_heads_that_are_drawn_at_once_are_those_that_are_drawn_one_by_one(
    monkeypatch: pytest.MonkeyPatch, initialiser: str
) -> None:
    dice = np.random.default_rng(0)
    for _ in range(4):
        heads = int(dice.choice([1, 2, 5, 9, 12]))
        kv_heads = int(dice.choice([n for n in range(1, heads + 1) if heads % n == 0]))
        d_k, d_v = (int(width) for width in dice.integers(1, 9, 2))
        config = Config(
            sentence="the cat sat on it", initialiser=initialiser, seed=int(dice.integers(99)), n_heads=heads,
            n_kv_heads=kv_heads, d_k=d_k, d_v=d_v, d_model=int(dice.integers(6, 40)), n_layers=2, residual=True,
        )  # fmt: skip
        at_once = run(config)
        with monkeypatch.context() as patched:
            patched.setattr(noise, "SMALL", 0)
            one_by_one = run(config)
        for steps, others in zip(at_once.layers, one_by_one.layers, strict=True):
            for name, step in steps.items():
                np.testing.assert_array_equal(step.array, others[name].array, name)


def test_numbers_of_several_names_are_those_of_each() -> None:
    names = ["one", "two", "é"]
    for each, draw in ((uniform_each, uniform), (normal_each, normal)):
        assert (each(7, names, (2, 3)) == [draw(Address(7, name), (2, 3)) for name in names]).all()
        assert each(7, [], (2, 3)).shape == (0, 2, 3)


@DRAWS
def test_seed_name_and_index_each_matter(draw: object) -> None:
    addresses = [HERE, Address(8, "somewhere", (2,)), Address(7, "elsewhere", (2,)), Address(7, "somewhere", (3,))]
    drawn = [tuple(draw(address, (4,))) for address in addresses]  # type: ignore[operator]
    assert len(set(drawn)) == len(addresses)


def test_no_two_indices_share_a_number() -> None:
    assert np.unique(uniform(HERE, (200, 200))).size == 40_000


def test_uniforms_fill_the_unit_interval() -> None:
    drawn = uniform(Address(1, "spread"), (300, 300))
    assert drawn.min() >= 0
    assert drawn.max() < 1
    counts, _ = np.histogram(drawn, bins=20, range=(0, 1))
    expected = drawn.size / 20
    assert ((counts - expected) ** 2 / expected).sum() < 43.8  # chi-squared, 19 degrees of freedom, one in a thousand


def test_normals_have_the_moments_of_the_bell_curve() -> None:
    drawn = normal(Address(1, "spread"), (300, 300))
    n = drawn.size
    assert abs(drawn.mean()) < 3.3 / np.sqrt(n)
    assert abs(drawn.var() - 1) < 3.3 * np.sqrt(2 / n)
    assert abs((drawn**3).mean()) < 3.3 * np.sqrt(15 / n)
    assert abs((drawn**4).mean() - 3) < 3.3 * np.sqrt(96 / n)
    assert abs((drawn[:, :-1] * drawn[:, 1:]).mean()) < 3.3 / np.sqrt(n)


def test_normals_lie_on_a_grid_that_no_processor_disputes() -> None:
    steps = normal(HERE, (50, 50)) * 2.0**32
    assert (steps == np.round(steps)).all()


def test_an_empty_shape_is_fine() -> None:
    assert uniform(HERE, (0, 3)).shape == (0, 3)
    assert normal(HERE, ()).shape == ()
