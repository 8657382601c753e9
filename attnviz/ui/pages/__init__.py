"""One file for each page; `registry.py` and `panels.py` list pages and panels."""
