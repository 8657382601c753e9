"""A colour stands in one table, from which pictures and style sheets take it; exceptions have a reason."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from attnviz.pictures.colours import DARK, NOT_A_NUMBER, PAGE, QUIET, SIGNED
from attnviz.ui.session.browser import styles

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "attnviz"
TABLE = PACKAGE / "pictures/colours.py"
COLOURS = {each for scale in (*DARK, *DARK.values(), *PAGE.values()) for each in scale} - {"#ffffff", "#000000"}
AGAIN = {
    "exports/interactive/canvas.js": {NOT_A_NUMBER},
    "ui/components/stage/ink.js": {NOT_A_NUMBER},
    "ui/components/pickers/small_pictures.js": {NOT_A_NUMBER},
    "pictures/static/colour_scale.py": {"#fbfaf7", "#12355f"},
    "ui/session/browser/styles.py": {*PAGE["accent"]},
}
"""Scripts that need it before Python can have sent it, and examples in docstrings."""


def typed(text: str) -> set[str]:
    """The colours of the table that stand in a text."""
    return {each.lower() for each in re.findall(r"#[0-9a-fA-F]{6}\b", text)} & (COLOURS | {NOT_A_NUMBER})


def test_a_colour_is_typed_once() -> None:
    files = [path for path in PACKAGE.rglob("*") if path.suffix in {".py", ".js", ".css"} and path != TABLE]
    found = {path.relative_to(PACKAGE).as_posix(): typed(path.read_text("utf-8")) for path in files}
    assert {name: colours for name, colours in found.items() if colours} == AGAIN
    assert typed("a { color: #2A5EA8; }") == {"#2a5ea8"}


def test_streamlits_own_theme_has_the_same_colours() -> None:
    theme = tomllib.loads((ROOT / ".streamlit/config.toml").read_text("utf-8"))["theme"]
    pairs = {"primaryColor": "accent", "textColor": "ink"}
    assert [(theme["light"][name], theme["dark"][name]) for name in pairs] == [PAGE[each] for each in pairs.values()]
    assert (theme["light"]["backgroundColor"], theme["dark"]["backgroundColor"]) == PAGE["on-accent"]


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


def test_on_a_dark_page_quiet_colours_are_hardly_dimmer() -> None:
    def light(colour: str) -> float:
        parts = ((int(colour[at : at + 2], 16) / 255) ** 2.2 for at in (1, 3, 5))
        return sum(share * part for share, part in zip((0.2126, 0.7152, 0.0722), parts, strict=True))

    quiet, whole = DARK[QUIET], DARK[SIGNED]
    assert quiet[1:4] == whole[1:4]
    assert all(0.6 < light(quiet[end]) / light(whole[end]) < 1 for end in (0, -1))
