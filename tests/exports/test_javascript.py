"""JavaScript modules put together into one script."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from attnviz.exports import interactive_html
from attnviz.exports.javascript import joined
from attnviz.ui.components import mask_painter

SCRIPTS = {
    "interactive": (Path(interactive_html.__file__).parent / "interactive", interactive_html.MODULES),
    "paint": (Path(mask_painter.__file__).parent, mask_painter.MODULES),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    first = '/** @import { A } from "./types" */\nexport const a = 1;\nexport function b() {}\nexport class C {}\n'
    (tmp_path / "first.js").write_text(first, encoding="utf-8")
    second = 'import { a, b } from "./first.js";\nconst text = "export const";\nexport default function () { b(a); }\n'
    (tmp_path / "second.js").write_text(second, encoding="utf-8")
    return tmp_path


def test_modules_become_one_script_in_their_order(folder: Path) -> None:
    assert joined(folder, ["first", "second"]) == (
        "const a = 1;\nfunction b() {}\nclass C {}\n"
        "\n"
        'const text = "export const";\nexport default function () { b(a); }\n'
    )


def test_a_module_that_stands_before_what_it_imports_is_refused(folder: Path) -> None:
    with pytest.raises(ValueError, match=r"second\.js imports from first, which is not before it"):
        joined(folder, ["second", "first"])


@pytest.mark.parametrize("name", SCRIPTS)
def test_no_name_is_declared_by_two_modules(name: str) -> None:
    script = joined(*SCRIPTS[name])
    assert not re.search(r"^import |^export (?!default)", script, re.MULTILINE)
    declared: list[str] = []
    for first, rest in re.findall(
        r"^(?:async )?(?:const|let|class|function) (?:(\w+)|\{([^}]*)\})", script, re.MULTILINE
    ):
        declared += [first] if first else re.split(r", *", rest.strip())
    assert len(declared) > 5
    assert [each for each, times in Counter(declared).items() if times > 1] == []


@pytest.mark.parametrize("name", SCRIPTS)
def test_every_module_of_a_script_is_in_it(name: str) -> None:
    folder, names = SCRIPTS[name]
    if name == "interactive":
        assert {path.stem for path in folder.glob("*.js")} == set(names)
    assert all(len((folder / f"{each}.js").read_text("utf-8").splitlines()) <= 300 for each in names)


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node here; the browser tests hold the same")
@pytest.mark.parametrize("name", SCRIPTS)
def test_the_script_is_javascript(name: str, tmp_path: Path) -> None:
    path = tmp_path / "script.mjs"
    path.write_text(joined(*SCRIPTS[name]), encoding="utf-8")
    subprocess.run(["node", "--check", str(path)], check=True)
