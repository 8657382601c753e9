#!/usr/bin/env bash
# All checks on the newest Streamlit, in a copy of the last commit: what an upgrade would break, before there is one. It
# takes as long as .ci/run. Tests that compare the lock with the pinned version are expected to name the difference.
set -euo pipefail
cd "$(dirname "$0")/.."
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
git clone --quiet . "$copy/attnviz"
cd "$copy/attnviz"
sed -i -E 's/(streamlit(\[performance\])?)==[0-9.]+/\1/' requirements.txt pyproject.toml
bash "${1:-.ci/run}"
