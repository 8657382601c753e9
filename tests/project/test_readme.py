"""What README, CONTRIBUTING and docs/ say is so: tables are the tables, Python runs, links open, a commit works."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

import attnviz
from attnviz import NORMALISERS, Config
from attnviz.settings import url_codec
from attnviz.ui.session.selection import Selection
from tests.support.tables import TABLES

ROOT = Path(__file__).parents[2]
WRITTEN = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md")))
TEXTS = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in WRITTEN}
README, CONTRIBUTING, CHOICES = (TEXTS[name] for name in ("README.md", "CONTRIBUTING.md", "docs/choices.md"))
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
"""What docs/choices.md calls each table, and the field that names its rows."""


def test_every_table_of_more_than_two_is_listed() -> None:
    assert {field for field, table in TABLES.items() if len(table) > 2} == set(TITLES.values())


@pytest.mark.parametrize("title", TITLES)
def test_the_table_of_choices_is_current(title: str) -> None:
    listed = ", ".join(f"{row.label} (`{name}`)" for name, row in TABLES[TITLES[title]].items())
    line = f"| {title} | {listed} |"
    assert line in CHOICES.splitlines(), f"docs/choices.md: this line belongs there\n{line}"


BLOCKS = [
    pytest.param(block, id=f"{name}-{number}")
    for name, text in TEXTS.items()
    if name not in ("CONTRIBUTING.md", "docs/tutorial.md", "docs/how-to.md")  # those have a test of their own
    for number, block in enumerate(re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL))
]


@pytest.mark.parametrize("block", BLOCKS)
def test_python_examples_run(block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tests").symlink_to(ROOT / "tests")  # what an example saves goes beside it, not into the clone
    monkeypatch.chdir(tmp_path)
    try:
        exec(compile(block, "an example", "exec"), {})  # noqa: S102
    finally:
        NORMALISERS.pop("powers", None)


@pytest.mark.parametrize("mark", ["start", "test"])
def test_commands_are_one_line_to_copy(mark: str) -> None:
    command = re.search(rf"<!-- {mark} -->\n```sh\n(.*?)\n```", README, flags=re.DOTALL)
    assert command is not None
    assert "\n" not in command.group(1)


def test_files_that_are_named_exist() -> None:
    for name, text in TEXTS.items():
        for target in re.findall(r"\]\((?!https?:|#)([^)\s]+)\)", text):
            assert ((ROOT / name).parent / target.partition("#")[0]).is_file(), f"{name} names {target}"


def test_the_readme_is_short_and_its_links_open_what_they_say() -> None:
    assert len(README.splitlines()) <= 120
    links = re.findall(r"\]\(http://localhost:8501/(?:\?(\S*))?\)[ ,.:]", README)
    assert len(set(links)) == 10
    opened = {link: url_codec.open_link("?" + link, Config, Selection) for link in links if link}
    assert [problem for _, problems in opened.values() for problem in problems] == []
    for link, (records, _) in opened.items():
        assert records != (Config(), Selection()), f"{link} changes nothing"
    assert url_codec.open_link("?score=nothing", Config, Selection)[1] != [], "this would see one that is wrong"


@pytest.mark.slow
def test_the_first_commit_of_contributing_works(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "attnviz", tmp_path / "attnviz", ignore=shutil.ignore_patterns("__pycache__"))
    [(file, text)] = re.findall(r"<!-- file: (.*?) -->\n```python\n(.*?)```", CONTRIBUTING, flags=re.DOTALL)
    [(changed, diff)] = re.findall(r"<!-- change: (.*?) -->\n```diff\n(.*?)```", CONTRIBUTING, flags=re.DOTALL)
    [check] = re.findall(r"<!-- then -->\n```python\n(.*?)```", CONTRIBUTING, flags=re.DOTALL)
    (tmp_path / file).write_text(text, encoding="utf-8")
    old, new = ("".join(f"{line[1:]}\n" for line in diff.splitlines() if line[0] == sign) for sign in "-+")
    before = (tmp_path / changed).read_text(encoding="utf-8")
    assert before.count(old) == 2
    (tmp_path / changed).write_text(before.replace(old, new), encoding="utf-8")
    for more in ("", "\ntrace.save('a.py')\nimport a\n", "\ntrace.save('a.html')\ntrace.save('a.svg')\n"):
        done = subprocess.run([sys.executable, "-c", check + more], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def test_what_runs_before_a_commit_is_what_ci_runs() -> None:
    ci = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    hooks = re.findall(r"entry: (.*)", (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    assert len(hooks) == 3
    assert set(hooks) <= set(ci)


def test_the_version_to_cite_is_that_of_the_package_and_has_its_changes() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\n## {version}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def of_docs(name: str) -> ModuleType:
    """A script of docs/, which is no package."""
    spec = spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    made = module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_the_film_strip_has_the_numbers_of_the_head() -> None:
    made = of_docs("film_strip")
    assert made.TARGET.read_text(encoding="utf-8") == made.strip()
    assert f"({made.TARGET.name})" in TEXTS["docs/the-page.md"]


def test_the_reference_has_every_public_name_and_the_site_every_page() -> None:
    assert {name.rpartition(".")[2] for name in of_docs("site_links").public_names()} == set(attnviz.__all__)
    site = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    listed = re.findall(r"^  - .*: (\S+\.md)$", site, flags=re.MULTILINE)
    assert sorted(f"docs/{page}" for page in listed) == sorted(name for name in TEXTS if name.startswith("docs/"))
    assert "font: false" in site, "the site loads nothing from elsewhere"
