"""Answers that many ask for: each is made once, kept while there is room, and given up when nobody waits any more.

Everything here happens on the event loop, so nothing is locked; what takes time is made elsewhere.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from contextlib import suppress
from dataclasses import dataclass
from typing import Generic, TypeVar

from attnviz.engine.numerics.cancellation import Cancelled

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Answer:
    """An answer over HTTP: its status, its body, and for a refusal the reason by its name in `counts.REASONS`."""

    status: int
    body: bytes
    reason: str = ""


class FullError(Exception):
    """As many different answers are being made as may be at once."""


class KeptAnswers(Generic[Key]):
    """The answers that were asked for last, as many as have room in so many bytes.

    >>> kept = KeptAnswers(10)
    >>> kept.keep("a", Answer(200, b"123456"), 6)
    >>> kept.keep("b", Answer(200, b"123456"), 6)
    >>> kept.find("a"), kept.n_bytes
    (None, 6)
    """

    def __init__(self, most_bytes: int) -> None:
        self._most, self.n_bytes = most_bytes, 0
        self._answers: OrderedDict[Key, tuple[Answer, int]] = OrderedDict()

    def find(self, key: Key) -> Answer | None:
        """Return the answer to a question, which from now on is the last that was asked; None where it is not kept."""
        if key not in self._answers:
            return None
        self._answers.move_to_end(key)
        return self._answers[key][0]

    def keep(self, key: Key, answer: Answer, n_bytes: int) -> None:
        """Keep an answer that takes so many bytes, in the place of those that were not asked for the longest."""
        if n_bytes > self._most or key in self._answers:
            return
        self._answers[key] = answer, n_bytes
        self.n_bytes += n_bytes
        while self.n_bytes > self._most:
            self.n_bytes -= self._answers.popitem(last=False)[1][1]


class Making:
    """An answer that is being made, and how many wait for it."""

    def __init__(self) -> None:
        self.waiting = 0
        self.task: asyncio.Task[Answer | None] | None = None

    def check(self) -> None:
        """Raise `Cancelled` once nobody waits; a thread may call it."""
        if not self.waiting:
            raise Cancelled


class SharedAnswers(Generic[Key]):
    """Answers that are made when they are first asked for, and shared by all who ask for them at the same time."""

    def __init__(
        self, make: Callable[[Key, Callable[[], None]], Awaitable[Answer]], *, most_bytes: int, most_making: int
    ) -> None:
        """Keep so many bytes of answers, and make so many at once.

        make  makes an answer; it calls what it is given between two parts of its work, and lets what that raises pass
        """
        self._make, self._most = make, most_making
        self.kept: KeptAnswers[Key] = KeptAnswers(most_bytes)
        self._making: dict[Key, Making] = {}

    async def answer(self, key: Key, n_bytes: int, gone: Callable[[], Awaitable[object]]) -> Answer | None:
        """Return the answer to a question of so many bytes, or None once whoever asks has gone, which `gone` waits for.

        Raises FullError where no more can be made at once.
        """
        found = self.kept.find(key)
        if found is not None:
            return found
        making = self._making.get(key) or self._begun(key, n_bytes)
        making.waiting += 1
        leaving = asyncio.ensure_future(gone())
        try:
            await asyncio.wait({making.task, leaving}, return_when=asyncio.FIRST_COMPLETED)  # type: ignore[type-var]
            return making.task.result() if making.task is not None and making.task.done() else None
        finally:
            leaving.cancel()
            making.waiting -= 1
            if not making.waiting and self._making.get(key) is making:
                del self._making[key]  # who asks next does not wait for what has been given up

    def _begun(self, key: Key, n_bytes: int) -> Making:
        if len(self._making) >= self._most:
            raise FullError
        making = self._making[key] = Making()
        making.task = asyncio.ensure_future(self._made(key, n_bytes, making))
        return making

    async def _made(self, key: Key, n_bytes: int, making: Making) -> Answer | None:
        with suppress(Cancelled):
            answer = await self._make(key, making.check)
            if answer.status == 200:
                self.kept.keep(key, answer, n_bytes + len(answer.body))
            return answer
        return None
