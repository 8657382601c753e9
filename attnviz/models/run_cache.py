"""A cache of runs through models: it keeps the output of every layer, and a layer is computed when it is looked at.

A page is computed anew at every click, and what a click shows is one layer. From the layer's input it costs a few
milliseconds, and the numbers are the same bits.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from attnviz.engine.records.edits import Edit
from attnviz.engine.records.lookups import no_step
from attnviz.engine.records.trace import Step, Steps

MOST_BYTES = 24 * 10**6
"""The bytes of the kept runs of all models together; the least recently used are dropped."""


@dataclass(frozen=True, eq=False)
class Kept:
    """The kept part of a run.

    names    of the steps of each layer;  `results` the last step of each
    notes    what was said of it;  `edits` those that were made
    """

    names: tuple[tuple[str, ...], ...]
    results: tuple[Step, ...]
    notes: tuple[str, ...]
    edits: tuple[Edit, ...]

    @property
    def n_bytes(self) -> int:
        return sum(step.array.nbytes for step in self.results)


class KeptRuns:
    """The runs that are kept, by their settings; those that were wanted longest ago go first. Threads share it."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._most, self._n_bytes = most, 0
        self._runs: OrderedDict[Hashable, Kept] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> Kept | None:
        """Return what is kept under a key, if anything is."""
        with self._lock:
            entry = self._runs.get(key)
            if entry is not None:
                self._runs.move_to_end(key)
            return entry

    def put(self, key: Hashable, run: Kept) -> None:
        """Keep a run, and let go of others until all fit; one that is larger than all may be is not kept."""
        with self._lock:
            if run.n_bytes > self._most or key in self._runs:
                return
            self._runs[key] = run
            self._n_bytes += run.n_bytes
            while self._n_bytes > self._most:
                self._n_bytes -= self._runs.popitem(last=False)[1].n_bytes

    @property
    def n_bytes(self) -> int:
        """The bytes of all that is kept."""
        return self._n_bytes

    def clear(self) -> None:
        """Let go of everything."""
        with self._lock:
            self._runs.clear()
            self._n_bytes = 0


RUNS = KeptRuns()
"""The kept runs of all models of this process."""


class StepsLater(Mapping[str, Step]):
    """The steps of a layer, computed when one of them is asked for; their names and the last one are known before."""

    def __init__(self, names: tuple[str, ...], result: Step, make: Callable[[], Steps]) -> None:
        self._names, self._result, self._make = names, result, make
        self._steps: Steps | None = None

    def __getitem__(self, name: str) -> Step:
        if name == self._names[-1]:
            return self._result
        if name not in self._names:
            raise no_step(name, self._names)
        if self._steps is None:
            with np.errstate(all="ignore"):
                self._steps = self._make()
        return self._steps[name]

    @property
    def there(self) -> Mapping[str, Step]:
        """The steps that need not be computed any more."""
        return {**(self._steps or {}), self._names[-1]: self._result}

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)
