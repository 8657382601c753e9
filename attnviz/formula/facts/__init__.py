"""What is so of a formula, found by trying or from its form: what it is the same as, where it is no number."""
