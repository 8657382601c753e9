"""Every line of .streamlit/config.toml is in force: an upgrade that drops an option must fail here, not in a class."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
WRITTEN = tomllib.loads((ROOT / ".streamlit/config.toml").read_text(encoding="utf-8"))


def flat(table: dict[str, Any], before: str = "") -> dict[str, Any]:
    """The options of a file by their full names."""
    found: dict[str, Any] = {}
    for name, value in table.items():
        found |= flat(value, f"{before}{name}.") if isinstance(value, dict) else {before + name: value}
    return found


OPTIONS = flat(WRITTEN)
READ = "import json, sys; from streamlit import config; print(json.dumps([config.get_option(n) for n in sys.argv[1:]]))"


@pytest.fixture(scope="module")
def in_force() -> dict[str, object]:
    """The options as Streamlit itself reads them when it is started in this folder."""
    answer = subprocess.run(
        [sys.executable, "-c", READ, *OPTIONS], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return dict(zip(OPTIONS, json.loads(answer.stdout)))


@pytest.mark.slow
@pytest.mark.parametrize("name", OPTIONS)
def test_option_is_in_force(name: str, in_force: dict[str, object]) -> None:
    assert in_force[name] == OPTIONS[name]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("browser.gatherUsageStats", False),
        ("runner.fastReruns", False),
        ("runner.postScriptGC", False),
        ("client.showErrorDetails", "none"),
        ("server.maxWidgetStateSize", 1),
        ("server.maxMessageSize", 20),
        ("global.maxCachedMessageAge", 30),
    ],
)
def test_what_protects_a_class_is_written_down(name: str, value: object) -> None:
    assert OPTIONS[name] == value


def test_streamlit_is_pinned() -> None:
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    assert any(line.startswith("streamlit==") for line in lines)
