"""Components of the page that are written in JavaScript: registered once, when the module beside them is imported."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st


def component(file: str, *, js: str = "", is_isolated: bool = True) -> Callable[..., Any]:
    """Register the component whose script, and style if it has one, stand beside a Python file under its name.

    js           the script, where it is made of several files
    is_isolated  whether it draws into a tree of its own, so that no style of the page reaches it and none of its own
                 gets out
    """
    style, script = (Path(file).with_suffix(suffix) for suffix in (".css", ".js"))
    return st.components.v2.component(
        f"attnviz_{Path(file).stem}",
        css=style.read_text("utf-8") if style.exists() else None,
        js=js or script.read_text("utf-8"),
        isolate_styles=is_isolated,
    )
