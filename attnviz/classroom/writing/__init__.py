"""Lessons in the making: a setting as a slide, all faults of a file, and a lesson as a link."""
