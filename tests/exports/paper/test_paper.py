"""Pictures for papers: both files say the same cells, in the same places, with the numbers of the run."""

from __future__ import annotations

import re
import zlib
from pathlib import Path

import numpy as np
import pytest

from attnviz import Config, ConfigError, Trace, run
from attnviz.exports.formats import ExportTarget, export
from attnviz.exports.paper.layout import COLUMN, PAGE, POINT
from attnviz.exports.paper.truetype import face
from attnviz.pictures import colours
from attnviz.pictures.stages import side_by_side
from attnviz.pictures.static import fonts
from attnviz.pictures.static.colour_scale import colour
from attnviz.pictures.static.fonts import FOLDER

SENTENCE = 'The cat "sat" on 50 % of größer mats'
Cells = list[tuple[float, float, float, str]]


def luminance(hexadecimal: str) -> float:
    """How light a colour is printed in grey."""
    red, green, blue = ((int(hexadecimal[at : at + 2], 16) / 255) ** 2.2 for at in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def of_tikz(trace: Trace, target: ExportTarget) -> tuple[Cells, int, tuple[float, float]]:
    """The cells (x, y, size, colour), the number of bars, and the size in centimetres."""
    text = str(export("tikz", trace, target))
    found = re.findall(r"^\\cell\{(.*?)\}\{(.*?)\}\{(.*?)\}\{(\d+)\}\{(\d+)\}\{(\d+)\}$", text, flags=re.MULTILINE)
    cells = [(float(x), float(y), float(s), "#" + "".join(f"{int(c):02x}" for c in rgb)) for x, y, s, *rgb in found]
    [(wide, high)] = re.findall(r"bounding box\] \(0,0\) rectangle \((.*?),(.*?)\);", text)
    return cells, text.count("line width=0.5pt"), (float(wide), float(high))


def of_pdf(trace: Trace, target: ExportTarget) -> tuple[Cells, int, tuple[float, float]]:
    """The same, read from the objects of the file by its own table."""
    data = export("pdf", trace, target)
    assert isinstance(data, bytes)
    start = int(data.rsplit(b"startxref\n", 1)[1].split()[0])
    offsets = [int(line[:10]) for line in data[start:].splitlines()[3:12]]
    objects = [data[at : data.index(b"endobj", at)] for at in offsets]
    assert [each.split()[0] for each in objects] == [b"%d" % n for n in range(1, 10)]
    wide, high = (float(x) for x in re.findall(rb"MediaBox \[0 0 (\S+) (\S+)\]", objects[2])[0])
    content, font, unicode = (zlib.decompress(objects[at].split(b"stream\n", 1)[1]) for at in (3, 7, 8))
    assert font == (FOLDER / fonts.FACES[0]).read_bytes()
    letters = {glyph: chr(int(code, 16)) for glyph, code in re.findall(r"<(....)> <(....)>", unicode.decode())}
    words = [
        "".join(letters[text[at : at + 4]] for at in range(0, len(text), 4))
        for text in re.findall(r"<(\w+)> Tj", content.decode())
    ]
    assert {"größer", "%", "mats"} <= set(words) or target.step == "w_q"
    cells = []
    for *rgb, x, y, w, h in re.findall(r"(\S+) (\S+) (\S+) rg (\S+) (\S+) (\S+) (\S+) re f", content.decode()):
        fill = "#" + "".join(f"{round(255 * float(c)):02x}" for c in rgb)
        cells.append((float(x) * POINT, (high - float(y) - float(h)) * POINT, float(w) * POINT, fill))
    return cells, content.count(b" 0.5 w "), (wide * POINT, high * POINT)


def test_both_files_have_the_cells_of_the_run_in_their_places() -> None:
    trace = run(Config(sentence=SENTENCE, n_heads=5, mask="causal", d_v=(3, 2, 4, 2, 1)))
    for target in (ExportTarget(), ExportTarget(step="scores", head=1), ExportTarget(step="heads")):
        (cells, bars, size), (again, bars_again, size_again) = of_tikz(trace, target), of_pdf(trace, target)
        assert [cell[3] for cell in cells] == [cell[3] for cell in again]
        np.testing.assert_allclose([cell[:3] for cell in cells], [cell[:3] for cell in again], atol=0.005)
        np.testing.assert_allclose(size, size_again, atol=0.005)
        assert size[0] <= (PAGE if target.head is None else COLUMN) + 0.1
        step, [stage] = trace[target.step], [s for s in side_by_side(trace, 0) if s.name == target.step]
        chosen = range(len(step.array)) if target.head is None else [target.head]
        parts = [step.head(h) for h in chosen]
        seen = [
            np.tri(*part.shape, dtype=bool) if step.axes[-1] == "key" else np.ones(part.shape, bool) for part in parts
        ]
        numbers = np.concatenate([part[where] for part, where in zip(parts, seen)])
        drawn = [colour(stage.scale_of(h), float(x)) for h, p, s in zip(chosen, parts, seen) for x in p[s]]
        if target.head is None:  # one head alone has the colours of its own numbers
            assert [cell[3] for cell in cells][: len(drawn)] == drawn
        assert len(cells) == len(numbers) + 5
        assert bars == bars_again == (numbers < 0).sum() + (2 if step.kind == "signed" else 0)
        first = parts[0]
        x, y = ([cell[at] for cell in cells[: seen[0].sum()]] for at in (0, 1))
        rows, columns = np.nonzero(seen[0])
        np.testing.assert_allclose(np.subtract(x, x[0]), columns * cells[0][2], atol=0.01)
        np.testing.assert_allclose(np.subtract(y, y[0]), rows * cells[0][2], atol=0.01)
        assert first.shape == seen[0].shape


def test_darker_is_larger_in_grey_and_the_bar_says_the_sign() -> None:
    shares = [luminance(each) for each in colours.SHARE]
    assert shares == sorted(shares, reverse=True)
    for scale in (colours.SIGNED, colours.QUIET):
        assert [luminance(each) for each in scale[2:]] == sorted([luminance(each) for each in scale[2:]], reverse=True)
        assert [luminance(each) for each in scale[:3]] == sorted([luminance(each) for each in scale[:3]])


def test_every_step_is_drawn_by_the_end_of_a_name_and_what_is_not_there_is_said(tmp_path: Path) -> None:
    trace = run(Config(sentence="a 猫 b", n_heads=1, score="general", feed_forward="relu", residual=True))
    for name in [*trace.around, *trace.layers[0]]:
        for kind, start in (("pdf", b"%PDF-1.5"), ("tikz", b"% \\usepackage{tikz}")):
            trace.save(tmp_path / f"out.{kind}", step=name)
            assert (tmp_path / f"out.{kind}").read_bytes().startswith(start), name
    assert r"\letters{猫}{U+732B}" in str(export("tikz", trace))
    with pytest.raises(ConfigError, match="step is 'nothing'; this run has"):
        trace.save(tmp_path / "out.tikz", step="nothing")
    with pytest.raises(ConfigError, match="head is 2"):
        trace.save(tmp_path / "out.pdf", head=2)


def test_chinese_words_are_letters_of_the_file_too() -> None:
    data = export("pdf", run(Config(sentence="a 猫 b", n_heads=1)), ExportTarget())
    assert isinstance(data, bytes)
    parts = [each.split(b"stream\n", 1) for each in data.split(b"endobj") if b"stream\n" in each]
    streams = [zlib.decompress(part[1].rsplit(b"\nendstream", 1)[0]) for part in parts]
    assert [fonts.FOLDER / name for name in (fonts.FACES[0], fonts.CHINESE)] == [
        path for path in map(fonts.FOLDER.joinpath, (*fonts.FACES, fonts.CHINESE)) if path.read_bytes() in streams
    ]
    glyph = face(FOLDER / fonts.CHINESE).glyph("猫")
    assert re.search(rf"/H [\d.]+ Tf <{glyph:04X}> Tj", streams[0].decode())
    assert f"<{glyph:04X}> <732B>".encode() in streams[-1]
    assert data.count(b"/BaseFont /DroidSansFallback") == 2
    assert b"Droid" not in (export("pdf", run(Config(sentence="a b")), ExportTarget()) or b"")  # type: ignore[operator]


def test_the_glyphs_are_those_of_the_letters() -> None:
    font = face(FOLDER / fonts.FACES[0])
    assert len({font.width(digit) for digit in "0123456789"}) == 1
    assert font.width(":") < font.width("9") < font.width("m")
    assert font.glyph("猫") == font.glyph("\ufffd") != font.glyph("?")
