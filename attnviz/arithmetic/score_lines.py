"""The lines from a query and a key to the score that enters the normaliser: scale, cap, bias, mask, temperature."""

from __future__ import annotations

import numpy as np

from attnviz.arithmetic import row_lines, typed_lines
from attnviz.arithmetic.cell_position import CellPosition
from attnviz.arithmetic.latex_numbers import chain
from attnviz.arithmetic.line import Derivation, Equation, Result
from attnviz.arrays import Array
from attnviz.engine.records.typed_rows import normaliser_of, score_of
from attnviz.engine.tables.biases import BIASES


def write(derivation: Derivation, place: CellPosition, q: Array, k: Array) -> str:
    """Add the lines from q_i and k_j to the score that enters the normaliser; return what that is called."""
    row = score_of(place.config)
    if row.lines:
        return from_score(derivation, place, row_lines.score(derivation, place, row, q, k))
    return from_score(derivation, place, typed_lines.score(derivation, place, row.definition, q, k))


def given(derivation: Derivation, place: CellPosition, step: str, name: str, letter: str) -> Array:
    """Return the number that the arithmetic begins with."""
    symbol, value = f"{letter}_{{{derivation.ij}}}", place.at(step)
    return derivation.add_line(name, Equation(symbol), Result(value, step=step), words=f"given_{name}")


def from_score(derivation: Derivation, place: CellPosition, s: Array) -> str:
    """Add the lines from the score to what enters the normaliser; return what that is called, with @ for the subscript.

    A line that changes nothing here is not shown, so what it would call the score is not used either.
    """
    symbol = "s_{@}"
    for write in (_scaled, _capped, _biased, _masked):
        s, its = write(derivation, place, s, symbol)
        symbol = its if derivation.is_shown() else symbol
    _cooled(derivation, place, s)
    return symbol


def _scaled(derivation: Derivation, place: CellPosition, s: Array, symbol: str) -> tuple[Array, str]:
    config, row = place.config, score_of(place.config)
    c = row.scale(place.d_k) if config.scale is None else config.scale
    by_width = config.scale is None and row.is_over_root
    made = derivation.add_line(
        "scale",
        Equation(
            f"s'_{{{derivation.ij}}}",
            [
                rf"c\, {symbol.replace('@', derivation.ij)}",
                derivation.fmt.product(c, derivation.seen(s, derivation.sizes["scores"])),
            ],
            above=chain("c", [rf"\frac{{1}}{{\sqrt{{{place.d_k}}}}}", derivation.fmt.number(c)]) if by_width else [],
        ),
        Result(
            c * s,
            {"scale": c, "score": s},
            recorded=place.at("scaled"),
            step="scaled",
            beside=derivation.sizes["scaled"],
        ),
        active=c != 1.0,
        words="scale_of_width" if by_width else "scale",
        c=derivation.format(c),
        d=place.d_k,
    )
    return made, "s'_{@}"


def _capped(derivation: Derivation, place: CellPosition, s: Array, symbol: str) -> tuple[Array, str]:
    cap, fmt = place.config.softcap, derivation.fmt
    inside = rf"\frac{{{fmt.number(derivation.seen(s, derivation.sizes['scaled']))}}}{{{fmt.number(cap)}}}"
    made = derivation.add_line(
        "softcap",
        Equation(
            f"s''_{{{derivation.ij}}}",
            [rf"{fmt.number(cap)} \cdot \tanh\left({inside}\right)" if cap else symbol.replace("@", derivation.ij)],
        ),
        Result(
            cap * np.tanh(s / cap) if cap else s,
            {"softcap": cap, "score": s},
            recorded=place.at("capped"),
            step="capped",
            beside=derivation.sizes["capped"],
        ),
        active=bool(cap),
        words="softcap" if cap else "softcap_off",
        cap=derivation.format(cap),
    )
    return made, "s''_{@}"


def _biased(derivation: Derivation, place: CellPosition, s: Array, symbol: str) -> tuple[Array, str]:
    """Return the score and what is added for the distance; the run keeps the sum only after the mask."""
    bias = float(place.at("bias")) if "bias" in place.steps else 0.0
    expected = _bias_of_settings(place)
    words = "bias_off" if "bias" not in place.steps else "bias" if bias == expected else "bias_edited"
    added = symbol + " + B_{@}"
    seen = derivation.seen(s, derivation.sizes["capped"])
    made = derivation.add_line(
        "bias",
        Equation(added.replace("@", derivation.ij), [f"{derivation.fmt.number(seen)} + {derivation.fmt.factor(bias)}"]),
        Result(s + bias, {"score": s, "bias": bias}, beside=derivation.sizes["capped"]),
        active="bias" in place.steps,
        words=words,
        bias=derivation.format(bias),
        expected=derivation.format(expected),
    )
    return made, added


def _bias_of_settings(place: CellPosition) -> float:
    row = BIASES[place.config.bias]
    shape = place.steps["scores"].shape
    B = row.fn(*shape, **row.settings(place.config))
    return 0.0 if B is None else float(np.broadcast_to(B, shape)[place.head, place.query, place.key])


def _masked(derivation: Derivation, place: CellPosition, s: Array, symbol: str) -> tuple[Array, str]:
    closed = not place.may or bool(np.isneginf(s))
    opened = place.may and bool(place.forbidden_by)
    made = derivation.add_line(
        "mask",
        Equation(rf"\hat s_{{{derivation.ij}}}", [] if closed else [symbol.replace("@", derivation.ij)]),
        Result(
            s if place.may else -np.inf,
            {"score": s, "allowed": place.may},
            recorded=place.at("masked"),
            step="masked",
            beside=derivation.sizes["masked"],
        ),
        active=place.config.mask != ("none",) or closed or bool(np.isneginf(place.line).any()),
        words="forbidden" if closed else "opened" if opened else "mask",
        why=place.why,
    )
    return made, r"\hat s_{@}"


def _cooled(derivation: Derivation, place: CellPosition, s: Array) -> None:
    T, unused = place.config.temperature, normaliser_of(place.config).is_indifferent
    above = derivation.fmt.number(derivation.seen(s, derivation.sizes["masked"]))
    derivation.add_line(
        "temperature",
        Equation(f"z_{{{derivation.ij}}}", [rf"\frac{{{above}}}{{{derivation.fmt.number(T)}}}"]),
        Result(s / T, {"score": s, "T": T}, beside=derivation.sizes["masked"] / T),
        active=T != 1.0 and not unused,
        words="temperature_unused" if unused else "temperature",
        T=derivation.format(T),
    )
