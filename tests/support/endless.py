"""A program that computes for ever."""

while True:
    pass
