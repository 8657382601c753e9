"""The cost of what is made from a run: so many bytes for each of its numbers, or for each that is drawn.

Every page, panel, experiment and kind of file says its own, where it stands. These figures were measured with
tracemalloc and rounded up, so that no estimate is below what is taken; `tests/ui/test_memory.py` measures each again.
"""

from __future__ import annotations

from dataclasses import dataclass

MB = 10**6
MOST_SECONDS = 12
"""Seconds that a run and all that is made from it may take together: so long a stranger's link keeps a server busy."""


@dataclass(frozen=True)
class Need:
    """The cost of something beside the run that is shown.

    held    further runs of the setting that are in memory at the same time;  made  further runs in all
    each_key  further runs for each key;  busy  seconds that are used however small the setting is
    fixed   bytes that are taken however small the setting is
    drawn, largest, number  bytes for each of these numbers of a run;  every_layer  whether all layers are drawn
    weight  bytes for each number of the matrices of a trained model
    slow_drawn, slow_number, slow_weight  seconds for each of these numbers
    most    seconds that it may take beside the run, of the `MOST_SECONDS` that it may take with the run
    most_weights     the numbers of a trained model's matrices that it can hold at most, None for any
    excludes_models  whether it is not for a trained model: it draws parameters anew, or writes down how they were drawn
    any_length       whether it is made of a text of any length, not only of one that a window shows whole
    """

    held: float = 0
    made: float = 0
    each_key: float = 0
    busy: float = 0
    fixed: float = 4 * MB
    drawn: float = 24
    largest: float = 0
    number: float = 0
    weight: float = 0
    every_layer: bool = False
    slow_drawn: float = 0.3e-6
    slow_number: float = 0
    slow_weight: float = 0
    most: float = MOST_SECONDS
    most_weights: int | None = None
    excludes_models: bool = False
    any_length: bool = False


SHORT = 2
"""Seconds that an experiment may take which only repeats the run in other ways."""
