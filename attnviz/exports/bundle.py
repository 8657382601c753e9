"""JavaScript of the package: modules put together into one text, without a build step.

The modules import from each other as the language has it, so that editors and `tsc` follow them; a component of the
page and an exported file hold one script each, in which the imports have nothing left to do.
"""

from __future__ import annotations

import re
from pathlib import Path

_TYPES = re.compile(r"^/\*\* @import .*\*/\n", re.MULTILINE)
_IMPORT = re.compile(r'^import \{[^}]*\} from "(\.{1,2}/[\w/.]+\.js)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?!default\b)", re.MULTILINE)
_LINE = re.compile(r"^[ \t]*// .*\n", re.MULTILINE)
_CAST = re.compile(r"/\*\* @type [^*\n]*\*/ ")
_DESCRIPTION = re.compile(r"^[ \t]*/\*\*(?:(?!\*/).)*\*/\n", re.MULTILINE | re.DOTALL)


def joined(main: Path) -> str:
    """Join a module and all that it imports into one text: each module once, before those that import it.

    All top-level names are known in the whole text, so no two modules may declare the same one. Raises ValueError where
    modules import each other in a circle.
    """
    texts: dict[Path, str] = {}

    def add(path: Path, importers: tuple[Path, ...]) -> None:
        if path in importers:
            raise ValueError(" imports ".join(each.name for each in (*importers, path)) + ": a circle")
        if path in texts:
            return
        text = path.read_text("utf-8")
        for other in _IMPORT.findall(text):
            add((path.parent / other).resolve(), (*importers, path))
        texts[path] = _EXPORT.sub("", _IMPORT.sub("", _TYPES.sub("", text)))

    add(main.resolve(), ())
    return "\n".join(texts.values())


def without_descriptions(script: str) -> str:
    """Return a script without the comments that describe what follows them and name its types.

    >>> without_descriptions("/** @param {number} x */\\nconst twice = (x) => 2 * x; // exact\\n")
    'const twice = (x) => 2 * x; // exact\\n'
    """
    return _DESCRIPTION.sub("", script)


def without_comments(script: str) -> str:
    """Return a script without its descriptions, the types inside lines, and the comments that have lines of their own.

    >>> without_comments("// of numbers\\nconst two = /** @type {number} */ (2); // exact\\n")
    'const two = (2); // exact\\n'
    """
    return _CAST.sub("", _LINE.sub("", without_descriptions(script)))
