"""The way back through a run, from the slopes of its results to those of every step."""
