"""The font of the pictures has what they write, is as wide as they reckon, and is small and free."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

import pytest
from fontTools.ttLib import TTFont

import attnviz
from attnviz import Config, run
from attnviz.pictures.static import fonts, svg
from attnviz.pictures.static.text_metrics import width

FACES = {name: TTFont(fonts.FOLDER / name) for name in fonts.FACES}
INSIDE = [chr(code) for low, high in fonts.RANGES for code in range(low, high + 1)]


def test_the_faces_are_of_the_family_that_pictures_name_first() -> None:
    assert {font["name"].getDebugName(1) for font in FACES.values()} == {fonts.FAMILY.split(",")[0]}
    assert f'font-family="{fonts.FAMILY}"' in svg.page(run(Config(sentence="a b")), 0)


def test_they_are_small_and_their_license_is_beside_them() -> None:
    assert sum((fonts.FOLDER / name).stat().st_size for name in fonts.FACES) < 300_000
    licensed = (fonts.FOLDER / "LICENSE").read_text(encoding="utf-8")
    for font in FACES.values():
        assert font["name"].getDebugName(0).splitlines()[0] in licensed


@pytest.mark.parametrize("name", fonts.FACES)
def test_every_character_of_the_ranges_is_in_the_font(name: str) -> None:
    there = FACES[name].getBestCmap()
    assigned = {character for character in INSIDE if unicodedata.category(character) != "Cn"}
    assert {character for character in assigned if ord(character) not in there} == set()
    assert all(map(fonts.has, assigned))


def test_what_the_font_lacks_is_known() -> None:
    lacking = [chr(code) for code in range(0x20, 0x3000) if not 0x7F <= code < 0xA0 and chr(code) not in set(INSIDE)]
    assert lacking
    assert not any(map(fonts.has, lacking))


def test_all_that_the_pictures_say_of_themselves_can_be_written() -> None:
    languages = Path(attnviz.__file__).parent / "languages"
    for path in languages.glob("*.json"):
        for english, other in json.loads(path.read_text(encoding="utf-8")).items():
            assert fonts.has(english), english
            assert fonts.has(other), other
    assert fonts.has(svg.page(run(Config(n_layers=2, mask="causal")), 1))


@pytest.mark.parametrize(("name", "bold"), list(zip(fonts.FACES, (False, True))))
def test_no_character_is_wider_than_reckoned(name: str, bold: bool) -> None:
    font = FACES[name]
    drawn = {chr(code): font["hmtx"][glyph][0] / font["head"].unitsPerEm for code, glyph in font.getBestCmap().items()}
    inside = set(INSIDE)
    wider = {c: w for c, w in drawn.items() if c in inside and w > width(c, 1.0, bold=bold)}
    assert wider == {}
