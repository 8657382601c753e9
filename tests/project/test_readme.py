"""What the README says is so: its tables are the tables, its Python runs."""

from __future__ import annotations

import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from attnviz import BIASES, EMBEDDINGS, INITIALISERS, MASKS, NORMALISERS, PATTERNS, POSITIONS, SCORES, TOKENISERS
from attnviz.engine.tables.blocks import FEED_FORWARDS, NORMS
from attnviz.settings.rows import Choice

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
TABLES = {
    "Score": SCORES,
    "Mask": MASKS,
    "Normaliser": NORMALISERS,
    "Bias by distance": BIASES,
    "Positions": POSITIONS,
    "Embedding": EMBEDDINGS,
    "Projections": INITIALISERS,
    "Heads set by hand": PATTERNS,
    "Tokens": TOKENISERS,
    "Layer norm": NORMS,
    "Feed-forward": FEED_FORWARDS,
}


def rows(tables: dict[str, dict[str, Choice]]) -> str:
    """The README's table of all that can be chosen."""
    lines = ["| setting | choices |", "|---|---|"]
    for title, table in tables.items():
        listed = ", ".join(f"{row.label} (`{name}`)" for name, row in table.items())
        lines.append(f"| {title} | {listed} |")
    return "\n".join(lines)


def test_the_table_of_choices_is_current() -> None:
    assert rows(TABLES) in README


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
