"""Numbers, sentences and formulas as text and HTML."""
