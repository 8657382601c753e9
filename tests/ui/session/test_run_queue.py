"""One run at a time, unless one takes long; and whatever happens inside, the next gets its turn."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from attnviz.ui.session import admission
from attnviz.ui.session.run_queue import RunQueue

PATIENCE = 30.0  # seconds after which a test says that nothing more will come
LARGE = {"n_heads": "16", "n_layers": "6", "d_model": "512", "d_k": "64"}


def together(n: int, act: Callable[[int], None]) -> None:
    threads = [threading.Thread(target=act, args=(i,), daemon=True) for i in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
        assert not thread.is_alive()


def test_never_two_inside_while_nobody_takes_long() -> None:
    queue, inside, most = RunQueue(long=PATIENCE), [0], [0]

    def run(_: int) -> None:
        for _ in range(20):
            with queue.turn():
                inside[0] += 1
                most[0] = max(most[0], inside[0])
                threading.Event().wait(0.0005)  # another would be let in here, if one were
                inside[0] -= 1

    together(8, run)
    assert most == [1]


def test_one_that_takes_long_is_passed_by_and_leaves_the_turn_of_others_alone() -> None:
    queue, passed, over = RunQueue(long=0.01), threading.Event(), threading.Event()

    def run(i: int) -> None:
        with queue.turn():
            if i == 0:
                first_in.set()
                assert passed.wait(PATIENCE)  # held until another has had a turn meanwhile
            else:
                passed.set()
                assert over.wait(PATIENCE)
        if i == 0:
            assert queue._owner is not None  # the other's turn is not given away by the first that leaves
            over.set()

    first_in = threading.Event()
    first = threading.Thread(target=run, args=(0,), daemon=True)
    first.start()
    assert first_in.wait(PATIENCE)
    together(1, lambda _: run(1))
    first.join(PATIENCE)
    assert over.is_set()
    assert queue._owner is None


def test_whoever_moves_waits_for_one_at_most_of_many_that_open_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    queue, begun, moved = RunQueue(long=PATIENCE), list[threading.Thread](), threading.Event()
    acquire = queue._acquire

    def acquired() -> None:
        begun.append(threading.current_thread())
        if threading.current_thread() is move:
            moved.set()
        acquire()

    def opens() -> None:
        with queue.turn(opens=True):
            pass

    monkeypatch.setattr(queue, "_acquire", acquired)
    move = threading.Thread(target=_turn_of, args=(queue,), daemon=True)
    openings = [threading.Thread(target=opens, daemon=True) for _ in range(20)]
    with queue.turn():
        begun.clear()
        for thread in (*openings, move):
            thread.start()
        assert moved.wait(PATIENCE)
        assert len(begun) <= 2, "one that opens the page, and the move"
    for thread in (*openings, move):
        thread.join(PATIENCE)
    assert {*begun} == {*openings, move}


def test_a_run_that_breaks_off_gives_its_turn_back() -> None:
    queue = RunQueue(long=PATIENCE)
    for broken in (KeyboardInterrupt, ValueError):
        with pytest.raises(broken), queue.turn():
            raise broken
    with queue.turn():
        pass
    assert queue._owner is None


def test_the_page_waits_for_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    queue = RunQueue(long=PATIENCE)
    monkeypatch.setattr(admission, "TURNS", queue)
    page = AppTest.from_file("../../../app.py", default_timeout=PATIENCE)
    visit = threading.Thread(target=page.run, daemon=True)
    with queue.turn():
        visit.start()
        visit.join(0.5)  # many times what a run takes
        assert visit.is_alive()
    visit.join(PATIENCE)
    assert page.text_input
    assert not page.exception


def test_who_waits_for_another_large_run_has_no_turn_meanwhile() -> None:
    queue, waiting, entered = RunQueue(long=PATIENCE, polling=0.01), threading.Event(), threading.Event()

    def large() -> None:
        with queue.turn():
            queue.enter_large(waiting.set)
            queue.enter_large()  # once more is nothing
            entered.set()
            assert queue.large_run_lock.locked()

    with queue.large_run_lock:
        one = threading.Thread(target=large, daemon=True)
        one.start()
        assert waiting.wait(PATIENCE)
        together(3, lambda _: _turn_of(queue))  # many ordinary runs go on, none of them after PATIENCE
        assert not entered.is_set()
    one.join(PATIENCE)
    assert entered.is_set()
    assert not queue.large_run_lock.locked()
    assert queue._owner is None


def _turn_of(queue: RunQueue) -> None:
    with queue.turn():
        pass


def test_who_leaves_while_waiting_for_a_large_run_leaves_nothing_behind() -> None:
    queue = RunQueue(long=PATIENCE, polling=0.01)

    def left() -> None:
        raise KeyError

    with queue.large_run_lock:
        with pytest.raises(KeyError), queue.turn():
            queue.enter_large(left)
        assert queue.large_run_lock.locked()
        assert queue._owner is None
        _turn_of(queue)


@pytest.mark.parametrize(("query", "waits"), [({}, False), (LARGE, True)])
def test_a_large_setting_waits_for_another_and_for_nothing_else(
    query: dict[str, str], waits: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue = RunQueue(long=0.01)
    monkeypatch.setattr(admission, "TURNS", queue)
    page = AppTest.from_file("../../../app.py", default_timeout=PATIENCE)
    for name, text in query.items():
        page.query_params[name] = text
    visit = threading.Thread(target=page.run, daemon=True)
    with queue.large_run_lock:
        visit.start()
        visit.join(1.0 if waits else PATIENCE)
        assert visit.is_alive() == waits
    visit.join(PATIENCE)
    assert page.text_input
    assert not page.exception
    assert not queue.large_run_lock.locked()
