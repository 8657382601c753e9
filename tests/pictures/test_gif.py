"""A run as a moving picture: a frame for each query, or for each step of learning that is kept."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

from attnviz import TASKS, Config, run
from attnviz.engine.learning.learnable import kept_steps
from attnviz.exports.formats import ExportTarget, export
from attnviz.pictures.static import png, svg

Image = pytest.importorskip("PIL.Image")
gif = pytest.importorskip("attnviz.pictures.static.gif")
pytestmark = pytest.mark.skipif(bool(png.missing()), reason="needs resvg-py")


def frames(file: bytes) -> tuple[list[np.ndarray], list[int]]:
    """The pixels of each frame, and for how many milliseconds it is seen."""
    moving: Any = Image.open(io.BytesIO(file))
    assert moving.info["loop"] == 0
    found, times = [], []
    for at in range(moving.n_frames):
        moving.seek(at)
        found.append(np.asarray(moving.convert("RGB"), float))
        times.append(moving.info["duration"])
    return found, times


def pixels(drawn: str) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(png.drawn(drawn, dpi=png.PER_INCH))).convert("RGB"), float)


def test_each_query_has_a_frame_that_is_its_picture() -> None:
    trace = run(Config(sentence="the cat sat", mask="causal", n_heads=2))
    found, times = frames(bytes(export("gif", trace, ExportTarget(head=1))))  # type: ignore[arg-type]
    assert times == [1200, 1200, 3000]
    assert len({frame.tobytes() for frame in found}) == 3
    for query, frame in enumerate(found):
        expected = pixels(svg.page(trace, 0, svg.View(head=1, query=query), width=960))
        shown = frame[: len(expected)]
        assert shown.shape == expected.shape
        assert np.abs(shown - expected).mean() < 0.5, "of 255: there are few colours in a map"
        assert (frame[len(expected) :] == 255).all()


def test_what_learns_is_seen_after_each_kept_step_with_the_same_row() -> None:
    config = TASKS["backwards"].config(learn_steps=10)
    found, _ = frames(bytes(export("gif", run(config))))
    assert len(found) == len(kept_steps(10)) == 2
    heights = {frame.shape for frame in found}
    assert len(heights) == 1
    assert np.abs(found[0] - found[1]).max() > 100


def test_of_many_queries_some_are_chosen_and_a_frame_has_room_on_a_slide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gif, "MOST_FRAMES", 2)  # so that it takes a moment
    trace = run(Config(sentence=" ".join(f"w{n}" for n in range(20)), n_heads=8))
    found, times = frames(bytes(export("gif", trace)))
    assert len(times) == 2
    high, wide = found[0].shape[:2]
    assert high <= gif.ROOM[1] + 2
    assert wide <= gif.ROOM[0] + 2
    assert wide >= gif.ROOM[0] / 2


def test_a_large_run_has_few_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(svg, "page", lambda trace, layer, view, width, foot="": f"{view.query} {width}")
    monkeypatch.setattr(gif, "_pixels", str)
    monkeypatch.setattr(gif, "_joined", lambda frames: ";".join(frames).encode())
    trace = run(Config(sentence=" ".join(f"w{n}" for n in range(40)), n_heads=8))
    assert export("gif", trace) == b"0 1600;39 1600"
