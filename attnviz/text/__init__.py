"""Sentences, captions and headlines about a run."""
