"""Every setting in every window: the box is kept, rows lie at the same heights, cells are as large as they can be."""

from __future__ import annotations

import itertools

import pytest

from tests.support.cases import for_each
from tests.support.placement import BLOCKS_BELOW, NARROWEST_STAGE, STAGE_GAP, Placement, Shape, place

DESK, LARGE_DESK, PHONE = (960, 522), (1600, 882), (366, 600)
"""What is left of windows of 1280 x 720, 1920 x 1080 and 390 x 844 beside the sidebar and below the sentence."""
WIDTHS = (1, 3, 4, 7, 16, 33, 64)


def three(heads: int, words: int, wide: int, keys: int | None = None) -> tuple[Shape, Shape, Shape]:
    """Scores, weights and outputs."""
    square = (keys or words,) * heads
    return (
        Shape(square, words, 52),
        Shape(square, words, 52, leads=True, sums=True),
        Shape((wide,) * heads, words, 8, worded=False),
    )


def whole(placed: Placement, box: tuple[int, int]) -> bool:
    """Whether nothing leaves the box and no stage lies on another."""
    width, height = box
    between = STAGE_GAP * (len(placed.spans) - 1) if placed.side_by_side else 0
    taken = sum(placed.spans) + between if placed.side_by_side else max(placed.spans)
    inside = all(tiling.width <= span for tiling, span in zip(placed.tilings, placed.spans, strict=True))
    return inside and taken <= width and max(tiling.height for tiling in placed.tilings) <= height


@pytest.mark.slow
@pytest.mark.parametrize("box", [DESK, LARGE_DESK])
def test_all_stages_are_whole_within_the_box_in_rows_of_the_same_heights(box: tuple[int, int]) -> None:
    for heads, words in itertools.product(range(1, 17), range(1, 65)):
        wide = WIDTHS[(heads + words) % len(WIDTHS)]
        placed = place(three(heads, words, wide), *box)
        where = f"{heads} heads, {words} words, d {wide}: {placed}"
        assert whole(placed, box), where
        scores, weights, outputs = placed.tilings
        assert scores.y == weights.y == outputs.y, where
        assert weights.cell_w >= scores.cell_w, where
        assert weights.cell_w >= outputs.cell_w or wide == 1, where
        assert min(weights.cell_w, weights.cell_h) >= BLOCKS_BELOW, where
        assert weights.block == scores.block == outputs.block, where


@pytest.mark.slow
def test_a_phone_shows_the_weights_by_themselves_over_its_whole_width() -> None:
    for heads, words in itertools.product(range(1, 17), range(1, 65)):
        placed = place(three(heads, words, 4)[1:2], *PHONE)
        assert whole(placed, PHONE), (heads, words, placed)
        (weights,) = placed.tilings
        assert min(weights.cell_w, weights.cell_h) >= BLOCKS_BELOW, (heads, words)


@for_each("heads, words", [(1, 3), (1, 5), (2, 3), (4, 3)])
def test_a_few_words_fill_a_phone_too(heads: int, words: int) -> None:
    (weights,) = place(three(heads, words, 4)[1:2], *PHONE, focused=True).tilings
    assert weights.width > 0.8 * PHONE[0] or weights.height > 0.8 * PHONE[1]
    assert whole(place(three(heads, words, 4)[1:2], *PHONE, focused=True), PHONE)


def test_on_a_narrow_page_stages_stand_one_below_the_other() -> None:
    placed = place(three(4, 7, 4), 366, 600)
    assert not placed.side_by_side
    assert placed.spans == (366,) * 3


@pytest.mark.parametrize("box", [(DESK[0] - 64, DESK[1]), (LARGE_DESK[0] - 64, LARGE_DESK[1])])
def test_one_head_in_focus_has_cells_that_can_be_hit(box: tuple[int, int]) -> None:
    for words, wide in itertools.product(range(1, 65), (1, 4, 16)):
        placed = place(three(1, words, wide), *box, focused=True)
        assert whole(placed, box)
        assert min(placed.tilings[1].cell_w, placed.tilings[1].cell_h) >= 7, (words, wide)
        assert placed.tilings[1].block == 1


@for_each("words, keys", [(3, 40), (40, 3), (64, 1), (1, 64), (12, 17)])
def test_a_second_sentence_may_have_another_length(words: int, keys: int) -> None:
    for heads in (1, 5, 16):
        assert whole(place(three(heads, words, 4, keys), *DESK), DESK)


def test_the_usual_settings_have_cells_of_these_sizes() -> None:
    """Those of the drawn targets, or larger; where numbers are printed at 18 by 14, the opening has them."""

    def weights(heads: int, words: int, box: tuple[int, int]) -> tuple[float, float]:
        tiling = place(three(heads, words, 4), *box).tilings[1]
        return tiling.cell_w, tiling.cell_h

    assert weights(4, 7, DESK) >= (25, 30)
    assert weights(8, 12, (DESK[0], 520)) >= (10, 11), "so high that every word stands beside its row"
    assert weights(4, 7, LARGE_DESK) >= (39, 46)
    assert weights(8, 12, LARGE_DESK) >= (18, 21)


def test_many_words_share_cells_and_long_texts_as_well() -> None:
    assert place(three(16, 64, 4), *DESK).tilings[1].block == 4
    assert place(three(1, 64, 4), *DESK).tilings[1].block == 1
    assert whole(place(three(8, 1024, 64), *DESK), DESK)


def test_many_dimensions_share_stripes() -> None:
    outputs = place(three(4, 7, 64), *DESK).tilings[2]
    assert outputs.fold > 1
    assert outputs.cell_w >= BLOCKS_BELOW
    (inputs,) = place([Shape((512,), 7, 42, worded=False)], *DESK).tilings
    assert inputs.cell_w >= BLOCKS_BELOW
    assert inputs.fold * inputs.columns >= 512


def test_edges_are_whole_pixels_and_every_tile_is_like_the_first() -> None:
    for tiling in place(three(8, 12, 3), *DESK).tilings:
        pitch = tiling.x[tiling.columns] - tiling.x[0] + tiling.gap_x
        for tile in range(tiling.across):
            at = tile * (tiling.columns + 1)
            assert [edge - tile * pitch for edge in tiling.x[at : at + tiling.columns + 1]] == [
                *tiling.x[: tiling.columns + 1]
            ]
        assert len(tiling.x) == tiling.across * (tiling.columns + 1)


def test_unequal_heads_and_stages_with_fewer_heads_keep_their_places() -> None:
    shapes = (Shape((4, 2, 3, 1), 7, 42, worded=False), Shape((5, 5), 7, 42, worded=False), Shape((7,) * 4, 7, 42))
    placed = place(shapes, *DESK)
    assert whole(placed, DESK)
    assert [tiling.heads for tiling in placed.tilings] == [4, 2, 4]


def test_what_is_spare_goes_between_the_stages_and_each_has_its_part_of_much() -> None:
    def more(heads: int, words: int, box: tuple[int, int]) -> list[int]:
        placed = place(three(heads, words, 4), *box)
        used = [max(tiling.width, NARROWEST_STAGE) for tiling in placed.tilings]
        return [span - each for span, each in zip(placed.spans, used, strict=True)]

    little, much = more(4, 7, LARGE_DESK), more(1, 3, LARGE_DESK)
    assert little[0] == little[1] <= 28
    assert much[0] == much[1] > 300
    assert little[2] == much[2] == 0


@pytest.mark.parametrize(("heads", "words", "wide"), [(1, 3, 4), (1, 7, 4), (2, 3, 3)])
def test_outputs_have_room_for_their_numbers_where_width_is_spare(heads: int, words: int, wide: int) -> None:
    placed = place(three(heads, words, wide), *DESK)
    scores, weights, outputs = placed.tilings
    assert 28 <= outputs.cell_w <= weights.cell_w
    assert whole(placed, DESK)
    assert scores.y == weights.y == outputs.y


def test_heads_whose_cells_are_as_large_as_they_may_be_fill_the_box_both_ways() -> None:
    assert [tiling.across for tiling in place(three(4, 3, 4), *LARGE_DESK).tilings] == [2, 2, 2]


@pytest.mark.parametrize(("words", "wide"), [(3, 5), (5, 4), (4, 3)])
def test_counted_columns_keep_their_size_when_other_stages_come_and_none_leads(words: int, wide: int) -> None:
    queries, scores = Shape((wide,), words, 52, worded=False), Shape((words,), words, 52)
    alone, beside = place([queries], *DESK).tilings[0], place([queries, queries, scores], *DESK).tilings[0]
    assert (beside.cell_w, beside.cell_h) == (alone.cell_w, alone.cell_h)


def test_every_row_has_its_word_beside_an_open_drawer_too() -> None:
    weights = place(three(8, 12, 4), DESK[0] - 320 + 12, DESK[1]).tilings[1]
    assert (weights.across, weights.cell_h) == (3, 11), "not two heads in a row with a word at every second of theirs"
    assert place(three(3, 14, 4), DESK[0] - 320, DESK[1]).tilings[1].cell_w >= 12, "but not at any price"


@for_each("heads, words", [(4, 16), (12, 8), (16, 8), (1, 40)])
def test_rows_are_as_high_as_the_smallest_type_where_narrower_cells_leave_the_height(heads: int, words: int) -> None:
    weights = place(three(heads, words, 4), DESK[0] - 320, DESK[1]).tilings[1]
    assert weights.block == 1
    assert weights.cell_h >= 11


@pytest.mark.parametrize(("heads", "across"), [(8, 4), (6, 3), (16, 4)])
def test_of_placements_with_cells_alike_the_one_without_empty_places_is_taken(heads: int, across: int) -> None:
    for words in (3, 12):
        stage = Shape((words,) * heads, words, 60, large=True)
        (tiling,) = place([stage], 1240, 420).tilings
        assert tiling.across * tiling.down == heads, (words, tiling.across)


def test_a_stage_by_itself_has_wide_cells_where_there_is_no_height_for_square_ones() -> None:
    sheet = Shape((12,), 12, 46, leads=True, sums=True)
    (tiling,) = place([sheet], 366, 176, focused=True).tilings
    assert tiling.width > 0.9 * 366
    assert tiling.cell_w > 2.5 * tiling.cell_h
    (lecture,) = place([Shape((12,) * 8, 12, 60, large=True)], 1240, 420).tilings
    assert lecture.across == 4
    assert lecture.cell_w > 1.6 * lecture.cell_h


def test_cells_that_shares_can_be_printed_in_are_preferred_to_higher_ones() -> None:
    weights = place(three(16, 7, 4), LARGE_DESK[0] - 320, LARGE_DESK[1]).tilings[1]
    assert (weights.cell_w, weights.cell_h) == (21, 16), "16 by 21 are as large, and too narrow for a number"
