"""The part of a run that a notebook holds: its size, its layers, its digits, and what is said of them."""

from __future__ import annotations

import base64
import tracemalloc
from typing import Any

import numpy as np
import pytest

from attnviz import Config, ConfigError, of_weights, run, show
from attnviz.exports import interactive_part
from attnviz.exports.interactive_html import html
from attnviz.exports.interactive_part import everything, that_fits
from tests.exports.test_interactive_html import held, numbers
from tests.support.interactive_file import unpacked

SHELL = 90_000
"""The characters of a file that are no numbers, at most."""


def weights(*shape: int, power: float = 1.0) -> np.ndarray:
    A = np.random.default_rng(3).random(shape) ** power
    return A / A.sum(axis=-1, keepdims=True)


def digits(x: float, least: float) -> str:
    """What the page writes of a rounded number; `x` as the file holds it or as it was."""
    text = f"{x:.2e}"
    return text if abs(float(text)) >= least else "less"


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limits a thousandth of what they are."""
    monkeypatch.setattr(interactive_part, "MOST", 24_000)
    monkeypatch.setattr(interactive_part, "MOST_EXACT", 8_000)


def test_rounded_numbers_hold_three_digits_and_none_becomes_0(small: None) -> None:
    for factor in (1.0, 1e-290, 1e290, -3.0, 7e-4):
        A = weights(1, 2, 40, 40, power=30.0) * factor
        A[0, 0, 0], A[0, 1, :5, 0] = 0.0, [1.0, 0.0999999, 9.9951, 1e-30, -1e-6]
        smallest = np.ldexp(1.0, np.frexp(np.abs(A).max())[1] - 29)
        A[0, 1, 1] = smallest * np.linspace(0.996, 1.01, 40)  # where float16 begins to lose digits
        page = held(html(of_weights(A), that_fits(of_weights(A))))
        step = page["layers"][0]["steps"]["weights"]
        found = numbers(step)
        np.testing.assert_array_equal(found == 0.0, A[0] == 0.0)
        np.testing.assert_array_equal(np.signbit(found), np.signbit(A[0]))
        least = step["least"]
        assert least < 1e-8 * np.abs(A).max()
        shown = [digits(x, least) for x in found.ravel()]
        assert shown == [digits(x, least) for x in A.ravel()]
        assert all(abs(x) < least for x, text in zip(A.ravel(), shown) if text == "less")
    everywhere_0 = np.zeros((2, 40, 40))
    assert not numbers(
        held(html(of_weights(everywhere_0), that_fits(of_weights(everywhere_0))))["layers"][0]["steps"]["weights"]
    ).any()


def test_an_infinite_weight_stays_so_among_rounded_ones(small: None) -> None:
    words = " ".join(f"w{n}" for n in range(30))
    config = Config(sentence=words, n_heads=2, normaliser="formula", normaliser_formula="x / (j - 2)", mask="causal")
    trace = run(config)
    A = trace["weights"].array
    assert np.isinf(A).any()
    found = numbers(held(html(trace, that_fits(trace)))["layers"][0]["steps"]["weights"])
    np.testing.assert_array_equal(found[~np.isfinite(A)], A[~np.isfinite(A)])


def test_given_weights_are_exact_then_rounded_then_some(small: None) -> None:
    A = weights(40, 2, 12, 12)
    for layers, form, n in ((2, "exact", 2), (20, "rounded", 20), (40, "rounded", 31)):
        trace = of_weights(A[:layers])
        drawn = show(trace)._repr_html_()
        file = unpacked(drawn)
        page = held(file)
        assert len(file) < SHELL + 40 * 1_000 + 24_000
        assert [layer["number"] for layer in page["layers"]] == [*range(1, n + 1)]
        assert {layer["steps"]["weights"]["form"] for layer in page["layers"]} == {form}
        is_whole = form == "exact"
        for layer, given in zip(page["layers"], A):
            np.testing.assert_allclose(numbers(layer["steps"]["weights"]), given, rtol=0 if is_whole else 5.6e-3)
        assert ("three digits" in file) == (not is_whole)
        assert ("layers 1–31 of 40" in file) == ("layers=[31]" in file) == (n < layers)
        assert ('id="bound"' in file) == (not is_whole)
        whole = held(html(trace))  # a file that is saved has all
        assert [layer["steps"]["weights"]["form"] for layer in whole["layers"]] == ["exact"] * layers


def test_a_large_run_has_its_first_layers_whole_and_the_weights_of_the_others(small: None) -> None:
    trace = run(Config(sentence="a b c d e f g h", n_heads=2, n_layers=6, d_model=8, d_k=4, d_v=4, mask="causal"))
    part = that_fits(trace)
    assert (part.whole, part.rounded) == ((0, 1, 2), (3, 4, 5))
    page = held(html(trace, part))
    assert "queries" in page["layers"][0]["steps"]
    assert [stage["name"] for stage in page["layers"][3]["stages"]] == ["weights"]
    for layer, steps in list(zip(page["layers"], trace.layers))[3:]:
        assert set(layer["steps"]) == {"weights", "masked"}
        bits = np.frombuffer(base64.b64decode(layer["steps"]["masked"]["base64"]), np.uint8)
        closed = np.unpackbits(bits, bitorder="little")[: steps["masked"].array.size].reshape(steps["masked"].shape)
        np.testing.assert_array_equal(closed == 1, np.isneginf(steps["masked"].array))
    assert part.said[0] == "Of layers 4–6 only the weights are here, rounded to three digits."
    chosen = that_fits(trace, [-1])
    assert (chosen.whole, chosen.rounded) == ((5,), ())
    assert chosen.said[0] == "Shown here: layer 6 of 6."


def test_a_layer_is_never_cut(small: None) -> None:
    with pytest.raises(ConfigError, match=r"take 0 MB in a notebook, .*such as weights\[\.\.\., :67, :67\]"):
        show(weights(2, 2, 80, 80))
    drawn = of_weights(weights(2, 2, 80, 80))._repr_html_()
    assert drawn.startswith("<p>the weights of one layer take")


def test_layers_are_chosen_by_their_numbers_from_0() -> None:
    trace = of_weights(weights(5, 2, 3, 3))
    for layers, numbered in (
        ([3], [4]),
        ((0, 4), [1, 5]),
        ([-1, 0, 0], [1, 5]),
        (range(1, 3), [2, 3]),
        (None, [1, 2, 3, 4, 5]),
    ):
        page = held(unpacked(show(trace, layers=layers)._repr_html_()))
        assert [layer["number"] for layer in page["layers"]] == numbered
        assert [layer["does"][0][1].split(",")[0] for layer in page["layers"]] == [f"layer {n}" for n in numbered]
        for layer, n in zip(page["layers"], numbered):
            np.testing.assert_array_equal(numbers(layer["steps"]["weights"]), trace.layers[n - 1]["weights"].array)
    wrong: list[tuple[Any, str]] = [
        ([5], "layers names 5; this has 5, choose 0 to 4"),
        ([], "layers is empty"),
        ([0.5], "layers is .* give a list of whole numbers, counted from 0"),
        (2, "layers is 2; give a list"),
    ]
    for layers, said in wrong:
        with pytest.raises(ConfigError, match=said):
            show(trace, layers=layers)


def test_a_long_sentence_is_cut_in_the_heading_alone() -> None:
    tokens = [f"word{n}" for n in range(200)]
    page = held(html(of_weights(np.eye(200), tokens)))
    assert len(page["sentence"]) <= 161
    assert page["sentence"].endswith("word23 …")
    assert page["queries"] == tokens
    assert held(html(of_weights(np.eye(1), ["x" * 300])))["sentence"] == "x" * 160 + " …"


def test_memory_grows_with_what_is_shown_and_not_with_what_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interactive_part, "MOST", 200_000)
    monkeypatch.setattr(interactive_part, "MOST_EXACT", 200_000)
    A = np.tile(weights(1, 2, 60, 60).astype(np.float32), (64, 1, 1, 1))

    def peaks(n: int) -> tuple[int, int]:
        """The most bytes in use beyond what was there: while a trace is made of weights, and while it is drawn."""
        tracemalloc.start()
        shown = show(A[:n])
        made = tracemalloc.get_traced_memory()[1]
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        shown._repr_html_()
        drawn = tracemalloc.get_traced_memory()[1] - before
        tracemalloc.stop()
        return made, drawn

    peaks(16)  # modules are loaded
    (_, few), (made, many) = peaks(16), peaks(64)
    assert made < 2 * 8 * A.size
    assert many < 1.2 * few


def test_everything_is_every_layer() -> None:
    assert everything(of_weights(weights(3, 1, 2, 2))).layers == (0, 1, 2)
