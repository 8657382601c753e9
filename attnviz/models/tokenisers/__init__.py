"""The tokenisers of trained models, read from their files."""
