"""What the README says is so: its tables are the tables, its Python runs."""

from __future__ import annotations

import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from attnviz import NORMALISERS
from tests.support.tables import TABLES

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
TITLES = {
    "Score": "score",
    "Mask": "mask",
    "Normaliser": "normaliser",
    "Bias by distance": "bias",
    "Positional encoding": "position",
    "Embedding": "embedding",
    "Projections": "initialiser",
    "Heads set by hand": "patterns",
    "Tokens": "tokeniser",
    "Layer norm": "norm",
    "Feed-forward": "feed_forward",
}
"""What README calls each table, and the field that names its rows."""


def test_every_table_of_more_than_two_is_in_the_readme() -> None:
    assert {field for field, table in TABLES.items() if len(table) > 2} == set(TITLES.values())


@pytest.mark.parametrize("title", TITLES)
def test_the_table_of_choices_is_current(title: str) -> None:
    listed = ", ".join(f"{row.label} (`{name}`)" for name, row in TABLES[TITLES[title]].items())
    line = f"| {title} | {listed} |"
    assert line in README.splitlines(), f"README, What there is to choose: this line belongs there\n{line}"


@pytest.mark.parametrize("block", re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL))
def test_python_examples_run(block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tests").symlink_to(ROOT / "tests")  # what an example saves goes beside it, not into the clone
    monkeypatch.chdir(tmp_path)
    try:
        exec(compile(block, "README.md", "exec"), {})  # noqa: S102
    finally:
        NORMALISERS.pop("powers", None)


@pytest.mark.parametrize("mark", ["start", "test"])
def test_commands_are_one_line_to_copy(mark: str) -> None:
    command = re.search(rf"<!-- {mark} -->\n```sh\n(.*?)\n```", README, flags=re.DOTALL)
    assert command is not None
    assert "\n" not in command.group(1)


@pytest.mark.parametrize("target", re.findall(r"\]\((?!http)([^)]+)\)", README))
def test_files_that_are_named_exist(target: str) -> None:
    assert (Path(__file__).parents[2] / target).is_file()


def test_the_film_strip_has_the_numbers_of_the_head() -> None:
    spec = spec_from_file_location("film_strip", ROOT / "docs" / "film_strip.py")
    assert spec is not None
    assert spec.loader is not None
    made = module_from_spec(spec)
    spec.loader.exec_module(made)
    assert made.TARGET.read_text(encoding="utf-8") == made.strip()
    assert f"(docs/{made.TARGET.name})" in README
