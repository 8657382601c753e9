"""Records of a run: its settings, edits and typed rows, and the trace that it leaves."""
