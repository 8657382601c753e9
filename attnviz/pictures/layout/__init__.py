"""The layout of heads and pictures in the room that there is."""
