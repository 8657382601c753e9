"""The rows of the tables: their definitions, and the readings of those that no line defines."""
