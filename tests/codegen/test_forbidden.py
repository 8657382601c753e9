"""What a script may leave unmasked: the results of a normaliser's lines for a score of -inf."""

from __future__ import annotations

from attnviz.codegen.forbidden import MINUS, PLUS, ZERO, at_forbidden
from attnviz.formula.reader import parse

LINES = {
    "x": MINUS, "-x": PLUS, "-(-x)": MINUS, "x / 2": MINUS, "2 * x": MINUS, "x * 3": MINUS, "x - max(x)": MINUS,
    "x + 1": MINUS, "x / -2": "", "-2 * x": "", "x * x": "", "x - x": "", "1 - x": "",
    "exp(x)": ZERO, "sigmoid(x)": ZERO, "exp(x - max(x)) / sum(exp(x - max(x)))": ZERO, "exp(x) * 5": ZERO,
    "sum(exp(x)) * exp(x)": ZERO, "tanh(exp(x))": ZERO, "sqrt(exp(x))": ZERO, "abs(exp(x))": ZERO, "-exp(x)": ZERO,
    "relu(x)": ZERO, "relu(x) ** 2": ZERO, "relu(x) ** 0.5 / sum(relu(x))": ZERO, "exp(x) ** 3": ZERO,
    "relu(x) ** 0": "", "relu(x) ** -1": "", "2 ** exp(x)": "", "x ** 2": "", "cos(exp(x))": "", "exp(x) + 1": "",
    "exp(x) / exp(x)": "", "max(x)": "",
}  # fmt: skip
"""Lines, and what is known of their entry where the score is -inf."""


def test_what_is_said_of_a_forbidden_entry_is_known_where_it_can_be() -> None:
    assert {line: at_forbidden(parse(line, "normaliser").root) for line in LINES} == LINES
