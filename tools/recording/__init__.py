"""Recordings of all that the package says of many settings, by which two checkouts are compared."""
