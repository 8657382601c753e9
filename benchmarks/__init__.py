"""Measurements that are no tests: each file says what it measures, and how it is run."""
