"""The start of a run reaches a browser with what the run draws, or soon."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

import pytest
from starlette.types import Message

from attnviz.ui.hosting import run_starts
from attnviz.ui.hosting.run_starts import START, STATUS, RunStarts


def sent(said: Iterable[tuple[str, list[str]]], *, waits: bool = False) -> list[list[str]]:
    """What a browser has been sent after each of several messages of a kind, and once a start has waited."""
    heard: list[str] = []

    async def send(message: Message) -> None:
        heard.append(message["text"])

    async def run() -> list[list[str]]:
        starts, after = RunStarts(send), []
        await starts.send(START, [{"text": "first"}])
        assert heard == ["first"], "a page that opens is told at once"
        heard.clear()
        for kind, texts in said:
            await starts.send(kind, [{"text": text} for text in texts])
            after.append([*heard])
        if waits:
            while not heard:
                await asyncio.sleep(0)
            after.append([*heard])
        starts.close()
        return after

    return asyncio.run(run())


def test_a_start_comes_with_what_is_drawn_and_that_of_a_run_that_drew_nothing_never() -> None:
    assert sent([(START, ["a"]), ("delta", []), ("delta", ["x"])]) == [[], [], ["a", "x"]]
    assert sent([(STATUS, ["runs"]), ("delta", ["x"])]) == [["runs"], ["runs", "x"]]
    assert sent([(START, ["a"]), (STATUS, ["runs"]), ("script_finished", ["end"])])[-1] == ["a", "runs", "end"]
    again = [(START, ["clocks stop", "a"]), (STATUS, ["runs"]), (START, ["b"]), ("delta", ["x"])]
    assert sent(again)[-1] == ["clocks stop", "b", "runs", "x"], "Streamlit says once that something runs"
    assert sent([(START, ["a"]), ("delta", ["x"]), (START, ["b"]), ("delta", ["y"])])[-1] == ["a", "x", "b", "y"]


def test_a_start_does_not_wait_longer_than_it_may(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_starts, "LONGEST", 0)
    assert sent([(START, ["a"]), (STATUS, ["runs"])], waits=True)[-1] == ["a", "runs"]
