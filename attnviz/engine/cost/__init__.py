"""The memory and the time of a run, estimated before it is computed."""
