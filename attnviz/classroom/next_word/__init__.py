"""Readings of the run of a language model in a lesson, as numbers and as pictures."""
