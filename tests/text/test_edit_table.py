"""Changes as a visitor makes them: cells of a table, a pasted matrix, one taken back."""

from __future__ import annotations

import numpy as np
import pytest

from attnviz import Config, ConfigError, run
from attnviz.pictures import stages
from attnviz.text import edit_table
from attnviz.text.edit_table import EditedMatrix
from attnviz.text.format.sentence_parts import plain
from tests.support.cases import for_each

CONFIG = Config(sentence="the cat sat", n_heads=2, d_model=4, d_k=(3, 2), d_v=2, projection_bias=True, n_layers=2)
TRACE = run(CONFIG)


@for_each(
    "layer, name, head, row, column, edit",
    [
        (0, "embedded", 0, 2, 1, (None, "embedded", (2, 1))),
        (1, "scores", 1, 2, 0, (1, "scores", (1, 2, 0))),
        (0, "w_o", 1, 3, 2, (0, "w_o", (3, 2))),
        (0, "b_q", 1, 0, 1, (0, "b_q", (1, 1))),
        (1, "b_o", 0, 0, 3, (1, "b_o", (3,))),
    ],
)
def test_a_cell_of_a_table_becomes_an_edit(layer, name, head, row, column, edit):
    step = edit_table.editable(TRACE, layer)[name]
    on = edit_table.edited_matrix(step, layer, head)
    columns = [str(number) for number in range(5)]
    config = edit_table.changed_cells(CONFIG, on, len(step.axes), {row: {str(column): 7}}, columns)
    assert config.edits == ((*edit, 7.0),)
    trace = run(config)
    assert trace.edits == config.edits
    assert edit_table.changed_cells(config, on, len(step.axes), {row: {str(column): None}}, columns) == CONFIG
    (framed,) = stages.stage(trace, edit_table.editable(trace, layer)[name], "x").edited
    assert framed == (head if on.head is not None else 0, row, column)


def test_a_head_that_is_not_there_is_the_last():
    assert edit_table.edited_matrix(TRACE.layers[0]["scores"], 0, 9) == EditedMatrix(0, "scores", 1)
    assert edit_table.edited_matrix(TRACE["embedded"], 0, 9) == EditedMatrix(None, "embedded", None)


def test_what_later_layers_do_not_have_is_not_offered():
    assert "embedded" in edit_table.editable(TRACE, 0)
    assert "embedded" not in edit_table.editable(TRACE, 1)
    assert "allowed" not in edit_table.editable(TRACE, 0)
    assert "embedded_kv" not in edit_table.editable(TRACE, 0)
    assert "embedded_kv" in edit_table.editable(run(Config(second_sentence="a b")), 0)


def test_a_matrix_is_set_but_for_what_is_there_already():
    on = EditedMatrix(0, "scores", 1)
    matrix = TRACE.layers[0]["scores"].array[1].copy()
    matrix[2, 0], matrix[1, 1] = 5.0, -6.0
    config = edit_table.set_matrix(TRACE, CONFIG, on, matrix)
    assert config.edits == ((0, "scores", (1, 1, 1), -6.0), (0, "scores", (1, 2, 0), 5.0))
    np.testing.assert_array_equal(run(config).layers[0]["scores"].array[1], matrix)


def test_a_narrow_head_is_set_without_its_padding():
    config = edit_table.set_matrix(TRACE, CONFIG, EditedMatrix(0, "queries", 1), np.arange(6.0).reshape(3, 2))
    np.testing.assert_array_equal(run(config).layers[0]["queries"].head(1), np.arange(6.0).reshape(3, 2))
    with pytest.raises(ConfigError, match="the matrix has 3 rows and 3 columns; Q has 3 and 2 here"):
        edit_table.set_matrix(TRACE, CONFIG, EditedMatrix(0, "queries", 1), np.zeros((3, 3)))


def test_there_is_an_end_to_changes(monkeypatch):
    monkeypatch.setattr(edit_table, "MAX_EDITS", 5)
    with pytest.raises(ConfigError, match="9 numbers would be changed; at most 5 can be"):
        edit_table.set_matrix(TRACE, CONFIG, EditedMatrix(0, "scores", 1), np.zeros((3, 3)))


def test_one_change_is_undone_and_told():
    edits = (0, "scores", (1, 2, 0), 5.0), (None, "embedded", (0, 1), 2.0)
    config = Config(**{name: getattr(CONFIG, name) for name in ("sentence", "n_heads", "d_model")}, edits=edits)
    trace, before = run(config), run(edit_table.without(edit_table.without(config, edits[0]), config.edits[0]))
    assert edit_table.without(config, config.edits[0]).edits == (edits[0],)
    was = before["scores"].array[1, 2, 0]
    assert plain(
        edit_table.describe_edit(trace, before, edits[0])
    ) == f"S, head 2, “sat” → “the”: {was:.3g} → 5".replace("-", "−")
    assert plain(edit_table.describe_edit(trace, before, edits[1])).startswith("X, “the”, column 2: ")


def test_changed_cells_are_known_to_the_picture():
    trace = run(Config(sentence="a b c", n_heads=3, edits=((0, "weights", (2, 1, 0), 0.5),)))
    shown = stages.side_by_side(trace, 0)
    weights = next(stage for stage in shown if stage.name == "weights")
    assert weights.edited == ((2, 1, 0),)
    assert not any(stage.edited for stage in shown if stage.name != "weights")
