"""A run as a spreadsheet (.xlsx) in which every number from X to the output is a live formula.

Numbers to change stand on yellow ground: E, P, every matrix, the mask, biases by distance, scale, soft cap and
temperature. Each formula carries the number of the run, so that a program that does not compute shows it too.
"""

from __future__ import annotations

import datetime
import importlib
import io
import math
import re
from types import ModuleType
from typing import Any

from attnviz.engine.numerics import cancellation
from attnviz.engine.records.trace import Trace
from attnviz.exports.workbook.layers import sheets
from attnviz.exports.workbook.layout import FORBIDDEN, NOTHING, Block, Sheet
from attnviz.pictures.colours import EDITED, SHARE, SIGNED, WORKBOOK
from attnviz.settings.language import Words

FAULTS = Words({"missing": 'a spreadsheet needs the package XlsxWriter; install it with: pip install "attnviz[xlsx]"'})
WORDS = Words({"zero_or_one": "0 or 1", "mask": "1 lets the query attend to the key, 0 does not."})

EARLIEST = datetime.datetime(1980, 1, 1, tzinfo=datetime.UTC)
"""The date in every file, so that equal runs are equal files."""

LONGEST_TEXT = 32_767  # halves of characters count, as in UTF-16
FIGURE = "0.0000"
WIDTHS = (20, 10)
"""Of the column of words and of every other one, in characters."""

SHADES = 10
"""Steps from no weight to all of it."""

_MASKED = {"bg_color": WORKBOOK["masked"], "font_color": WORKBOOK["masked_text"]}
FORMATS: dict[str, dict[str, Any]] = {
    "title": {"bold": True, "font_size": 14},
    "line": {"font_color": WORKBOOK["quiet"]},
    "heading": {"bold": True},
    "label": {"font_color": WORKBOOK["quiet"], "quote_prefix": True},
    "label_above": {"font_color": WORKBOOK["quiet"], "quote_prefix": True, "align": "right"},
    "formula": {"num_format": FIGURE, "align": "right"},
    "input": {"num_format": FIGURE, "bg_color": WORKBOOK["input"], "font_color": WORKBOOK["typed"], "align": "right"},
    "switch": {"num_format": "0", "bg_color": WORKBOOK["input"], "font_color": WORKBOOK["typed"], "align": "right"},
    "edited": {
        "num_format": FIGURE,
        "font_color": EDITED,
        "bold": True,
        "border": 1,
        "border_color": EDITED,
        "align": "right",
    },
    "closed": _MASKED,
    "masked": {**_MASKED, "num_format": ";;;@"},  # a masked weight shows no 0
}


class _Exact(float):
    """A number that is written with all its digits: the library asks for 16, which some numbers do not survive."""

    def __format__(self, form: str) -> str:
        return float.__repr__(self)


def workbook(trace: Trace) -> bytes:
    """Return the run as an .xlsx file, every number from X to the output a formula; equal runs give equal bytes.

    Blocks are named as edits name them, counted from 1: `weights_1_2` is what head 2 of layer 1 weighs.

    Raises  ConfigError for a run of more than 300,000 numbers, and for infinity where no mask put it; ImportError if
    XlsxWriter is not installed.
    """
    book = sheets(trace)
    out = io.BytesIO()
    file = _library().Workbook(out, {"in_memory": True})
    file.set_properties({"created": EARLIEST})
    shades = {f"shade {k}": {"bg_color": _mixed(SHARE[0], SHARE[2], (k + 1) / SHADES)} for k in range(SHADES)}
    formats = {name: file.add_format(form) for name, form in (FORMATS | shades).items()}
    for sheet in book.sheets:
        _Page(file.add_worksheet(sheet.name), formats).write(sheet)
        for block in sheet.blocks:
            if block.name:
                file.define_name(block.name, f"={block.whole()}")
    file.close()
    return out.getvalue()


def _library() -> ModuleType:
    try:
        return importlib.import_module("xlsxwriter")
    except ImportError:
        raise ImportError(FAULTS["missing"]) from None


def text(words: str) -> str:
    """Return words as a cell can hold them: without control characters and halves of characters, and not too long.

    >>> text("a\\x00b\\ud800")
    'ab\\ufffd'
    """
    words = re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]", "", words)
    return words.encode("utf-16-le", "surrogatepass")[: 2 * LONGEST_TEXT].decode("utf-16-le", "replace")


class _Page:
    """A writer of one sheet."""

    def __init__(self, page: Any, formats: dict[str, Any]) -> None:
        self._page, self._formats = page, formats

    def write(self, sheet: Sheet) -> None:
        """Write title, words and blocks; the title and the column of words stay in sight."""
        self._page.set_column(0, 0, WIDTHS[0])
        last = max([block.left + block.array.shape[1] for block in sheet.blocks], default=1)
        self._page.set_column(1, last, WIDTHS[1])
        self._page.freeze_panes(1, 1)
        self._page.set_landscape()
        self._page.fit_to_pages(1, 0)
        self._say(0, 0, sheet.title, "title")
        for row, line in enumerate(sheet.lines, 1):
            self._say(row, 0, line, "line")
        for block in sheet.blocks:
            self._block(block, f"'{sheet.name}'!")

    def _say(self, row: int, column: int, words: str, form: str) -> None:
        self._page.write_string(row, column, text(words), self._formats[form])

    def _block(self, block: Block, sheet: str) -> None:
        """Write heading, words and numbers of a block, and its colours."""
        if block.heading:
            self._say(block.top - 2, block.left if block.left > 1 else 0, block.heading, "heading")
        if block.left == 1:
            for i, word in enumerate(block.rows):
                self._say(block.top + i, 0, word, "label")
        for j, word in enumerate(block.columns):
            self._say(block.top - 1, block.left + j, word, "label_above")
        values = block.array.tolist()
        for i, row in enumerate(values):
            cancellation.check()
            for j, value in enumerate(row):
                self._cell(block, i, j, _content(value), sheet)
        self._colour(block)

    def _cell(self, block: Block, i: int, j: int, value: float | str, sheet: str) -> None:
        """Write one number: a formula with its value, or what may be changed; references to its own sheet are short."""
        row, column = block.top + i, block.left + j
        form = self._formats[_form(block, i, j)]
        if block.formula is not None and (i, j) not in block.edited:
            self._page.write_formula(row, column, f"={block.formula(i, j).replace(sheet, '')}", form, value)
        elif isinstance(value, str):
            self._page.write_string(row, column, value, form)
        else:
            self._page.write_number(row, column, value, form)

    def _colour(self, block: Block) -> None:
        """Write the colours of the page as rules, so that they follow the numbers, and grey where the mask forbids."""
        area = (block.top, block.left, block.top + block.array.shape[0] - 1, block.left + block.array.shape[1] - 1)
        first = block.at(0, 0).split("!")[1]
        of = (block.grey_of or block).at(0, 0).split("!")[1]
        masked = {"type": "formula", "format": self._formats["masked"], "stop_if_true": True}
        if block.kind == "allowed":
            self._page.conditional_format(
                *area, masked | {"criteria": f"={first}=0", "format": self._formats["closed"]}
            )
            choice = {"validate": "list", "source": [0, 1], "input_title": WORDS["zero_or_one"]}
            self._page.data_validation(*area, choice | {"input_message": WORDS["mask"]})
            return
        if block.grey_of or block.is_masked:
            self._page.conditional_format(*area, masked | {"criteria": f"=ISTEXT({of})"})
        if block.is_input or block.kind not in ("signed", "share"):
            return
        for rule in [_scale(block)] if block.kind == "signed" else self._shades():
            self._page.conditional_format(*area, rule)

    def _shades(self) -> list[dict[str, Any]]:
        """Colour shares in steps, the darkest first: a scale would paint over the grey in some programs."""
        return [
            {"type": "cell", "criteria": ">", "value": k / SHADES, "format": self._formats[f"shade {k}"]}
            for k in reversed(range(SHADES))
        ]


def _scale(block: Block) -> dict[str, Any]:
    """Return the scale of the page for signed numbers; the lighter half of it, on which digits can be read."""
    middle = {"mid_type": "num", "mid_value": 0.0, "mid_color": SIGNED[2]}
    low, high = {"min_value": -block.reach, "min_color": SIGNED[1]}, {"max_value": block.reach, "max_color": SIGNED[3]}
    return {"type": "3_color_scale", "min_type": "num", "max_type": "num"} | middle | low | high


def _mixed(start: str, end: str, share: float) -> str:
    """Return a colour between two.

    >>> _mixed("#000000", "#ff8040", 0.5)
    '#804020'
    """
    pairs = [(int(start[at : at + 2], 16), int(end[at : at + 2], 16)) for at in (1, 3, 5)]
    return "#" + "".join(f"{round(a + share * (b - a)):02x}" for a, b in pairs)


def _form(block: Block, i: int, j: int) -> str:
    if (i, j) in block.edited:
        return "edited"
    if block.kind == "allowed":
        return "switch"
    return "input" if block.is_input else "formula"


def _content(value: float) -> float | str:
    """Return the content of a cell for a number of the run."""
    if math.isnan(value):
        return NOTHING
    return FORBIDDEN if value == -math.inf else _Exact(value)
