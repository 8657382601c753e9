"""A score that is a function: written down as a line where that can be, else computed on arrays, which is said."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attnviz import Config, ConfigError, FormulaError, Trace, attend, multi_head, of_scores, run, score, show
from attnviz.engine.records.typed_rows import score_of
from attnviz.exports.script.numpy_script import numpy_script
from tests.support import scripts
from tests.support.cases import for_each

DRAWS = np.random.default_rng(4)
Q, K, V = (DRAWS.normal(size=(2, n, 4)) for n in (3, 5, 5))


def leaky(q: Any, k: Any) -> Any:
    """A score that decides by a value, which no line is traced from."""
    s = q @ k
    return s if s > 0 else 0.1 * s


@pytest.fixture(name="alone")
def _alone() -> Any:
    with pytest.warns(UserWarning, match="leaky can only be computed on arrays, .*: it decides by a value"):
        return score("leaky", leaky)


def test_what_decides_by_a_value_runs_pair_by_pair(alone: Any) -> None:
    S = np.einsum("hid,hjd->hij", Q, K)
    wanted = np.where(S > 0, S, 0.1 * S)
    found = attend(Q, K, V, score=alone, causal=True)
    np.testing.assert_allclose(found.scores, wanted, rtol=1e-13)
    E = np.where(np.arange(5) <= np.arange(3)[:, None], np.exp(wanted), 0.0)
    np.testing.assert_allclose(found.weights, E / E.sum(axis=-1, keepdims=True), rtol=1e-12)
    np.testing.assert_allclose(attend(Q[0], K[0], V[0], score=alone).scores, wanted[0], rtol=1e-13)
    np.testing.assert_allclose(attend(Q[None], K[None], V[None], score=alone).scores[0], wanted, rtol=1e-13)
    eye = np.eye(4)[None]
    np.testing.assert_allclose(multi_head(Q[0], K[0], w_q=eye, w_k=eye, w_v=eye, score=alone).scores[0], wanted[0])


def test_what_comes_out_is_drawn_and_written(alone: Any, tmp_path: Path) -> None:
    trace = of_scores(attend(Q, K, V, score=alone).scores, ["a", "b", "c"], [*"uvwxy"])
    assert show(trace)._repr_html_()
    for end in ("html", "csv", "json", "npz", "svg"):
        trace.save(tmp_path / f"mine.{end}")
        assert (tmp_path / f"mine.{end}").stat().st_size > 100
    np.testing.assert_allclose(trace["weights"].array, attend(Q, K, V, score=alone).weights, rtol=1e-13)


def test_a_setting_cannot_hold_it_and_says_what_can(alone: Any) -> None:
    with pytest.raises(ConfigError, match=r"'leaky' is a function that no formula can say.*use attend\(q, k, v"):
        Config(score=alone)


def test_it_may_look_at_positions() -> None:
    with pytest.warns(UserWarning, match="a formula has no median"):
        near = score("near", lambda q, k, i, j, h, d_k, n_heads: np.median(q * k) / d_k - abs(i - j) * h / n_heads)
    found = attend(Q[:, [0, 0, 0]], K[:, [1, 1, 1, 1, 1]], V, score=near).scores
    for h, i, j in np.ndindex(found.shape):
        wanted = statistics.median((Q[h, 0] * K[h, 1]).tolist()) / 4 - abs(i - j) * (h + 1) / 2
        assert found[h, i, j] == pytest.approx(wanted, rel=1e-13)


@for_each(
    "function, line",
    [
        (lambda q, k: np.where(q > k, q, k).sum(), "sum(q if (q > k) else k)"),
        (lambda q, k: (q @ k) / np.sqrt(q.shape[-1]), "(q @ k) / sqrt(d_q)"),
        (lambda q, k: np.inner(q, k), "dot(q, k)"),
        (lambda q, k: q.T.dot(k), "dot(q, k)"),
        (lambda q, k: -np.square(q - k).sum(), "(-sum((q - k) ** 2))"),
    ],
)
def test_what_numpy_says_in_other_words_becomes_a_line(function: Callable[..., Any], line: str) -> None:
    mine = score("mine", function)
    assert mine.typed.text.strip("()") == line.strip("()")
    trace: Trace = run(Config(score=mine, sentence="a b c", d_k=4))
    layer = trace.layers[0]
    for h, i, j in np.ndindex(layer["scores"].shape):
        wanted = function(layer["queries"].array[h, i], layer["keys"].array[h, j])
        assert layer["scores"].array[h, i, j] == pytest.approx(float(wanted), rel=1e-12)
    scripts.compare(trace, scripts.execute(numpy_script(trace.config)), 1e-12, bits=True)


def test_a_row_of_the_table_is_taken_as_its_name() -> None:
    from attnviz import SCORES

    config = Config(score=SCORES["general"])
    assert config.score == "general"
    assert score_of(config).name == "general"


@for_each(
    "definition, message",
    [
        (lambda q, k: q * k, r"put sum\(...\) around it"),
        (lambda q, other: q @ other, "other is not known"),
        (lambda q, k, W: float(q @ W @ k), "leave out float"),
        (lambda q, k: nothing_of_this_name, "NameError"),  # type: ignore[name-defined]  # noqa: F821
        (lambda q, k: "x", "it gives str"),
        (lambda q, k: 1j, "it gives complex"),
        (max, "the names of its arguments cannot be seen"),
        (5, "give a line such as"),
        (None, "give a line such as"),
        ("sum(q*", "never closed"),
    ],
)
def test_what_is_no_score_says_why(definition: Any, message: str) -> None:
    with pytest.raises(FormulaError, match=message):
        score("mine", definition)
