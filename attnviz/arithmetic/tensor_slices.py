"""The tensor slices of a trained model's files from which a line of arithmetic takes its numbers, in words."""

from __future__ import annotations

from attnviz.engine.pretrained.model_facts import TensorSlice
from attnviz.settings.counting import ordinal
from attnviz.settings.language import Words

WORDS = Words(
    {
        "columns": "Column d = 1, 2 … of {symbol} is {place}{plus}{file}.",
        "one": "Column {d} of {symbol} is {place}{plus}{file}.",
        "entries": "Entry d of {symbol} is {place}{plus}{file}.",
        "entry": "Entry {d} of {symbol} is {place}{plus}{file}.",
        "file": " in {file}",
        "plus": " plus {plus:g}",
    }
)


def columns(at: TensorSlice, symbol: str, head: int = 0) -> str:
    """Say where the columns of a matrix of a head lie, or the entries of a vector.

    >>> columns(TensorSlice("query.weight", "row", "model.safetensors", stride=32), "W_Q", head=2)
    'Column d = 1, 2 … of W_Q is query.weight[63 + d] in model.safetensors.'
    >>> columns(TensorSlice("experts.gate_up_proj", "column", first=1, stride=2, units=4), "W_3")
    'Column d = 1, 2 … of W_3 is experts.gate_up_proj[(d - 1) // 4, :, 1 + 2 * ((d - 1) % 4)].'
    """
    n = at.number(-1, head)
    inside = f"{n} + d" if n > 0 else f"d - {-n}" if n else "d"
    columns = at.place(inside) if not at.units else _of_experts(at)
    return WORDS["entries" if at.axis == "entry" else "columns"].format(symbol=symbol, place=columns, **_more(at))


def column(at: TensorSlice, symbol: str, column: int, head: int = 0) -> str:
    """Say where one column, counted from 0, lies, or one entry of a vector.

    >>> column(TensorSlice("query.weight", "row", "model.safetensors", stride=32), "W_Q", 5, head=2)
    'Column 6 of W_Q is query.weight[69] in model.safetensors.'
    """
    which = "entry" if at.axis == "entry" else "one"
    return WORDS[which].format(d=ordinal(column), symbol=symbol, place=at.at(column, head), **_more(at))


def _of_experts(at: TensorSlice) -> str:
    """Return where column d of the experts side by side lies."""
    n = f"(d - 1) % {at.units}"
    n = n if at.stride < 2 else f"{at.stride} * ({n})"
    return at.place(f"{at.first} + {n}" if at.first else n, f"(d - 1) // {at.units}")


def _more(at: TensorSlice) -> dict[str, str]:
    return {
        "plus": WORDS["plus"].format(plus=at.plus) if at.plus else "",
        "file": WORDS["file"].format(file=at.file) if at.file else "",
    }
