"""Whether students whose assignments have other seeds have other numbers."""

from __future__ import annotations

from attnviz import Config, run
from attnviz.classroom.marking.lesson_assignment import is_random


def test_values_are_drawn_where_the_heads_are_made_by_hand() -> None:
    for config, of_weights, of_any in (
        (Config(initialiser="by_hand", embedding="one_hot"), False, True),
        (Config(), True, True),
        (Config(initialiser="identity", embedding="one_hot"), False, False),
    ):
        trace = run(config)
        assert (is_random(trace), is_random(trace, in_any_step=True)) == (of_weights, of_any), config
