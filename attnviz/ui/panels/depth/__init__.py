"""Panels that go into the depth of a run: down to the products of one number, and through its layers."""
