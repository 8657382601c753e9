"""Panels of assignments: their editor, the form for answers, the desk for marks."""
