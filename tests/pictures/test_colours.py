"""A colour stands in one table, from which pictures and style sheets take it; exceptions have a reason."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from attnviz.pictures.colours import (
    DARK,
    HATCH,
    MASKED,
    NOT_A_NUMBER,
    PAGE,
    QUIET,
    SHARE,
    SIGNED,
)
from attnviz.ui.session.browser import styles

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "attnviz"
TABLE = PACKAGE / "pictures/colours.py"
EXTREMES = {"#fff", "#ffffff", "#000", "#000000"}
"""Black and white may be typed anywhere: for ink on a coloured cell, for a mask that cuts, for paper."""

AGAIN = {
    "classroom/printed/handout.css": ("#777 #999 #ccc", "greys of a sheet that a printer without colours prints"),
    "exports/interactive/canvas.js": (
        f"{NOT_A_NUMBER} rgba(128,128,128,0.35)",
        "the script of a file that is one page stands alone",
    ),
    "exports/interactive_html.css": ("rgba(128,128,128,0.35)", "the same"),
    "exports/workbook/book.py": ("#ff8040 #804020", "an example"),
    "pictures/static/colour_scale.py": ("#808080", "an example"),
    "pictures/static/svg_stage.py": ("#808080", "an SVG has the opacity of outlines beside their grey"),
    "ui/components/answer/motion_parts.js": ("#808080", "until the style sheet has come"),
    "ui/components/colours.js": ("#ff8000", "an example"),
    "ui/components/pickers/small_pictures.js": (NOT_A_NUMBER, "drawn before Python can have sent it"),
    "ui/components/stage/heatmap.css": ("rgba(0,0,0,0.28) rgba(128,128,128,0.4)", "a shadow and its edge"),
    "ui/components/stage/ink.js": (f"{NOT_A_NUMBER} #111", "drawn before Python can have sent it"),
    "ui/components/stage/picture/numbers.js": (
        "rgba(128,128,128,.35)",
        "an attribute of an SVG, which knows no variables",
    ),
    "ui/components/svg_to_png.js": ("rgba(128,128,128,.4)", "where Streamlit gives no colour of a border"),
    "ui/page.css": ("#222 rgba(0,0,0,.25)", "where Streamlit gives no colour of text, and a shadow"),
}
"""The files that type a colour which is not black or white: which, and why."""

HEXADECIMAL = r"(?<![&\w])#(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})\b(?!-)"
FUNCTION = r"\b(?:rgb|rgba|hsl|hsla)\([\d., %]+\)"


def typed(text: str) -> set[str]:
    """The colours that stand in a text, but black and white."""
    found = re.findall(f"{HEXADECIMAL}|{FUNCTION}", text)
    return {each.lower().replace(" ", "") for each in found} - EXTREMES


def test_a_colour_is_typed_once() -> None:
    files = [path for path in PACKAGE.rglob("*") if path.suffix in {".py", ".js", ".css"} and path != TABLE]
    found = {path.relative_to(PACKAGE).as_posix(): typed(path.read_text("utf-8")) for path in files}
    known = {name: set(colours.split()) for name, (colours, _) in AGAIN.items()}
    new = {name: colours - known.get(name, set()) for name, colours in found.items()}
    assert {name: each for name, each in new.items() if each} == {}, (
        "put it into attnviz/pictures/colours.py; a style sheet names it var(--page-...), if it is in PAGE there"
    )
    gone = {name: colours - found.get(name, set()) for name, colours in known.items()}
    assert {name: each for name, each in gone.items() if each} == {}, "take it out of AGAIN"


def test_a_colour_is_found_however_it_is_written() -> None:
    assert typed("a { color: #2A5EA8; b: #abc; c: rgba(1, 2, 3, .5); d: #fff }") == {
        "#2a5ea8",
        "#abc",
        "rgba(1,2,3,.5)",
    }
    assert typed("`rgb(${parts})` &#123; #add-more #1") == set()


def test_streamlits_own_theme_has_the_same_colours() -> None:
    theme = tomllib.loads((ROOT / ".streamlit/config.toml").read_text("utf-8"))["theme"]
    pairs = {"primaryColor": "accent", "textColor": "ink", "backgroundColor": "on-accent"}
    for option, name in pairs.items():
        there = theme["light"][option], theme["dark"][option]
        assert there == PAGE[name], f".streamlit/config.toml: {option} is PAGE[{name!r}] of attnviz/pictures/colours.py"


def test_a_style_sheet_defines_the_colours_that_it_names(tmp_path: Path) -> None:
    sheet = tmp_path / "one.css"
    sheet.write_text("b { color: var(--page-muted); }", encoding="utf-8")
    light, dark = PAGE["muted"]
    assert styles.stylesheet(sheet) == (
        f":root, :host {{ --page-muted: light-dark({light}, {dark}); }}\nb {{ color: var(--page-muted); }}"
    )
    assert styles.colours("b { color: red; }") == ""
    with pytest.raises(KeyError):
        styles.colours("b { color: var(--page-no-such-colour); }")


def test_every_colour_of_the_page_is_used() -> None:
    texts = [path.read_text("utf-8") for path in PACKAGE.rglob("*") if path.suffix in {".js", ".css"}]
    assert {name for text in texts for name in re.findall(r"--page-([a-z-]+)", text)} == {*PAGE}


def light(colour: str) -> float:
    """The luminance of a colour, from 0 to 1."""
    parts = ((int(colour[at : at + 2], 16) / 255) ** 2.2 for at in (1, 3, 5))
    return sum(share * part for share, part in zip((0.2126, 0.7152, 0.0722), parts, strict=True))


@pytest.mark.parametrize("theme", [0, 1])
def test_a_masked_cell_is_no_stronger_than_one_with_a_small_weight(theme: int) -> None:
    scale = (SHARE, DARK[SHARE])[theme]
    nothing, next_to_it = light(scale[0]), light(scale[1])
    small = nothing + 0.2 * (next_to_it - nothing)  # of the five colours the second stands for a weight of 0.25
    ink = (PACKAGE / "ui/components/stage/ink.js").read_text("utf-8")
    every, line = (float(number) for number in re.search(r"HATCH = \{ every: (\S+), line: (\S+) \}", ink).groups())
    ground = light(("#ffffff", PAGE["on-accent"][1])[theme])
    hatched = ground + line / every * (light(HATCH[theme]) - ground)
    for cell in (hatched, light(MASKED[theme])):
        assert abs(cell - ground) < abs(small - ground)
    assert abs(hatched - nothing) < 0.01


def test_on_a_dark_page_quiet_colours_are_hardly_dimmer() -> None:
    quiet, whole = DARK[QUIET], DARK[SIGNED]
    assert quiet[1:4] == whole[1:4]
    assert all(0.6 < light(quiet[end]) / light(whole[end]) < 1 for end in (0, -1))
