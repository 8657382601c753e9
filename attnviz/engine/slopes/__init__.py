"""Slopes of the rows of the tables: what moves a result by how much, handed back to what it was made from."""
