"""One cell and one row of a run, line by line, with the run's own numbers."""
