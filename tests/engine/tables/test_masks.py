"""Who may attend where: each mask against its definition, written once more by hand."""

from __future__ import annotations

import numpy as np
import pytest

from attnviz import Config, ConfigError, run
from attnviz.engine.tables.masks import parse, written
from attnviz.engine.tables.tokenisers import PAD
from tests.support.cases import for_each

SENTENCE, SECOND = "a b c d e f g", "k l m n o"


def may(**settings: object) -> list[str]:
    """The mask as lines of marks: x may be attended to, . may not."""
    array = run(Config(**({"sentence": SENTENCE} | settings)))["allowed"].array  # type: ignore[arg-type]
    return ["".join("x" if cell else "." for cell in row) for row in array]


@for_each(
    "settings, picture",
    [
        ({"mask": "none", "sentence": "a b"}, "xx xx"),
        ({"mask": "causal", "sentence": "a b c"}, "x.. xx. xxx"),
        ({"mask": "window", "reach": 1, "sentence": "a b c d"}, "xx.. xxx. .xxx ..xx"),
        ({"mask": "window", "reach": 0, "sentence": "a b"}, "x. .x"),
        ({"mask": "dilated", "reach": 1, "dilation": 2, "sentence": "a b c d e"}, "x.x.. .x.x. x.x.x .x.x. ..x.x"),
        ({"mask": "dilated", "reach": 1, "dilation": 3, "sentence": "a b c d"}, "x..x .x.. ..x. x..x"),
        ({"mask": "block", "block_size": 2, "sentence": "a b c d e"}, "xx... xx... ..xx. ..xx. ....x"),
        ({"mask": "prefix", "prefix_length": 2, "sentence": "a b c d"}, "xx.. xx.. xxx. xxxx"),
        ({"mask": "global_window", "reach": 0, "n_global": 1, "sentence": "a b c"}, "xxx xx. x.x"),
        ({"mask": "no_self", "sentence": "a b c"}, ".xx x.x xx."),
        ({"mask": "custom", "custom_cells": "1: 2, 3: 1-2", "sentence": "a b c"}, ".x. ... xx."),
        ({"mask": "custom", "custom_cells": "1: 2, 9: 1, 2: 99", "sentence": "a b"}, ".x .."),
        ({"mask": "padding", "sentence": "a b", "pad_to": 4}, "xx.. xx.. xx.. xx.."),
        ({"mask": ("causal", "window"), "reach": 1, "sentence": "a b c d"}, "x... xx.. .xx. ..xx"),
        ({"mask": "causal", "sentence": "a b", "second_sentence": "k l m n"}, "x... xx.."),
        ({"mask": "causal", "sentence": "a b c d", "second_sentence": "k l"}, "x. xx xx xx"),
        ({"mask": "padding", "sentence": "a b c", "second_sentence": "k", "pad_to": 2}, "x. x. x."),
    ],
)
def test_masks_by_hand(settings: dict[str, object], picture: str) -> None:
    assert may(**settings) == picture.split()


def test_pad_tokens_are_named() -> None:
    assert run(Config(sentence="a", pad_to=3)).query_tokens == ("a", PAD, PAD)


def test_masks_combine_in_any_order_and_none_changes_nothing() -> None:
    one = Config(mask=("window", "causal", "none"))
    assert one == Config(mask=["causal", "window"])  # type: ignore[arg-type]
    assert one.mask == ("causal", "window")


@for_each("cells", [[(0, 0), (2, 1), (2, 0)], [], [(5, 3)]])
def test_pairs_and_text_are_two_ways_to_write_a_list_of_cells(cells: list[tuple[int, int]]) -> None:
    assert sorted(parse(written(cells))) == sorted(cells)
    assert Config(custom_cells=cells).custom_cells == written(cells)  # type: ignore[arg-type]


@for_each("text", ["1", "1: a", "1: 0", "1: 1-2-3", ": 1", "1-2: 3", "1: -1", "1: 99999999999", "x: 1"])
def test_a_list_that_cannot_be_read_shows_the_part(text: str) -> None:
    with pytest.raises(ConfigError, match=r"allowed cells: .* cannot be read"):
        run(Config(mask="custom", custom_cells=text))


def test_a_huge_range_is_refused_before_it_fills_the_memory() -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        parse("1: 1-999999999")


@pytest.mark.parametrize("position", ["none", "rope"])
def test_masked_cells_are_exactly_zero_and_the_scores_stay(position: str) -> None:
    open_run, masked_run = (run(Config(mask=mask, position=position)) for mask in ("none", "causal"))
    assert (open_run["scores"].array == masked_run["scores"].array).all()
    forbidden = ~masked_run["allowed"].array
    assert (masked_run["weights"].array[:, forbidden] == 0).all()
    assert np.isneginf(masked_run["masked"].array[:, forbidden]).all()


def test_listed_cells_that_are_not_there_are_said() -> None:
    trace = run(Config(sentence="a b", mask="custom", custom_cells="1: 1-3, 2: 1, 3: 1"))
    assert trace.notes[0] == "The list of allowed cells names 2 beyond the 2 queries and 2 keys; left out."
