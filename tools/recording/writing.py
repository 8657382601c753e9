"""Writing a recording: a folder a part, in it a zip file a setting, which equal runs make equal."""

from __future__ import annotations

import io
import json
import multiprocessing
import sys
import time
import warnings
import zipfile
from collections import Counter
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import attnviz
from tools.recording.parts import PARTS
from tools.recording.runs import TABLES, traced
from tools.recording.settings import Setting, every

NO_TIME = (1980, 1, 1, 0, 0, 0)


def record(folder: Path, only: list[str], n: int, jobs: int) -> int:
    """Record so many settings, of all parts or of these, in so many processes; return the exit code.

    Prints what could not be recorded: a part that the package refuses or that raises is recorded as its message.
    """
    unknown = [part for part in only if part not in PARTS]
    if unknown:
        print(f"there is no part {', '.join(unknown)}; the parts are: {', '.join(PARTS)}")
        return 2
    settings, parts, begun = every(n, TABLES), only or [*PARTS], time.monotonic()
    for part in parts:
        (folder / part).mkdir(parents=True, exist_ok=True)
        for path in (folder / part).glob("*.zip"):
            path.unlink()
    (folder / "settings.json").write_text(json.dumps(settings, indent=1), "utf-8")
    each = partial(written, folder, tuple(parts))
    raised: Counter[str] = Counter()
    if jobs == 1:
        for found in map(each, settings.items()):
            raised.update(found)
    else:
        with multiprocessing.get_context("fork").Pool(jobs) as pool:
            for found in pool.imap_unordered(each, settings.items(), chunksize=4):
                raised.update(found)
    print(f"{len(settings)} settings of {Path(attnviz.__file__).parent}, {time.monotonic() - begun:.0f} s", flush=True)
    for message, times in raised.most_common(20):
        print(f"{times} raise {message}", file=sys.stderr)
    return 0


def written(folder: Path, parts: Iterable[str], named: tuple[str, Setting]) -> list[str]:
    """Write the parts of one setting, and return what was raised."""
    name, setting = named
    raised = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # inf and NaN are recorded as the run has them
        try:
            trace = traced(name, setting)
        except Exception as error:
            trace, why = None, _message(error)
            raised.append(f"run: {why[:160]}")
        for part in parts:
            entries: dict[str, Any] = {}
            if trace is None:
                entries["raised.txt"] = why
            else:
                try:
                    for called, said in PARTS[part](name, trace):
                        entries[called] = said
                except Exception as error:
                    entries["raised.txt"] = _message(error)
                    raised.append(f"{part}: {_message(error)[:160]}")
            (folder / part / f"{name}.zip").write_bytes(zipped(entries))
    return raised


def _message(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def zipped(entries: dict[str, Any]) -> bytes:
    """Return texts and arrays as a zip file without times."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, said in entries.items():
            archive.writestr(zipfile.ZipInfo(name, NO_TIME), _bytes(said), zipfile.ZIP_DEFLATED, 1)
    return out.getvalue()


def _bytes(said: Any) -> bytes:
    if isinstance(said, str):
        return said.encode("utf-8", "surrogatepass")
    out = io.BytesIO()
    np.save(out, np.asarray(said))
    return out.getvalue()
