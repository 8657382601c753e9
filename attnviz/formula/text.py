"""The characters of a typed line, and Python's own syntax tree of it; nothing that was typed is ever run."""

from __future__ import annotations

import ast
import re

from attnviz.formula.faults import FormulaError, fault
from attnviz.formula.syntax import complaint, unquoted

MAX_CHARACTERS, MAX_LEVELS, MAX_PARTS = 300, 24, 96
"""The most characters of a line, levels of nesting, and different parts."""

LONGEST_TOKEN = 40
DIGITS = re.compile(r"\d+\.?\d*(e[+-]?\d{1,3})?|\.\d+(e[+-]?\d{1,3})?")
SIGNS = " \n;_+-*/%@()<>=!.,[]:"
INSTEAD = {
    "−": "-",
    "–": "-",
    "×": "*",
    "·": "@",
    "⋅": "@",
    "÷": "/",
    "≤": "<=",
    "≥": ">=",
    "≠": "!=",
    "“": '"',
    "”": '"',
    "²": "**2",
    "√": "sqrt(...)",
    "Σ": "sum(...)",
    "∑": "sum(...)",
    "^": "**",
    "&": "and",
    "‖": "norm(...)",
    "∥": "norm(...)",
    "π": "3.14159",
    "α": "alpha",
    "β": "beta",
    "γ": "gamma",
    "λ": "lam",
    "τ": "tau",
    "∙": "@",
    "•": "@",
    "⊙": "*",
    "∘": "*",
    "⟨": "dot(q, k)",
    "〈": "dot(q, k)",
    "‘": '"',
    "’": '"',
    "~": "not",
    "?": "a if test else b",
    "½": "0.5*",
    "³": "**3",
    "θ": "g",
    "{": "(",
    "}": ")",
}
"""Replacements of characters that people paste."""

_NO_PARTS = (ast.expr_context, ast.operator, ast.cmpop, ast.unaryop, ast.boolop)


def tree(text: str, wanted: str, *, truth: bool = False) -> ast.Module:
    """Return the syntax tree of a line; raises FormulaError for characters, nesting and brackets that do not do.

    truth  whether what is expected is true or false, so that one = is a comparison
    """
    check_characters(text, wanted)
    check_opening(text)
    try:
        # The file name must not be typed by a visitor: on a syntax error Python looks for a file of that name.
        module = ast.parse(text)
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        column = getattr(error, "offset", None) or 1
        row = getattr(error, "lineno", None) or 1
        start = sum(len(line) + 1 for line in text.split("\n")[: row - 1])
        at = min(max(start + column - 1, 0), max(len(text) - 1, 0))
        raise complaint(text, at, truth) from None
    _check_size(module, text)
    if not module.body:
        raise fault("empty", wanted=wanted)
    return module


def check_characters(text: str, wanted: str) -> None:
    """Raise FormulaError at the first character that has no place in a formula.

    This comes before `ast`, which would take look-alikes of letters for the letters themselves.
    """
    if not isinstance(text, str) or not text.strip(" \n;"):
        raise fault("empty", wanted=wanted)
    if len(text) > MAX_CHARACTERS:
        raise fault("long", (MAX_CHARACTERS, len(text)), n=len(text), most=MAX_CHARACTERS)
    quote = ""
    for at, c in enumerate(text):
        if quote:
            quote = "" if c == quote else quote
            if not c.isprintable() or c == "\\":
                raise fault("token_character", (at, at + 1))
        elif c in "\"'":
            quote = c
        elif not (c.isascii() and (c.isalnum() or c in SIGNS)):
            raise _character(text, at)
    _check_numbers(text)


def _character(text: str, at: int) -> FormulaError:
    c = text[at]
    turned = re.match(r"\^\s*\{?\s*(?:T\b|[⊤ᵀ]|\\top\b)(?:\s*\})?|[⊤ᵀ]", text[at:])
    if turned:
        end = at + turned.end()
        return fault("transpose", (at, end), (at, end, _product(text, end)), name=turned[0].strip())
    if c in "\\$":
        return fault("latex", (at, at + 1))
    if c == "|":
        return fault("bar", (at, at + 1))
    if c == "#":
        return fault("comment", (at, len(text)))
    better = INSTEAD.get(c)
    name = "character_instead" if better else "character"
    return fault(name, (at, at + 1), character=repr(c), better=better)  # repr escapes what cannot be seen


def _product(text: str, at: int) -> str:
    """Return the sign that is missing behind a transposed vector: none where there is one, or nothing follows."""
    return " @ " if re.match(r"\s*[\w(]", text[at:]) else ""


def check_opening(text: str) -> None:
    """Raise FormulaError for what other programs write before a formula: return, lambda q, k:, an equals sign."""
    match = re.match(r"\s*(return\b|lambda\b[^:]*:|def\b[^:]*:\s*return\b|->|=(?!=))\s*", text)
    if match:
        what = match[1].split()[0]
        raise fault("return", (match.start(1), match.end(1)), (0, match.end(), ""), what=what)


def _check_numbers(text: str) -> None:
    """Raise FormulaError for 3q, which Python would read as a broken number."""
    glued = r"(?<![\w.])(\d+\.?\d*|\.\d+)(?!e[+-]?\d{1,3}(?!\w))([A-Za-z_]\w*)"
    for match in re.finditer(glued, unquoted(text)):
        if match[2].startswith("_") or (match[1] == "0" and match[2][0] in "xXbBoO"):
            raise fault("number", match.span())
        name = "times_j" if match[2] == "j" else "factor"
        raise fault(name, match.span(), (match.end(1), match.end(1), "*"), number=match[1], name=match[2])


def _check_size(module: ast.Module, text: str) -> None:
    """Raise FormulaError for deep or long trees; level by level, so that no depth can reach Python's own limit."""
    level: list[ast.AST] = [module]
    depth = count = 0
    while level:
        count, depth = count + len(level), depth + 1
        if depth > MAX_LEVELS + 3 or count > 4 * MAX_PARTS:
            raise fault("deep", (0, len(text)), levels=MAX_LEVELS, parts=MAX_PARTS)
        level = [c for node in level for c in ast.iter_child_nodes(node) if not isinstance(c, _NO_PARTS)]


def span(text: str, node: ast.AST) -> tuple[int, int]:
    """Return the span of a part of the tree in the line; `ast` counts the bytes of UTF-8, a reader characters."""
    if not isinstance(node, (ast.expr, ast.stmt)):
        return 0, len(text)
    lines = text.split("\n")

    def offset(row: int, column: int) -> int:
        before = lines[row - 1].encode("utf-8", "surrogatepass")[:column].decode("utf-8", "ignore")
        return sum(len(line) + 1 for line in lines[: row - 1]) + len(before)

    last_row, last_column = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
    return offset(node.lineno, node.col_offset), offset(last_row, last_column)


def is_number(written: str) -> bool:
    """Return whether this is a plain decimal number of ordinary size: no hexadecimal, no complex, no underscore.

    >>> is_number("1e-6"), is_number("0x10"), is_number("1e999")
    (True, False, False)
    """
    return bool(DIGITS.fullmatch(written)) and float(written) < 1e300
