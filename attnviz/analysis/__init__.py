"""Numbers about what heads do: in a row, in a run, and over many texts.

Most of what a researcher wants is public under one roof: `attnviz.study`, `attnviz.compare`, `attnviz.head_kinds`,
`attnviz.rollout`, `attnviz.entropy`, `attnviz.effective_keys`, `attnviz.twin`, `attnviz.behaviours`, and
`attnviz.STATISTICS` for all statistics of a row. All of them take and give arrays; none draws.
"""
