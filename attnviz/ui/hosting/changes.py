"""Messages to a browser: what changes on the page, and nothing that it has.

Streamlit sends every element of a page in every run, and the browser takes away what a run has not sent. But in most
runs hardly anything changes: a move of one slider, five elements of forty-odd. So here, at the socket, a message that a
browser has is held back, and the message that ends the run says that nothing is to be taken away. Where something is to
be, all that was held back is sent after all, before a browser is told so.

What a browser has is known of its connection alone: after a new one a whole run passes as it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from attnviz.ui.hosting.run_starts import RunStarts

Path = tuple[int, ...]

NOTHING = ("none",)
"""Of which fragments a run was, where nothing is to be taken away: of one that no page has."""
MOST_LONG = 256
"""Long messages that are remembered by what they are; a browser keeps those of thirty runs."""
MOST_SPARED = 30
"""Ends of runs in a row at which a browser may be told to forget nothing; at the next it gives up what is old."""
WELL = ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY


class SendChanges:
    """Middleware that holds back what the browser at the other end of a socket has."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket":
            await self._app(scope, receive, send)
            return
        changes, starts = Changes(), RunStarts(send)

        async def send_changes(event: Message) -> None:
            data = event.get("bytes")
            if event["type"] != "websocket.send" or data is None:
                await send(event)
                return
            messages = [event | {"bytes": each} for each in changes.of(data)]
            await starts.send(changes.kind, messages)

        try:
            await self._app(scope, receive, send_changes)
        finally:
            starts.close()


class _Node(NamedTuple):
    """An element or a container that a browser has at a place of the page.

    digest    of the message that put it there
    name      what it is, whatever it says: the identity of a field or of a container; None where that is not known
    fragment  the fragment that it is drawn in; empty outside of all, None where that is not known
    acts      whether the message does something by coming, like setting the value of a field: then it always comes
    is_block  whether others are drawn inside of it
    """

    digest: str
    name: str | None
    fragment: str | None
    acts: bool
    is_block: bool = False


@dataclass
class Changes:
    """The page as a browser has it, and what of a run it need not be sent.

    has        what is at each path, elements and containers
    long       what long messages put on a page, by digest: a browser keeps them, and is only told the digest again
    is_whole   whether that is all there is on its page: so it is after a run that has come whole by this connection
    drawn      the paths that the current run has drawn
    passing    those at which it has put something that passes, like a spinner
    late       what has come before that in which or behind which it stands, which a run that follows at once draws
    is_known   whether a run of the whole page has begun, so that all of the page has come by this connection
    held       what was held back of them
    is_other   whether something took the place of something else, which a browser keeps hidden until it is told
    fragments  what runs; empty where the whole page does
    config     the last message about the page as a whole, like its title
    page       which page of the app it is
    spared     by what ran: its ends in a row that told a browser to forget nothing
    clocks     the fragments that a browser asks for by itself, again and again
    goes_on    whether a run has ended for another one that follows at once
    kind       of the message that came last, as `ForwardMsg` calls it
    """

    has: dict[Path, _Node] = field(default_factory=dict)
    long: dict[str, _Node] = field(default_factory=dict)
    is_whole: bool = False
    drawn: set[Path] = field(default_factory=set)
    passing: set[Path] = field(default_factory=set)
    late: dict[Path, bytes] = field(default_factory=dict)
    is_known: bool = False
    held: dict[Path, bytes] = field(default_factory=dict)
    is_other: bool = False
    fragments: tuple[str, ...] = ()
    config: bytes = b""
    page: str = ""
    spared: Counter[tuple[str, ...]] = field(default_factory=Counter)
    clocks: set[str] = field(default_factory=set)
    goes_on: bool = False
    kind: str = ""

    def of(self, data: bytes) -> Iterator[bytes]:
        """Yield what is to be sent in place of a message."""
        message = ForwardMsg.FromString(data)
        self.kind = message.WhichOneof("type") or ""
        match self.kind:
            case "new_session":
                yield from self._begun(message)
            case "ref_hash" | "delta" if message.metadata.delta_path:  # else no part of the page, but as long as one
                yield from self._drawn(message, data)
            case "page_config_changed":
                if data != self.config or not self.is_whole:
                    yield data
                self.config = data
            case "script_finished":
                yield from self._ended(message, data)
            case "session_status_changed" if self.goes_on:  # it rests, and runs again at once: all along it runs
                self.goes_on = not message.session_status_changed.script_is_running
            case "auto_rerun":
                self.clocks.add(message.auto_rerun.fragment_id)
                yield data
            case _:
                yield data

    def _begun(self, message: ForwardMsg) -> Iterator[bytes]:
        """Yield the message that a run begins: no more of the page looks outdated than would in a run of its parts.

        A browser stops its clocks where the whole page runs, and so it is told to where it does not know that.
        """
        self.is_whole = self.is_whole and not self.is_other  # the run before has not come to its end
        self.drawn, self.held, self.is_other = set(), {}, False
        self.fragments = tuple(message.metadata.run.fragment_ids)
        if message.new_session.page_script_hash != self.page:
            self.page, self.is_whole = message.new_session.page_script_hash, False
        is_of_all = not self.fragments
        if self.is_whole and is_of_all:
            parts = {node.fragment for node in self.has.values() if node.fragment}
            message.metadata.run.fragment_ids.extend(sorted(parts) or NOTHING)
            if self.clocks:
                stop = ForwardMsg()
                stop.stop_auto_rerun.fragment_ids.extend(sorted(self.clocks))
                yield stop.SerializeToString()
        if is_of_all:
            self.clocks.clear()
            self.passing, self.late, self.is_known = set(), {}, True
        yield message.SerializeToString()

    def _drawn(self, message: ForwardMsg, data: bytes) -> Iterator[bytes]:
        """Yield the message about an element or a container, unless the browser has it."""
        path, node = tuple(message.metadata.delta_path), self._node(message)
        if self.is_known and not self._has_place(path):
            if node is not None:
                self.late[path] = data
            return
        self.late.pop(path, None)
        if node is None:  # something that passes, like a spinner, around what is there: the rest comes as it is
            self.passing.add(path)
            self.is_whole = False
            yield from self._released()
            yield data
            return
        known = self.has.get(path)
        if known is not None and known.digest == node.digest:
            node = known
        self.drawn.add(path)
        if node is known and self.is_whole and not node.acts:
            self.held[path] = data
            return
        self.is_other = self.is_other or (known is not None and (known.name is None or known.name != node.name))
        if known is not None and known.is_block and node is not known:  # what was in it may be gone with it
            for below in [each for each in self.has if each[: len(path)] == path]:
                self.has[below] = self.has[below]._replace(digest="")
        self.has[path] = node
        self.held.pop(path, None)
        yield data

    def _ended(self, message: ForwardMsg, data: bytes) -> Iterator[bytes]:
        """Yield the message that a run has ended, behind what was held back if something is to be taken away."""
        self.goes_on = message.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN
        if self.goes_on:
            return  # nothing is taken away, and the browser hears of the end of the run that follows
        if message.script_finished not in WELL:
            yield data  # nothing is taken away, and what the run has not reached is there still
            return
        if self.fragments:
            yield from self._arrived()
        gone = [path for path, node in self.has.items() if path not in self.drawn and self._is_of_run(path, node)]
        if self._is_torn(gone):  # what is missing is drawn by the run that follows at once, and nothing is taken away
            message.metadata.run.fragment_ids.extend(NOTHING)
            yield message.SerializeToString()
            return
        if gone or self.is_other or self.spared[self.fragments] >= MOST_SPARED:
            yield from self._released()
        self.is_whole = not self.fragments or (self.is_whole and all(self.has[path].fragment for path in gone))
        for path in gone:
            del self.has[path]
        self.spared[self.fragments] = self.spared[self.fragments] + 1 if self.held else 0
        if self.held:
            del message.metadata.run.fragment_ids[:]
            message.metadata.run.fragment_ids.extend(NOTHING)
            data = message.SerializeToString()
        self.held, self.is_other = {}, False
        yield data

    def _released(self) -> Iterator[bytes]:
        """Yield what was held back."""
        yield from self.held.values()
        self.held = {}

    def _arrived(self) -> Iterator[bytes]:
        """Yield what came too early, now that there is a place for it; what has been drawn once more is there."""
        late, self.late = self.late, {}
        for path, data in sorted(late.items()):
            if path not in self.drawn and self._has_place(path):
                yield from self._drawn(ForwardMsg.FromString(data), data)

    def _node(self, message: ForwardMsg) -> _Node | None:
        """Return what a message puts on a page; None where it puts nothing there to stay."""
        if message.WhichOneof("type") == "ref_hash":
            return self.long.get(message.ref_hash) or _Node(message.ref_hash, None, None, acts=True)
        delta = message.delta
        match delta.WhichOneof("type"):
            case "new_element":
                element = delta.new_element
                kind = element.WhichOneof("type")
                name = f"{kind} {getattr(getattr(element, kind or ''), 'id', '')}"
                node = _Node(message.hash, name, delta.fragment_id, element.has_one_shot_effect)
            case "add_block":
                node = _Node(message.hash, delta.add_block.id, delta.fragment_id, acts=False, is_block=True)
            case _:
                return None
        if message.metadata.cacheable:
            if len(self.long) >= MOST_LONG:
                del self.long[next(iter(self.long))]
            self.long[message.hash] = node
        return node

    def _has_place(self, path: Path) -> bool:
        """Return whether a browser has the container in which something is drawn, and all that stands before it."""
        above, before = path[:-1], (*path[:-1], path[-1] - 1)
        is_inside = len(above) < 2 or (self._is_there(above) and self.has[above].is_block)
        return is_inside and (not path[-1] or self._is_there(before) or before in self.passing)

    def _is_there(self, path: Path) -> bool:
        """Return whether something is at a path; in a run of the whole page, what has not gone with its container."""
        return path in self.has and (bool(self.fragments) or self.has[path].digest != "")

    def _is_torn(self, gone: list[Path]) -> bool:
        """Return whether messages of a run of the whole page are missing.

        Where a fragment is to run when such a run has just ended, Streamlit (1.67) drops what it still had to send of
        that fragment, but neither what another one has drawn within it, nor the message of the end, for which a browser
        takes away all that has not come. Then something is missing around or before what has come, as it never is in a
        run that has come whole; or all of a fragment that has started its clock. Any other that stands behind all else
        of its container looks as if it had gone, and is drawn anew.
        """
        if self.fragments:
            return False
        come = self.drawn | self.passing
        holes = (each[: len(path)] >= path for path in gone for each in come if each[: len(path) - 1] == path[:-1])
        silent = self.clocks - {self.has[path].fragment for path in self.drawn}
        return bool(self.late) or any(holes) or any(self.has[path].fragment in silent for path in gone)

    def _is_of_run(self, path: Path, node: _Node) -> bool:
        """Return whether the current run would have drawn it, if it were to stay: of a fragment, what is within it."""
        if not self.fragments:
            return True
        above = (path[:n] for n in range(1, len(path)))
        is_inside = any(each in self.drawn and self.has[each].fragment in self.fragments for each in above)
        return is_inside and (node.is_block or node.fragment != "")
