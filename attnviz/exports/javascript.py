"""JavaScript of the package: modules put together into one text, without a build step.

The modules import from each other as the language has it, so that editors and `tsc` follow them; a component of the
page and an exported file hold one script each, in which the imports have nothing left to do.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

_TYPES = re.compile(r"^/\*\* @import .*\*/\n", re.MULTILINE)
_IMPORT = re.compile(r'^import \{[^}]*\} from "\./(\w+)\.js";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?!default\b)", re.MULTILINE)


def joined(folder: Path, names: Sequence[str]) -> str:
    """Join modules of a folder, in this order, into one text in which all their names are known.

    Raises ValueError where a module imports from one that does not stand before it.
    """
    texts = []
    for place, name in enumerate(names):
        text = (folder / f"{name}.js").read_text("utf-8")
        missing = [other for other in _IMPORT.findall(text) if other not in names[:place]]
        if missing:
            raise ValueError(f"{name}.js imports from {', '.join(missing)}, which is not before it")
        texts.append(_EXPORT.sub("", _IMPORT.sub("", _TYPES.sub("", text))))
    return "\n".join(texts)
