"""The figures by the numbers inside them, and the geometry by arithmetic done again by hand."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from attnviz import Config, run
from attnviz.pictures import columns
from attnviz.pictures.colours import DARK, QUIET, SHARE, SIGNED
from attnviz.pictures.layout.mosaic import Shape, arrange, room_for
from attnviz.pictures.stage_record import Scale, Stage
from attnviz.ui.panels import window
from attnviz.ui.session.selection import Selection
from tests.support import stage_maps
from tests.support.cases import for_each
from tests.support.page_script import heading
from tests.support.placement import Tiling

INF, NAN = np.inf, np.nan


def stage(array: Any, kind: str = "signed", **more: Any) -> Stage:
    array = np.asarray(array, float)
    rows = [f"q{row}" for row in range(array.shape[1])]
    columns = [f"k{column}" for column in range(array.shape[2])]
    return Stage("scores", "QKᵀ", array, kind, **{"rows": rows, "columns": columns, **more})


def drawn(shown: Stage, width: int = 1216) -> tuple[dict[str, Any], dict[str, Any], Tiling]:
    """The trace of a stage, what its meta says, and its tiles."""
    (grid,) = stage_maps.placed([shown], width, 640).tilings
    trace = stage_maps.mosaic(shown, grid)
    return trace, trace["meta"], grid


def numbers(heads: int, rows: int, columns: int) -> np.ndarray:
    return np.random.default_rng(heads * 10_000 + rows * 100 + columns).normal(size=(heads, rows, columns))


def cells(picture: np.ndarray, meta: dict[str, Any], rows: int) -> dict[tuple[int, int, int], float]:
    """Every cell of every head, found from what `meta` says alone."""
    across, columns = meta["across"], max(meta["widths"])
    return {
        (head, row, column): picture[(head // across) * (rows + 1) + row, (head % across) * (columns + 1) + column]
        for head, width in enumerate(meta["widths"])
        for row, column in itertools.product(range(rows), range(width))
    }


@for_each("heads, rows, columns", [(1, 1, 1), (3, 5, 7), (5, 7, 2), (16, 3, 4), (7, 9, 11)])
def test_every_number_stands_in_its_cell_and_nothing_anywhere_else(heads: int, rows: int, columns: int) -> None:
    array = numbers(heads, rows, columns)
    trace, meta, _ = drawn(stage(array))
    found = cells(trace["z"], meta, rows)
    assert found == {index: array[index] for index in np.ndindex(array.shape)}
    assert np.isfinite(trace["z"]).sum() == array.size


def test_heads_narrower_than_the_widest_show_their_true_columns_only() -> None:
    array = numbers(3, 4, 5)
    widths = (5, 2, 3)
    trace, meta, _ = drawn(stage(array, widths=widths, columns=None))
    found = cells(trace["z"], meta, 4)
    assert meta["widths"] == [5, 2, 3]
    assert found == {index: array[index] for index in np.ndindex(array.shape) if index[2] < widths[index[0]]}
    assert np.isfinite(trace["z"]).sum() == 4 * sum(widths)


def test_what_is_allowed_is_drawn_and_what_is_not_is_ground() -> None:
    allowed = np.tril(np.ones((1, 3, 3), bool))
    trace, meta, _ = drawn(Stage("mask", "mask", allowed, "allowed", "abc", "abc"))
    found = cells(trace["z"], meta, 3)
    assert [found[0, 1, column] for column in range(2)] == [1, 1]
    assert np.isnan(found[0, 1, 2])
    assert len({colour for _, colour in trace["colorscale"]}) == 1


@for_each(
    "array, kind, scale",
    [
        ([[[1.5, -0.5]]], "signed", Scale(-1.5, 1.5, SIGNED)),
        ([[[0.25, -3.0]]], "signed", Scale(-3.0, 3.0, SIGNED)),
        ([[[0.0, 0.0]]], "signed", Scale(-1.0, 1.0, SIGNED)),
        ([[[2.0, INF, -INF, NAN]]], "signed", Scale(-2.0, 2.0, SIGNED)),
        ([[[INF]]], "signed", Scale(-1.0, 1.0, SIGNED)),
        ([[[0.1, 0.2]]], "share", Scale(0.0, 1.0, SHARE)),
        ([[[0.1, 1.75]]], "share", Scale(0.0, 1.75, SHARE)),
        ([[[0.5, -0.25]]], "share", Scale(-0.5, 0.5, SIGNED)),
    ],
)
def test_scales(array: Any, kind: str, scale: Scale) -> None:
    assert stage(array, kind).scale == scale


def test_what_is_not_drawn_does_not_stretch_the_scale() -> None:
    array = np.array([[[1.0, 50.0, 2.0]], [[-3.0, 4.0, 90.0]]])
    shown = stage(array, masked=np.array([[[False, True, False]]] * 2), widths=(3, 2))
    assert shown.scale == Scale(-3.0, 3.0, SIGNED)


def test_meta_names_every_row_column_head_and_axis() -> None:
    shown = stage(numbers(2, 3, 4), rows=("the", "cat", "the"), columns=None, axes=("query", "dimension"))
    _, meta, _ = drawn(shown)
    assert (meta["rows"], meta["columns"], meta["heads"]) == (["the", "cat", "the"], None, ["head 1", "head 2"])
    assert meta["axes"] == ["query", "dimension"]
    assert drawn(stage(numbers(2, 3, 4), heads=("group 1", "group 2")))[1]["heads"] == ["group 1", "group 2"]


def test_the_heading_says_name_phrase_formula_shape_and_both_ends() -> None:
    shown = stage([[[1.5, -3.375]]], phrase="a < b", formula="S = Q Kᵀ", rows=("SECRET",))
    for left in (0, 42):
        html = heading(shown, left=left)
        assert all(word in html for word in ("QKᵀ", "a &lt; b", "S = Q Kᵀ", "1 × 1 × 2", "−3.4", "+3.4", SIGNED[0]))
        assert "SECRET" not in html
        assert "masked" not in html
    share = heading(stage([[[0.25, 0.75]]], "share", masked=np.array([[True, False]])))
    assert ">0<i" in share.replace("</span>0", "</span>>0")
    assert DARK[SHARE][0] in share
    assert "</i>1<" in share
    assert "masked" in share
    beside = heading(stage([[[0.25, 0.75]]], "share", masked=np.array([[True, False]])), saysMasked=False)
    assert "masked" not in beside


def test_the_heading_tells_the_widths_of_unequal_heads() -> None:
    shown = stage(numbers(3, 4, 9), widths=(9, 2, 5), columns=None)
    assert "3 × 4 × 2 to 9" in heading(shown)


# geometry


def three(heads: int, tokens: int, wide: int, keys: int | None = None) -> tuple[Shape, ...]:
    square = Shape((keys or tokens,) * heads, tokens, 46, 46)
    return square, square, Shape((wide,) * heads, tokens, 46, 22, worded=False)


SIZES = [(1, 1), (1, 64), (2, 3), (3, 5), (4, 7), (8, 12), (9, 20), (13, 33), (16, 3), (16, 64)]


@for_each("width", [358, 640, 904, 1216, 1800])
@for_each("heads, tokens", SIZES)
@for_each("wide", [1, 8, 64])
def test_any_arrangement_fits_its_page(heads: int, tokens: int, width: int, wide: int) -> None:
    layout = arrange(three(heads, tokens, wide), width)
    assert len({grid.cell_h for grid in layout.grids}) == 1
    assert all(grid.heads == heads and grid.down * grid.across >= heads for grid in layout.grids)
    if layout.side_by_side:
        assert sum(layout.shares) + 2 * 16 <= width
        assert width >= 640
    elif min(grid.cell_w for grid in layout.grids) > 2:
        assert max(grid.width for grid in layout.grids) <= width


@for_each("heads, tokens, height", [(1, 3, 160), (2, 6, 237), (4, 7, 300), (3, 5, 620)])
def test_a_height_that_is_said_is_kept_with_the_largest_cells_that_it_allows(
    heads: int, tokens: int, height: int
) -> None:
    for shapes in (three(heads, tokens, 5), three(heads, tokens, 5)[:1]):
        layout = arrange(shapes, 1216, height)
        assert max(grid.height for grid in layout.grids) <= height
        assert layout.side_by_side == (len(shapes) > 1)
        assert arrange(shapes, 1216, height + 99).grids[0].cell_h >= layout.grids[0].cell_h >= 11
    assert arrange(three(16, 20, 5), 1216, 160) == arrange(three(16, 20, 5), 1216), "not legible in so little room"


@for_each("heads, tokens", SIZES[1:])
def test_in_strips_a_head_stands_below_itself(heads: int, tokens: int) -> None:
    layout = arrange(three(heads, tokens, 5), 400)
    assert not layout.side_by_side
    assert len({grid.across for grid in layout.grids}) == 1
    assert len({round((grid.columns + grid.gap_x) * grid.cell_w, 6) for grid in layout.grids}) == 1


def test_small_cells_of_narrow_heads_grow_wide_instead_of_being_padded() -> None:
    scores, _, outputs = arrange(three(16, 64, 8), 1216).grids
    assert (scores.cell_w, scores.cell_h, outputs.cell_h) == (2, 2, 2)
    assert outputs.cell_w == pytest.approx((64 + scores.gap_x) * 2 / 9)
    assert outputs.cells_x * outputs.cells_y < 0.2 * scores.cells_x * scores.cells_y


@for_each(
    "heads, tokens, width, beside, across",
    [
        (4, 7, 1216, True, 2),
        (4, 7, 904, True, 2),
        (8, 7, 1216, True, 3),
        (16, 3, 1216, True, 4),
        (2, 4, 904, True, 1),  # one below the other makes larger cells here, with numbers in them
        (8, 12, 1216, False, 4),
        (16, 64, 1216, False, 8),
        (4, 7, 358, False, 2),
    ],
)
def test_the_usual_sizes(heads: int, tokens: int, width: int, beside: bool, across: int) -> None:
    layout = arrange(three(heads, tokens, 6), width)
    assert (layout.side_by_side, layout.grids[0].across) == (beside, across)


@pytest.mark.slow
def test_every_word_of_a_short_sentence_has_room() -> None:
    for heads, tokens in itertools.product(range(1, 17), range(3, 13)):
        assert arrange(three(heads, tokens, 6), 1216).grids[0].cell_h >= 11


def test_stages_stand_side_by_side_only_where_streamlit_lets_them() -> None:
    assert not arrange(three(1, 3, 3)[1:], 639).side_by_side
    assert arrange(three(1, 3, 3)[1:], 640).side_by_side


def test_a_stage_by_itself_has_the_largest_cells_that_fit_the_first_screen() -> None:
    (grid,) = arrange(three(4, 7, 7)[:1], 904).grids
    assert (grid.across, grid.cell_h) == (4, 27)
    (grid,) = arrange(three(16, 7, 7)[:1], 904).grids
    assert grid.cell_h >= 11
    assert grid.height <= 440


def test_many_dimensions_become_stripes_while_words_keep_square_cells() -> None:
    scores, _, outputs = arrange(three(4, 7, 64), 904).grids
    assert scores.cell_w == scores.cell_h > 2 * outputs.cell_w
    cross = arrange(three(2, 3, 8, keys=20), 904).grids[0]
    assert cross.cell_w == cross.cell_h


def test_few_tokens_make_room_for_numbers() -> None:
    assert arrange(three(1, 3, 4), 904).grids[0].cell_w >= 34
    assert arrange(three(2, 6, 6), 904).grids[0].cell_w >= 28


def test_room_for_words_stays_within_bounds() -> None:
    for words, room in (([], 24), (["a"], 24), (["mat", "warm"], 46), (["x" * 200], 64)):
        assert room_for(words, least=24, most=64) == room


# colours, as people see them who see two kinds of cone, and as a printer without colour shows them

BLIND = {
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


def linear(colour: str) -> np.ndarray:
    part = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)


def lab(rgb: np.ndarray) -> np.ndarray:
    """CIELAB of linear sRGB under D65."""
    to_xyz = [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
    xyz = np.array(to_xyz) @ np.clip(rgb, 0, 1) / [0.95047, 1.0, 1.08883]
    f = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def seen(colours: tuple[str, ...], kind: str | None = None) -> np.ndarray:
    """CIELAB of colours under a kind of colour blindness, severity 1, by the matrices of Machado et al. (2009)."""
    matrix = np.array(BLIND[kind]) if kind else np.eye(3)
    return np.array([lab(matrix @ linear(colour)) for colour in colours])


@for_each("kind", [None, *BLIND])
def test_the_two_signs_differ_for_every_eye(kind: str | None) -> None:
    low, pale, middle, orange, high = seen(SIGNED, kind)
    assert np.linalg.norm(low - high) > 40
    assert np.linalg.norm(pale - orange) > 20
    assert low[0] < pale[0] < middle[0] > orange[0] > high[0]


@for_each("kind", [None, *BLIND])
def test_shares_grow_darker_for_every_eye_and_in_print(kind: str | None) -> None:
    lightness = seen(SHARE, kind)[:, 0]
    assert (np.diff(lightness) < -8).all()


def test_large_type_has_more_room_for_words_and_says_so() -> None:
    usual, large = (stage(numbers(1, 3, 3), large=flag) for flag in (False, True))
    assert large.shape.left > usual.shape.left
    assert stage_maps.outline(large).left > stage_maps.outline(usual).left
    assert large.shape.bottom > usual.shape.bottom
    assert [drawn(each)[1]["large"] for each in (usual, large)] == [False, True]


def test_a_step_without_heads_has_no_head_in_its_shape() -> None:
    array = numbers(1, 7, 16)
    assert "7 × 16" in heading(stage(array, heads=[""], columns=None))
    assert "1 × 7" not in heading(stage(array, heads=[""], columns=None))


@for_each("kind", [None, *BLIND])
def test_on_a_dark_page_what_is_large_is_light(kind: str | None) -> None:
    lightness = seen(DARK[SHARE], kind)[:, 0]
    assert (np.diff(lightness) > 8).all()
    low, pale, middle, orange, high = seen(DARK[SIGNED], kind)[:, 0]
    assert low > pale > middle < orange < high


# blocks


def test_a_block_shows_its_largest_number_and_says_where_it_is() -> None:
    array = numbers(2, 5, 7)
    array[0, 4, 6], array[1, 2, 3] = -9.0, 11.0
    masked = np.zeros(array.shape, bool)
    masked[1, 2, 3] = True
    shown = stage(array, masked=masked)
    tiling = Tiling((7, 7), 5, 2, 9, 9, 6, 28, 42, 1, 17, 42, block=2, fold=2)
    cells = stage_maps.blocks(shown, tiling)
    assert cells.shape == (2, 3, 4)
    assert cells[0, 2, 3] == -9.0
    assert stage_maps.behind(shown, tiling, 0, 4, 6) == (4, 6)
    for head, line, column in np.ndindex(cells.shape):
        block = np.where(masked, 0.0, array)[head, 2 * line : 2 * line + 2, 2 * column : 2 * column + 2]
        assert abs(cells[head, line, column]) == np.abs(block).max()
        row, index = stage_maps.behind(shown, tiling, head, 2 * line, 2 * column)
        assert array[head, row, index] == cells[head, line, column]


def test_blocks_that_are_masked_as_a_whole_are_left_out() -> None:
    masked = np.zeros((1, 4, 4), bool)
    masked[0, :2, 2:] = True
    shown = stage(numbers(1, 4, 4), masked=masked)
    cells = stage_maps.blocks(shown, Tiling((4,), 4, 1, 9, 9, 6, 28, 42, 1, 17, 42, block=2, fold=2))
    assert np.isnan(cells[0]).tolist() == [[False, True], [False, False]]


def test_no_cell_is_so_small_that_several_words_would_be_one_stripe_and_the_heading_says_so() -> None:
    shown = stage(numbers(16, 64, 64))
    _, meta, tiling = drawn(shown, 600)
    assert meta["block"] == [tiling.block] * 2
    assert tiling.block > 1
    assert f"{tiling.block} × {tiling.block}" in heading(shown, block=tiling.block)


# what stands beside the cells


def test_bars_say_what_columns_add_to_and_how_far_rows_spread() -> None:
    weights = np.array([[[0.5, 0.5, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]]])
    _, meta, _ = drawn(stage(weights, "share", sums=True))
    assert meta["sums"] == {"columns": [[1.5, 0.5, 0.0, 0.0]], "rows": [[0.5, 0.25]]}
    assert drawn(stage(weights, "share"))[1]["sums"] is None


def test_each_head_can_have_colours_of_its_own() -> None:
    array = np.array([[[1.0, -4.0]], [[0.5, 0.25]], [[0.0, 0.0]]])
    assert drawn(stage(array, apart=True))[1]["ends"] == [4.0, 0.5, 0.0]
    assert drawn(stage(array))[1]["ends"] is None
    assert "own scales" in heading(stage(array, apart=True), switches=True)
    assert "one scale" in heading(stage(array), switches=True)
    assert "own scales" not in heading(stage(array, apart=True))


def test_signed_numbers_are_paler_beside_weights_and_the_legend_says_so() -> None:
    quiet = stage([[[1.5, -0.5]]], quiet=True)
    assert quiet.scale == Scale(-1.5, 1.5, QUIET)
    legend = heading(quiet)
    assert all(f"light-dark({light},{dark})" in legend for light, dark in zip(QUIET, DARK[QUIET], strict=True))
    assert SIGNED[0] not in legend
    assert stage([[[0.25]]], "share", quiet=True).scale.colours is SHARE


def test_a_step_has_the_same_colours_wherever_it_is_shown_and_a_window_of_weights_those_of_the_whole() -> None:
    trace = run(Config(sentence=" ".join(f"word{n}" for n in range(80)), max_tokens=80))
    scales: dict[str, set[tuple[float, tuple[str, ...]]]] = {}
    for shown in ("embedded", "queries", "scores", "masked", "weights", "values", "heads", "output"):
        for each in columns.columns(trace, 0, shown, apart=False):
            scales.setdefault(each.name, set()).add((each.scale.high, each.scale.colours))
    assert {name: len(found) for name, found in scales.items() if len(found) > 1} == {}
    assert {"queries", "scores", "heads", "output"} < scales.keys()
    weights = next(each for each in columns.columns(trace, 0) if each.name == "weights")
    part = window.seen(trace, Selection(from_query=20)).part(weights)
    assert (part.array.shape[1:], part.array.max() < 0.9, part.scale) == ((32, 32), True, Scale(0.0, 1.0, SHARE))


def test_a_stage_without_words_of_its_own_stands_close_to_one_that_has_them() -> None:
    shown, counted = stage(numbers(2, 5, 5)), stage(numbers(2, 5, 3), columns=None)
    beside = stage_maps.placed([shown, counted], 900, 500).tilings
    assert beside[1].left < beside[0].left == stage_maps.outline(shown).left
    assert stage_maps.placed([counted], 900, 500).tilings[0].left == stage_maps.outline(counted).left
    before = stage_maps.placed([counted, shown], 900, 500).tilings
    assert before[0].left == stage_maps.outline(counted).left, "words at its right are read too late"


def test_what_is_said_gets_shorter_with_the_room_for_it() -> None:
    shown = stage(numbers(2, 3, 4), phrase="values, mixed by the shares", shorter=("mixed values", "mixed"))
    for room, phrase in ((300, "values, mixed by the shares"), (90, "mixed values"), (30, "mixed")):
        assert f'<span class="attn-phrase">{phrase}</span>' in heading(shown, room=room)
    narrow = heading(shown, room=30)
    assert 'title="values, mixed by the shares' in narrow, "the whole of it, for those who point at it"


def test_a_heading_offers_the_stages_beside_it_where_one_is_shown_at_a_time() -> None:
    shown = stage(numbers(2, 3, 4))
    html = heading(shown, turns=[(shown.name, "x"), ("weights", "A < B")])
    assert html.count("attn-step") == 1
    assert 'data-step="weights">A &lt; B</button>' in html


def test_a_heading_for_a_room_says_less_in_larger_letters() -> None:
    shown = stage([[[0.25, 0.75]]], "share", phrase="how well each word matches each", shorter=("how words match",))
    assert ">how well each word matches each<" in heading(shown, room=250)
    large = heading(replace(shown, large=True), room=250)
    assert ">how words match<" in large
    assert "attn-large" in large


def test_scores_that_are_next_to_nothing_have_no_colours_of_their_own() -> None:
    config = Config(sentence="the king saw his queen", embedding="meaning", initialiser="by_hand", position="none")
    trace = run(replace(config, patterns=("alike", "previous", "next", "first")))
    scores = columns.columns(trace, 0)[0]
    sizes = np.abs(scores.array).max(axis=(1, 2))
    assert sizes[0] > 1, "one head goes by meaning"
    assert np.all((sizes[1:] > 0) & (sizes[1:] < 1e-15)), "all others have no positions to go by"
    ends = drawn(scores)[1]["ends"]
    for head, size in enumerate(sizes):
        assert scores.scale_of(head).high == ends[head]
        assert ends[head] == size if head == 0 else ends[head] > 1000 * size
