"""One run at a time, unless one takes long; and whatever happens inside, the next gets its turn."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from attnviz.ui import door
from attnviz.ui.turns import Turns

PATIENCE = 30.0  # seconds after which a test says that nothing more will come
LARGE = {"n_heads": "16", "n_layers": "6", "d_model": "256", "d_k": "16"}


def together(n: int, act: Callable[[int], None]) -> None:
    threads = [threading.Thread(target=act, args=(i,), daemon=True) for i in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
        assert not thread.is_alive()


def test_never_two_inside_while_nobody_takes_long() -> None:
    turns, inside, most = Turns(long=PATIENCE), [0], [0]

    def run(_: int) -> None:
        for _ in range(20):
            with turns.one():
                inside[0] += 1
                most[0] = max(most[0], inside[0])
                threading.Event().wait(0.0005)  # another would be let in here, if one were
                inside[0] -= 1

    together(8, run)
    assert most == [1]


def test_one_that_takes_long_is_passed_by_and_leaves_the_turn_of_others_alone() -> None:
    turns, passed, over = Turns(long=0.01), threading.Event(), threading.Event()

    def run(i: int) -> None:
        with turns.one():
            if i == 0:
                first_in.set()
                assert passed.wait(PATIENCE)  # held until another has had a turn meanwhile
            else:
                passed.set()
                assert over.wait(PATIENCE)
        if i == 0:
            assert turns._whose is not None  # the other's turn is not given away by the first that leaves
            over.set()

    first_in = threading.Event()
    first = threading.Thread(target=run, args=(0,), daemon=True)
    first.start()
    assert first_in.wait(PATIENCE)
    together(1, lambda _: run(1))
    first.join(PATIENCE)
    assert over.is_set()
    assert turns._whose is None


def test_a_run_that_breaks_off_gives_its_turn_back() -> None:
    turns = Turns(long=PATIENCE)
    for broken in (KeyboardInterrupt, ValueError):
        with pytest.raises(broken), turns.one():
            raise broken
    with turns.one():
        pass
    assert turns._whose is None


def test_the_page_waits_for_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    turns = Turns(long=PATIENCE)
    monkeypatch.setattr(door, "_turns", turns)
    page = AppTest.from_file("../../app.py", default_timeout=PATIENCE)
    visit = threading.Thread(target=page.run, daemon=True)
    with turns.one():
        visit.start()
        visit.join(0.5)  # many times what a run takes
        assert visit.is_alive()
    visit.join(PATIENCE)
    assert page.text_input
    assert not page.exception


@pytest.mark.parametrize(("query", "waits"), [({}, False), (LARGE, True)])
def test_a_large_setting_waits_for_another_and_for_nothing_else(
    query: dict[str, str], waits: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = Turns(long=0.01)
    monkeypatch.setattr(door, "_turns", turns)
    page = AppTest.from_file("../../app.py", default_timeout=PATIENCE)
    for name, text in query.items():
        page.query_params[name] = text
    visit = threading.Thread(target=page.run, daemon=True)
    with turns.of_the_large:
        visit.start()
        visit.join(1.0 if waits else PATIENCE)
        assert visit.is_alive() == waits
    visit.join(PATIENCE)
    assert page.text_input
    assert not page.exception
    assert not turns.of_the_large.locked()
