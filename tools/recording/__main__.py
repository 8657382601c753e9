"""Record all that the package says of 400 settings, or compare two recordings: a net under a change of the layer.

    python -m tools.recording record FOLDER                       this checkout, all parts
    python -m tools.recording record FOLDER --of ../other         another checkout's package
    python -m tools.recording record FOLDER --only arrays gradients --jobs 2
    python -m tools.recording compare FOLDER OTHER                exit code 1 if anything differs

A folder holds the settings as JSON, and for each part a zip file a setting, which `unzip` opens.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(threads, "1")  # one process a core, and sums in one order


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        "tools.recording", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    record = commands.add_parser("record", help="record a checkout")
    record.add_argument("folder", type=Path)
    record.add_argument("--of", type=Path, help="the checkout whose package is recorded; this one by default")
    record.add_argument("--settings", type=int, default=400, help="how many of the numbered settings")
    record.add_argument("--jobs", type=int, default=1)
    compare = commands.add_parser("compare", help="compare two recordings")
    compare.add_argument("folder", type=Path)
    compare.add_argument("other", type=Path)
    compare.add_argument("--few", type=int, default=3, help="of how many settings a difference is shown")
    compare.add_argument("--most", type=int, default=40, help="how many kinds of a part are shown")
    compare.add_argument("--close", type=float, default=0.0, help="differences of numbers, relative, that are not told")
    for command in (record, compare):
        command.add_argument("--only", nargs="+", default=[], help="these parts")
    options = parser.parse_args(arguments)
    if options.command == "record":
        if options.of:
            sys.path.insert(0, str(options.of.resolve()))
        from tools.recording import writing

        return writing.record(options.folder, options.only, options.settings, options.jobs)
    from tools.recording import difference

    only = tuple(options.only)
    limits = {"few": options.few, "close": options.close, "most": options.most}
    lines = list(difference.compared(options.folder, options.other, **limits, only=only))
    print("\n".join(lines) if lines else "equal")
    return bool(lines)


if __name__ == "__main__":
    sys.exit(main())
