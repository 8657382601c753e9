"""A PNG is as large as asked, says so, and what is missing is said in a sentence."""

from __future__ import annotations

import hashlib
import importlib.util
import shutil
import struct
import subprocess
import sys
import zlib

import pytest

from attnviz import Config, run
from attnviz.pictures.static import png, svg

needs_resvg = pytest.mark.skipif(importlib.util.find_spec("resvg_py") is None, reason="resvg-py is an extra")


@pytest.fixture(scope="module")
def drawing() -> str:
    return svg.page(run(Config(sentence="a b c", n_heads=1)), 0, width=480)


def chunks(data: bytes) -> dict[bytes, bytes]:
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    found, at = {}, 8
    while at < len(data):
        (size,) = struct.unpack(">I", data[at : at + 4])
        kind, contents = data[at + 4 : at + 8], data[at + 8 : at + 8 + size]
        assert struct.unpack(">I", data[at + 8 + size : at + 12 + size]) == (zlib.crc32(kind + contents),)
        found.setdefault(kind, contents)
        at += 12 + size
    return found


@needs_resvg
@pytest.mark.parametrize("dpi", [96, 240])
def test_so_many_pixels_an_inch(drawing: str, dpi: int) -> None:
    found = chunks(png.drawn(drawing, dpi=dpi))
    width, height = struct.unpack(">II", found[b"IHDR"][:8])
    tall = int(drawing.split('height="')[1].split('"')[0])
    assert (width, height) == (480 * dpi // 96, pytest.approx(tall * dpi / 96, abs=1))
    assert struct.unpack(">IIB", found[b"pHYs"]) == (round(dpi / 0.0254), round(dpi / 0.0254), 1)
    assert list(found)[:2] == [b"IHDR", b"pHYs"]


@needs_resvg
def test_a_large_picture_stays_within_bounds(drawing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(png, "MOST_PIXELS", 100_000)
    found = chunks(png.drawn(drawing, dpi=1200))
    width, height = struct.unpack(">II", found[b"IHDR"][:8])
    assert 90_000 < width * height < 101_000
    assert struct.unpack(">I", found[b"pHYs"][:4])[0] < 1200 / 0.0254


def test_what_is_missing_is_said(drawing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(png.importlib.util, "find_spec", lambda name: None)
    assert 'pip install "attnviz[png]"' in png.missing()
    with pytest.raises(RuntimeError, match="resvg-py"):
        png.drawn(drawing)


HIDDEN = """
for folder in /usr/share/fonts /usr/local/share/fonts "$HOME/.fonts" "$HOME/.local/share/fonts"; do
  if test -d "$folder"; then mount -t tmpfs none "$folder"; fi
done
exec "$@"
"""
DRAWN = """
import hashlib, sys
from attnviz import Config, run
from attnviz.pictures.static import png, svg

for sentence in sys.argv[1:]:
    drawing = svg.page(run(Config(sentence=sentence, n_heads=1)), 0, width=480)
    print(hashlib.sha256(png.drawn(drawing, dpi=96)).hexdigest())
"""
COVERED = ("the cat sat", "größer Ġthe ▁cat ½", "Ελλάδα Москва tiếng")


def without_fonts() -> list[str]:
    """Return a command prefix that hides the fonts of this machine; skip where that cannot be had."""
    for command in (["unshare", "-m"], ["unshare", "-rm"]):
        if shutil.which("unshare") and subprocess.run([*command, "true"], capture_output=True).returncode == 0:
            return [*command, "sh", "-ec", HIDDEN, "sh"]
    pytest.skip("no mount namespaces here")


def digests(sentences: tuple[str, ...], before: list[str]) -> list[str]:
    command = [*before, sys.executable, "-c", DRAWN, *sentences]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


@pytest.mark.slow
@needs_resvg
def test_the_pixels_are_the_same_with_any_fonts_and_with_none() -> None:
    hidden = digests(COVERED, without_fonts())
    assert hidden == digests(COVERED, [])
    assert len(set(hidden)) == len(hidden)


@pytest.mark.slow
@needs_resvg
def test_a_character_that_no_font_has_is_drawn_as_a_box() -> None:
    box, other, blank = digests(("猫", "犬", "- -"), without_fonts())
    assert box != blank
    assert other != blank


@needs_resvg
def test_the_words_are_in_the_picture(drawing: str) -> None:
    wordless = drawing.replace("<text", "<desc").replace("</text", "</desc")
    assert hashlib.sha256(png.drawn(drawing)).digest() != hashlib.sha256(png.drawn(wordless)).digest()


@pytest.mark.parametrize("dpi", [23, 1201])
def test_a_dpi_outside_the_range_is_refused(drawing: str, dpi: int) -> None:
    with pytest.raises(ValueError, match="24 to 1200"):
        png.drawn(drawing, dpi=dpi)


def test_what_is_no_picture_of_ours_is_refused() -> None:
    with pytest.raises(ValueError, match="not an SVG"):
        png.drawn("<svg/>")
