"""Attention itself: every step of a run. NumPy and the standard library only."""
