"""Numbers changed by hand that stand beside each other, written as one block: for a link every character counts.

A block is what follows the position of its first number: `.5_-2~3_4`, rows between `~` and numbers between `_`, nothing
where a number is not changed. Where that is shorter, the numbers are whole multiples of a power of ten instead, as
many digits of base 64 for each: `b16.3.4.…` has 16 columns, 3 decimals and 4 digits a number. Both are exact.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal

Cells = Mapping[tuple[int, int], float]

DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
_VALUES = {digit: value for value, digit in enumerate(DIGITS)}
_MOST_DECIMALS, _MOST_DIGITS = 40, 20
_BLANK, _MINUS_ZERO = 0, 1  # what no number is written as
_SPARSE = 4  # a block has at most so many positions for each number that is changed


def number(value: float) -> str:
    """Return the shortest decimal that reads back as exactly this number.

    >>> number(-0.5), number(4.0), number(1e-07), number(1e16), number(float("-inf"))
    ('-.5', '4', '1e-7', '1e16', '-inf')
    """
    text = repr(value)
    mantissa, e, power = text.partition("e")
    if mantissa.endswith(".0"):
        mantissa = mantissa[:-2]
    if mantissa.startswith(("0.", "-0.")):
        mantissa = mantissa.replace("0.", ".", 1)
    return mantissa + (f"e{int(power)}" if e else "")


def written(cells: Cells) -> str | None:
    """Return the block that holds these numbers, its first place in the first row and column.

    None if they lie too far apart.

    >>> written({(0, 0): 0.5, (0, 1): -2.0, (1, 1): 4.0})
    '.5_-2~_4'
    """
    top, left = (min(position[axis] for position in cells) for axis in (0, 1))
    n_rows, n_columns = (1 + max(position[axis] for position in cells) - first for axis, first in ((0, top), (1, left)))
    if n_rows * n_columns > _SPARSE * len(cells) or len({row for row, _ in cells}) < n_rows:
        return None
    texts = {(row - top, column - left): number(value) for (row, column), value in cells.items()}
    block = [[texts.get((i, j), "") for j in range(n_columns)] for i in range(n_rows)]
    plain = "~".join("_".join(row).rstrip("_") for row in block)
    packed = _packed([text for row in block for text in row], n_columns)
    return packed if packed and len(packed) < len(plain) else plain


def _packed(texts: list[str], n_columns: int) -> str | None:
    """Return the block in digits of base 64; None for what no power of ten makes whole."""
    if "-inf" in texts:
        return None
    exact = [Decimal(text) if text else None for text in texts]
    decimals = max(0, *(-int(each.as_tuple().exponent) for each in exact if each is not None))
    if decimals > _MOST_DECIMALS:
        return None
    whole = [None if each is None else int(each.scaleb(decimals)) for each in exact]
    largest = max(abs(each) for each in whole if each is not None)
    n_digits = next((n for n in range(1, _MOST_DIGITS + 1) if largest < _zero(n) - 1), None)
    if n_digits is None:
        return None
    codes = {"": _BLANK, "-0": _MINUS_ZERO}
    digits = (_digits(codes.get(text, (n or 0) + _zero(n_digits)), n_digits) for text, n in zip(texts, whole))
    return f"b{n_columns}.{decimals}.{n_digits}.{''.join(digits)}"


def _zero(n_digits: int) -> int:
    """Return the number that stands for 0 in so many digits: halfway, so that negative numbers fit too."""
    return int(64**n_digits // 2)


def _digits(number: int, n_digits: int) -> str:
    return "".join(DIGITS[number >> 6 * position & 63] for position in reversed(range(n_digits)))


def read(block: str) -> Iterator[tuple[tuple[int, int], float]]:
    """Yield the numbers of a block, each with its row and column, counted from 0.

    Raises ValueError if it is not a block.

    >>> dict(read(".5_-2~_4"))
    {(0, 0): 0.5, (0, 1): -2.0, (1, 1): 4.0}
    """
    if block.startswith("b"):
        yield from _unpacked(block[1:])
        return
    for i, row in enumerate(block.split("~")):
        for j, text in enumerate(row.split("_")):
            if text:
                yield (i, j), float(text)


def _unpacked(block: str) -> Iterator[tuple[tuple[int, int], float]]:
    header, digits = block.split(".")[:3], block.split(".", 3)[-1]
    if len(header) < 3 or not all(part.isdecimal() and len(part) < 6 for part in header):
        raise ValueError(block)
    n_columns, decimals, n_digits = map(int, header)
    if not n_columns or decimals > _MOST_DECIMALS or not 0 < n_digits <= _MOST_DIGITS or len(digits) % n_digits:
        raise ValueError(block)
    if not digits or not _VALUES.keys() >= set(digits):
        raise ValueError(block)
    for position in range(len(digits) // n_digits):
        whole = 0
        for digit in digits[position * n_digits : (position + 1) * n_digits]:
            whole = whole << 6 | _VALUES[digit]
        if whole != _BLANK:
            at = divmod(position, n_columns)
            yield at, -0.0 if whole == _MINUS_ZERO else float(f"{whole - _zero(n_digits)}e-{decimals}")
