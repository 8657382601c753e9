"""The font of the pictures has what they write, is as wide as they reckon, and is small and free."""

from __future__ import annotations

import unicodedata

import pytest
from fontTools.ttLib import TTFont

from attnviz import Config, run
from attnviz.pictures.static import fonts, svg
from attnviz.pictures.static.text_metrics import width
from tests.settings.test_translations import OTHERS, pairs

FACES = {name: TTFont(fonts.FOLDER / name) for name in fonts.FACES}
CHINESE = TTFont(fonts.FOLDER / fonts.CHINESE)
INSIDE = [chr(code) for low, high in fonts.RANGES for code in range(low, high + 1)]


def test_the_faces_are_of_the_family_that_pictures_name_first() -> None:
    assert {font["name"].getDebugName(1) for font in FACES.values()} == {fonts.FAMILY.split(",")[0]}
    assert f'font-family="{fonts.FAMILY}"' in svg.page(run(Config(sentence="a b")), 0)


def test_they_are_small_and_their_license_is_beside_them() -> None:
    assert sum((fonts.FOLDER / name).stat().st_size for name in fonts.FACES) < 300_000
    assert (fonts.FOLDER / fonts.CHINESE).stat().st_size < 600_000
    licensed = (fonts.FOLDER / "LICENSE").read_text(encoding="utf-8")
    for font in (*FACES.values(), CHINESE):
        assert font["name"].getDebugName(0).splitlines()[0] in licensed


@pytest.mark.parametrize("name", fonts.FACES)
def test_every_character_of_the_ranges_is_in_the_font(name: str) -> None:
    there = FACES[name].getBestCmap()
    assigned = {character for character in INSIDE if unicodedata.category(character) != "Cn"}
    assert {character for character in assigned if ord(character) not in there} == set()
    assert all(map(fonts.has, assigned))


def test_the_common_chinese_characters_are_in_the_other_font() -> None:
    there = CHINESE.getBestCmap()
    assert {character for character in fonts.chinese() if ord(character) not in there} == set()
    assert len(fonts.chinese()) == 3755 + len(fonts.FULL_WIDTH) + len(fonts.RARER)
    assert all(map(fonts.has, fonts.chinese()))
    assert not {*fonts.chinese()} & {*INSIDE}


def test_what_the_fonts_lack_is_known() -> None:
    inside = {*INSIDE} | fonts.chinese()
    lacking = [chr(code) for code in range(0x20, 0x3100) if not 0x7F <= code < 0xA0 and chr(code) not in inside]
    assert lacking
    assert not any(map(fonts.has, lacking))


def test_all_that_the_page_says_can_be_written() -> None:
    lacking = {
        letter: text
        for language in OTHERS
        for pair in pairs(language)
        for text in pair
        for letter in text
        if letter not in "\nˢ✓" and unicodedata.category(letter) not in ("Cf", "Zs") and not fonts.has(letter)
    }
    assert lacking == {}  # but for eˢ and ✓, which stand in no picture
    assert fonts.has(svg.page(run(Config(n_layers=2, mask="causal")), 1))


@pytest.mark.parametrize(("name", "bold"), list(zip(fonts.FACES, (False, True))))
def test_no_character_is_wider_than_reckoned(name: str, bold: bool) -> None:
    font = FACES[name]
    drawn = {chr(code): font["hmtx"][glyph][0] / font["head"].unitsPerEm for code, glyph in font.getBestCmap().items()}
    inside = set(INSIDE)
    wider = {c: w for c, w in drawn.items() if c in inside and w > width(c, 1.0, bold=bold)}
    assert wider == {}
    metrics, em = CHINESE["hmtx"], CHINESE["head"].unitsPerEm
    assert max(metrics[glyph][0] / em for glyph in CHINESE.getBestCmap().values()) <= width("注", 1.0)
