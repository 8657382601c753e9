"""Assignments as links, answers as codes, and their marking."""
