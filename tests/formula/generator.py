"""Random typed lines, for one opinion of a formula against another; seeded, so that a failure can be seen again."""

from __future__ import annotations

import random

from attnviz.formula.faults import FormulaError
from attnviz.formula.graph import Formula
from attnviz.formula.reader import parse

WRITTEN_BY_HAND = (
    "sum(tanh(q*k)) / sqrt(d_k) - 0.1*abs(i-j)",
    "1/sum(q*k)",
    "sum(tanh(q*k))*sum(tanh(q*k))",
    "sum(q*k)*sum(q*k)/sum(q*k)",
    "q @ W @ k",
    "hidden = tanh(q@W_q + b + k@W_k); sum(hidden * v)",
    "-0.5 * sum((q - k)**2)",
    "dot(unit(q), unit(k))",
    "sum(q * W[:, j])",
    "sum(q * W[j]) + b[j]",
    "2*(i%3) + sum(q)",
    "i-(j-2)",
    "2**-(i-j) + 0*sum(q*k)",
    "(-2)**2 + (i+1)**(j-i)",
    "-2**2 - h/n_heads",
    "-(q@k)**2",
    "g*sum(q*k) if j <= i and not i == 2 else tau",
    "d_k + n + n_key - n_query",
    "max(q*k) - min(q + k)",
    "mean(tanh(q @ W)) + mean(k)",
    "sum((q@W)*k)+sum(q*k)",
    "sum(tanh((q*k)@W)*v)",
    "norm(q @ U) + norm(k @ W)",
    "ratio(sum(q), sum(k)) + ratio(1, i - j) + ratio(i, 0)",
    "sum(v * (q if q > k else 2))",
    "sum(q if i > j else k)",
    "sum(max(q, 0) * min(k, v))",
    "2 // (i + 1) + (i - j) // 2 + i % (j + 1)",
    "sum(q * W[j])",
    "q @ W[j] - k @ A[:, j]",
    "sum(v * tanh(q@W_q + k@W_k + b))",
    "(i + 1) // 0.1 + 0.5 // 0.1 + j * (h % -2) + sum(q)",
    "norm(W[j] * dot(-k, q))",
)


def vector(draw: random.Random, depth: int) -> str:
    """Return a random vector."""
    r = draw.random()
    if depth <= 0 or r < 0.3:
        return draw.choice(["q", "k", "q", "k", "v", "w", "W[j]", "A[:, j]"])
    a, b = vector(draw, depth - 1), vector(draw, depth - 1)
    if r < 0.55:
        return f"({a} {draw.choice('+-*')} {b})"
    if r < 0.65:
        return f"{draw.choice(['tanh', 'abs', 'relu', 'sigmoid', 'sin', 'unit', 'exp', 'sign'])}({a})"
    if r < 0.75:
        return f"({a} @ {draw.choice('UA')})"
    if r < 0.8:
        return f"({a} * {number(draw, depth - 1)})"
    if r < 0.85:
        return f"({a} % 2)"
    if r < 0.9:
        return f"({a} if {number(draw, depth - 1)} {draw.choice(['<', '>='])} {b} else {b})"
    return f"{draw.choice(['max', 'min', 'ratio'])}({a}, {b})" if r < 0.95 else f"-{a}"


def number(draw: random.Random, depth: int) -> str:
    """Return a random number for each query and key."""
    r = draw.random()
    if depth <= 0 or r < 0.15:
        return draw.choice(["i", "j", "2", "0.5", "d_k", "b[j]", "g", "h", "n"])
    if r < 0.5:
        return f"{draw.choice(['sum', 'mean', 'max', 'min', 'norm'])}({vector(draw, depth - 1)})"
    a, b = number(draw, depth - 1), number(draw, depth - 1)
    if r < 0.6:
        return f"dot({vector(draw, depth - 1)}, {vector(draw, depth - 1)})"
    if r < 0.8:
        return f"({a} {draw.choice('+-*')} {b})"
    if r < 0.85:
        return f"{a} / (1 + {b}**2)"
    if r < 0.9:
        return f"{draw.choice(['tanh', 'abs', 'relu', 'sigmoid', 'sin'])}({a})"
    return f"{a} {draw.choice('*-+')} {b}" if r < 0.95 else f"-{a}"


def lines(n: int, seed: int = 0) -> list[Formula]:
    """Return those written by hand and random scores up to n, all of which can be read and look at query or key."""
    draw, found = random.Random(seed), [parse(text) for text in WRITTEN_BY_HAND]  # noqa: S311
    while len(found) < n:
        text = f"sum({vector(draw, 3)})" if draw.random() < 0.3 else number(draw, 4)
        try:
            formula = parse(text)
        except FormulaError:
            continue
        if formula.variables() & {"q", "k"}:
            found.append(formula)
    return found
