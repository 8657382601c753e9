"""The list of the folders that are installed, beside those that there are."""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_folder_of_modules_is_installed() -> None:
    build = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]
    folders = {path.parent.relative_to(ROOT) for path in (ROOT / "attnviz").rglob("*.py")}
    assert {*build["packages"]} - {*build["package-dir"]} == {".".join(folder.parts) for folder in folders}
