"""JavaScript modules put together into one script."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from attnviz.exports import interactive_html
from attnviz.exports.bundle import joined, without_descriptions
from tests.support.cases import for_each

PACKAGE = Path(interactive_html.__file__).parents[1]
MAIN = [path for path in sorted(PACKAGE.rglob("*.js")) if "export default" in path.read_text("utf-8")]
MAIN += [interactive_html.SCRIPT]
NAMES = [path.stem for path in MAIN]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "low").mkdir()
    base = '/** @import { A } from "./types" */\nexport const a = 1;\nexport function b() {}\nexport class C {}\n'
    (tmp_path / "low" / "base.js").write_text(base, encoding="utf-8")
    middle = 'import { a } from "./low/base.js";\nexport const d = a;\n'
    (tmp_path / "middle.js").write_text(middle, encoding="utf-8")
    imports = 'import {\n  a,\n  b,\n} from "./low/base.js";\nimport { d } from "./middle.js";\n'
    main = imports + 'const text = "export const";\nexport default function () { b(a + d); }\n'
    (tmp_path / "main.js").write_text(main, encoding="utf-8")
    return tmp_path


def test_a_module_stands_once_and_before_those_that_import_it(folder: Path) -> None:
    assert joined(folder / "main.js") == (
        "const a = 1;\nfunction b() {}\nclass C {}\n"
        "\nconst d = a;\n"
        '\nconst text = "export const";\nexport default function () { b(a + d); }\n'
    )


def test_modules_that_import_each_other_are_refused(folder: Path) -> None:
    (folder / "low" / "base.js").write_text('import { d } from "../middle.js";\n', encoding="utf-8")
    with pytest.raises(ValueError, match=r"main\.js imports base\.js imports middle\.js imports base\.js: a circle"):
        joined(folder / "main.js")


def test_descriptions_are_left_out_and_code_is_not() -> None:
    cast = "const known =\n  /** @type {number[]} */ (found);\n"
    script = (
        f"/** One line. */\n// kept\n{cast}class A {{\n  /**\n   * Return.\n   *\n   */\n  b() {{}} /* kept */\n}}\n"
    )
    assert without_descriptions(script) == f"// kept\n{cast}class A {{\n  b() {{}} /* kept */\n}}\n"


@for_each("main", MAIN)
def test_no_name_is_declared_by_two_modules(main: Path) -> None:
    script = joined(main)
    assert not re.search(r"^import |^export (?!default)", script, re.MULTILINE)
    declared: list[str] = []
    for first, rest in re.findall(
        r"^(?:async )?(?:const|let|class|function) (?:(\w+)|[{[]([^}\]]*)[}\]])", script, re.MULTILINE
    ):
        declared += [first] if first else re.split(r", *", rest.strip())
    assert [each for each, times in Counter(declared).items() if times > 1] == []


def test_every_module_of_the_interactive_file_is_in_its_script() -> None:
    script = joined(interactive_html.SCRIPT)
    for path in interactive_html.SCRIPT.parent.glob("*.js"):
        assert path.read_text("utf-8").splitlines()[-1].removeprefix("export ") in script, path.name


@for_each("main", MAIN)
def test_the_script_is_javascript(main: Path, node: str, tmp_path: Path) -> None:
    path = tmp_path / "script.mjs"
    path.write_text(without_descriptions(joined(main)), encoding="utf-8")
    subprocess.run([node, "--check", str(path)], check=True)
