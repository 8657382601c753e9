"""The names that may stand in a formula, and the signs of its operators: functions, reductions and parameters."""

from __future__ import annotations

import ast
import difflib
import re

BINARY: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
}
COMPARED: dict[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}
"""The sign of each operator and of each comparison in Python's own grammar."""

FUNCTIONS = ("tanh", "exp", "log", "abs", "sqrt", "relu", "sigmoid", "sin", "cos", "sign")
OVER = ("sum", "mean", "max", "min", "norm", "unit", "dot", "ratio", "level", "cumsum", "top")
"""The functions over the entries of a vector or of a row; max and min of two are entry by entry.

level(x, p) is the number t of a row with sum(relu(x - t)**p) = 1, which sparse normalisers take off. cumsum(x) adds a
row up from its first key to each; top(x, n) is true at the n largest of a row, the earlier of two that are equal.
"""

OF_ROWS = {"level": "level(x, 2)", "cumsum": "cumsum(x)", "top": "top(x, 3)"}
"""The functions that only a row of scores has, with a call of each."""

NAMES_TOO = ("cumsum", "top")
"""Functions that came later: a line may have a step of this name, which is none then."""


CALLED = FUNCTIONS + OVER
ARGUMENTS = {"dot": (2,), "ratio": (2,), "level": (2,), "top": (2,), "max": (1, 2), "min": (1, 2)}
MATRICES = {"W": "score_w", "W_q": "score_w_q", "W_k": "score_w_k", "U": "score_matrix_u", "A": "score_matrix_a"}
VECTORS = {
    "v": "score_v",
    "b": "score_b",
    "u": "score_vector_u",
    "w": "score_vector_w",
    "c": "score_vector_c",
}
NUMBERS = {
    "g": "score_g",
    "alpha": "score_alpha",
    "beta": "score_beta",
    "gamma": "score_gamma",
    "lam": "score_lam",
    "tau": "score_tau",
}
"""The parameters that a score may have, by role, and the step in which a run keeps each; a number is one a head."""

STEPS = MATRICES | VECTORS | NUMBERS

MAX_NAME_CHARACTERS = 20


TOKEN = re.compile(r"token\[([ij])([+-]\d)?\]")
"""A token of a mask: of the query or of the key, or one that stands up to nine places before or after it."""


def place_of(token: str) -> tuple[str, int]:
    """Return whose token it is, i or j, and how many places after that it stands.

    >>> place_of("token[i]"), place_of("token[j-1]")
    (('i', 0), ('j', -1))
    """
    match = TOKEN.fullmatch(token)
    if not match:
        raise ValueError(token)
    return match[1], int(match[2] or 0)


def role(name: str) -> str:
    """Return the kind of a parameter of this name: "matrix", "vector", "number", or nothing.

    >>> role("W_q"), role("v"), role("tau"), role("query")
    ('matrix', 'vector', 'number', '')
    """
    tables = {"matrix": MATRICES, "vector": VECTORS, "number": NUMBERS}
    return next((kind for kind, table in tables.items() if name in table), "")


COMES_AFTER = ("softmax",)
"""Operations that a score need not do: the normaliser does them."""

ELSEWHERE = {
    "Q": "q",
    "K": "k",
    "ln": "log",
    "cosine": "dot(unit(q), unit(k))",
    "magnitude": "norm",
    "length": "norm",
    "distance": "norm",
    "average": "mean",
    "logistic": "sigmoid",
    "sigma": "sigmoid",
    "normalize": "unit",
    "normalise": "unit",
    "d": "d_k",
}
"""Names of other programs and papers, with the names that stand for them here."""


def nearest(name: str, known: tuple[str, ...]) -> str:
    """Return the known name that means the same, or else looks most like this one; nothing if none does.

    >>> nearest("ln", CALLED), nearest("tahn", CALLED)
    ('log', 'tanh')
    """
    meant = ELSEWHERE.get(name, "")
    if meant and (meant in known or "(" in meant):
        return meant
    if name.lower() in known:
        return name.lower()
    alike = 0.75 if known == CALLED else 0.6  # a function does something: one that only looks like it does another
    return next(iter(difflib.get_close_matches(name[:MAX_NAME_CHARACTERS], known, 1, alike)), "")
