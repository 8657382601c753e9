"""The sentence with lines from word to word."""
