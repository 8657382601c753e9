"""A browser that is sent only what changes shows what it would show of everything."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from attnviz.ui.hosting.changes import Changes

PART = "part"
Path = tuple[int, ...]


@dataclass
class Node:
    """An element or a container of a page: what it says, in which run it came, for which fragment, and of which widget.

    hidden  widgets that another took the place of, which stay until a run has ended: it may draw them further down
    """

    text: str
    run: str = ""
    fragment: str = ""
    children: list[Node] | None = None
    widget: str = ""
    hidden: list[Node] = field(default_factory=list)


@dataclass
class Browser:
    """What Streamlit's page does with messages, after `AppRoot`, `SetNodeByDeltaPathVisitor` and
    `ClearStaleNodeVisitor` of its 1.67."""

    root: Node = field(
        default_factory=lambda: Node("", children=[Node(name, children=[]) for name in ("main", "side")])
    )
    run: str = ""
    kept: dict[str, ForwardMsg] = field(default_factory=dict)
    acted: list[str] = field(default_factory=list)

    def take(self, messages: Iterable[bytes]) -> None:
        for data in messages:
            message = ForwardMsg.FromString(data)
            path = tuple(message.metadata.delta_path)
            if message.WhichOneof("type") == "ref_hash":
                message = self.kept[message.ref_hash]
            match message.WhichOneof("type"):
                case "new_session":
                    self.run = message.metadata.run.script_run_id
                case "delta":
                    self.kept[message.hash] = message
                    self._put(path, message)
                case "script_finished" if message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                    fragments = {*message.metadata.run.fragment_ids}
                    for child in self.root.children or ():
                        if not self._stays(child, fragments, inside=False):
                            child.children = []

    def _put(self, path: Path, message: ForwardMsg) -> None:
        parent, delta = self.root, message.delta
        for at in path[:-1]:
            assert parent.children is not None
            parent = parent.children[at]
            parent.run = self.run
        assert parent.children is not None
        assert path[-1] <= len(parent.children), "a place beyond the last one"
        if path[-1] == len(parent.children):
            parent.children.append(Node(""))
        there = parent.children[path[-1]]
        if delta.WhichOneof("type") == "add_block":
            is_same = there.text == delta.add_block.id  # its kind, that is: another one begins empty
            made = Node(delta.add_block.id, self.run, delta.fragment_id, (is_same and there.children) or [])
        else:
            element = delta.new_element
            made = Node(element.button.label or element.text.body, self.run, delta.fragment_id, None, element.button.id)
            self.acted += [made.text] * element.has_one_shot_effect
        if there.widget not in ("", made.widget) and there.run != self.run:
            parent.hidden.append(there)
        parent.hidden = [each for each in parent.hidden if not made.widget or each.widget != made.widget]
        parent.children[path[-1]] = made

    def _stays(self, node: Node, fragments: set[str], *, inside: bool) -> bool:
        """Take away what a run has not drawn; return whether the node itself stays."""
        is_old = node.run != self.run
        if node.children is None:
            return not is_old or (bool(fragments) and (not node.fragment or not inside))
        if is_old and (inside or not fragments):
            return False
        inside = inside or (node.fragment in fragments and not is_old)
        node.children = [child for child in node.children if self._stays(child, fragments, inside=inside)]
        node.hidden = [child for child in node.hidden if self._stays(child, fragments, inside=inside)]
        return True

    def shows(self, node: Node | None = None) -> object:
        """Return the page as nested tuples."""
        node = node or self.root
        hidden = sorted(each.text for each in node.hidden)
        return node.text, None if node.children is None else tuple(map(self.shows, node.children)), hidden


@dataclass
class Page:
    """A page that changes at random, and the messages of its runs as Streamlit makes them."""

    chance: random.Random
    kept: dict[str, ForwardMsg]
    runs: int = 0
    top: list[Node] = field(default_factory=list)

    def changed(self) -> None:
        """Change it a little, or not at all."""
        everywhere = [self.top, *(node.children for node in self._all(self.top) if node.children is not None)]
        for _ in range(self.chance.choice((0, 0, 1, 1, 2, 5))):
            siblings = self.chance.choice(everywhere)
            match self.chance.randrange(4):
                case 0:
                    siblings.insert(self.chance.randint(0, len(siblings)), self._any())
                case 1 if siblings and siblings is not self.top:
                    del siblings[self.chance.randrange(len(siblings))]
                case 2 if siblings:
                    siblings[self.chance.randrange(len(siblings))].text = self._text()
                case _ if siblings:
                    siblings[self.chance.randrange(len(siblings))] = self._any()

    def run(self, fragment: str = "") -> list[bytes]:
        """Return the messages of a run of the whole page or of its part, which is the first container of the main."""
        self.runs += 1
        messages = [self._lifecycle("new_session", fragment)]
        if not fragment:
            config = ForwardMsg()
            config.page_config_changed.title = "a page"
            messages.append(config.SerializeToString())
        part = Node(PART, children=self.top[len(self.top) // 2 :])
        before = self.top[: len(self.top) // 2]
        if not fragment:
            messages += self._drawn((1,), before, "")
        messages += self._drawn((0,), [Node("outside", children=[part])], PART if fragment else "", is_part=True)
        if self.chance.random() < 0.2:
            return [*messages[: self.chance.randint(1, len(messages))], self._lifecycle("early", fragment)]
        return [*messages, self._lifecycle("script_finished", fragment)]

    def _drawn(self, path: Path, nodes: list[Node], only: str, *, is_part: bool = False) -> Iterator[bytes]:
        for at, node in enumerate(nodes):
            fragment = PART if is_part and node.text != "outside" else ""
            if not only or fragment:
                yield self._delta((*path, at), node, fragment)
            if node.children is not None:
                yield from self._drawn((*path, at), node.children, only, is_part=is_part)

    def _delta(self, path: Path, node: Node, fragment: str) -> bytes:
        message = ForwardMsg()
        message.delta.fragment_id = fragment
        if node.children is None:
            if node.text.startswith(("widget", "long")):
                message.delta.new_element.button.id = node.text.removesuffix(" on").removesuffix(" off")
                message.delta.new_element.button.label = node.text
            else:
                message.delta.new_element.text.body = node.text
            if node.text.startswith("set"):
                message.delta.new_element.has_one_shot_effect = True
        else:
            message.delta.add_block.id = node.text
        message.hash = f"{node.text} {node.children is None} {fragment}"
        is_long = node.children is None and node.text.startswith("long")  # a container is never kept
        if is_long and message.hash in self.kept:
            message = ForwardMsg(ref_hash=message.hash)
        message.metadata.cacheable = is_long and message.HasField("delta")
        message.metadata.delta_path.extend(path)
        return message.SerializeToString()

    def _lifecycle(self, name: str, fragment: str) -> bytes:
        message = ForwardMsg()
        if name == "new_session":
            message.new_session.page_script_hash = "page"
        elif name == "early":
            message.script_finished = ForwardMsg.FINISHED_EARLY_FOR_RERUN
        else:
            message.script_finished = (
                ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY if fragment else ForwardMsg.FINISHED_SUCCESSFULLY
            )
        message.metadata.run.script_run_id = str(self.runs)
        message.metadata.run.fragment_ids.extend([fragment] if fragment else [])
        return message.SerializeToString()

    def _text(self) -> str:
        return self.chance.choice(
            ("a", "set a", "long a", "long b", "long c", "widget 1 on", "widget 1 off", "widget 2")
        )

    def _any(self) -> Node:
        if self.chance.random() < 0.3:
            return Node(self.chance.choice("xyz"), children=[self._any() for _ in range(self.chance.randrange(3))])
        return Node(self._text())

    def _all(self, nodes: list[Node]) -> Iterator[Node]:
        for node in nodes:
            yield node
            yield from self._all(node.children or [])


def test_a_browser_shows_the_same() -> None:
    held = all_of_them = 0
    for seed in range(800):
        chance = random.Random(seed)  # noqa: S311 - no secret
        plain, spared, changes = Browser(), Browser(), Changes()
        page, is_early = Page(chance, plain.kept), True
        for number in range(14):
            page.changed()
            messages = page.run(PART if not is_early and chance.random() < 0.4 else "")
            if number and chance.random() < 0.25:  # a new connection: what comes first is lost, and all is sent again
                changes, messages = Changes(), page.run()
            sent = [each for message in messages for each in changes.of(message)]
            plain.take(messages)
            plain_acted, plain.acted = plain.acted, []
            spared.take(sent)
            spared_acted, spared.acted = spared.acted, []
            is_early = ForwardMsg.FromString(messages[-1]).script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN
            if not is_early:
                assert spared.shows() == plain.shows(), (seed, number)
            assert sorted(spared_acted) == sorted(plain_acted), (seed, number)
            held, all_of_them = held + len(messages) - len(sent), all_of_them + len(messages)
    assert held > all_of_them / 8


def _lifecycle(kind: str, *, long: int = 0, fragment: str = "") -> bytes:
    """Return a message of a small page: a part with a clock, an element that stays, one as long as a browser keeps."""
    message = ForwardMsg()
    match kind:
        case "new_session":
            message.new_session.page_script_hash = "page"
        case "auto_rerun":
            message.auto_rerun.fragment_id = PART
        case "script_finished":
            message.script_finished = (
                ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY if fragment else ForwardMsg.FINISHED_SUCCESSFULLY
            )
        case "spinner":
            message.delta.new_transient.elements.extend([Element()])
            message.metadata.delta_path.extend((0, 0))
        case "long":
            message.delta.new_element.text.body = message.hash = f"long {long}"
            message.delta.fragment_id = fragment
            message.metadata.cacheable = True
            message.metadata.delta_path.extend((0, 0))
        case _:
            message.delta.new_element.text.body = message.hash = "stays"
            message.delta.fragment_id = fragment
            message.metadata.delta_path.extend((0, 1))
    if fragment and kind in ("new_session", "script_finished"):
        message.metadata.run.fragment_ids.append(fragment)
    return message.SerializeToString()


def test_the_clock_of_a_part_stops_with_a_run_of_the_whole_page() -> None:
    changes, clocks = Changes(), set()
    for kinds in (("auto_rerun",), (), ("auto_rerun",), ()):
        for kind in ("new_session", "stays", *kinds, "script_finished"):
            for data in changes.of(_lifecycle(kind)):
                message = ForwardMsg.FromString(data)
                match message.WhichOneof("type"):
                    case "new_session" if not message.metadata.run.fragment_ids:
                        clocks.clear()
                    case "auto_rerun":
                        clocks.add(message.auto_rerun.fragment_id)
                    case "stop_auto_rerun":
                        clocks.difference_update(message.stop_auto_rerun.fragment_ids)
        assert clocks == ({PART} if kinds else set())


def test_a_run_with_a_spinner_comes_whole_and_the_next_is_spared_again() -> None:
    changes = Changes()
    for kinds, passes in (((), True), ((), False), (("spinner",), True), ((), False)):
        messages = [_lifecycle(kind) for kind in ("new_session", "long", *kinds, "stays", "script_finished")]
        sent = [each for message in messages for each in changes.of(message)]
        assert {*messages[1:]} <= {*sent} if passes else {*messages[1:]}.isdisjoint(sent), kinds


def test_a_browser_gives_up_what_is_old() -> None:
    for fragment in ("", PART):
        changes, kept, most = Changes(), {}, 0
        for run in range(300):
            of = fragment if run else ""
            for kind in ("new_session", "long", "stays", "script_finished"):
                is_of = kind in ("long", "stays")
                for data in changes.of(_lifecycle(kind, long=run, fragment=fragment if is_of else of)):
                    message = ForwardMsg.FromString(data)
                    if message.metadata.cacheable:
                        kept[message.hash] = run
                    ended = {*message.metadata.run.fragment_ids}
                    if message.WhichOneof("type") == "script_finished" and ended <= {fragment}:
                        kept = {digest: last for digest, last in kept.items() if run - last <= 30}
            most = max(most, len(kept))
        assert most <= 2 * 31 + 1


def test_a_run_that_goes_on_as_another_runs_all_along() -> None:
    changes, said = Changes(), []
    ends = (ForwardMsg.FINISHED_EARLY_FOR_RERUN, ForwardMsg.FINISHED_SUCCESSFULLY) * 2
    for end in ends:
        for is_running in (True, None, False):
            message = ForwardMsg()
            if is_running is None:
                message.script_finished = end
            else:
                message.session_status_changed.script_is_running = is_running
            said += [ForwardMsg.FromString(data) for data in changes.of(message.SerializeToString())]
    kinds = [message.WhichOneof("type") for message in said]
    changed = [message for message, kind in zip(said, kinds, strict=True) if kind == "session_status_changed"]
    states = [message.session_status_changed.script_is_running for message in changed]
    assert states == [True, False] * 2
    assert kinds.count("script_finished") == 2


def test_a_part_within_a_part_goes_with_it_and_comes_again() -> None:
    plain, spared, changes = Browser(), Browser(), Changes()
    page = Page(random.Random(0), plain.kept)  # noqa: S311 - no secret
    inner = [((0, 0, 1), Node("x", children=[]), "inner"), ((0, 0, 1, 0), Node("a"), "inner")]
    shown = [((0, 0), Node(PART, children=[]), PART), ((0, 0, 0), Node("b"), PART)]
    for number, (fragment, drawn) in enumerate((("", [*shown, *inner]), (PART, shown), (PART, [*shown, *inner]))):
        page.runs = number
        ends = page._lifecycle("new_session", fragment), page._lifecycle("script_finished", fragment)
        messages = [ends[0], *(page._delta(*each) for each in drawn), ends[1]]
        plain.take(messages)
        spared.take([each for message in messages for each in changes.of(message)])
        assert spared.shows() == plain.shows(), number


def test_what_is_as_long_as_a_part_of_the_page_and_none_passes() -> None:
    changes = Changes()
    begins = ForwardMsg()
    begins.new_session.page_script_hash = "page"
    [*changes.of(begins.SerializeToString())]
    told = ForwardMsg(ref_hash="a message about the page that a browser keeps")
    assert [*changes.of(told.SerializeToString())] == [told.SerializeToString()]
