"""Questions, assignments, answer codes, grading and handouts."""
