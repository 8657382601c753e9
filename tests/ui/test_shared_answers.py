"""Answers that many ask for: made once, kept within bounds, and given up with whoever asked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from attnviz.engine.numerics.cancellation import Cancelled
from attnviz.ui.shared_answers import Answer, FullError, KeptAnswers, SharedAnswers


async def never() -> None:
    await asyncio.Event().wait()


class Maker:
    """Makes answers when it is told to, and counts them."""

    def __init__(self, *, status: int = 200, most_bytes: int = 1000, most_making: int = 3) -> None:
        self.made: list[str] = []
        self.ended: list[str] = []
        self.go = asyncio.Event()
        self.status = status
        self.answers: SharedAnswers[str] = SharedAnswers(self._make, most_bytes=most_bytes, most_making=most_making)

    async def _make(self, key: str, check: Callable[[], None]) -> Answer:
        self.made.append(key)
        while not self.go.is_set():
            await asyncio.sleep(0)
            try:
                check()
            except Cancelled:
                self.ended.append(key)
                raise
        return Answer(self.status, key.encode())


def test_what_is_kept_is_bounded_in_bytes() -> None:
    kept: KeptAnswers[int] = KeptAnswers(100)
    for number in range(1000):
        kept.keep(number, Answer(200, b""), 7 + number % 5)
        assert kept.n_bytes <= 100
        assert kept.find(number) is not None
        kept.keep(number, Answer(200, b""), 50)  # once is enough
        kept.find(0 if number < 5 else 5)
    assert kept.find(5) is not None  # it was asked for all the time
    newest = [number for number in range(1000) if kept.find(number)][1:]
    assert newest == [*range(newest[0], 1000)]
    assert newest[0] > 980
    kept.keep(2000, Answer(200, b""), 101)
    assert kept.find(2000) is None
    assert kept.find(999) is not None


def test_a_hundred_who_ask_the_same_have_it_made_once() -> None:
    async def ask() -> Maker:
        maker = Maker()
        asking = [asyncio.ensure_future(maker.answers.answer("a", 1, never)) for _ in range(100)]
        await asyncio.sleep(0)
        maker.go.set()
        assert {answer.body for answer in await asyncio.gather(*asking) if answer} == {b"a"}
        assert await maker.answers.answer("a", 1, never) == Answer(200, b"a")
        return maker

    maker = asyncio.run(asyncio.wait_for(ask(), 60))
    assert maker.made == ["a"]
    assert maker.answers.kept.n_bytes == 2


def test_only_a_good_answer_is_kept() -> None:
    async def ask() -> Maker:
        maker = Maker(status=503)
        maker.go.set()
        for _ in range(2):
            assert await maker.answers.answer("a", 1, never) == Answer(503, b"a")
        return maker

    assert asyncio.run(asyncio.wait_for(ask(), 60)).made == ["a", "a"]


def test_no_more_are_made_at_once_than_may_be() -> None:
    async def ask() -> None:
        maker = Maker()
        asking = [asyncio.ensure_future(maker.answers.answer(key, 1, never)) for key in "abc"]
        await asyncio.sleep(0.01)
        with pytest.raises(FullError):
            await maker.answers.answer("d", 1, never)
        same = asyncio.ensure_future(maker.answers.answer("c", 1, never))  # who joins another takes nothing
        await asyncio.sleep(0)
        maker.go.set()
        assert [answer.body for answer in await asyncio.gather(*asking, same) if answer] == [b"a", b"b", b"c", b"c"]
        assert await maker.answers.answer("d", 1, never) == Answer(200, b"d")

    asyncio.run(asyncio.wait_for(ask(), 60))


def test_leaving_ends_what_nobody_else_waits_for() -> None:
    async def ask() -> Maker:
        maker, leaves = Maker(), asyncio.Event()
        leaving = [asyncio.ensure_future(maker.answers.answer(key, 1, leaves.wait)) for key in "ab"]
        staying = asyncio.ensure_future(maker.answers.answer("b", 1, never))
        await asyncio.sleep(0.01)
        leaves.set()
        assert await asyncio.gather(*leaving) == [None, None]
        again = asyncio.ensure_future(maker.answers.answer("a", 1, never))
        await asyncio.sleep(0.01)
        assert maker.ended == ["a"]
        maker.go.set()
        assert await staying == Answer(200, b"b")
        assert await again == Answer(200, b"a")
        assert not maker.answers._making
        return maker

    assert asyncio.run(asyncio.wait_for(ask(), 60)).made == ["a", "b", "a"]


def test_a_fault_is_everybodys_who_waits_and_is_not_kept() -> None:
    async def failing(_: str, __: Callable[[], None]) -> Answer:
        await asyncio.sleep(0)
        raise RuntimeError("broken")

    async def ask() -> None:
        answers: SharedAnswers[str] = SharedAnswers(failing, most_bytes=10, most_making=1)
        for _ in range(2):
            found = await asyncio.gather(*(answers.answer("a", 1, never) for _ in range(3)), return_exceptions=True)
            assert [str(each) for each in found] == ["broken"] * 3

    asyncio.run(asyncio.wait_for(ask(), 60))
