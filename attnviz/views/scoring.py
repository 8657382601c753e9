"""The arithmetic of each score function, from the vectors of one query and one key to one number."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from attnviz.core.language import say
from attnviz.views.latex import added, row
from attnviz.views.line import Array, Sheet

Own = Mapping[str, Array]


def dot(sheet: Sheet, q: Array, k: Array, own: Own, recorded: Array) -> Array:
    """The products, and their sum."""
    i, j = sheet.facts["i"], sheet.facts["j"]
    return _sum_of_products(sheet, (f"q_{{{i}}}", f"k_{{{j}}}"), q, k, ("q", "k"), recorded)


def general(sheet: Sheet, q: Array, k: Array, own: Own, recorded: Array) -> Array:
    """The query through W, then products with the key, and their sum."""
    i, j = sheet.facts["i"], sheet.facts["j"]
    symbols = (f"q_{{{i}}} W", f"(q_{{{i}}} W)_{{", rf"q_{{{i}}} \cdot W")
    qw = sheet.through("transformed_query", symbols, q, own["W"])
    size = np.abs(q) @ np.abs(own["W"]) @ np.abs(k)
    names, labels = (f"q_{{{i}}} W", f"k_{{{j}}}"), ("(qW)", "k")
    return _sum_of_products(sheet, names, qw, k, labels, recorded, "products_of_general", size)


def additive(sheet: Sheet, q: Array, k: Array, own: Own, recorded: Array) -> Array:
    """Query and key through their matrices, added, squeezed, weighed by v, and the sum."""
    i, j, pen = sheet.facts["i"], sheet.facts["j"], sheet.pen
    left = sheet.through("hidden_query", (f"q_{{{i}}} W_q", f"(q_{{{i}}} W_q)_{{", f"q_{{{i}}} W_q"), q, own["W_q"])
    right = sheet.through("hidden_key", (f"k_{{{j}}} W_k", f"(k_{{{j}}} W_k)_{{", f"k_{{{j}}} W_k"), k, own["W_k"])
    parts = {"left": left, "right": right} | ({"b": own["b"]} if "b" in own else {})
    inside = sum(parts.values())
    sums = row([" ".join(added([pen.number(part[d]) for part in parts.values()])) for d in range(len(left))])
    size = sum(np.abs(part) for part in parts.values())
    plus = say(" and b") if "b" in own else ""
    h = sheet.write("hidden", "h", [sums], inside, operands=parts, size=size, plus=plus)
    t = sheet.write("squashed", "t", [row([rf"\tanh({pen.number(x)})" for x in h])], np.tanh(h), operands={"x": h})
    size = np.abs(own["v"]).sum()
    return _sum_of_products(sheet, ("v", "t"), own["v"], t, ("v", "tanh"), recorded, "products_of_additive", size)


def cosine(sheet: Sheet, q: Array, k: Array, own: Own, recorded: Array) -> Array:
    """Both lengths, the products and their sum, and the quotient."""
    i, j, pen = sheet.facts["i"], sheet.facts["j"], sheet.pen
    length_q, length_k = _length(sheet, "query_length", f"q_{{{i}}}", q), _length(sheet, "key_length", f"k_{{{j}}}", k)
    terms = _products(sheet, (f"q_{{{i}}}", f"k_{{{j}}}"), q, k, ("q", "k"), "products")
    symbol = rf"q_{{{i}}} \cdot k_{{{j}}}"
    total = sheet.write("dot", symbol, [pen.total(terms)], terms.sum(), operands={"terms": terms})
    operands = {"dot": total, "query_length": length_q, "key_length": length_k}
    is_zero = not (length_q and length_k)
    quotient = rf"\frac{{{pen.number(total)}}}{{{pen.product(length_q, length_k)}}}"
    members = [] if is_zero else [rf"\frac{{{symbol}}}{{|q_{{{i}}}|\,|k_{{{j}}}|}}", quotient]
    return sheet.write(
        "score",
        f"s_{{{sheet.ij}}}",
        members,
        0.0 if is_zero else total / (length_q * length_k),
        operands=operands,
        recorded=recorded,
        step="scores",
        size=1.0,
        words="cosine_of_zero" if is_zero else "cosine",
    )


def gaussian(sheet: Sheet, q: Array, k: Array, own: Own, recorded: Array) -> Array:
    """The differences, their squares and the sum, and minus half of it."""
    _, squared = _squared_distance(sheet, q, k)
    member = rf"-\tfrac{{1}}{{2}} \cdot {sheet.pen.number(squared)}"
    return _of_distance(sheet, "gaussian", member, squared, -0.5 * squared, recorded)


def negative_distance(sheet: Sheet, q: Array, k: Array, own: Own, recorded: Array) -> Array:
    """The differences, their squares and the sum, and minus its root."""
    apart, squared = _squared_distance(sheet, q, k)
    member = rf"-\sqrt{{{sheet.pen.number(squared)}}}"
    return _of_distance(sheet, "negative_distance", member, squared, -np.hypot.reduce(apart), recorded)


def location(sheet: Sheet, q: Array, k: Array, own: Own, recorded: Array) -> Array:
    """The products of the query and the key's column of W, and their sum; `own` holds that column as W."""
    names = (f"q_{{{sheet.facts['i']}}}", f"w_{{{sheet.facts['j']}}}")
    return _sum_of_products(sheet, names, q, own["W"], ("q", "w"), recorded, "products_of_location")


def other(sheet: Sheet, q: Array, k: Array, own: Own, recorded: Array) -> Array:
    """A score function without a row in ARITHMETIC: what goes in and what comes out."""
    operands = {"q": q, "k": k, **own}
    return sheet.write(
        "score", f"s_{{{sheet.ij}}}", [], recorded, operands=operands, step="scores", words="score_of_formula"
    )


Arithmetic = Callable[[Sheet, Array, Array, Own, Array], Array]

ARITHMETIC: dict[str, Arithmetic] = {
    "scaled_dot": dot,
    "dot": dot,
    "general": general,
    "additive": additive,
    "cosine": cosine,
    "gaussian": gaussian,
    "negative_distance": negative_distance,
    "location": location,
}
"""By the name of the score function: `(sheet, q, k, its own parameters for this cell, the recorded score)`."""


def _products(
    sheet: Sheet, names: tuple[str, str], left: Array, right: Array, labels: tuple[str, str], words: str
) -> Array:
    return sheet.write(
        "products",
        rf"{names[0]} \odot {names[1]}",
        [row([sheet.pen.product(x, y) for x, y in zip(left, right)])],
        left * right,
        operands={"left": left, "right": right},
        words=words,
        bars=lambda d: f"{labels[0]}{d} × {labels[1]}{d}",
    )


def _sum_of_products(
    sheet: Sheet,
    names: tuple[str, str],
    left: Array,
    right: Array,
    labels: tuple[str, str],
    recorded: Array,
    words: str = "products",
    size: float | None = None,
) -> Array:
    """The products and then the score, their sum; `size` where more than the products was rounded on the way."""
    terms = _products(sheet, names, left, right, labels, words)
    return sheet.write(
        "score",
        f"s_{{{sheet.ij}}}",
        [rf"{names[0]} \cdot {names[1]}", sheet.pen.total(terms)],
        terms.sum(),
        operands={"terms": terms},
        recorded=recorded,
        step="scores",
        size=np.abs(terms).sum() if size is None else size,
    )


def _length(sheet: Sheet, name: str, symbol: str, x: Array) -> Array:
    squares = " ".join(added([f"{sheet.pen.base(entry)}^2" for entry in x]))
    return sheet.write(name, f"|{symbol}|", [rf"\sqrt{{{squares}}}"], np.hypot.reduce(x), operands={"x": x})


def _squared_distance(sheet: Sheet, q: Array, k: Array) -> tuple[Array, Array]:
    """The differences, and the sum of their squares."""
    i, j, pen = sheet.facts["i"], sheet.facts["j"], sheet.pen
    symbol = f"q_{{{i}}} - k_{{{j}}}"
    members = [row([pen.difference(x, y) for x, y in zip(q, k)])]
    label = "(q{0} - k{0})".format
    apart = sheet.write("differences", symbol, members, q - k, operands={"left": q, "right": k}, bars=label)
    members = [row([f"{pen.base(x)}^2" for x in apart])]
    label = "(q{0} - k{0})²".format
    squares = sheet.write("squares", f"({symbol})^2", members, apart**2, operands={"x": apart}, bars=label)
    total = sum(squares.tolist())
    members = [pen.total(squares)]
    return apart, sheet.write("squared_distance", f"|{symbol}|^2", members, total, operands={"terms": squares})


def _of_distance(sheet: Sheet, words: str, member: str, squared: Array, score: Array, recorded: Array) -> Array:
    return sheet.write(
        "score",
        f"s_{{{sheet.ij}}}",
        [member],
        score,
        operands={"squared_distance": squared},
        recorded=recorded,
        step="scores",
        words=words,
    )
