"""What a question is resolved in, and what is said of an answer."""
