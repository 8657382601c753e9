"""The words of the two lines over a picture: its formula and shape, and the numbers at the ends of its colours."""

from __future__ import annotations

import html
import re

from attnviz.pictures.stage_record import Stage
from attnviz.settings.language import Words, translate

SWITCH = Words(
    {
        "apart": "own scales",
        "common": "one scale",
        "apart_hint": "Each head has colours of its own; click for one scale over all heads.",
        "common_hint": "One scale over all heads; click for colours of its own in each.",
    }
)
PAINT = Words(
    {
        "paint": "paint mask",
        "paint_hint": "Press or drag over cells to forbid or allow them, with Shift a block, with Alt, or Control and "
        "Shift, a diagonal; a word stands for its whole row or column. In a map with the keyboard: Space, with Shift "
        "the row, with Control the column, with both the diagonal.",
        "painted": "press or drag to forbid or allow it; a word: its row or column",
        "painted_keys": "with Shift a block, with Alt or Ctrl+Shift a diagonal",
    }
)
WORDS = Words(
    {
        "blocks": "the largest of each block of {n} × {n} words",
        "blocks_shorter": "largest of {n} × {n} words",
        "fold": "the largest of each {n} columns",
        "fold_shorter": "largest of {n}",
    }
)
SUBSCRIPT = re.compile(r"(?<![A-Za-z0-9_&#])([A-Za-z](?:&#x27;|′)?)_([A-Za-z])(?![A-Za-z0-9_])")


def typeset(text: str) -> str:
    """Return text as HTML, with a letter under the line where one has an index.

    >>> typeset("softmax(S / √d_k)"), typeset("Q_h = X W_Qʰ"), typeset("a < my_name"), typeset("S'_h")
    ('softmax(S / √d<sub>k</sub>)', 'Q<sub>h</sub> = X W<sub>Q</sub>ʰ', 'a &lt; my_name', 'S&#x27;<sub>h</sub>')
    """
    return SUBSCRIPT.sub(r"\1<sub>\2</sub>", html.escape(text))


def sum_up(stage: Stage) -> str:
    """Return the formula of a stage and its shape."""
    return "   ".join(filter(None, _formula(stage)))


def _formula(stage: Stage) -> tuple[str, str]:
    heads, rows, _ = stage.array.shape
    rows, widths = rows - stage.margin, sorted({width - stage.margin for width in stage.true_widths})
    columns = str(widths[0]) if len(widths) == 1 else translate("{low} to {high}", low=widths[0], high=widths[-1])
    return stage.formula, f"{rows} × {columns}" if stage.names == ("",) else f"{heads} × {rows} × {columns}"


def end_of_scale(number: float, signed: bool) -> str:
    """Return a number at the end of a legend: two digits are enough, and whole numbers while they are short.

    >>> end_of_scale(-3.375, True), end_of_scale(1.0, False), end_of_scale(121.3, True), end_of_scale(12345.0, True)
    ('−3.4', '1', '+121', '+1.2e+04')
    """
    form = ".0f" if 100 <= abs(number) < 10_000 else ".2g"
    return f"{number:{'+' if signed else ''}{form}}".replace("-", "−", 1) if number else "0"
