"""The interactive file's own arithmetic of cells, run by node without a page: for many runs in one process."""

from __future__ import annotations

import base64
import json
import re
import subprocess
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attnviz import Trace
from attnviz.exports import interactive_html
from attnviz.exports.bundle import joined

_RUN = """
(() => {
  class HTMLScriptElement { text = %(run)s; }
  const document = { getElementById: () => new HTMLScriptElement() };
  %(script)s
  const found = [];
  const cells = (name) => {
    const { shape } = step(name);
    return Array.from({ length: shape[0] * shape[1] * shape[2] }, (_, n) => [
      Math.floor(n / shape[2] / shape[1]), Math.floor(n / shape[2]) %% shape[1], n %% shape[2]]);
  };
  const asked = %(asked)s;
  if (asked) return lines({ name: asked[0] }, asked[1]);
  data.layers.forEach((_, layer) => {
    view.layer = layer;
    for (const name of ["weights", "heads"])
      for (const cell of cells(name)) {
        const told = lines({ name }, cell);
        if (!told.length) found.push(`${name} ${cell} has no lines`);
        for (const [title, text] of told)
          if (text.includes(words.edited)) found.push(`layer ${layer}, ${name} ${cell}: ${title}: ${text}`);
      }
  });
  return found;
})()
"""


def unpacked(drawn: str) -> str:
    """The interactive file in what a notebook draws."""
    [packed] = re.findall(r"atob\(&quot;([A-Za-z0-9+/=]+)&quot;\)", drawn)
    return zlib.decompress(base64.b64decode(packed)).decode("utf-8")


def disagreeing(traces: Sequence[Trace], node: str, folder: Path) -> list[list[str]]:
    """For each run the lines whose number is not the one that is recorded, as the file itself says it."""
    return outcomes([of_file(trace) for trace in traces], node, folder)


def of_file(trace: Trace, asked: tuple[str, tuple[int, int, int]] | None = None) -> str:
    """The script of a file that finds such lines, or that says the lines of a cell of a step, each with its title."""
    script = joined(interactive_html.SCRIPT.with_name("cell.js"))
    return _RUN % {"run": _data(trace), "script": _filled(script, trace), "asked": json.dumps(asked)}


def outcomes(scripts: Sequence[str], node: str, folder: Path) -> list[list[Any]]:
    """What scripts of files find, in one process."""
    path = folder / "cells.js"
    path.write_text(f'"use strict";\nconsole.log(JSON.stringify([{",".join(scripts)}]));', encoding="utf-8")
    made = subprocess.run([node, str(path)], capture_output=True, encoding="utf-8", check=False)
    assert made.returncode == 0, made.stderr[-2000:]
    return json.loads(made.stdout)


def _data(trace: Trace) -> str:
    """What the file holds of the run, as a text of JavaScript."""
    found = re.search(
        r'<script id="run" type="application/json">(.*?)</script>', interactive_html.html(trace), re.DOTALL
    )
    assert found is not None
    return json.dumps(found[1])


def _filled(script: str, trace: Trace) -> str:
    formulas, written = interactive_html._formulas(trace), interactive_html._written(trace)
    return script.replace(interactive_html.NO_FORMULAS, formulas).replace(interactive_html.NOT_WRITTEN, written)
