"""A layer of attention as one page, and what follows from it."""
