"""The one helper that registers components: the script and the style are those of the file's name, and sent once."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from attnviz.ui.hosting import scripts
from attnviz.ui.session.browser import component as registered
from attnviz.ui.session.browser import streamlit_private
from attnviz.ui.session.browser.component import component
from tests.support import components

UI = Path(__file__).parents[3] / "attnviz/ui"
SCRIPT = "const one = 1;\nexport default function () { return one; }\n"


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, tuple[str, str]]]:
    """The scripts of the components that a test registers, and of no others."""
    monkeypatch.setattr(registered, "_parts", {})
    monkeypatch.setattr(st.components.v2, "component", lambda name, **given: name)
    yield registered._parts
    registered.all_scripts.cache_clear()
    registered._together.cache_clear()


def test_script_and_style_are_found_by_name(tmp_path: Path, alone: dict[str, tuple[str, str]]) -> None:
    (tmp_path / "plain.js").write_text("/** @type {number} */\nexport const one = 1;\n", encoding="utf-8")
    for name in ("styled", "second"):
        script = f'import {{ one }} from "./plain.js";\nlet {name} = one;\n'
        (tmp_path / f"{name}.js").write_text(script, encoding="utf-8")
    (tmp_path / "styled.css").write_text("text of styled.css", encoding="utf-8")
    component(str(tmp_path / "plain.py"))
    component(str(tmp_path / "styled.py"), is_isolated=False)
    component(str(tmp_path / "styled.py"), name="second")
    assert alone == {
        "attnviz_plain": ("const one = 1;\n", ""),
        "attnviz_styled": ("const one = 1;\n\nlet styled = one;\n", "text of styled.css"),
        "attnviz_second": ("const one = 1;\n\nlet second = one;\n", ""),
    }


def test_a_script_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"lost\.js"):
        component(str(tmp_path / "lost.py"))


@pytest.mark.parametrize("script", ["const one = 1;\n", "export default () => 1;\n", SCRIPT + SCRIPT])
def test_a_script_that_does_not_export_one_function_is_refused(script: str) -> None:
    with pytest.raises(ValueError, match="attnviz_odd has to export one function by default"):
        registered._part("attnviz_odd", script, "")


def test_what_a_script_exports_is_what_its_part_returns() -> None:
    part = registered._part("attnviz_good", SCRIPT, "p { color: red }")
    assert "export" not in part.replace("exported", "")
    assert "exported = function () { return one; }" in part
    assert '"p { color: red }"' in part


def test_components_are_registered_in_one_way() -> None:
    apart = {"session/browser/component.py", "session/browser_learner.py"}  # the second has its worker as a text
    files = {path.relative_to(UI).as_posix(): path.read_text("utf-8") for path in UI.rglob("*.py")}
    assert {name for name, text in files.items() if "v2.component(" in text} == apart


def test_the_components_of_all_pages_are_there_from_the_first_run() -> None:
    """Their scripts are one text: if one came later, every browser would be sent all of them again."""
    import attnviz.ui.main  # noqa: F401

    calls = re.compile(r"^(?:_\w+ = )?component\(", re.MULTILINE)
    made = sum(len(calls.findall(path.read_text("utf-8"))) for path in UI.rglob("*.py"))
    assert made == len(registered.parts()) > 10


OVERTAKEN = """
const said = [], parentElement = {};
const first = stub({ parentElement, data: 1 }), second = stub({ parentElement, data: 2 });
first();
parentElement.isConnected = true;
second();
said.push("overtaken");
const third = stub({ parentElement, data: 3 });
parentElement.isConnected = false;
third();
console.log(said.join(", "));
"""


def test_a_drawing_that_was_overtaken_ends_without_what_has_come_after_it(tmp_path: Path, node: str) -> None:
    stub = registered._STUB % {"shelf": registered._SHELF, "name": '"attnviz_plain"'}
    draw = "({ data }) => (said.push(`draws ${data}`), () => said.push(`ends ${data}`))"
    parts = f'add("attnviz_plain", "", "", () => {draw});'
    whole = (registered._WHOLE % {"shelf": registered._SHELF, "parts": parts}).replace(
        "export default", "const whole ="
    )
    again = stub.replace("export default", "const stub =")
    script = tmp_path / "overtaken.mjs"
    script.write_text("globalThis.window = globalThis;\n" + whole + again + OVERTAKEN, encoding="utf-8")
    said = subprocess.run([node, str(script)], capture_output=True, text=True, check=True).stdout
    assert said.strip() == "draws 1, draws 2, overtaken, draws 3, ends 3"


TOGETHER = """
const said = [], at = (name) => ({ name, isConnected: true });
const draw = (parentElement, data) => shelf.parts.attnviz_plain.draw({ parentElement, data });
const send = (owner, parts) => shelf.messages.take(owner, { key: "both", parts });
const sender = at("sender"), first = at("first"), second = at("second");
const end = draw(first, "both one");
send(sender, { one: "1", two: "2" });
draw(second, "both two");
send(sender, { one: "3", two: "2" });
draw(second, "both two"); // as Streamlit draws it again, with what it was sent at first
first.isConnected = false;
end();
send(sender, { one: "4", two: "5" });
shelf.messages.leave(at("another"));
draw(at("third"), "both one");
send(sender, { one: "no", two: "6" });
shelf.messages.leave(sender);
draw(at("fourth"), "both two");
const later = at("later");
send(later, { two: "7" }); // a page is laid out anew: what stood there is drawn once more, and leaves
const old = at("old"), endOld = draw(old, "both two");
send(sender, { two: "8" });
old.isConnected = false;
endOld();
shelf.messages.leave(sender);
send(later, { two: "9" });
console.log(said.join(", "));
"""
PLAIN = """({ parentElement: { name }, data }) => {
  if (data === "no") throw new Error("cannot be drawn");
  said.push(`${name} ${data}`);
  return () => said.push(`ends ${name}`);
}"""
UNPACKED = """const unpackStage = ({ key, parts }) =>
  ({ header: { key }, arrays: Object.fromEntries(Object.entries(parts).map(([name, values]) => [name, { values }])) });
"""


def test_components_draw_their_parts_of_one_message_whichever_comes_first(tmp_path: Path, node: str) -> None:
    text = UNPACKED + (UI / "session/browser/message.js").read_text("utf-8").partition('stage_bytes.js";\n')[2]
    parts = registered._part("attnviz_message", text, "")
    parts += registered._part("attnviz_plain", f"export default function (given) {{ return ({PLAIN})(given); }}", "")
    whole = registered._WHOLE % {"shelf": registered._SHELF, "parts": parts}
    file = tmp_path / "together.mjs"
    begun = "globalThis.window = globalThis; globalThis.reportError = ({ message }) => said.push(message);"
    lines = begun, whole.replace("export default", "const whole ="), TOGETHER
    file.write_text("\n".join(lines), encoding="utf-8")
    said = subprocess.run([node, str(file)], capture_output=True, text=True, check=True).stdout
    assert said.strip().split(", ") == [
        "first 1",
        "second 2",
        "first 3",
        "second 2",
        "second 2",
        "ends first",
        "second 5",
        "third 4",
        "cannot be drawn",
        "second 6",
        *("second 7", "fourth 7", "old 7"),
        *("second 8", "fourth 8", "old 8"),
        "ends old",
        *("second 7", "fourth 7"),
        *("second 9", "fourth 9"),
    ]


def several_at_once() -> None:
    import streamlit as st

    from attnviz.ui.components import paste_guard
    from attnviz.ui.components.answer import drawer
    from attnviz.ui.session.browser import message, parts, together

    with together.as_one("both", are_there=st.session_state.get("again", False)) as sent:
        drawer.show({"title": "more"}, key="two")
        drawer.show(None, key="one")
    if not sent.are_there:
        parts.show(sent, key="stage", order=["one-lines", "none", "two-lines"])
    message.send(sent.parts, key="both")
    paste_guard.guard({})


def test_several_components_are_one_element_with_one_message_and_are_drawn_once() -> None:
    page = AppTest.from_function(several_at_once, default_timeout=60).run()
    assert not page.exception
    names = "attnviz_scripts", "attnviz_parts", "attnviz_message", "attnviz_paste_guard"
    assert [each.proto.component_name for each in page.get("bidi_component")] == [*names]
    of_both = {"name": "attnviz_drawer", "is_isolated": False}
    sent = json.loads(page.get("bidi_component")[1].proto.json)
    assert len(sent.pop("session")) > 8
    assert sent == {
        "latest": 0,
        "message": "both",
        "parts": [{"key": f"{each}-lines", "container": each, **of_both} for each in ("one", "two")],
    }
    shown = [json.loads(data)["answer"] for _, data in components.shown(page) if data and b'"answer"' in data]
    assert shown == [None, {"title": "more"}]
    page.session_state["again"] = True
    page.run()
    assert [each.proto.component_name for each in page.get("bidi_component")][1:] == [
        "attnviz_message",
        "attnviz_paste_guard",
    ]


def two_of_them() -> None:
    from attnviz.ui.components import paste_guard
    from attnviz.ui.session import browser_history

    browser_history.listen()
    paste_guard.guard({})


def test_the_scripts_are_sent_once_in_a_run_before_the_first_component_and_not_with_their_data(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(scripts, "_is_served", False)  # as other tests of this process may have it
    registered._together.cache_clear()
    page = AppTest.from_function(two_of_them, default_timeout=60).run()
    page.run()
    assert not page.exception
    protos = [element.proto for element in page.get("bidi_component")]
    names = [proto.component_name for proto in protos]
    assert names == ["attnviz_scripts", "attnviz_browser_history", "attnviz_paste_guard"]
    assert "clipboardData" in protos[0].js_content
    assert all(len(proto.js_content) < 500 and not proto.css_content for proto in protos[1:])
    monkeypatch.setattr(scripts, "_is_served", True)
    registered._together.cache_clear()
    page = AppTest.from_function(two_of_them, default_timeout=60).run()
    loader = page.get("bidi_component")[0].proto.js_content
    assert scripts.address() in loader
    assert len(loader) < 1000
    registered._together.cache_clear()


@pytest.mark.parametrize(("fragments", "sent"), [(None, 1), ([], 1), (["film"], 0)])
def test_a_part_of_the_page_that_runs_alone_gets_no_element_more(
    fragments: list[str] | None, sent: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = SimpleNamespace(fragment_ids_this_run=fragments, shared=SimpleNamespace(widget_user_keys_this_run=set()))
    monkeypatch.setattr(streamlit_private, "current_run", lambda: run)
    calls: list[object] = []
    monkeypatch.setattr(registered, "_together", lambda: lambda **given: calls.append(given))
    registered.send_scripts()
    assert len(calls) == sent


def test_a_run_asks_streamlit_once_for_what_a_component_reports(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    class State(dict[str, object]):
        def get(self, key: str, default: object = None) -> object:
            asked.append(key)
            return super().get(key, default)

    monkeypatch.setattr(st, "session_state", State(maps={"width": 900}, odd="what a browser may say"))
    with registered.read_once():
        assert [registered.report("maps") for _ in range(3)] == [{"width": 900}] * 3
        assert registered.report("odd") == registered.report("none") == {}
    assert asked == ["_heard", "maps", "odd", "none"]
    monkeypatch.setattr(st, "session_state", State(maps={"width": 400}))
    with registered.read_once():
        assert registered.report("maps") == {"width": 400}, "another run hears of what is new"
    assert registered.report("maps") == {"width": 400}


def a_click_and_a_run_that_is_ended() -> None:
    import streamlit as st

    from attnviz.ui.session import session_state
    from attnviz.ui.session.browser import component

    st.session_state["map"] = {"picked": 3, "width": 640}
    component._hear("map", "picked", lambda: None)  # as Streamlit calls it before the run that another one ends
    st.session_state["map"] = {"picked": None, "width": 648}
    st.session_state["word"] = {"query": 2}
    with component.read_once():
        st.text(component.report("map"))
    component._hear("word", "query", lambda: None)  # a later click, which takes the place of the first
    for _ in range(2):
        with component.read_once():
            st.text([component.report("map").get("picked"), component.report("word").get("query")])
        st.session_state["word"] = {"query": None}
        session_state.keep_choices()


def test_a_click_is_heard_until_a_run_has_saved_what_follows_from_it() -> None:
    page = AppTest.from_function(a_click_and_a_run_that_is_ended).run()
    assert [text.value for text in page.text] == ["{'picked': 3, 'width': 648}", "[None, 2]", "[None, None]"]


def events_and_a_run_that_is_ended() -> None:
    import streamlit as st

    from attnviz.ui.session.browser import component

    for kind, row in (("pick", 1), ("focus", 2), ("pick", 3), (None, 4)):
        st.session_state["map"] = {"event": {"kind": kind, "row": row}}
        component._hear("map", "event", lambda: None)
    st.session_state["map"] = {"event": None}
    st.text([event["row"] for event in component.events("map")])
    st.text(component.events("none"))
    for row in range(100):
        st.session_state["map"] = {"event": {"kind": [row]}}
        component._hear("map", "event", lambda: None)
    st.text(len(component.events("map")))


def test_of_the_events_that_no_run_has_heard_the_last_of_each_kind_is_kept() -> None:
    page = AppTest.from_function(events_and_a_run_that_is_ended).run()
    assert [text.value for text in page.text] == ["[2, 3, 4]", "[None]", "32"]


def parts_that_say_several_things() -> None:
    import streamlit as st

    from attnviz.ui.session.browser import component, parts, stage_events, streamlit_private

    called: list[object] = []
    names = ("path", "event"), ("maps", "event"), ("maps", "held")
    callbacks = {each: (lambda each=each: called.append(component.report(each[0])[each[1]])) for each in names}
    click, turn, end = ({"kind": "word", "query": 1}, {"kind": "show", "stage": "scores"}, {"kind": "close"})
    said = [
        (5, "path", "event", turn),
        (7, "maps", "event", click),
        (9, "maps", "held", "one"),
        (11, "gone", "event", end),
    ]
    odd = [None, {}, {"number": "20", "part": "maps", "name": "held", "value": 1, "session": ""}, 3]
    later = [(12, "maps", "held", "two"), (13, "maps", "held", "three"), (14, "maps", "event", end)]

    def hear(*all_of_them: object, session: str = streamlit_private.session_name()) -> None:
        names = "number", "part", "name", "value"
        each = [dict(zip(names, one), session=session) if isinstance(one, tuple) else one for one in all_of_them]
        st.session_state["stage"] = {"said": each}
        parts._hear("stage", callbacks)
        st.text([each if isinstance(each, str) else [event["kind"] for event in each] for each in called])
        called.clear()

    hear(*odd)
    hear(*said[:1])
    hear(*said[:2], *odd, *said[2:])
    hear(*said, *later)
    hear(*said, *later)
    hear((99, "maps", "held", "to another session"), session="another")
    for anything in (None, {"said": None}, {"said": "text"}, "text"):
        st.session_state["stage"] = anything
        parts._hear("stage", callbacks)
    st.text([called, [(event.kind, event.number) for event in stage_events.heard("maps", "path")]])


def test_what_the_parts_of_an_element_say_is_heard_once_and_in_order_though_it_is_said_again() -> None:
    page = AppTest.from_function(parts_that_say_several_things).run()
    assert not page.exception
    assert [text.value for text in page.text] == [
        "[]",
        "[['show']]",
        "['one', ['word']]",
        "['two', 'three', ['word', 'close']]",
        "[]",
        "[]",
        "[[], [('show', 5), ('word', 7), ('close', 14)]]",
    ]


def clicks_in_a_run_that_is_ended() -> None:
    import streamlit as st

    from attnviz.ui.session.browser import component, stage_events

    for number, kind in ((1, "scale"), (2, "close")):
        component.keep("maps", "event", {"kind": kind}, number)
        try:
            with component.read_once():
                st.text([event.kind for event in stage_events.heard("maps")])
                raise KeyboardInterrupt
        except KeyboardInterrupt:
            pass
    component.forget()
    st.text(component.events("maps"))


def test_a_click_that_a_run_has_heard_and_not_saved_is_heard_by_the_next_with_those_after_it() -> None:
    page = AppTest.from_function(clicks_in_a_run_that_is_ended).run()
    assert [text.value for text in page.text] == ["['scale']", "['scale', 'close']", "[None]"]
