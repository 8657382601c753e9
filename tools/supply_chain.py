"""What a host installs: whether an advisory is known for any of it, and the list of it all as CycloneDX.

    pip install -r deploy/requirements-audit.txt
    python -m tools.supply_chain --sbom sbom.json            fails on an advisory
    python -m tools.supply_chain --sbom sbom.json --must     fails, too, where advisories cannot be asked for

Without `--must` it is for the checks of a change: an advisory service that cannot be reached says nothing about the
change, and a check that fails for that is soon left out. But nothing found by nobody must not read as nothing found; an
index of packages that tells no advisories answers like one that knows of none. So one old version is asked about whose
advisories have been public for years, and only who finds those is believed. Whatever installs for others says `--must`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

LOCK = Path(__file__).resolve().parents[1] / "requirements-lock.txt"
KNOWN = "jinja2==2.10"
"""CVE-2019-10906 and others; it is asked about, never installed."""
NOT_AUDITED = 2

Report = Sequence[dict[str, Any]]


def report(requirements: Path) -> Report:
    """Return what pip-audit says of the packages of a file; nothing where it cannot ask."""
    command = ["-m", "pip_audit", "-r", str(requirements), "--no-deps", "--disable-pip", "--progress-spinner=off"]
    done = subprocess.run([sys.executable, *command, "--format=json"], capture_output=True, text=True)
    try:
        return json.loads(done.stdout)["dependencies"]  # type: ignore[no-any-return]
    except (ValueError, KeyError):
        return ()


def judged(locked: Report, known: Report) -> tuple[int, str]:
    """Return the exit code and a sentence for the packages of the lock, and for the one with advisories."""
    found = [
        f"{each['name']} {each['version']}: {advisory['id']}, mended in {', '.join(advisory['fix_versions']) or '-'}"
        for each in locked
        for advisory in each.get("vulns", ())
    ]
    if found:
        return 1, "\n".join(found)
    answered = sum("skip_reason" not in each for each in locked)
    if not answered or answered < len(locked) or not any(each.get("vulns") for each in known):
        return NOT_AUDITED, f"NOT AUDITED: nobody here tells advisories, not even those for {KNOWN}"
    return 0, f"{len(locked)} packages, no known advisory"


def write_bill(path: Path) -> int:
    """Write the list of what the lock holds, the same bytes for the same lock, and return how many packages it has."""
    command = ["-m", "cyclonedx_py", "requirements", str(LOCK), "--output-reproducible", "-o", str(path)]
    subprocess.run([sys.executable, *command], check=True, capture_output=True)
    return len(json.loads(path.read_text("utf-8"))["components"])


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sbom", type=Path, required=True, help="where the list is written")
    parser.add_argument("--must", action="store_true", help="fail where advisories cannot be asked for")
    chosen = parser.parse_args()
    print(f"{write_bill(chosen.sbom)} packages in {chosen.sbom.name}")
    with tempfile.TemporaryDirectory() as folder:
        known = Path(folder) / "known.txt"
        known.write_text(KNOWN, "utf-8")
        code, sentence = judged(report(LOCK), report(known))
    print(sentence)
    return 0 if code == NOT_AUDITED and not chosen.must else code


if __name__ == "__main__":
    sys.exit(main())
