"""The two lines over a picture: its letter and name, what it shows, and its colours with the numbers at their ends."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

from attnviz.pictures.colours import DARK, SHARE
from attnviz.pictures.stage_record import ALLOWED, FORBIDDEN, MASKED_WORD, Stage
from attnviz.settings.language import Words, translate

HEIGHT, HEIGHT_FOR_A_ROOM = 40, 60  # pixels that the two lines take
SWITCH = Words(
    {
        "apart": "own scales",
        "common": "one scale",
        "apart_hint": "Each head has colours of its own; click for one scale over all heads.",
        "common_hint": "One scale over all heads; click for colours of its own in each.",
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
LETTER, LETTER_FOR_A_ROOM = 5.6, 8.4  # pixels of a letter of a phrase, at most on average: Source Sans at 12 and 18


def heading(
    stage: Stage,
    *,
    left: int = 0,
    level: int = 2,
    block: int = 1,
    fold: int = 1,
    switch: bool = False,
    room: int | None = None,
    gap: int = 16,
    beside: Sequence[tuple[str, str]] = (),
    says_masked: bool = True,
) -> str:
    """Return letter, name and legend; below them phrase, formula and shape, as HTML from our own words.

    left    pixels by which it stands in from the left, so that it begins where the cells do
    block   how many words share a drawn cell, and `fold` how many columns that are only counted
    switch  offer the choice between one scale for all heads and one for each
    room    pixels from there to the next stage: what is said gets shorter with them; `gap` is left free of it
    beside  names and titles of the stages to turn over to, where there is room for one at a time
    says_masked  whether the legend has the grey of masked cells, which need be said over one stage only

    Words of a visitor never enter here.
    """
    symbol = f'<b class="attn-symbol">{typeset(stage.symbol)}</b>' if stage.symbol else ""
    name = f'<h{level} class="attn-name">{symbol}{typeset(stage.title)}</h{level}>'
    button, legend = _switch(stage) if switch else "", _legend(stage, says_masked=says_masked)
    phrases = "".join(
        f'<span class="attn-phrase">{html.escape(each)}</span>' for each in _phrases(stage, block, fold, room)
    )
    formula, shape = _formula(stage)
    phrases += "".join(f'<span class="attn-formula">{typeset(each)}</span>' for each in (formula, shape) if each)
    whole = html.escape(" · ".join(filter(None, [*_phrases(stage, block, fold, None), formula, shape])))
    leads = " attn-leading" * stage.leads + " attn-large" * stage.large
    first, second = f"{name}{button}{legend}", f'<span class="attn-phrases" title="{whole}">{phrases}</span>'
    if beside:
        first, second = _turning(stage, name, beside), f"{second}{button}{legend}"
    style = f"padding-left:{left}px;padding-right:{gap}px"
    return f'<div class="attn-head{leads}" style="{style}"><div>{first}</div><div>{second}</div></div>'


def typeset(text: str) -> str:
    """Return text as HTML, with a letter under the line where one has an index.

    >>> typeset("softmax(S / √d_k)"), typeset("Q_h = X W_Qʰ"), typeset("a < my_name"), typeset("S'_h")
    ('softmax(S / √d<sub>k</sub>)', 'Q<sub>h</sub> = X W<sub>Q</sub>ʰ', 'a &lt; my_name', 'S&#x27;<sub>h</sub>')
    """
    return SUBSCRIPT.sub(r"\1<sub>\2</sub>", html.escape(text))


def _phrases(stage: Stage, block: int, fold: int, room: int | None) -> list[str]:
    """Return the phrase of the stage in so many pixels, or in any number of them."""
    letter = LETTER_FOR_A_ROOM if stage.large else LETTER
    pooled = _fitting(_pooled(stage, block, fold), room, letter)
    left = None if room is None else room - round(letter * len(pooled) + 10 * bool(pooled))
    phrase = _fitting((stage.phrase, *stage.shorter), left, letter)
    return [each for each in (pooled, phrase) if each]


def _fitting(ways: Sequence[str], room: int | None, letter: float = LETTER) -> str:
    """Return the first of some ways to say a thing that has room; the last one if none has.

    >>> _fitting(("how well each word matches each", "how words match"), 100)
    'how words match'
    """
    fitting = (way for way in ways if room is None or letter * len(way) <= room)
    return next(fitting, ways[-1] if ways else "")


def _turning(stage: Stage, name: str, beside: Sequence[tuple[str, str]]) -> str:
    """Return the stage's name among buttons for those to turn over to."""
    return "".join(
        name
        if other == stage.name
        else f'<button type="button" class="attn-step" data-step="{html.escape(other)}">{html.escape(title)}</button>'
        for other, title in beside
    )


def _pooled(stage: Stage, block: int, fold: int) -> tuple[str, ...]:
    """Return that several words share a cell, where they do, in words and in fewer."""
    if stage.columns is not None and block > 1:
        return WORDS["blocks"].format(n=block), WORDS["blocks_shorter"].format(n=block)
    if stage.columns is None and fold > 1:
        return WORDS["fold"].format(n=fold), WORDS["fold_shorter"].format(n=fold)
    return ()


def _switch(stage: Stage) -> str:
    pressed = "true" if stage.apart else "false"
    name = "apart" if stage.apart else "common"
    word, hint = html.escape(SWITCH[name]), html.escape(SWITCH[f"{name}_hint"])
    return f'<button type="button" class="attn-scale" aria-pressed="{pressed}" title="{hint}">{word}</button>'


def sum_up(stage: Stage) -> str:
    """Return the formula of a stage and its shape."""
    return "   ".join(filter(None, _formula(stage)))


def _formula(stage: Stage) -> tuple[str, str]:
    heads, rows, _ = stage.array.shape
    rows, widths = rows - stage.margin, sorted({width - stage.margin for width in stage.true_widths})
    columns = str(widths[0]) if len(widths) == 1 else translate("{low} to {high}", low=widths[0], high=widths[-1])
    return stage.formula, f"{rows} × {columns}" if stage.names == ("",) else f"{heads} × {rows} × {columns}"


def _legend(stage: Stage, *, says_masked: bool = True) -> str:
    """Return the colour scale as a small gradient between the numbers at its ends."""
    if stage.kind == "allowed":
        swatches = _swatch(translate(ALLOWED), SHARE[2]) + _swatch(translate(FORBIDDEN))
        return f'<span class="attn-legend">{swatches}</span>'
    shades = stage.legend
    signed = stage.scale.low < 0
    low, high = ("−", "+") if stage.apart else (end_of_scale(end, signed) for end in (shades.low, shades.high))
    pairs = zip(shades.colours, DARK[shades.colours], strict=True)
    stops = ",".join(f"light-dark({light},{dark})" for light, dark in pairs)
    gradient = f'<i style="background:linear-gradient(90deg,{stops})"></i>'
    grey = says_masked and stage.masked is not None and stage.masked.any()
    masked = _swatch(stage.grey or translate(MASKED_WORD)) if grey else ""
    return f'<span class="attn-legend">{masked}{low}{gradient}{high}</span>'


def _swatch(word: str, colour: str = "") -> str:
    """Return a cell of a colour, or without one a masked cell, and what it is called."""
    cell = f'<i style="background:{colour}"></i>' if colour else '<i class="attn-hatched"></i>'
    return f'<span class="attn-swatch">{cell}{word}</span>'


def end_of_scale(number: float, signed: bool) -> str:
    """Return a number at the end of a legend: two digits are enough, and whole numbers while they are short.

    >>> end_of_scale(-3.375, True), end_of_scale(1.0, False), end_of_scale(121.3, True), end_of_scale(12345.0, True)
    ('−3.4', '1', '+121', '+1.2e+04')
    """
    form = ".0f" if 100 <= abs(number) < 10_000 else ".2g"
    return f"{number:{'+' if signed else ''}{form}}".replace("-", "−", 1) if number else "0"
