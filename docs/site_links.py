"""What MkDocs needs beyond the pages themselves: the list of public names, and no links to files outside docs/."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

PUBLIC = Path(__file__).parent.parent / "attnviz" / "__init__.py"
OUTSIDE = re.compile(r"\[([^]]+)\]\((?:\.\./[^)]*|[^)]*\.ipynb)\)")


def public_names() -> list[str]:
    """Return each public name with the module that defines it, in the order of `attnviz/__init__.py`."""
    for_checkers, *_ = [node for node in ast.parse(PUBLIC.read_text("utf-8")).body if isinstance(node, ast.If)]
    imports = [node for node in for_checkers.body if isinstance(node, ast.ImportFrom)]
    return [f"{node.module}.{name.name}" for node in imports for name in node.names]


def on_page_markdown(markdown: str, page: Any, **_: object) -> str:
    """Give a page as the site shows it: a link to a file of the repository becomes its words."""
    if page.file.src_uri == "reference.md":
        markdown += "\n" + "\n\n".join(f"::: {name}" for name in public_names()) + "\n"
    return OUTSIDE.sub(r"\1", markdown)
