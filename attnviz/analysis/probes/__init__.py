"""What is wrong with somebody's own attention function: it is run on probes, and compared with the usual mistakes."""
