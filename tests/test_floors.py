"""The one rule of the house: a file imports only from lower floors, and files on one floor do not import each other."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FLOORS = (
    # core: NumPy and the standard library
    "core/language core/noise core/memory",
    "core/choice",
    "core/fields core/tokens core/positions core/projections core/scores core/biases core/normalisers core/sides "
    "core/blocks core/statistics core/patterns",
    "core/embeddings core/masks core/arguments core/patterns core/edits core/stacks",
    "core/config core/attention",
    "core/trace",
    "core/hand",
    "core/inputs core/hand",
    "core/parameters",
    "core/layers",
    "core/redeal core/given core/mask_forms core/trials core/orders",
    "core/lesson",
    "core/examples_of_shapes core/examples_of_masks core/examples_with_errors "
    "core/confusions_of_scores core/confusions_of_weights core/confusions_of_masks core/confusions_of_heads",
    "core/worked_examples core/confusions",
    "core/lessons",
    # views: pure functions of a run
    "views/codes views/formulas views/address views/mosaic views/latex views/sentences views/arrays views/sharing",
    "views/figures views/line views/place views/pasted views/whereabouts",
    "views/bars views/thumbnails views/scoring views/weighing views/vectors views/captions views/origins views/words",
    "views/reading_files views/archive views/brought",
    "views/stages views/flow views/cell views/reading views/overview",
    "views/asked views/ledger views/heatmaps views/comparison views/edited views/lettering views/shades",
    "views/slides views/predicates views/tables views/mask_code views/tiles views/worked views/standalone views/png",
    "views/questions views/mask_lab views/trials views/growth views/svg",
    "views/order views/posed views/blanks views/handed_in",
    "views/assignments views/printed",
    "views/handout",
    "views/marking",
    "views/script_rows views/script_functions",
    "views/script_lines",
    "views/script_inputs views/script_parameters",
    "views/script_layers",
    "views/script_parts",
    "views/numpy_script",
    "views/torch_script views/notebook",
    "views/workbook_layout",
    "views/workbook_formulas",
    "views/workbook_normalisers",
    "views/workbook_steps",
    "views/workbook_setting",
    "views/workbook_layers",
    "views/workbook",
    "views/formats",
    # ui: the page
    "ui/say ui/controls ui/locale ui/wire ui/turns ui/history",
    "ui/state ui/selection ui/bridge ui/strip ui/word ui/paint ui/paste ui/snapshot",
    "ui/cell ui/panels ui/what_if ui/mask_builder ui/mask_values ui/trials",
    "ui/lessons ui/explore ui/lecture ui/compare ui/experiments ui/take ui/answering ui/marks",
    "ui/own ui/composing",
    "ui/assignment",
    "ui/pages",
    "ui/door",
)


def floor_of(path: str) -> int:
    return next(number for number, floor in enumerate(FLOORS) if path.removesuffix(".py") in floor.split())


def imports(path: Path) -> set[str]:
    """The files of the package that a file imports, as `room/file.py`."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        for name in names:
            file = Path(*name.split(".")[1:]).with_suffix(".py") if name.startswith("attnviz.") else None
            if file and (ROOT / "attnviz" / file).is_file():
                found.add(file.as_posix())
    return found


FILES = sorted(
    path.relative_to(ROOT / "attnviz").as_posix()
    for path in (ROOT / "attnviz").glob("*/*.py")
    if path.name != "__init__.py"
)


def climbs(path: str, imported: set[str]) -> set[str]:
    return {other for other in imported if floor_of(other) >= floor_of(path)}


@pytest.mark.parametrize("path", FILES)
def test_imports_only_go_down(path: str) -> None:
    assert climbs(path, imports(ROOT / "attnviz" / path)) == set()


def test_the_rule_can_fail() -> None:
    assert climbs("core/tokens.py", {"core/choice.py", "core/masks.py", "core/config.py"}) == {
        "core/masks.py",
        "core/config.py",
    }
    assert "core/masks.py" in imports(ROOT / "attnviz/core/layers.py")


def loaded_by(statement: str) -> set[str]:
    """The top-level modules that a fresh Python holds after a statement."""
    code = f"{statement}; import sys; print(*{{name.split('.')[0] for name in sys.modules}})"
    return set(
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
        ).stdout.split()
    )


HEAVY = {"plotly", "pandas", "streamlit", "scipy", "torch"}


def test_attnviz_loads_numpy_and_nothing_heavier() -> None:
    loaded = loaded_by("import attnviz")
    assert "numpy" in loaded
    assert loaded & HEAVY == set()


def test_the_check_for_heavy_imports_can_fail() -> None:
    assert loaded_by("import attnviz, pandas") & HEAVY == {"pandas"}
