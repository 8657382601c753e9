"""The whole page on a server that never comes back from a setting with seven heads, as if it used up all memory."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

from attnviz import Config
from attnviz.engine import run as layers
from attnviz.engine.records.trace import Trace
from attnviz.ui import main
from attnviz.ui.session import admission


def run(config: Config, *more: Any) -> Trace:
    """Note for the test that such a run has begun, and stay in it."""
    if config.n_heads == 7:
        with Path(os.environ["ATTNVIZ_TEST_NOTES"]).open("a", encoding="utf-8") as notes:
            notes.write("begun\n")
        threading.Event().wait()
    return layers.run(config, *more)


admission.run_of = run
main.page()
