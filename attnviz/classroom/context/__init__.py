"""The run that a question is resolved in, and the words on an answer."""
