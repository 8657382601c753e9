"""Numbers formatted for tables, sentences and pictures; never for further computation."""

from __future__ import annotations

import math
import re

from attnviz.settings.counting import ordinal
from attnviz.settings.language import current_language

DECIMAL_COMMA = ("de", "es")
"""Languages that write a comma in numbers; their spreadsheets so expect a semicolon between cells."""

DIGITS = 4
"""Significant digits."""

SMALL, LARGE = 1e-4, 1e6
"""Between these a number is written out; the digits before its point are never rounded off."""

ROUNDING = 1e-12
"""Smaller numbers are as good as zero beside shares and scores, and no column is made wide for them."""

NONE, NEARLY_ZERO = "–", "~0"

_IN_TEXT = re.compile(r"\$[^$]*\$|`[^`]*`|“[^“”]*”|„[^„“]*“|(?<![\w.:])(?P<whole>\d+)\.(?P<rest>\d+)(?!\.?\d)")
"""A number with a point in a text, or a formula; code and what is quoted are passed over, as is what has several
points.
"""

_HEAD = re.compile(r"(?<![\w.:,\[])([1-9]\d?)\.([1-9]\d?)(?![\d\w]|[.,]\d|\])")
"""What may be the name of a head, layer and head: 2.3."""

_IN_FORMULA = re.compile(r"(?<![\w.])(\d+)\.(\d+)(?!\.?\d)")
_LISTED_IN_FORMULA = re.compile(r"(?<!\{),(\\;|\s)")
_INTEGERS_IN_FORMULA = re.compile(r"(?<![\w}^_])\([−-]?\d+(?:,(?:\\;|\s)*[−-]?\d+)+\)")
"""Whole numbers in brackets, which would look like one number with a comma."""
_LISTED = r"[−~]?\d+(?:,\d+)?(?:e−?\d+)?"
_LIST = re.compile(rf"(?<!\d){_LISTED}(?:, {_LISTED})+")


def short(x: float | None, digits: int = DIGITS) -> str:
    """Return the number with four significant digits, ~0 for next to nothing and a dash for none.

    Zeros at its end are left away and its minus is a minus.

    >>> [short(x) for x in (0.617284, 1.0, -12345.678, 2.5e-7, 1e9)]
    ['0.6173', '1', '−12346', '2.5e−7', '1e9']
    >>> [short(x) for x in (0.0, 1e-43, None, float("nan"), float("-inf"))]
    ['0', '~0', '–', '–', '−∞']
    """
    if x is None or math.isnan(x):
        return NONE
    if math.isinf(x):
        return "∞" if x > 0 else "−∞"
    if abs(x) < ROUNDING:
        return NEARLY_ZERO if x else "0"
    mantissa, power = f"{x:.{digits - 1}e}".split("e")
    if SMALL <= abs(float(f"{mantissa}e{power}")) < LARGE:
        text = _stripped(f"{x:.{max(digits - 1 - int(power), 0)}f}")
    else:
        text = f"{_stripped(mantissa)}e{int(power)}"
    return text.replace("-", "−")


def localised(text: str) -> str:
    """Return a text with a comma in its numbers, where the language of the page writes them so.

    A list of them then has semicolons. Code and quoted words within the text keep their points, and so do numbers of
    sections.

    >>> localised("The mean is 0.25.")
    'The mean is 0.25.'
    """
    if current_language() not in DECIMAL_COMMA:
        return text
    text = _IN_TEXT.sub(_with_comma, text)
    return _LIST.sub(lambda match: match[0].replace(", ", "; ") if re.search(r"\d,\d", match[0]) else match[0], text)


JOINER = "\u2060"
"""Takes no room, and parts no line. Behind the point in the name of a head it tells that from a number."""


def head_name(layer: int, head: int) -> str:
    """Return a head as layer and head, counted from 1, in a text that is still to be `localised`: 2.3.

    >>> head_name(1, 2)
    '2.3'
    """
    point = f".{JOINER}" if current_language() in DECIMAL_COMMA else "."
    return f"{ordinal(layer)}{point}{ordinal(head)}"


def with_head_names(text: str, layers: int, heads: int) -> str:
    """Return a text that is still to be `localised`, in which heads of so many layers keep their points: 2.3."""
    if current_language() not in DECIMAL_COMMA:
        return text

    def kept(match: re.Match[str]) -> str:
        layer, head = int(match[1]), int(match[2])
        return match[0].replace(".", f".{JOINER}") if layer <= layers and head <= heads else match[0]

    return _HEAD.sub(kept, text)


def _with_comma(match: re.Match[str]) -> str:
    if match["whole"]:
        return f"{match['whole']},{match['rest']}"
    return localised_latex(match[0]) if match[0].startswith("$") else match[0]


def localised_latex(latex: str) -> str:
    """Return a formula for readers with a comma in its numbers, where the language of the page writes them so.

    A list of them then has semicolons. What is copied from the page keeps its points.
    """
    if current_language() not in DECIMAL_COMMA:
        return latex
    with_commas = _IN_FORMULA.sub(r"\1{,}\2", latex)
    with_commas = _INTEGERS_IN_FORMULA.sub(lambda found: found[0].replace(",", ";"), with_commas)
    return with_commas if "{,}" not in with_commas else _LISTED_IN_FORMULA.sub(r";\1", with_commas)


def grouped(n: int) -> str:
    """Return a large whole number with a sign between each three digits, as the language of the page has it.

    >>> grouped(262144)
    '262,144'
    """
    return f"{n:,}".replace(",", "\u202f" if current_language() in DECIMAL_COMMA else ",")


def plotly_separators() -> str:
    """Return the sign within numbers and that between each three digits, as Plotly wants them for axes and hovers.

    >>> plotly_separators()
    '.,'
    """
    return ",\u202f" if current_language() in DECIMAL_COMMA else ".,"


def _stripped(decimal: str) -> str:
    return decimal.rstrip("0").rstrip(".") if "." in decimal else decimal
