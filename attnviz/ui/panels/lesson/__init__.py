"""The parts of the Lessons page: its path, the question and the control of a slide."""
