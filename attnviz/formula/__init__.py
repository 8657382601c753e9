"""A score, a mask, a bias or a normaliser as one typed line: read, computed and differentiated."""
