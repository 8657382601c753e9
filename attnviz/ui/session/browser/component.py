"""Components of the page that are written in JavaScript: registered once, when the module beside them is imported.

Streamlit sends a component's script and style along with its data, whenever these have changed: more than all else in
a move. So the scripts of all components are one file, which a component without data loads (`send_scripts`), and a
component of its own has a stub that calls them.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import cache, partial
from pathlib import Path
from typing import Any

import streamlit as st

from attnviz.exports.bundle import joined, without_comments
from attnviz.ui.hosting import scripts
from attnviz.ui.session.browser import streamlit_private, together
from attnviz.ui.session.browser.styles import colours
from attnviz.ui.session.browser.together import Drawn
from attnviz.ui.session.browser.uninterrupted import uninterrupted

KEY, EVENT = "scripts", "event"
MOST_EVENTS = 32
_HEARD, _IS_OLD = "_heard", "_heard_before"
_CALLBACK = re.compile(r"on_(\w+)_change")
_SHELF = "(window.attnvizScripts ??= { parts: {}, waiting: [] })"
_STUB = """\
export default (component) => {
  const shelf = %(shelf)s;
  let end, left = false;
  const draw = () => { if (!left) end = shelf.parts[%(name)s].draw(component); };
  %(name)s in shelf.parts ? draw() : shelf.waiting.push(draw);
  return () => { left = true; end?.(); };
};
"""
_PART = """\
add(%(name)s, %(digest)s, %(style)s, () => {
let exported;
%(script)s
return exported;
});
"""
_WHOLE = """\
const shelf = %(shelf)s;
const last = new WeakMap(); // Streamlit ends a drawing that another overtakes, before that or after: that one stays
function add(name, digest, css, make) {
  if (shelf.parts[name]?.digest === digest) return;
  const script = make();
  const draw = (component) => {
    const { parentElement, data } = component;
    if (css && !parentElement.querySelector("style[data-part]")) {
      const style = document.createElement("style");
      style.dataset.part = name;
      style.textContent = css;
      parentElement.prepend(style);
    }
    let end;
    const begin = (bytes) => last.set(parentElement, (end = script({ ...component, data: bytes })));
    const leave = typeof data === "string" ? shelf.messages.follow(data, parentElement, begin) : void begin(data);
    return () => {
      leave?.();
      if (last.get(parentElement) === end && !parentElement.isConnected) end?.();
    };
  };
  shelf.parts[name] = { digest, draw };
}
%(parts)s
shelf.waiting.splice(0).forEach((draw) => draw());
export default () => {};
"""

_LOADER = """\
const load = (trials) =>
  import(new URL("%(address)s" + (trials ? `?again=${trials}` : ""), document.baseURI).href).catch(() => {
    setTimeout(() => load(trials + 1), Math.min(250 * 2 ** trials, 10_000)); // a line that was lost for a moment
  });
load(0);
export default () => {};
"""

_parts: dict[str, tuple[str, str]] = {}
_run = threading.local()


def component(
    file: str, *, name: str = "", is_isolated: bool = True, states: Collection[str] = ()
) -> Callable[..., None]:
    """Register the component whose script, and style if it has one, stand beside a Python file under its name.

    The script is that of the file and of all that it imports; the comments that describe it stay here.

    name         another name than that of the file, for a second one beside it
    is_isolated  whether it draws into a tree of its own, so that no style of the page reaches it and none of its own
                 gets out
    states       what it reports that is not to be kept until a run has heard it, as all else is: a click
    """
    stem = name or Path(file).stem
    style, script = (Path(file).with_name(stem).with_suffix(suffix) for suffix in (".css", ".js"))
    whole = f"attnviz_{stem}"
    text, css = joined(script), style.read_text("utf-8") if style.exists() else ""
    _parts[whole] = without_comments(text), colours(css, text) + css
    all_scripts.cache_clear()
    _together.cache_clear()
    stub = _STUB % {"shelf": _SHELF, "name": json.dumps(whole)}
    mount = st.components.v2.component(whole, js=stub, isolate_styles=is_isolated)

    def draw(*, container: str = "", **arguments: Any) -> None:
        callbacks = {found[1]: arguments[each] for each in arguments if (found := _CALLBACK.fullmatch(each))}
        if (sent := together.current()) is not None:
            key = arguments["key"]
            sent.parts[key], sent.drawn[key] = arguments["data"], Drawn(whole, container, is_isolated, callbacks)
            return
        send_scripts()
        for said, function in callbacks.items():
            if said not in states:
                arguments[f"on_{said}_change"] = partial(_hear, arguments["key"], said, function)
        with st.container(key=container) if container else nullcontext():
            mount(**arguments)

    return draw


def send_scripts() -> None:
    """Have the browser load the scripts of all components, once in a run: before the first, wherever that is.

    Where a part of the page runs alone, they are there already; one more element would move all of that part.
    """
    run = streamlit_private.current_run()
    if run is None or streamlit_private.is_part(run):
        return
    if not streamlit_private.has_drawn(run, KEY):
        _together()(key=KEY, height="content")


def _hear(key: str, name: str, function: Callable[[], None]) -> None:
    """Hear what a component says.

    On a slow line it may come from one that a run has taken away since: nothing follows from it.
    """
    with uninterrupted():
        said = st.session_state.get(key)
        if said is None:
            return
        keep(key, name, said.get(name))
    function()


def keep(key: str, name: str, value: Any, number: int = 0) -> None:
    """Keep a click until a run has saved what follows from it: Streamlit forgets it after one that another one ended.

    Without a number, one that a run has heard already gives way to a new one, as clicks are not counted in the order in
    which they came. Of the events of a component, the last of each kind is kept.
    """
    if not number and st.session_state.pop(_IS_OLD, False):
        forget()
    heard = st.session_state.get(_HEARD, {})
    if name == EVENT:
        if number and isinstance(value, Mapping):
            value = {**value, "number": number}
        others = [each for each in heard.get(key, {}).get(name, ()) if _kind(each) != _kind(value)]
        value = [*others, value][-MOST_EVENTS:]
    st.session_state[_HEARD] = {**heard, key: {**heard.get(key, {}), name: value}}


def _kind(event: Any) -> Any:
    return event.get("kind") if isinstance(event, Mapping) else None


def has_heard() -> bool:
    """Return whether there are clicks of which nothing has been saved yet."""
    return _HEARD in st.session_state


def forget() -> None:
    """Forget all clicks: a run has saved what follows from them, or what they were meant for is there no more."""
    st.session_state.pop(_HEARD, None)


@contextmanager
def read_once() -> Iterator[None]:
    """Ask Streamlit within it once for what each component reports: a run asks often, and each time costs a lot.

    A click that leads to an error is not heard by the next run.
    """
    _run.reports = {}
    try:
        if _HEARD in st.session_state:
            st.session_state[_IS_OLD] = True
        yield
    except Exception:
        forget()
        raise
    finally:
        del _run.reports


def report(key: str) -> Mapping[str, Any]:
    """Return what the component of a key reports: nothing before it is drawn, and else anything, from a browser.

    What it said to a run that another one ended is among that, until `forget`.
    """
    reports: dict[str, Mapping[str, Any]] = getattr(_run, "reports", {})
    if key not in reports:
        if _HEARD not in reports:
            reports[_HEARD] = st.session_state.get(_HEARD, {})
        values, heard = st.session_state.get(key), reports[_HEARD].get(key, {})
        reports[key] = {**values, **heard} if isinstance(values, Mapping) else heard
    return reports[key]


def events(key: str) -> Sequence[Any]:
    """Return the events that the component of a key reports: a few, and each anything, from a browser."""
    said = report(key).get(EVENT)
    return said[:MOST_EVENTS] if isinstance(said, list) else [said]


def ignore() -> None:
    """Do nothing, as the callback of a value that `report` tells: Streamlit passes on only those that have one."""


def checked_index(value: Any, size: int) -> int | None:
    """Return an index that a component reports, None where it reports none.

    Raises ValueError for anything that is no index of `size` things: browsers can say anything.
    """
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < size:
        raise ValueError(value)
    return value


def parts() -> frozenset[str]:
    """Return the names of the components whose scripts are sent."""
    return frozenset(_parts)


@cache
def all_scripts() -> tuple[str, str]:
    """Return the scripts of all components as one, and the address of it below that of the page."""
    parts = [_part(name, *texts) for name, texts in sorted(_parts.items())]
    text = _WHOLE % {"shelf": _SHELF, "parts": "".join(parts)}
    return text, scripts.keep(text)


@cache
def _together() -> Callable[..., Any]:
    """Register the component that loads the scripts of all others, or has them where nobody hands them out."""
    text, address = all_scripts()
    loaded = _LOADER % {"address": address} if scripts.is_served() else text
    return st.components.v2.component("attnviz_scripts", js=loaded, isolate_styles=False)


def _part(name: str, script: str, style: str) -> str:
    """Return a component's script as a part of the whole: a function that returns what the script exports."""
    before, marker, after = script.partition("export default function")
    if not marker or "export default" in after:
        raise ValueError(f"{name} has to export one function by default")
    digest = hashlib.blake2b((script + style).encode(), digest_size=8).hexdigest()
    filled = {"name": json.dumps(name), "digest": json.dumps(digest), "style": json.dumps(style)}
    return _PART % {**filled, "script": f"{before}exported = function{after}"}
