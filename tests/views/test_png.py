"""A PNG is as large as asked, says so, and what is missing is said in a sentence."""

from __future__ import annotations

import importlib.util
import struct
import zlib

import pytest

from attnviz import Config, run
from attnviz.views import png, svg

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
    monkeypatch.undo()
    monkeypatch.setattr(png.importlib.util, "find_spec", lambda name: object())
    monkeypatch.setattr(png, "_writes", lambda: False)
    with pytest.raises(RuntimeError, match="no font"):
        png.drawn(drawing)


@pytest.mark.parametrize("dpi", [23, 1201])
def test_a_dpi_outside_the_range_is_refused(drawing: str, dpi: int) -> None:
    with pytest.raises(ValueError, match="24 to 1200"):
        png.drawn(drawing, dpi=dpi)


def test_what_is_no_picture_of_ours_is_refused() -> None:
    with pytest.raises(ValueError, match="no SVG"):
        png.drawn("<svg/>")
