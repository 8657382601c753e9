"""The files that a run can be saved as."""
