"""The one helper that registers components: the script and the style are those of the file's name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import streamlit as st

from attnviz.ui.session.component import component

UI = Path(__file__).parents[3] / "attnviz/ui"


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, dict[str, Any]]]:
    found: list[tuple[str, dict[str, Any]]] = []
    monkeypatch.setattr(st.components.v2, "component", lambda name, **given: found.append((name, given)))
    return found


def test_script_and_style_are_found_by_name(tmp_path: Path, registered: list[tuple[str, dict[str, Any]]]) -> None:
    for name in ("plain.js", "styled.js", "styled.css"):
        (tmp_path / name).write_text(f"text of {name}", encoding="utf-8")
    component(str(tmp_path / "plain.py"))
    component(str(tmp_path / "styled.py"), is_isolated=False)
    component(str(tmp_path / "styled.py"), js="of several files")
    assert registered == [
        ("attnviz_plain", {"css": None, "js": "text of plain.js", "isolate_styles": True}),
        ("attnviz_styled", {"css": "text of styled.css", "js": "text of styled.js", "isolate_styles": False}),
        ("attnviz_styled", {"css": "text of styled.css", "js": "of several files", "isolate_styles": True}),
    ]


def test_a_script_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"lost\.js"):
        component(str(tmp_path / "lost.py"))


def test_components_are_registered_in_one_way() -> None:
    # the second is made of several scripts and has two parts
    apart = {"session/component.py", "components/stage/heatmap.py"}
    files = {path.relative_to(UI).as_posix(): path.read_text("utf-8") for path in UI.rglob("*.py")}
    assert {name for name, text in files.items() if "v2.component(" in text} == apart
