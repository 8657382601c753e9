"""What holds for every test."""

from __future__ import annotations

from hypothesis import settings

import attnviz

assert attnviz.__file__  # imported before doctests are collected, which would make modules of their own of its files

settings.register_profile("untimed", deadline=None)  # how long a test takes says more of the machine than of the code
settings.load_profile("untimed")

collect_ignore_glob = ["browser/pages/*"]  # scripts for Streamlit: to look in them for doctests would run them
