"""The sentences and figures of the experiments."""
