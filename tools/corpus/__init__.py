"""The corpus that the models in the package learn from: every sentence is made here, by rule."""
