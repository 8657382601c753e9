"""The parts of a model's layers, read from its config.json.

What a config.json can say beyond what is read here is refused, so that no model is computed almost right.
"""
