"""A browser that is sent only what changes, where Streamlit drops messages of a run for that of a fragment."""

from __future__ import annotations

import random

from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue

from attnviz.ui.hosting.changes import Changes
from tests.ui.test_changes import PART, Browser, Node, Page

INNER = "inner"


def _page(chance: random.Random) -> tuple[list[Node], list[Node], list[Node]]:
    """What stands before the part, in it, and behind it, each as it is in one run."""
    names = ("a", "b", "c", "long a", "widget 1 on")
    some = lambda most: [Node(chance.choice(names)) for _ in range(chance.randint(0, most))]  # noqa: E731
    return some(2), [*some(2), Node("x", children=some(2)), *some(1)], some(2)


def _drawn(page: Page, parts: tuple[list[Node], list[Node], list[Node]], fragment: str) -> list[bytes]:
    """Return what a run draws: the part has another within it, in the container that stands in it."""
    before, within, behind = parts
    messages = [] if fragment else [page._delta((0, at), node, "") for at, node in enumerate(before)]
    at = len(before)
    messages.append(page._delta((0, at), Node(PART, children=[]), PART))
    for n, node in enumerate(within):
        is_inner = node.children is not None
        messages.append(page._delta((0, at, n), node, INNER if is_inner else PART))
        messages += [page._delta((0, at, n, m), each, INNER) for m, each in enumerate(node.children or [])]
    return (
        messages
        if fragment
        else [*messages, *(page._delta((0, at + 1 + n), node, "") for n, node in enumerate(behind))]
    )


def _run(page: Page, parts: tuple[list[Node], list[Node], list[Node]], fragment: str = "") -> list[bytes]:
    return _between(page, _drawn(page, parts, fragment), fragment)


def _send(messages: list[bytes], queue: ForwardMsgQueue, browser: Browser, changes: Changes) -> None:
    for message in messages:
        queue.enqueue(ForwardMsg.FromString(message))
    for each in queue.flush():
        browser.take(changes.of(each.SerializeToString()))


def test_what_a_fragment_draws_once_more_is_shown_where_the_page_ended_just_before_it() -> None:
    dropped = 0
    for seed in range(200):
        chance = random.Random(seed)  # noqa: S311 - no secret
        browser, changes, queue, page = Browser(), Changes(), ForwardMsgQueue(), Page(chance, {})
        for number in range(6):
            parts = _page(chance)
            whole = _run(page, parts)
            sent = chance.randint(0, len(whole))
            _send(whole[:sent], queue, browser, changes)
            for message in whole[sent:]:
                queue.enqueue(ForwardMsg.FromString(message))
            queue.clear(retain_lifecycle_msgs=True, fragment_ids_this_run=[PART])
            dropped += len(queue) < len(whole) - sent
            _send(_run(page, parts, PART), queue, browser, changes)
            fresh = Browser()
            fresh.take(whole)
            assert _holds(browser.root, fresh.root), (seed, number)
            if chance.randrange(2):  # what is old goes in the next run of the page, at the latest
                browser.take(each for message in _run(page, parts) for each in changes.of(message))
                assert browser.shows() == fresh.shows(), (seed, number)
    assert dropped > 500


def test_a_fragment_stays_whose_clock_alone_has_come() -> None:
    browser, changes, queue, page = Browser(), Changes(), ForwardMsgQueue(), Page(random.Random(0), {})  # noqa: S311
    parts = [Node("a")], [Node("b"), Node("x", children=[Node("c")])], list[Node]()
    _send(_run(page, parts), queue, browser, changes)
    before, clock = browser.shows(), ForwardMsg()
    clock.auto_rerun.fragment_id = PART
    begun, *drawn, ended = _run(page, parts)
    for message in (begun, clock.SerializeToString(), *drawn, ended):
        queue.enqueue(ForwardMsg.FromString(message))
    queue.clear(retain_lifecycle_msgs=True, fragment_ids_this_run=[PART, INNER])
    _send([], queue, browser, changes)
    assert browser.shows() == before


def test_what_has_been_drawn_anew_gives_way_to_nothing_that_came_before_it() -> None:
    browser, changes, queue, page = Browser(), Changes(), ForwardMsgQueue(), Page(random.Random(0), {})  # noqa: S311
    clock = [page._delta((0, 1), Node("clock", children=[]), "clock"), page._delta((0, 1, 0), Node("tick"), "clock")]

    def within(text: str) -> list[bytes]:
        return _drawn(page, ([], [Node("b"), Node("x", children=[Node(text)])], []), "")

    for fragment, drawn in (("", [*within("old"), *clock]), (PART, within("new"))):
        for message in _between(page, drawn, fragment):
            queue.enqueue(ForwardMsg.FromString(message))
        queue.clear(retain_lifecycle_msgs=True, fragment_ids_this_run=["clock" if fragment else PART])
        _send([], queue, browser, changes)  # as soon as either has ended, another begins
    _send(_between(page, clock, "clock"), queue, browser, changes)
    fresh = Browser()
    fresh.take(_between(page, [*within("new"), *clock], ""))
    assert _holds(browser.root, fresh.root)


def test_a_spinner_that_has_passed_takes_no_place() -> None:
    browser, changes, queue, page = Browser(), Changes(), ForwardMsgQueue(), Page(random.Random(0), {})  # noqa: S311
    before, spinner = _drawn(page, ([], [Node("b")], []), ""), ForwardMsg()
    spinner.delta.new_transient.SetInParent()
    spinner.metadata.delta_path.extend((0, 1))
    result = [page._delta((0, 1), Node("result"), ""), spinner.SerializeToString()]
    for message in _between(page, [*before, *result, page._delta((0, 2), Node("c"), "")], ""):
        queue.enqueue(ForwardMsg.FromString(message))
    queue.clear(retain_lifecycle_msgs=True, fragment_ids_this_run=[PART])
    _send(_between(page, before, PART), queue, browser, changes)
    main = (browser.root.children or [])[0]
    assert [node.text for node in main.children or []] == [PART, "result", "c"]


def _between(page: Page, drawn: list[bytes], fragment: str) -> list[bytes]:
    page.runs += 1
    return [page._lifecycle("new_session", fragment), *drawn, page._lifecycle("script_finished", fragment)]


def _holds(shown: Node, wanted: Node) -> bool:
    """Return whether what is wanted is shown, with what is old at most behind it."""
    if shown.text != wanted.text or (shown.children is None) != (wanted.children is None):
        return False
    inside, wanted_inside = shown.children or [], wanted.children or []
    return len(inside) >= len(wanted_inside) and all(map(_holds, inside, wanted_inside))
