"""Build the Plotly that the maps of the page draw with: the npm package with heat maps alone.

    python tools/plotly_bundle.py          needs node and npm

It is of the version that the installed Python package carries, so that page, notebook and file draw alike. Writes the
bundle, compressed, and the licences of all that is in it beside it; run it again after another Plotly is installed.
"""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from attnviz.ui.components.stage.plotly_bundle import BUNDLE, LICENCES, version

ESBUILD = "0.28.2"
ENTRY = """\
import Plotly from "plotly.js/lib/core";
import heatmap from "plotly.js/lib/heatmap";
Plotly.register([heatmap]);
export default Plotly;
"""
OPTIONS = [
    "--bundle",
    "--minify",
    "--format=esm",
    "--define:global=window",
    "--loader:.css=text",
    "--legal-comments=none",
]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        (here / "heatmap.js").write_text(ENTRY, "utf-8")
        (here / "package.json").write_text('{"private": true, "type": "module"}', "utf-8")
        for command in (
            ("npm", "install", "--no-audit", "--no-fund", f"plotly.js@{version()}", f"esbuild@{ESBUILD}"),
            ("node", "node_modules/esbuild/install.js"),
            ("node_modules/.bin/esbuild", "heatmap.js", *OPTIONS, "--metafile=meta.json", "--outfile=bundle.js"),
        ):
            subprocess.run(command, cwd=here, check=True)
        BUNDLE.write_bytes(gzip.compress((here / "bundle.js").read_bytes(), 9, mtime=0))
        LICENCES.write_text(licences(here), "utf-8")


def licences(here: Path) -> str:
    """Return the licences of the packages of which something is in the bundle."""
    inputs = json.loads((here / "meta.json").read_text("utf-8"))["inputs"]
    packages = {found[1] for name in inputs if (found := re.match(r"(node_modules/(?:@[^/]+/)?[^/]+)/", name))}
    texts = []
    for package in sorted(packages):
        about = json.loads((here / package / "package.json").read_text("utf-8"))
        files = sorted(path for path in (here / package).iterdir() if re.match(r"licen[cs]e|copying", path.name, re.I))
        text = "\n".join(path.read_text("utf-8").strip() for path in files) or f"Licence: {about.get('license')}"
        texts.append(f"{about['name']} {about['version']}\n\n{text}\n")
    return ("\n" + 80 * "-" + "\n\n").join(texts)


if __name__ == "__main__":
    main()
