"""The lines from a query and a key to the score that enters the normaliser: scale, cap, bias, mask, temperature."""

from __future__ import annotations

import numpy as np

from attnviz.arithmetic import row_lines, typed_lines
from attnviz.arithmetic.cell_position import CellPosition
from attnviz.arithmetic.derivation import Derivation, Display, Equation, Result
from attnviz.arithmetic.latex_numbers import chain
from attnviz.arrays import Array
from attnviz.engine.records.typed_rows import normaliser_of, score_of
from attnviz.engine.tables.biases import BIASES


def add_lines(derivation: Derivation, position: CellPosition, q: Array, k: Array) -> str:
    """Add the lines from q_i and k_j to what enters the normaliser; return its symbol, with @ as subscript."""
    row = score_of(position.config)
    if row.lines:
        return from_score(derivation, position, row_lines.score(derivation, position, row, q, k))
    return from_score(derivation, position, typed_lines.score(derivation, position, row.definition, q, k))


def add_given(derivation: Derivation, position: CellPosition, step: str, name: str, letter: str) -> Array:
    """Add the line of a number that was given, with which the arithmetic begins; return the number."""
    symbol, value = f"{letter}_{{{derivation.ij}}}", position.at(step)
    return derivation.add_line(name, Equation(symbol), Result(value, step=step), words=f"given_{name}")


def from_score(derivation: Derivation, position: CellPosition, s: Array) -> str:
    """Add the lines from the score to what enters the normaliser; return its symbol, with @ as subscript.

    A line that changes nothing here is not shown, so the symbol it would introduce is not used either.
    """
    symbol = "s_{@}"
    for add in (_add_scale, _add_cap, _add_bias, _add_mask):
        s, new_symbol = add(derivation, position, s, symbol)
        symbol = new_symbol if derivation.is_shown() else symbol
    _add_temperature(derivation, position, s)
    return symbol


def _add_scale(derivation: Derivation, position: CellPosition, s: Array, symbol: str) -> tuple[Array, str]:
    config, row = position.config, score_of(position.config)
    c = row.scale(position.d_k) if config.scale is None else config.scale
    by_width = config.scale is None and row.is_over_root
    scaled = derivation.add_line(
        "scale",
        Equation(
            f"s'_{{{derivation.ij}}}",
            [
                rf"c\, {symbol.replace('@', derivation.ij)}",
                derivation.fmt.product(c, derivation.as_printed(s, derivation.sizes["scores"])),
            ],
            above=chain("c", [rf"\frac{{1}}{{\sqrt{{{position.d_k}}}}}", derivation.fmt.number(c)]) if by_width else [],
        ),
        Result(
            c * s,
            {"scale": c, "score": s},
            recorded=position.at("scaled"),
            step="scaled",
            beside=derivation.sizes["scaled"],
        ),
        display=Display(active=c != 1.0),
        words="scale_of_width" if by_width else "scale",
        c=derivation.format(c),
        d=position.d_k,
    )
    return scaled, "s'_{@}"


def _add_cap(derivation: Derivation, position: CellPosition, s: Array, symbol: str) -> tuple[Array, str]:
    cap, fmt = position.config.softcap, derivation.fmt
    inside = rf"\frac{{{fmt.number(derivation.as_printed(s, derivation.sizes['scaled']))}}}{{{fmt.number(cap)}}}"
    capped = derivation.add_line(
        "softcap",
        Equation(
            f"s''_{{{derivation.ij}}}",
            [rf"{fmt.number(cap)} \cdot \tanh\left({inside}\right)" if cap else symbol.replace("@", derivation.ij)],
        ),
        Result(
            cap * np.tanh(s / cap) if cap else s,
            {"softcap": cap, "score": s},
            recorded=position.at("capped"),
            step="capped",
            beside=derivation.sizes["capped"],
        ),
        display=Display(active=bool(cap)),
        words="softcap" if cap else "softcap_off",
        cap=derivation.format(cap),
    )
    return capped, "s''_{@}"


def _add_bias(derivation: Derivation, position: CellPosition, s: Array, symbol: str) -> tuple[Array, str]:
    """Add the line of the bias by distance; the run records the sum only after the mask."""
    bias = float(position.at("bias")) if "bias" in position.steps else 0.0
    expected = _bias_of_settings(position)
    if "bias" not in position.steps:
        words = "bias_off"
    else:
        words = "bias" if bias == expected else "bias_edited"
    added = symbol + " + B_{@}"
    seen = derivation.as_printed(s, derivation.sizes["capped"])
    biased = derivation.add_line(
        "bias",
        Equation(added.replace("@", derivation.ij), [f"{derivation.fmt.number(seen)} + {derivation.fmt.factor(bias)}"]),
        Result(s + bias, {"score": s, "bias": bias}, beside=derivation.sizes["capped"]),
        display=Display(active="bias" in position.steps),
        words=words,
        bias=derivation.format(bias),
        expected=derivation.format(expected),
    )
    return biased, added


def _bias_of_settings(position: CellPosition) -> float:
    row = BIASES[position.config.bias]
    shape = position.steps["scores"].shape
    B = row.fn(*shape, **row.settings(position.config))
    return 0.0 if B is None else float(np.broadcast_to(B, shape)[position.head, position.query, position.key])


def _add_mask(derivation: Derivation, position: CellPosition, s: Array, symbol: str) -> tuple[Array, str]:
    closed = not position.may or bool(np.isneginf(s))
    if closed:
        words = "forbidden"
    else:
        words = "opened" if position.may and position.forbidden_by else "mask"
    masked = derivation.add_line(
        "mask",
        Equation(rf"\hat s_{{{derivation.ij}}}", [] if closed else [symbol.replace("@", derivation.ij)]),
        Result(
            s if position.may else -np.inf,
            {"score": s, "allowed": position.may},
            recorded=position.at("masked"),
            step="masked",
            beside=derivation.sizes["masked"],
        ),
        display=Display(
            active=position.config.mask != ("none",) or closed or bool(np.isneginf(position.scores_to_normalise).any())
        ),
        words=words,
        why=position.why,
    )
    return masked, r"\hat s_{@}"


def _add_temperature(derivation: Derivation, position: CellPosition, s: Array) -> None:
    T, unused = position.config.temperature, normaliser_of(position.config).is_indifferent
    above = derivation.fmt.number(derivation.as_printed(s, derivation.sizes["masked"]))
    derivation.add_line(
        "temperature",
        Equation(f"z_{{{derivation.ij}}}", [rf"\frac{{{above}}}{{{derivation.fmt.number(T)}}}"]),
        Result(s / T, {"score": s, "T": T}, beside=derivation.sizes["masked"] / T),
        display=Display(active=T != 1.0 and not unused),
        words="temperature_unused" if unused else "temperature",
        T=derivation.format(T),
    )
