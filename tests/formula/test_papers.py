"""Published attentions against a few lines of NumPy, written for each from its paper: the run, its slopes, PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import log, pi, sqrt
from typing import Any

import numpy as np
import pytest

from attnviz import Trace, run
from attnviz.exports.script.torch_script import torch_script
from tests.support import readings
from tools.documentation import opened
from tools.papers import LEFT_OUT, PAPERS

Array = np.ndarray


class Given:
    """Queries (H, n, d) and keys (H, n, d) of a run, its parameters by their names, and positions."""

    def __init__(self, trace: Trace) -> None:
        self.trace, self.Q = trace, trace["queries"].array
        self.K = np.repeat(trace["keys"].array, len(self.Q) // len(trace["keys"].array), axis=0)
        self.H, self.n, self.d = self.Q.shape
        self.i, self.j = np.arange(self.n)[:, None], np.arange(self.n)[None, :]
        self.causal = self.j <= self.i

    def own(self, name: str) -> Array:
        return self.trace[f"score_{name}"].array

    def number(self, name: str) -> Array:
        return self.own(name).reshape(self.H, 1, 1)

    @property
    def dot(self) -> Array:
        return np.einsum("hid,hjd->hij", self.Q, self.K)

    @property
    def scaled(self) -> Array:
        return self.dot / sqrt(self.d)

    @property
    def cosine(self) -> Array:
        lengths = np.sqrt((self.Q**2).sum(-1))[:, :, None] * np.sqrt((self.K**2).sum(-1))[:, None, :]
        return self.dot / lengths


def softmax(S: Array, may: Array | bool = True) -> Array:
    E = np.where(may, np.exp(S), 0.0)
    return E / E.sum(axis=-1, keepdims=True)


def over_sum(S: Array, may: Array | bool = True) -> Array:
    S = np.where(may, S, 0.0)
    return S / S.sum(axis=-1, keepdims=True)


def rows(each: Callable[[Array], Array], S: Array, may: Array) -> Array:
    """Apply a function to the open scores of each row."""
    A, may = np.zeros(S.shape), np.broadcast_to(may, S.shape)
    for at in np.ndindex(S.shape[:-1]):
        if may[at].any():
            A[at][may[at]] = each(S[at][may[at]])
    return A


def additive(g: Given) -> Array:
    hidden = np.tanh((g.Q @ g.own("w_q"))[:, :, None] + (g.K @ g.own("w_k"))[:, None, :])
    return softmax(np.einsum("hija,ha->hij", hidden, g.own("v")))


def elu(g: Given) -> Array:
    feature = lambda x: np.where(x > 0, x, np.exp(x) - 1) + 1  # noqa: E731
    return over_sum(feature(g.Q) @ feature(g.K).swapaxes(1, 2), g.causal)


def performer(g: Given) -> Array:
    def feature(x: Array) -> Array:
        x = x / g.d**0.25
        return np.exp(x @ g.own("w")) * np.exp(-(x**2).sum(-1, keepdims=True) / 2)

    return over_sum(feature(g.Q) @ feature(g.K).swapaxes(1, 2))


def cosformer(g: Given) -> Array:
    kernel = np.maximum(g.Q, 0) @ np.maximum(g.K, 0).swapaxes(1, 2)
    return over_sum(kernel * np.cos(pi / 2 * (g.i - g.j) / g.n))


def synthesizer(g: Given) -> Array:
    return softmax(
        np.maximum(g.Q @ g.own("matrix_u") + g.own("b")[:, None], 0) @ g.own("w") + g.own("vector_c")[:, None]
    )


def localness(g: Given) -> Array:
    t = np.tanh(g.Q @ g.own("w"))
    middle, width = (g.n / (1 + np.exp(-np.einsum("hia,ha->hi", t, g.own(name)))) for name in ("vector_u", "v"))
    sigma = width[:, :, None] / 2
    return softmax(g.scaled - (g.j - middle[:, :, None]) ** 2 / (2 * sigma**2))


def t5_bucket(distance: int) -> int:
    """The bucket of a key that lies this far behind the query, as published: 32 in all, up to 128."""
    bucket, away = (16 if distance > 0 else 0), abs(distance)
    return bucket + (away if away < 8 else min(8 + int(log(away / 8) / log(128 / 8) * 8), 15))


def t5(g: Given) -> Array:
    B, learned = g.trace["bias"].array, {}
    for h, i, j in np.ndindex(B.shape):
        learned.setdefault((h, t5_bucket(j - i)), B[h, i, j])
    again = [learned[h, t5_bucket(j - i)] for h, i, j in np.ndindex(B.shape)]
    return softmax(g.dot + np.reshape(again, B.shape))


def fire(g: Given) -> Array:
    c, least = np.exp(g.number("g")), np.exp(g.number("tau"))
    t = np.log(c * np.abs(g.i - g.j) + 1) / np.log(c * np.maximum(least, g.i) + 1)
    hidden = np.maximum(t[..., None] * g.own("vector_u")[:, None, None] + g.own("b")[:, None, None], 0)
    second = np.maximum(np.einsum("hija,hab->hijb", hidden, g.own("w")) + g.own("vector_w")[:, None, None], 0)
    return softmax(g.scaled + (second * g.own("v")[:, None, None]).sum(-1), g.causal)


def rope(g: Given) -> Array:
    def turned(x: Array) -> Array:
        z = x[..., 0::2] + 1j * x[..., 1::2]
        return z * np.exp(1j * np.arange(g.n)[:, None] * 10000.0 ** (-2 * np.arange(g.d // 2) / g.d))

    Q, K = turned(g.trace["projected_queries"].array), turned(g.trace["projected_keys"].array)
    return softmax((Q @ K.conj().swapaxes(1, 2)).real / sqrt(g.d), g.causal)


def span(g: Given) -> Array:
    """Keys before the query alone: the first query has none."""
    E = np.where(g.j < g.i, np.clip((2 + np.e - g.i + g.j) / 2, 0, 1) * np.exp(g.scaled), 0.0)
    return E / np.maximum(E.sum(axis=-1, keepdims=True), 1e-300)


def long_net(g: Given) -> Array:
    """Each head gathers the tokens of its shift from every segment, attends among them, and puts them back."""
    A = np.zeros(g.scaled.shape)
    for h in range(g.H):
        for start in range(0, g.n, 4):
            kept = np.arange(start + (h + 1) % 2, min(start + 4, g.n), 2)
            A[(h, *np.ix_(kept, kept))] = softmax(g.scaled[(h, *np.ix_(kept, kept))])
    return A


def top_k(x: Array) -> Array:
    E = np.where(x >= np.sort(x)[::-1][: min(3, len(x))][-1], np.exp(x), 0.0)
    return E / E.sum()


def thresholded(x: Array, power: float) -> Array:
    """max(x - t, 0)^power with a sum of 1: t by halving."""
    low, high = x.max() - 1, x.max()
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if (np.maximum(x - middle, 0) ** power).sum() > 1 else (low, middle)
    return np.maximum(x - low, 0) ** power


def softpick(x: Array) -> Array:
    return np.maximum(np.exp(x) - 1, 0) / np.abs(np.exp(x) - 1).sum()


def stick_breaking(x: Array) -> Array:
    """From the nearest key, which is the last, to the first."""
    left, weights = 1.0, []
    for beta in 1 / (1 + np.exp(-x[::-1])):
        weights.append(left * beta)
        left *= 1 - beta
    return np.array(weights[::-1])


def sinks(g: Given) -> Array:
    column = np.broadcast_to(g.number("g"), (g.H, g.n, 1))
    with_sink = np.concatenate([np.where(g.causal, g.scaled, -np.inf), column], axis=-1)
    return softmax(with_sink)[..., :-1]


def grouped(g: Given, group: int) -> Array:
    K = g.trace["keys"].array
    S = np.stack([g.Q[h] @ K[h // group].T / sqrt(g.d) for h in range(g.H)])
    return softmax(S, g.causal)


HAND: dict[str, Callable[[Given], Array]] = {
    "additive": additive,
    "dot": lambda g: softmax(g.dot),
    "general": lambda g: softmax(g.Q @ g.own("w") @ g.K.swapaxes(1, 2)),
    "location": lambda g: softmax(g.Q @ g.own("w")),
    "scaled_dot": lambda g: softmax(g.scaled, g.causal),
    "content": lambda g: softmax(g.number("beta") * g.cosine),
    "qk_norm": lambda g: softmax(g.number("g") * g.cosine, g.causal),
    "swin": lambda g: softmax(g.cosine / np.maximum(g.number("tau"), 0.01)),
    "l2": lambda g: softmax(-((g.Q[:, :, None] - g.K[:, None]) ** 2).sum(-1) / sqrt(g.d)),
    "softcap": lambda g: softmax(50 * np.tanh(g.scaled / 50), g.causal),
    "elu": elu,
    "performer": performer,
    "cosformer": cosformer,
    "synthesizer": synthesizer,
    "localness": localness,
    "alibi": lambda g: softmax(g.scaled - np.array([2**-4, 2**-8])[:, None, None] * (g.i - g.j), g.causal),
    "t5": t5,
    "kerple": lambda g: softmax(
        g.scaled - np.exp(g.number("alpha")) * np.log(1 + np.exp(g.number("beta")) * abs(g.i - g.j)), g.causal
    ),
    "kerple_power": lambda g: softmax(
        g.scaled - np.exp(g.number("alpha")) * abs(g.i - g.j) ** (2 / (1 + np.exp(-g.number("beta")))), g.causal
    ),
    "fire": fire,
    "rope": rope,
    "span": span,
    "head_windows": lambda g: softmax(g.scaled, abs(g.i - g.j) <= np.array([1, 2, 4])[:, None, None]),
    "scalable": lambda g: over_sum((g.i + 1.0) ** (g.number("g") * g.scaled), g.causal),
    "longformer": lambda g: softmax(g.scaled, (abs(g.i - g.j) <= 2) | (g.i == 0) | (g.j == 0)),
    "blocks": lambda g: softmax(g.scaled, g.i // 3 == g.j // 3),
    "strided": lambda g: softmax(g.scaled, g.causal & ((g.i - g.j <= 3) | np.isin(g.i - g.j, range(0, g.n, 3)))),
    "fixed": lambda g: softmax(g.scaled, g.causal & ((g.i // 3 == g.j // 3) | np.isin(g.j, range(2, g.n, 3)))),
    "strided_heads": lambda g: softmax(g.scaled, g.causal & [g.i - g.j <= 3, np.isin(g.i - g.j, range(0, g.n, 3))]),
    "fixed_heads": lambda g: rows(
        lambda x: np.exp(x) / np.exp(x).sum(),
        g.scaled,
        g.causal & [g.i // 3 == g.j // 3, np.broadcast_to(np.isin(g.j, range(2, g.n, 3)), (g.n, g.n))],
    ),
    "dilated_heads": lambda g: softmax(g.scaled, np.array([np.isin(abs(g.i - g.j), (0, d, 2 * d)) for d in (1, 2, 3)])),
    "long_net": long_net,
    "streaming": lambda g: softmax(g.scaled, g.causal & (np.isin(g.j, (0, 1)) | np.isin(g.i - g.j, (0, 1, 2)))),
    "criss_cross": lambda g: softmax(g.dot, (np.floor(g.i / 4) == np.floor(g.j / 4)) | np.isin(abs(g.i - g.j), (0, 4))),
    "top_k": lambda g: rows(top_k, g.scaled, g.causal),
    "sparsemax": lambda g: rows(lambda x: thresholded(x, 1), g.scaled, g.causal),
    "entmax": lambda g: rows(lambda x: thresholded(x / 2, 2), g.scaled, g.causal),
    "off_by_one": lambda g: rows(lambda x: np.exp(x) / (1 + np.exp(x).sum()), g.scaled, g.causal),
    "sinks": sinks,
    "sigmoid": lambda g: 1 / (1 + g.n * np.exp(-g.scaled)),
    "relu": lambda g: np.maximum(g.scaled, 0) / g.n,
    "squared_relu": lambda g: np.maximum(g.dot / g.n + g.trace["bias"].array, 0) ** 2,
    "softpick": lambda g: rows(softpick, g.scaled, g.causal),
    "taylor": lambda g: over_sum(1 + g.scaled + g.scaled**2 / 2, g.causal),
    "stick_breaking": lambda g: rows(stick_breaking, g.scaled, g.j < g.i),
    "multi_query": lambda g: grouped(g, 4),
    "grouped": lambda g: grouped(g, 2),
}
"""The weights (H, n, n) of each, from nothing but queries, keys and parameters."""


@cache
def traced(name: str) -> Trace:
    return run(opened(PAPERS[name])[0])


def differs(name: str) -> str:
    found, wanted = traced(name)["weights"].array, HAND[name](Given(traced(name)))
    return "" if np.allclose(found, wanted, rtol=1e-11, atol=1e-13) else f"{name}: {np.abs(found - wanted).max()}"


def test_every_paper_is_what_its_lines_compute() -> None:
    assert list(HAND) == list(PAPERS)
    assert len(PAPERS) >= 30
    assert [*filter(None, map(differs, PAPERS))] == []
    plain = softmax(Given(traced("scaled_dot")).scaled, Given(traced("scaled_dot")).causal)
    causal = [name for name in PAPERS if traced(name).config.mask == ("causal",) and traced(name).config.n_heads == 2]
    same = [name for name in causal if np.allclose(traced(name)["weights"].array, plain, atol=1e-4)]
    assert same == ["scaled_dot"], "any other would be told from plain attention"
    assert all("arXiv" in each.source or "Miller" in each.source for each in PAPERS.values())
    assert all("arXiv" in each for each in LEFT_OUT)


@pytest.mark.slow
def test_the_gradients_of_every_paper_that_is_typed_are_slopes() -> None:
    typed = [name for name, paper in PAPERS.items() if "formula" in paper.link.values()]
    assert len(typed) > 15
    assert readings.disagreeing(typed, map(traced, typed), {"slopes": readings.by_slopes}) == []


def test_pytorch_says_the_same_of_every_paper(torch: Any) -> None:
    by_torch = {"PyTorch": lambda trace: readings.by_script(trace, torch_script)}
    assert readings.disagreeing(PAPERS, map(traced, PAPERS), by_torch) == []
