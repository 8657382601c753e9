"""The table of costs: what every page, panel, experiment, desk and kind of file takes beside the run that is shown.

What is made from a run takes so many bytes for each of its numbers, or for each that is drawn. These figures were
measured with tracemalloc and rounded up, so that no estimate is below what is taken.
"""

from __future__ import annotations

from dataclasses import dataclass

MB = 10**6


@dataclass(frozen=True)
class Need:
    """The cost of something beside the run that is shown.

    held    further runs of the setting that are in memory at the same time;  made  further runs in all
    each_key  further runs for each key;  busy  seconds that are used however small the setting is
    fixed   bytes that are taken however small the setting is
    drawn, largest, number  bytes for each of these numbers of a run;  every_layer  whether all layers are drawn
    slow_drawn, slow_number  seconds for each of these numbers
    most    seconds that it may take beside the run
    """

    held: float = 0
    made: float = 0
    each_key: float = 0
    busy: float = 0
    fixed: float = 4 * MB
    drawn: float = 24
    largest: float = 0
    number: float = 0
    every_layer: bool = False
    slow_drawn: float = 0.3e-6
    slow_number: float = 0
    most: float = 60


SHORT = 2
"""Seconds that an experiment may take which only repeats the run in other ways."""

ANSWERED = 10
"""Seconds that a page may take which is drawn anew with every answer that is typed into it."""

PAGES = {
    "explore": Need(),
    "explore/cell": Need(),
    "explore/products": Need(),
    "explore/word": Need(),
    "explore/layers": Need(fixed=24 * MB),
    "explore/flow": Need(largest=24),
    "explore/statistics": Need(),
    "explore/twin": Need(drawn=48, held=1, made=1),
    "explore/redeal": Need(drawn=40),
    "explore/table": Need(largest=130),
    "explore/what_if": Need(held=1, made=2, largest=130),
    "explore/mask": Need(),
    "explore/backward": Need(held=2, made=5, drawn=48),
    "compare": Need(drawn=48),
    "experiments": Need(drawn=40),  # what it opens with
    "learn": Need(held=2, made=2, drawn=48, every_layer=True),
    "experiments/mask_values": Need(drawn=40),
    "experiments/axis": Need(drawn=48),
    "experiments/scale": Need(drawn=150, slow_drawn=3e-6),
    "experiments/scale/setting": Need(held=1, made=8, drawn=150, slow_drawn=3e-6, most=20),
    "experiments/sharing": Need(drawn=48, most=SHORT),
    "experiments/shuffle": Need(held=2, made=9, drawn=48, most=SHORT),
    "experiments/importance": Need(
        held=2, made=1, each_key=1, busy=SHORT, most=3 * SHORT
    ),  # many rows, or one at least
    "take": Need(held=1, made=1),
    "assign/compose": Need(held=2, made=2, most=ANSWERED),
    "assign/student": Need(held=1, made=1, most=ANSWERED),
    "assign/mark": Need(held=1, made=1),
    "class": Need(),
    "lessons": Need(held=2, made=2, drawn=48),
    "data": Need(drawn=40),
}
PIXELS = 210 * MB
"""The bytes of all pixels that a PNG has at most, 24 million, and of their compression."""

FILES = {
    "html": Need(drawn=120, every_layer=True, slow_drawn=1e-6),
    "svg": Need(drawn=110, slow_drawn=10e-6),
    "png": Need(drawn=180, fixed=PIXELS, slow_drawn=15e-6),
    "step.svg": Need(largest=110, slow_drawn=10e-6),
    "step.png": Need(largest=180, fixed=PIXELS, slow_drawn=15e-6),
    "csv": Need(largest=200, slow_drawn=4e-6),
    "npz": Need(number=10, slow_number=0.5e-6),
    "json": Need(number=30, slow_number=1e-6),
    "py": Need(held=1, made=1),
    "torch.py": Need(held=1, made=1),
    "ipynb": Need(held=1, made=1),
    "xlsx": Need(fixed=160 * MB),
    "tex": Need(fixed=30 * MB),
    "handout": Need(held=2, made=3, drawn=40),
}
NEEDS = {**PAGES, **{f"file/{name}": need for name, need in FILES.items()}}
"""The need of every kind of request: a page, a panel or an experiment of it, a desk, a kind of file."""

MADE_HERE = (
    *(f"experiments/{name}" for name in ("axis", "scale", "scale/setting", "sharing", "shuffle", "importance")),
    *(f"file/{name}" for name in ("py", "torch.py", "ipynb", "xlsx", "handout")),
    "explore/redeal",
    "learn",
)
"""The requests that exclude a trained model: they draw parameters anew, or write down how they were drawn."""
