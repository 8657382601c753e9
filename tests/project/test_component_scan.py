"""Streamlit's search for components among all installed packages, which is longer than the run of a page."""

from __future__ import annotations

from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest


def test_packages_are_searched_once_however_many_pages_are_opened() -> None:
    for _ in range(2):
        AppTest.from_string("import streamlit as st; st.write('here')").run()
    searched = manifest_scanner.scan_component_manifests.cache_info()
    assert searched.misses == 1
    assert searched.hits >= 1
