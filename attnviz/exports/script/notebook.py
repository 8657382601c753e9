"""The current setting as a Jupyter notebook: the lines of the NumPy script, with words and formulas between them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from typing import Any

from attnviz.engine.records.config import Config
from attnviz.engine.records.trace import Trace
from attnviz.exports.script.comments import in_language
from attnviz.exports.script.lines import Part, fitted
from attnviz.exports.script.numpy_script import PRINT, imports, opening, run_of, summary
from attnviz.exports.script.parts import VERBATIM, formulas, parts, words
from attnviz.settings.counting import ordinal
from attnviz.settings.language import Words

WORDS = Words({"layer": "Layer {number}"})
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def notebook(of: Config | Trace) -> str:
    """Return a setting or its run as a notebook, the text of an .ipynb file (nbformat 4.5), a layer after the other.

    The same setting gives the same file. What was typed stands in code alone, as strings.

    Raises ConfigError for a setting that cannot be run.

    >>> [cell["id"] for cell in json.loads(notebook(Config(sentence="a b")))["cells"]][:3]
    ['summary', 'imports', 'setting-text']
    """
    trace = run_of(of)
    config, script_parts = trace.config, parts(trace, looped=False)
    whole = [*opening(trace, script_parts), *script_parts, PRINT]
    title, *rest = summary(trace, "NumPy").splitlines()
    cells = [_cell("summary", "markdown", "\n".join([f"# {title.rstrip('.。')}", *rest]))]
    cells.append(_cell("imports", "code", imports(whole, "NumPy")))
    for part, before in zip(whole, [None, *whole]):
        where = "" if part.layer is None else f"layer-{ordinal(part.layer)}-"
        heading = config.n_layers > 1 and before is not None and part.layer not in (None, before.layer)
        cells.append(_cell(f"{where}{part.name}-text", "markdown", _text(part, whole, trace, heading)))
        code = in_language(part.code)
        cells.append(_cell(f"{where}{part.name}", "code", code if part.name in VERBATIM else fitted(code)))
    return json.dumps({"cells": cells, "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5}, indent=1) + "\n"


def _text(part: Part, whole: Sequence[Part], trace: Trace, heading: bool) -> str:
    """Return the title of a part, what is said of it, and its formulas; said once, in the first layer."""
    title, text = words(part, trace)
    paragraphs = [f"# {WORDS['layer'].format(number=ordinal(part.layer or 0))}"] if heading else []
    paragraphs += [f"## {title}", *([] if part.layer else [escape(text, quote=False)])]
    return "\n\n".join([*paragraphs, *(f"$${formula}$$" for formula in formulas(part, whole, trace))])


def _cell(name: str, kind: str, source: str) -> dict[str, Any]:
    outputs: dict[str, Any] = {"execution_count": None, "outputs": []} if kind == "code" else {}
    return {"cell_type": kind, "id": name, "metadata": {}, **outputs, "source": _lines(source)}


def _lines(source: str) -> Sequence[str]:
    """Return the lines as the format wants them: each with its end but the last. Only a line feed ends one."""
    lines = source.split("\n")
    return [*(f"{line}\n" for line in lines[:-1]), lines[-1]]
