"""Runs of arrays that were computed elsewhere: weights, scores, or queries, keys and values."""
