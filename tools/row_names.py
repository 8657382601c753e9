"""Make attnviz/engine/tables/row_names.py: the names of the rows of every table as types, for checkers and editors.

    python -m tools.row_names

A type checker runs no code, so it cannot read them off the tables.
"""

from __future__ import annotations

from pathlib import Path

from attnviz import Config
from attnviz.settings.fields import settings

FILE = Path(__file__).parents[1] / "attnviz/engine/tables/row_names.py"
HEAD = '''"""The names of the rows of every table as types: a checker refuses a misspelt one, an editor offers them.

Made by `python -m tools.row_names`.
"""

from __future__ import annotations

from typing import Literal

'''
CALLED = {"normalise_over": "Side", "patterns": "Pattern"}
"""The fields whose rows go by another name than the field."""

WIDTH = 120


def text() -> str:
    """Return the module as it should be."""
    types = []
    for item in settings(Config):
        table = getattr(item.metadata["kind"], "table", None)
        if table:
            called = CALLED.get(item.name, item.name.title().replace("_", ""))
            types.append(_written(f"{called}Name", [f'"{name}"' for name in table]))
    return HEAD + "".join(types)


def _written(name: str, rows: list[str]) -> str:
    """Return the line of a type, broken as the formatter breaks it."""
    listed = ", ".join(rows)
    if len(f"{name} = Literal[{listed}]") <= WIDTH:
        return f"{name} = Literal[{listed}]\n"
    if len(listed) + 4 <= WIDTH:
        return f"{name} = Literal[\n    {listed}\n]\n"
    return f"{name} = Literal[\n" + "".join(f"    {row},\n" for row in rows) + "]\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
