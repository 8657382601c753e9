"""The answer beside the maps: how a cell came to be, as lines with bars and as a motion."""
