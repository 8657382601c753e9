"""Parameters that are learned from made-up sentences: the tasks, one exact step of learning, and its arithmetic."""
