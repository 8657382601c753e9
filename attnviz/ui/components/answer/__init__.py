"""The answer beside the maps: its lines, and how a cell comes to be, to be played."""
