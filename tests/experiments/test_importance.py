"""Weight, slopes and knock-out of one row as a picture: the numbers of the table, and none of forbidden keys."""

from __future__ import annotations

import numpy as np

from attnviz import Config, run
from attnviz.analysis.importance import measure
from attnviz.experiments import importance


def test_the_picture_of_a_row_has_the_numbers_of_its_table() -> None:
    trace = run(Config(sentence="the cat sat on the mat", mask="causal", n_heads=2))
    position = 1, 3
    measured = measure(trace, 0, position)
    stage, table = importance.stage(trace, measured, position), importance.row_table(trace, measured, position)
    numbers = table.to_numpy()[:, 1:].astype(float).T
    assert stage.rows == ["on"]
    assert list(stage.names) == list(table.columns[1:])
    np.testing.assert_array_equal(stage.masked, np.isnan(numbers)[:, None])
    np.testing.assert_array_equal(stage.array[stage.drawn_cells], numbers[~np.isnan(numbers)])
    assert np.isnan(numbers[:, 4:]).all()
