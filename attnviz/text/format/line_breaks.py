r"""Formulas as lines that a browser breaks where its window ends.

KaTeX breaks a formula that stands in a line of text after an operator or a relation, or where `\allowbreak` says so;
one that stands by itself is never broken, and what lies beyond the edge is not seen. So the rows of an aligned formula
become rows of a table, the second cell of each a formula in a line of text, and a break falls between two terms, never
inside a number or a product: what is cut off there would look like a whole number of another size.
"""

from __future__ import annotations

import re

_ALIGNED = re.compile(r"\\begin\{aligned\}\n(.*)\n\\end\{aligned\}", re.DOTALL)
_NUMBER = r"(?:\d+(?:\.\d+)?(?: \\times 10\^\{-?\d+\})?|\\infty)"
_FACTOR = rf"(?:{_NUMBER}|\(-{_NUMBER}\)|(?:\\cos|\\sin|\\tanh)\(-?{_NUMBER}\))"
_TERM = re.compile(rf"(?<![\d.{{]){_FACTOR}(?: \\cdot {_FACTOR})*(?![\d.])")
_COMMA = ",\\;"
_LONG = 30
"""Characters of a product that is held together; one of longer numbers may break after its dot."""


def rows(latex: str) -> list[tuple[str, str]]:
    r"""Return the rows of an aligned formula, each what stands before its equals sign and the rest.

    Any other formula is one row.

    A line that goes on with the one before it is joined to that one.

    >>> rows("\\begin{aligned}\nq &= 1 \\\\\n&\\quad + 2 \\\\\n&= 3\n\\end{aligned}")
    [('q', '= 1 + 2'), ('', '= 3')]
    """
    aligned = _ALIGNED.fullmatch(latex)
    if aligned is None:
        return [("", latex)]
    lines: list[tuple[str, str]] = []
    for line in aligned[1].split(" \\\\\n"):
        left, _, right = (part.strip() for part in line.partition("&"))
        if not left and right.startswith(r"\quad") and not right.startswith(r"\quad \text"):
            symbol, before = lines.pop()
            more = right.removeprefix(r"\quad").strip()
            lines.append((symbol, f"{before} {more}"))
        else:
            lines.append((left, right))
    return lines


def breakable(latex: str) -> str:
    r"""Return the formula with its terms held together, and a break allowed after each comma.

    >>> breakable(r"= 2 \cdot (-0.5) + 3 \times 10^{-9} \cdot 4")
    '= {2 \\cdot (-0.5)} + {3 \\times 10^{-9} \\cdot 4}'
    """
    return _TERM.sub(_unbroken, latex).replace(_COMMA, _COMMA + r"\allowbreak")


def _unbroken(term: re.Match[str]) -> str:
    factors = [f"{{{each}}}" if "times" in each else each for each in term[0].split(r" \cdot ")]
    if len(factors) > 1 and len(term[0]) <= _LONG:
        return f"{{{term[0]}}}"
    return r" \cdot ".join(factors)


def in_text(latex: str) -> str:
    """Return a formula of one row as markdown that breaks where the line ends."""
    return rf"$\displaystyle {breakable(latex)}$"


def table(latex: str) -> str:
    """Return the rows of a formula as a markdown table of two columns, which has no head."""
    lines = (f"| {_cell(left)} | {_cell(right)} |" for left, right in rows(latex))
    return "\n".join(["| | |", "|-:|:-|", *lines])


def _cell(latex: str) -> str:
    """Return a cell of the table; a stroke would end it."""
    return in_text(re.sub(r"\|([^|]*)\|", r"\\lvert \1 \\rvert ", latex)) if latex else ""
