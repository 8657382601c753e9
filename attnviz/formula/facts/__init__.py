"""Facts about a formula, found by trying or from its form: what it equals, where it is no number."""
