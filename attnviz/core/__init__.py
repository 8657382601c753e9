"""Room 1: attention itself. NumPy and the standard library only."""
