"""Lessons and what they need of a run."""
