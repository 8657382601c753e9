"""The arithmetic of each score function, from the vectors of one query and one key to one number."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from attnviz.arithmetic.latex_numbers import Member, added, chain, row
from attnviz.arithmetic.line import Derivation, Equation, MatVec, Result, dimension, largest
from attnviz.arrays import Array
from attnviz.settings.language import translate

ScoreParameters = Mapping[str, Array]


def dot(derivation: Derivation, q: Array, k: Array, own: ScoreParameters, recorded: Array) -> Array:
    """Return the products, and their sum."""
    i, j = derivation.facts["i"], derivation.facts["j"]
    return _sum_of_products(derivation, (f"q_{{{i}}}", f"k_{{{j}}}"), q, k, _sizes(derivation), recorded)


def general(derivation: Derivation, q: Array, k: Array, own: ScoreParameters, recorded: Array) -> Array:
    """Return the query through W, then products with the key, and their sum."""
    i, j = derivation.facts["i"], derivation.facts["j"]
    symbols = (f"q_{{{i}}} W", f"(q_{{{i}}} W)_{{", rf"q_{{{i}}} \cdot W")
    qw = derivation.add_matvec("transformed_query", symbols, MatVec(q, own["W"]))
    size = np.abs(q) @ np.abs(own["W"]) @ np.abs(k)
    names, sizes = (f"q_{{{i}}} W", f"k_{{{j}}}"), (largest(qw), derivation.sizes["keys"])
    return _sum_of_products(derivation, names, qw, k, sizes, recorded, "products_of_general", size)


def additive(derivation: Derivation, q: Array, k: Array, own: ScoreParameters, recorded: Array) -> Array:
    """Query and key through their matrices, added, squeezed, weighed by v, and the sum."""
    i, j, fmt = derivation.facts["i"], derivation.facts["j"], derivation.fmt
    left = derivation.add_matvec(
        "hidden_query", (f"q_{{{i}}} W_q", f"(q_{{{i}}} W_q)_{{", f"q_{{{i}}} W_q"), MatVec(q, own["W_q"])
    )
    right = derivation.add_matvec(
        "hidden_key", (f"k_{{{j}}} W_k", f"(k_{{{j}}} W_k)_{{", f"k_{{{j}}} W_k"), MatVec(k, own["W_k"])
    )
    parts = {"left": left, "right": right} | ({"b": own["b"]} if "b" in own else {})
    inside = sum(parts.values())
    seen = [derivation.seen(part, largest(part)) for part in parts.values()]
    sums = row([" ".join(added([fmt.number(part[d]) for part in seen])) for d in range(len(left))])
    size = sum(np.abs(part) for part in parts.values())
    plus = translate(" and b") if "b" in own else ""
    h = derivation.add_line(
        "hidden", Equation("h", [sums]), Result(inside, parts, size=size, beside=largest(size)), plus=plus
    )
    tanh = row([rf"\tanh({fmt.number(x)})" for x in derivation.seen(h, largest(size))])
    t = derivation.add_line("squashed", Equation("t", [tanh]), Result(np.tanh(h), {"x": h}, beside=largest(size)))
    v, size = own["v"], np.abs(own["v"]).sum()
    sizes = largest(v), largest(t)
    return _sum_of_products(derivation, ("v", "t"), v, t, sizes, recorded, "products_of_additive", size)


def cosine(derivation: Derivation, q: Array, k: Array, own: ScoreParameters, recorded: Array) -> Array:
    """Return both lengths, the products and their sum, and the quotient."""
    i, j, fmt = derivation.facts["i"], derivation.facts["j"], derivation.fmt
    length_q, length_k = (
        _length(derivation, "query_length", f"q_{{{i}}}", q),
        _length(derivation, "key_length", f"k_{{{j}}}", k),
    )
    terms = _products(derivation, (f"q_{{{i}}}", f"k_{{{j}}}"), q, k, _sizes(derivation), "products")
    symbol, beside = rf"q_{{{i}}} \cdot k_{{{j}}}", math.prod(_sizes(derivation))
    members = [fmt.total(derivation.seen(terms, beside))]
    total = derivation.add_line("dot", Equation(symbol, members), Result(terms.sum(), {"terms": terms}, beside=beside))
    operands = {"dot": total, "query_length": length_q, "key_length": length_k}
    is_zero = not (length_q and length_k)
    quotient = rf"\frac{{{fmt.number(derivation.seen(total, beside))}}}{{{fmt.product(length_q, length_k)}}}"
    shares: list[Member] = [] if is_zero else [rf"\frac{{{symbol}}}{{|q_{{{i}}}|\,|k_{{{j}}}|}}", quotient]
    return derivation.add_line(
        "score",
        Equation(f"s_{{{derivation.ij}}}", shares),
        Result(
            0.0 if is_zero else total / (length_q * length_k),
            operands,
            recorded=recorded,
            step="scores",
            size=1.0,
            beside=1.0,
        ),
        words="cosine_of_zero" if is_zero else "cosine",
    )


def gaussian(derivation: Derivation, q: Array, k: Array, own: ScoreParameters, recorded: Array) -> Array:
    """Return the differences, their squares and the sum, and minus half of it."""
    _, squared = _squared_distance(derivation, q, k)
    beside = max(_sizes(derivation))
    member = rf"-\tfrac{{1}}{{2}} \cdot {derivation.fmt.number(derivation.seen(squared, beside * beside))}"
    return _of_distance(derivation, "gaussian", member, squared, -0.5 * squared, recorded)


def negative_distance(derivation: Derivation, q: Array, k: Array, own: ScoreParameters, recorded: Array) -> Array:
    """Return the differences, their squares and the sum, and minus its root."""
    apart, squared = _squared_distance(derivation, q, k)
    beside = max(_sizes(derivation))
    member = rf"-\sqrt{{{derivation.fmt.number(derivation.seen(squared, beside * beside))}}}"
    return _of_distance(derivation, "negative_distance", member, squared, -np.hypot.reduce(apart), recorded)


def location(derivation: Derivation, q: Array, k: Array, own: ScoreParameters, recorded: Array) -> Array:
    """Return the products of the query and the key's column of W, and their sum; `own` holds that column as W."""
    names = (f"q_{{{derivation.facts['i']}}}", f"w_{{{derivation.facts['j']}}}")
    sizes = derivation.sizes["queries"], largest(own["W"])
    return _sum_of_products(derivation, names, q, own["W"], sizes, recorded, "products_of_location")


def other(derivation: Derivation, q: Array, k: Array, own: ScoreParameters, recorded: Array) -> Array:
    """Return a score function without a row in ARITHMETIC: what goes in and what comes out."""
    operands = {"q": q, "k": k, **own}
    return derivation.add_line(
        "score", Equation(f"s_{{{derivation.ij}}}"), Result(recorded, operands, step="scores"), words="score_of_formula"
    )


Arithmetic = Callable[[Derivation, Array, Array, ScoreParameters, Array], Array]

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


def _sizes(derivation: Derivation) -> tuple[float, float]:
    """Return the sizes of the entries of the layer's queries and keys."""
    return derivation.sizes["queries"], derivation.sizes["keys"]


def _products(
    derivation: Derivation, names: tuple[str, str], left: Array, right: Array, sizes: tuple[float, float], words: str
) -> Array:
    """Return the products, entry by entry.

    `sizes` are those of the numbers beside which an entry is zero but for rounding.
    """
    seen = zip(*(derivation.seen(x, size) for x, size in zip((left, right), sizes)))
    return derivation.add_line(
        "products",
        Equation(rf"{names[0]} \odot {names[1]}", [row([derivation.fmt.product(x, y) for x, y in seen])]),
        Result(left * right, {"left": left, "right": right}, beside=math.prod(sizes)),
        words=words,
        bars=dimension,
    )


def _sum_of_products(
    derivation: Derivation,
    names: tuple[str, str],
    left: Array,
    right: Array,
    sizes: tuple[float, float],
    recorded: Array,
    words: str = "products",
    size: float | None = None,
) -> Array:
    """Return the products and then the score, their sum; `size` where more than the products was rounded on the way."""
    terms = _products(derivation, names, left, right, sizes, words)
    return derivation.add_line(
        "score",
        Equation(
            f"s_{{{derivation.ij}}}",
            [rf"{names[0]} \cdot {names[1]}", derivation.fmt.total(derivation.seen(terms, math.prod(sizes)))],
        ),
        Result(
            terms.sum(),
            {"terms": terms},
            recorded=recorded,
            step="scores",
            size=np.abs(terms).sum() if size is None else size,
            beside=derivation.sizes["scores"],
        ),
    )


def _length(derivation: Derivation, name: str, symbol: str, x: Array) -> Array:
    beside = derivation.sizes["queries" if name == "query_length" else "keys"]
    squares = derivation.fmt.sum([f"{derivation.fmt.base(entry)}^2" for entry in derivation.seen(x, beside)], x**2)
    above = chain(rf"|{symbol}|^2", [squares, derivation.fmt.number((x**2).sum())])
    member = rf"\sqrt{{{derivation.fmt.number((x**2).sum())}}}"
    made = np.hypot.reduce(x)
    return derivation.add_line(
        name, Equation(f"|{symbol}|", [member], above=above), Result(made, {"x": x}, beside=beside)
    )


def _squared_distance(derivation: Derivation, q: Array, k: Array) -> tuple[Array, Array]:
    """Return the differences, and the sum of their squares."""
    i, j, fmt = derivation.facts["i"], derivation.facts["j"], derivation.fmt
    symbol = f"q_{{{i}}} - k_{{{j}}}"
    beside = max(_sizes(derivation))
    seen = zip(derivation.seen(q, beside), derivation.seen(k, beside))
    members, operands = [row([fmt.difference(x, y) for x, y in seen])], {"left": q, "right": k}
    apart = derivation.add_line(
        "differences", Equation(symbol, members), Result(q - k, operands, beside=beside), bars=dimension
    )
    members, symbol = [row([f"{fmt.base(x)}^2" for x in derivation.seen(apart, beside)])], rf"({symbol})^{{\odot 2}}"
    beside *= beside
    squares = derivation.add_line(
        "squares", Equation(symbol, members), Result(apart**2, {"x": apart}, beside=beside), bars=dimension
    )
    total, terms = sum(squares.tolist()), {"terms": squares}
    members, symbol = [fmt.total(derivation.seen(squares, beside))], f"|q_{{{i}}} - k_{{{j}}}|^2"
    return apart, derivation.add_line(
        "squared_distance", Equation(symbol, members), Result(total, terms, beside=beside)
    )


def _of_distance(
    derivation: Derivation, words: str, member: str, squared: Array, score: Array, recorded: Array
) -> Array:
    return derivation.add_line(
        "score",
        Equation(f"s_{{{derivation.ij}}}", [member]),
        Result(
            score, {"squared_distance": squared}, recorded=recorded, step="scores", beside=derivation.sizes["scores"]
        ),
        words=words,
    )
