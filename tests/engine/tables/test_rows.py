"""Every row of every table: complete, named for ever, and used by the page."""

from __future__ import annotations

import dataclasses

import pytest

from attnviz import (
    SCORES,
    Config,
    run,
)
from attnviz.settings import fields
from attnviz.settings.rows import Choice, pick, table
from tests.support.cases import for_each
from tests.support.tables import TABLES

ROWS = [(setting, row) for setting, rows in TABLES.items() for row in rows.values()]
EVERY_ROW = for_each("setting, row", ROWS)

FOR_EVER = {
    "score": "scaled_dot dot general additive cosine gaussian negative_distance location "
    "multiplicative_tanh qk_norm scaled_cosine",
    "mask": "none causal padding window dilated block prefix global_window no_self custom",
    "normaliser": "softmax sparsemax entmax15 sigmoid hardmax quiet_softmax linear "
    "entmax relu_over_n softmax_with_sink squared_relu_over_n",
    "bias": "none alibi t5 linear",
    "position": "none sinusoidal random rope",
    "embedding": "normal uniform binary one_hot spelling meaning own",
    "initialiser": "normal glorot uniform binary linear identity orthogonal by_hand",
    "patterns": "previous same_word first uniform next induction alike",
    "tokeniser": "words whitespace characters pieces",
    "norm": "none pre post rms",
    "feed_forward": "none relu gelu gelu_tanh swiglu geglu",
}


@EVERY_ROW
def test_a_row_says_all_that_a_reader_wants_to_know(setting: str, row: Choice) -> None:
    assert row.label[0].isupper() or not row.label[0].isalpha() or row.label.startswith("PyTorch")
    assert row.formula
    assert row.note.endswith(".")
    assert row.source


@EVERY_ROW
def test_what_a_row_uses_is_a_setting(setting: str, row: Choice) -> None:
    assert set(row.uses) <= {item.name for item in dataclasses.fields(Config)}


@EVERY_ROW
@pytest.mark.slow
def test_a_row_runs_twice_alike(setting: str, row: Choice) -> None:
    config = Config(**{setting: row.name})
    first, second = run(config), run(config)
    for name in first.layers[0]:
        assert (first[name].array == second[name].array).all()


@EVERY_ROW
def test_the_knobs_of_a_row_are_drawn_while_it_is_chosen(setting: str, row: Choice) -> None:
    assert set(row.uses) <= set(fields.relevant_fields(Config(**{setting: row.name})))


def test_knobs_that_no_chosen_row_uses_are_not_drawn() -> None:
    assert not {"reach", "d_a", "rope_base", "own_numbers", "d_ff"} & set(fields.relevant_fields(Config()))
    assert "seed" in fields.relevant_fields(Config(embedding="one_hot", position="none"))


@for_each("setting", FOR_EVER)
def test_names_stand_in_links_for_ever(setting: str) -> None:
    assert set(FOR_EVER[setting].split()) <= set(TABLES[setting])


def test_a_table_refuses_a_name_twice_and_a_name_that_is_none() -> None:
    row = next(iter(SCORES.values()))
    with pytest.raises(ValueError, match="two rows are named"):
        table(row, row)
    with pytest.raises(ValueError, match="lower_snake_case"):
        table(dataclasses.replace(row, name="Scaled dot"))


def test_a_name_that_is_not_there_lists_those_that_are() -> None:
    with pytest.raises(ValueError, match=f"no score called 'dott'; choose one of: {', '.join(SCORES)}"):
        pick(SCORES, "dott", "score")
