"""The notation of a cell's arithmetic: its lines, their words, and their numbers in LaTeX."""
