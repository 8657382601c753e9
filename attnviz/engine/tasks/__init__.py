"""The tasks that heads learn."""
