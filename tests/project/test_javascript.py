"""The JavaScript is held to what the Python is: every file is checked, none is long, and no type is given up."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
MOST_LINES = 300
GIVEN_UP = re.compile(
    r"@ts-(?:ignore|nocheck|expect-error)|\{[^{}\n]*\bany\b[^{}\n]*\}|[:|<,(]\s*any\b(?!\s+\w)|\{\*\}"
)


def rules() -> Any:
    """What `tsconfig.json` says."""
    lines = (ROOT / "tsconfig.json").read_text("utf-8").splitlines()
    return json.loads("\n".join(line for line in lines if not line.lstrip().startswith("//")))


def scripts() -> list[Path]:
    return sorted((ROOT / "attnviz").rglob("*.js"))


def unchecked(found: dict[str, Any], root: Path) -> list[str]:
    """The scripts of the package that `tsc` would not check by these rules."""
    covered = {path for pattern in found["include"] for path in root.glob(pattern)}
    covered -= {path for pattern in found.get("exclude", []) for path in root.glob(pattern)}
    return sorted(path.relative_to(root).as_posix() for path in {*root.glob("attnviz/**/*.js")} - covered)


def test_every_script_is_checked() -> None:
    found = rules()
    assert unchecked(found, ROOT) == []
    assert all(found["compilerOptions"][name] is True for name in ("strict", "checkJs", "allowJs", "noEmit"))


def test_a_script_that_is_left_out_is_found(tmp_path: Path) -> None:
    for name in ("attnviz/one.js", "attnviz/ui/two.js", "attnviz/ui/three.js"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert unchecked({"include": ["attnviz/*.js"]}, tmp_path) == ["attnviz/ui/three.js", "attnviz/ui/two.js"]
    assert unchecked({"include": ["attnviz/**/*.js"], "exclude": ["attnviz/ui/two.js"]}, tmp_path) == [
        "attnviz/ui/two.js"
    ]


def test_no_script_is_long() -> None:
    lengths = {path.name: len(path.read_text("utf-8").splitlines()) for path in scripts()}
    assert len(lengths) > 15
    assert {name: n for name, n in lengths.items() if n >= MOST_LINES} == {}, "part it where it has a seam"


def test_no_type_is_given_up() -> None:
    for path in [*scripts(), *(ROOT / "attnviz").rglob("*.d.ts")]:
        assert not GIVEN_UP.search(path.read_text("utf-8")), path.name
    for text in (
        "// @ts-ignore",
        "/** @param {any} x */",
        "/** @type {any[]} */",
        "  given: any;",
        "Record<string, any>",
    ):
        assert GIVEN_UP.search(text), text
