"""Numbers about runs: statistics, averages over seeds, permutations."""
