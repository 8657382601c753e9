"""The package as a user sees it: its names, what importing it loads, and the sentences where a library is missing."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import attnviz
from attnviz import Config, run
from tests.support.tables import TABLES
from tools import row_names

MODELS = Path(__file__).resolve().parents[1] / "models"


def loaded(code: str) -> set[str]:
    """The modules that are loaded after a script, in a fresh interpreter."""
    command = [sys.executable, "-c", f"{code}; import sys; print(*sys.modules)"]
    return set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())


def test_the_types_name_the_rows_of_the_tables() -> None:
    wanted = row_names.text()
    assert all(f'"{name}"' in wanted for table in TABLES.values() for name in table)
    assert row_names.FILE.read_text(encoding="utf-8") == wanted, "run python -m tools.row_names"


def test_dir_shows_what_is_public_and_nothing_else() -> None:
    assert set(dir(attnviz)) == {*attnviz.__all__, "__version__"}
    assert {"show", "heatmaps"} <= set(attnviz.__all__)
    for name in attnviz.__all__:
        assert getattr(attnviz, name).__name__ == name if callable(getattr(attnviz, name)) else name.isupper()


def test_importing_the_package_loads_only_what_it_hands_down() -> None:
    found = loaded("import attnviz")
    assert {name for name in found if name.startswith("attnviz")} == {"attnviz", "attnviz.outlets"}
    assert not found & {"numpy", "dataclasses", "inspect"}
    assert "attnviz.engine.records.config" in loaded("import attnviz; attnviz.Config")  # the check can fail


@pytest.mark.slow
def test_computing_loads_numpy_and_neither_the_views_nor_plotly() -> None:
    found = loaded("from attnviz import Config, run; run(Config())")
    assert "numpy" in found
    assert not [
        name
        for name in found
        if name.startswith(
            (
                "attnviz.arithmetic",
                "attnviz.classroom",
                "attnviz.experiments",
                "attnviz.exports",
                "attnviz.pictures",
                "attnviz.text",
                "attnviz.uploads",
                "attnviz.ui",
            )
        )
    ]
    assert not found & {"plotly", "pandas", "streamlit"}
    assert "plotly" in loaded("import attnviz; attnviz.show([[1.0]]).figure")  # the check can fail


def test_all_names_can_be_imported_without_plotly_and_a_figure_says_what_it_needs() -> None:
    code = "import sys; sys.modules['plotly'] = None; from attnviz import *; print(run(Config()).result.name)"
    command = [sys.executable, "-c", code + "\nshow([[1.0]]).figure"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout == "output\n"
    assert done.stderr.endswith('ModuleNotFoundError: A figure needs Plotly: pip install "attnviz[plot]".\n')


def test_show_draws_with_numpy_alone() -> None:
    code = """
import sys
for library in ("plotly", "pandas", "streamlit", "IPython"):
    sys.modules[library] = None
import attnviz
shown = attnviz.show([[[1.0, 0.0], [0.25, 0.75]]] * 2, ["one", "two"])
assert shown._repr_html_().startswith("<iframe ")
from tests.support.interactive_file import unpacked
assert all(word in unpacked(shown._repr_html_()) for word in ("one", "two", "as-lines", "as-all"))
assert not any(hasattr(shown, name) for name in ("_ipython_display_", "_repr_mimebundle_", "_repr_png_"))
assert attnviz.show(attnviz.run(attnviz.Config(n_layers=2)))._repr_html_().startswith("<iframe ")
try:
    shown.data
except AttributeError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr == ""
    assert done.stdout == 'data: A figure needs Plotly: pip install "attnviz[plot]".\n'


def test_a_misspelt_name_is_an_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'showw'"):
        attnviz.showw  # noqa: B018


def test_a_wrong_argument_is_said_in_a_sentence_with_a_cure(tmp_path: Path) -> None:
    trace = run(Config(sentence="the cat sat"))
    calls: dict[str, Callable[[], object]] = {
        "the text has no token; give": lambda: attnviz.load(MODELS / "gpt2").generate("", 3),
        "layer is 0; this run has 1 to 1": lambda: trace.save(tmp_path / "a.svg", layer=0),
        "None is not a folder; give": lambda: attnviz.load(None),  # type: ignore[arg-type]
        "entropy takes weights": lambda: attnviz.entropy("a"),  # type: ignore[arg-type]
        "effective_keys takes weights": lambda: attnviz.effective_keys(3),  # type: ignore[arg-type]
        "rollout takes weights (heads, queries, keys)": lambda: attnviz.rollout(3),  # type: ignore[arg-type]
        "head_kinds takes weights (heads, queries, keys)": lambda: attnviz.head_kinds(3),  # type: ignore[arg-type]
        "plan_of takes a Config": lambda: attnviz.plan_of(3),  # type: ignore[arg-type]
        "behaviours takes a run": lambda: attnviz.behaviours(3),  # type: ignore[arg-type]
        "sinusoidal takes a number of positions": lambda: attnviz.sinusoidal(-1, 3),
        "there is no head 99; this has 4, choose 0 to 3": lambda: trace["weights"].head(99),
        "Type 1 if i == j else 0": lambda: run(Config(sentence="a b", bias="formula", bias_formula="i=j")),
    }
    for says, call in calls.items():
        with pytest.raises((ValueError, IndexError), match=re.escape(says)):
            call()
