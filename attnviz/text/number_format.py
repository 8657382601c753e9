"""Numbers formatted for tables, sentences and pictures; never for further computation."""

from __future__ import annotations

import math

DIGITS = 4
"""Significant digits."""

SMALL, LARGE = 1e-4, 1e6
"""Between these a number is written out; the digits before its point are never rounded off."""

ROUNDING = 1e-12
"""Smaller numbers are as good as zero beside shares and scores, and no column is made wide for them."""

NONE, NEARLY_ZERO = "–", "~0"


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


def _stripped(decimal: str) -> str:
    return decimal.rstrip("0").rstrip(".") if "." in decimal else decimal
