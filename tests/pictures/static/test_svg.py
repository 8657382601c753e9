"""The SVG read back: every colour and every number against the run, and every word where it belongs."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from attnviz import Config, Trace, run
from attnviz.engine.external.traces import of_weights
from attnviz.pictures import columns as columns_of
from attnviz.pictures import stages
from attnviz.pictures.colours import QUIET, SHARE, SIGNED
from attnviz.pictures.stage_record import Scale, Stage
from attnviz.pictures.static import svg
from attnviz.pictures.static.colour_scale import colour as static_colour
from attnviz.pictures.static.text_metrics import word
from attnviz.settings.language import set_language
from attnviz.text.cell_sentence import percent
from attnviz.text.format import cell_number
from tests.support.cases import for_each

BOX = re.compile(r"M(-?[\d.]+) (-?[\d.]+)h(-?[\d.]+)v(-?[\d.]+)h(-?[\d.]+)z")
HOSTILE = [
    "</text><script>alert(1)</script>",
    "]]>",
    "&amp;",
    "a\x00\x1bb",
    "\ud800x",
    "\ufffe\uffff",
    "\u202egnp",
    "猫" * 40,
]
SETTINGS: dict[str, dict[str, Any]] = {
    "plain": {"sentence": "one two three four five", "n_heads": 3},
    "causal": {"sentence": "a b c d e", "mask": "causal", "n_heads": 3, "normaliser": "sigmoid"},
    "cross": {"sentence": "a b c", "second_sentence": "one two three four five", "n_heads": 5, "n_kv_heads": 1},
    "ragged": {"sentence": "a b c d", "n_heads": 3, "d_k": (3, 2, 5), "d_v": (5, 2, 3)},
    "many": {"sentence": " ".join(f"w{n}" for n in range(30)), "n_heads": 2, "mask": "window"},
}


def parsed(text: str) -> ET.Element:
    return ET.fromstring(re.sub(r' xmlns="[^"]*"', "", text, count=1))  # noqa: S314


def group(root: ET.Element, kind: str) -> ET.Element:
    found = root.find(f".//g[@class='{kind}']")
    return found if found is not None else ET.Element("g")


def boxes(path: ET.Element | None) -> list[tuple[float, float, float, float]]:
    if path is None:
        return []
    return [tuple(map(float, each[:4])) for each in BOX.findall(path.get("d", ""))]  # type: ignore[misc]


def colour(stage: Stage, number: float) -> np.ndarray:
    """The colour of a number, computed another way: each channel interpolated between the stops."""
    shown = stage.array[stage_drawn(stage)]
    end = max(abs(shown.min()), abs(shown.max()))
    low, high, stops = (-end, end, SIGNED) if stage.kind == "signed" else (0.0, max(1.0, shown.max()), SHARE)
    channels = [[int(stop[at : at + 2], 16) for stop in stops] for at in (1, 3, 5)]
    return np.array([np.interp(number, np.linspace(low, high, len(stops)), channel) for channel in channels])


def stage_drawn(stage: Stage) -> np.ndarray:
    inside = np.arange(stage.array.shape[2]) < np.array(stage.true_widths)[:, None, None]
    return np.broadcast_to(inside, stage.array.shape) & (True if stage.masked is None else ~stage.masked)


def cells(drawing: ET.Element, stage: Stage) -> dict[tuple[int, int, int], str]:
    """Head, row and column of every coloured box, found from the outline around its head."""
    found = {}
    outlines = boxes(drawing.find(".//path[@class='outlines']"))
    for head, (outline, shapes) in enumerate(zip(outlines, group(drawing, "cells"))):
        cell_w, cell_h = outline[2] / stage.true_widths[head], outline[3] / stage.array.shape[1]
        for shape in shapes:
            for x, y, _, _ in boxes(shape):
                index = head, int((y - outline[1] + 0.1) // cell_h), int((x - outline[0] + 0.1) // cell_w)
                assert index not in found
                found[index] = str(shape.get("fill"))
    return found


@for_each("width", [1200, 420])
@for_each("name", SETTINGS)
def test_every_cell_has_the_colour_of_its_number(name: str, width: int) -> None:
    shown = stages.side_by_side(run(Config(**SETTINGS[name])), 0)
    root = parsed(svg.picture(shown, width=width))
    for stage in shown:
        found = cells(group(root, f"stage stage-{stage.name}"), stage)
        assert set(found) == {tuple(index) for index in np.argwhere(stage_drawn(stage)).tolist()}
        for index, fill in found.items():
            rgb = np.array([int(fill[at : at + 2], 16) for at in (1, 3, 5)])
            assert abs(rgb - colour(stage, stage.array[index])).max() <= 0.6, index


def test_masked_cells_have_lines_and_nothing_else_has() -> None:
    shown = stages.side_by_side(run(Config(**SETTINGS["causal"])), 0)
    for stage, n in zip(shown, (30, 30, 0)):
        drawing = group(parsed(svg.picture(shown)), f"stage stage-{stage.name}")
        outline = boxes(drawing.find(".//path[@class='outlines']"))[0]
        cell = outline[2] / stage.array.shape[2]
        masked = drawing.find(".//path[@class='masked']")
        if stage.hidden is None:
            assert masked is None
        else:
            assert sum(round(w / cell) for _, _, w, _ in boxes(masked)) == n
            assert masked.get("fill") == f"url(#{drawing.find('.//pattern').get('id')})"
        assert ("masked" in [each.text for each in group(drawing, "legend")]) == (n > 0)


@pytest.mark.parametrize("name", ["plain", "causal", "ragged"])
def test_numbers_are_the_runs_own_rounded_to_the_digits_that_are_written(name: str) -> None:
    (stage,) = stages.side_by_side(run(Config(**SETTINGS[name])), 0)[:1]
    drawing = parsed(svg.picture([stage], width=1800))
    written, shown = group(drawing, "numbers"), np.argwhere(stage_drawn(stage))
    assert len(written) == len(shown) > 0
    outlines = boxes(drawing.find(".//path[@class='outlines']"))
    for text, (head, row, column) in zip(written, shown.tolist()):
        x, y, w, h = outlines[head]
        cell_w, cell_h = w / stage.true_widths[head], h / stage.array.shape[1]
        assert x + column * cell_w < float(text.get("x", 0)) < x + (column + 1) * cell_w
        assert y + row * cell_h < float(text.get("y", 0)) < y + (row + 1) * cell_h
        label, number = str(text.text).replace("−", "-"), stage.array[head, row, column]
        if label == "≈0":
            assert 0 < abs(number) < 0.05
        else:
            assert abs(float(label) - number) <= 0.5000001 * 10.0 ** -len(label.partition(".")[2])


def test_what_is_no_finite_number_stands_out() -> None:
    array = np.array([[[1.0, np.nan, np.inf], [-np.inf, 2.0, -3.0]]])
    stage = Stage("scores", "S", array, "signed", ["a", "b"], ["x", "y", "z"])
    root = parsed(svg.picture([stage]))
    assert [index for index, fill in cells(root, stage).items() if fill == "#f5c518"] == [
        (0, 0, 1),
        (0, 0, 2),
        (0, 1, 0),
    ]
    assert [text.text for text in group(root, "numbers")] == ["1", "NaN", "∞", "−∞", "2", "−3"]


def test_an_edited_number_is_framed() -> None:
    trace = run(Config(**SETTINGS["plain"]), edits=[(0, "weights", (1, 4, 2), 0.9)])
    drawing = group(parsed(svg.page(trace, 0)), "stage stage-weights")
    ((x, y, w, h),) = boxes(drawing.find(".//path[@class='edited']"))
    left, top, _, _ = boxes(drawing.find(".//path[@class='outlines']"))[1]
    assert (round((x - left) / w), round((y - top) / h)) == (2, 4)


@pytest.mark.parametrize("name", ["plain", "cross", "causal"])
def test_every_word_stands_on_both_axes_and_every_head_has_its_name(name: str) -> None:
    trace = run(Config(**SETTINGS[name]))
    for stage in stages.side_by_side(trace, 0):
        drawing = group(parsed(svg.page(trace, 0)), f"stage stage-{stage.name}")
        rows, columns = ([text.text for text in group(drawing, kind)] for kind in ("rows", "columns"))
        assert rows == list(trace.query_tokens) * (len(rows) // len(trace.query_tokens))
        words = list(trace.key_tokens) if stage.columns else [str(n + 1) for n in range(stage.array.shape[2])]
        assert columns == words * (len(columns) // len(words))
        assert rows
        assert columns
        heads, roles = ([], [])
        for text in group(drawing, "names"):
            (roles if text.get("font-weight") == "400" else heads).append(text.text)
        assert heads == [name.split(" · ")[0] for name in stage.names]
        assert roles == (list(columns_of.roles(trace, 0)) if stage.name == "weights" else [])


def test_headings_say_what_the_page_says() -> None:
    trace = run(Config(**SETTINGS["causal"], n_layers=2))
    root = parsed(svg.page(trace, 1, svg.View(apart=False), foot="seed 0 & more"))
    texts = ["".join(text.itertext()) for text in root.iter("text")]
    assert [text.text for text in group(root, "words").iter("text")] == list("abcde")
    assert "Layer 2 of 2." in str(group(root, "about")[0].text)
    assert texts[-1] == "seed 0 & more"
    assert {"Scores", "how well each word matches each:", "Weights", "Outputs"} <= set(texts)
    legend = [text.text for text in group(group(root, "stage stage-scores"), "legend").iter("text")]
    end = abs(trace.layers[1]["scores"].array[:, np.tri(5, dtype=bool)]).max()
    assert [float(each.replace("−", "-")) for each in legend[:2] if each] == pytest.approx([-end, end], rel=0.05)


@for_each("token", HOSTILE)
def test_no_token_breaks_out_or_is_lost(token: str) -> None:
    weights = np.array([[[0.25, 0.75], [1.0, 0.0], [0.5, 0.5]]])
    trace = of_weights(weights, ["q", token, "r"], [token, "k"])
    drawn = svg.page(trace, 0)
    drawn.encode()
    root = parsed(drawn)
    kinds = {"svg", "title", "desc", "rect", "defs", "pattern", "linearGradient", "stop", "g", "path", "text", "tspan"}
    assert {element.tag for element in root.iter()} <= kinds
    assert not any("href" in name or name.startswith("on") for element in root.iter() for name in element.attrib)
    label = str(group(root, "rows")[1].text)
    assert label == word(token) or (label.endswith("…") and word(token).startswith(label[:-1]))


def test_equal_runs_are_equal_files_and_a_sentence_of_one_word_is_cut() -> None:
    config = Config(sentence="x" * 5000, tokeniser="whitespace", n_heads=1)
    once = svg.page(run(config), 0)
    assert once == svg.page(run(config), 0)
    title = [text.text for text in group(parsed(once), "title")]
    assert len(title) == 3
    assert str(title[-1]).endswith("…")


def test_a_saved_picture_is_what_the_screen_shows() -> None:
    config = Config(
        sentence="the king saw his queen", embedding="meaning", d_model=64, initialiser="by_hand", d_k=8,
        patterns=("alike", "previous", "next", "first"),
    )  # fmt: skip
    trace = run(config)
    seen = parsed(svg.page(trace, 0, svg.View(head=1, query=4, key=3), width=1800))
    scores, weights = (group(seen, f"stage stage-{name}") for name in ("scores", "weights"))
    array = trace["scores"].array
    for head, shades in enumerate(group(scores, "cells")):  # each head has colours that reach to its own largest number
        fills = {str(shape.get("fill")) for shape in shades}
        assert fills & {QUIET[0], QUIET[-1]}, head
        assert cells(scores, columns_of.columns(trace, 0)[0])[head, 0, 0] == static_colour(
            Scale(-abs(array[head]).max(), abs(array[head]).max(), QUIET), array[head, 0, 0]
        )
    assert [text.text for text in group(scores, "legend").iter("text")] == ["−", "+"]
    roles = [text.text for text in group(weights, "names") if text.get("font-weight") == "400"]
    assert roles == ["similar meaning", "previous token", "next token", "first token"]
    written = [str(text.text) for text in group(weights, "numbers")]
    expected = [cell_number.share(float(number), 40) for number in trace["weights"].array.flat]
    assert written == [each for each in expected if each]
    for drawing, n in ((scores, 4), (weights, 4), (group(seen, "stage stage-heads"), 2)):  # each frame on a ground
        frames = [boxes(path)[0] for path in drawing.iter("path") if path.get("class") == "chosen"]
        left, top, wide, tall = boxes(drawing.find(".//path[@class='outlines']"))[1]
        assert len(frames) == n
        assert frames[0] == pytest.approx((left, top + 4 * tall / 5, wide, tall / 5), abs=0.05)
        if n == 4:
            assert frames[2] == pytest.approx((left + 3 * wide / 5, top + 4 * tall / 5, wide / 5, tall / 5), abs=0.05)
    assert group(seen, "said")[0].text == f"queen attends to his ({percent(trace['weights'].array[1, 4, 3])})."
    assert group(seen, "origin")[0].text == "head 2 · previous token · made by hand"
    widths = [float(path.get("stroke-width", 0)) for path in group(seen, "arcs")]
    row = np.delete(trace["weights"].array[1, 4], 4)
    assert widths == pytest.approx([0.8 + 7.2 * each for each in np.sort(row[row >= 0.03])], abs=0.006)
    one = parsed(svg.page(trace, 0, svg.View(focus=2)))
    assert [len(group(group(one, f"stage stage-{name}"), "cells")) for name in ("scores", "weights", "heads")] == [
        1
    ] * 3
    assert group(one, "origin")[0].text == "head 3 · next token · made by hand"


@pytest.mark.parametrize(("shown", "width", "message"), [((), 1200, "no stages"), (None, 200, "320 to 10,000")])
def test_what_cannot_be_drawn_is_refused(shown: Any, width: int, message: str) -> None:
    given = stages.side_by_side(trace_of_two(), 0) if shown is None else shown
    with pytest.raises(ValueError, match=message):
        svg.picture(given, width=width)


def test_any_step_can_be_drawn() -> None:
    trace = run(Config(sentence="a b c", n_layers=2, norm="pre", feed_forward="relu", projection_bias=True))
    for steps in (trace.around, trace.layers[1]):
        for step in steps.values():
            shown = stages.stage(trace, step, step.name)
            assert len(cells(parsed(svg.picture([shown])), shown)) == np.count_nonzero(stage_drawn(shown)) or (
                shown.kind == "allowed"
            )


def trace_of_two() -> Trace:
    return run(Config(sentence="a b"))


def test_a_wider_picture_has_larger_cells_and_numbers_in_them() -> None:
    trace = run(Config(sentence="a b c d e f g", n_heads=4))
    drawings = {width: parsed(svg.page(trace, 0, width=width)) for width in (1200, 1800)}
    sides = {
        width: [box[2] for path in root.iter("path") if path.get("class") == "outlines" for box in boxes(path)]
        for width, root in drawings.items()
    }
    assert len(sides[1200]) == len(sides[1800]) == 12
    assert all(small < large for small, large in zip(sides[1200], sides[1800]))
    numbers = [text for kind in drawings[1800].iter("g") if kind.get("class") == "numbers" for text in kind]
    seen = np.count_nonzero(trace["weights"].array >= 0.005)
    assert len(numbers) == 4 * 7 * (7 + 4) + seen
    assert int(drawings[1800].get("height", 0)) < 1800


def test_numbers_of_a_picture_are_written_as_the_language_does() -> None:
    trace = run(Config(sentence="a b c", n_heads=1, temperature=0.3))
    try:
        english = svg.page(trace, 0, width=900)
        set_language("de")
        german = svg.page(trace, 0, width=900)
    finally:
        set_language("en")
    for text, sign in ((english, "."), (german, ",")):
        words = [each.text or "" for each in ET.fromstring(text).iter() if each.tag.endswith(("text", "desc"))]  # noqa: S314
        numbers = re.findall(r"\d[.,]\d", " ".join(words))
        assert len(numbers) > 20
        assert {number[1] for number in numbers} == {sign}
