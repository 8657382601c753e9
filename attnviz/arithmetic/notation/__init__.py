"""How the arithmetic of a cell is written: its lines, their words, and their numbers in LaTeX."""
