"""The next word of a language model in a lesson: what is read off its run, and what can be asked about that."""
