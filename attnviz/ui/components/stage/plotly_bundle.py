"""The Plotly of the maps: heat maps alone, 0.4 MB compressed, where Streamlit's own chart is 4.7 MB that are not.

`tools/plotly_bundle.py` builds it. A browser loads it once, from an address with a hash in it, after the maps have been
drawn for the first time: until it is there, and while something moves, they are on a canvas that has the same pixels.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache
from pathlib import Path

BUNDLE = Path(__file__).with_name("plotly") / "heatmap.js.gz"
LICENCES = BUNDLE.with_name("LICENCES")


def version() -> str:
    """Return the version of Plotly in JavaScript that the installed package in Python carries."""
    import plotly  # here, as it is asked for by tools and tests alone

    head = (Path(plotly.__file__).parent / "package_data" / "plotly.min.js").read_text("utf-8")[:200]
    found = re.search(r"plotly\.js v([\d.]+)", head)
    if found is None:
        raise ValueError("plotly.min.js does not say its version")
    return found[1]


@cache
def address() -> str:
    """Return where the server of the page hands it out, below the address of the page."""
    return f"attnviz/plotly-{hashlib.blake2b(BUNDLE.read_bytes(), digest_size=6).hexdigest()}.js"
