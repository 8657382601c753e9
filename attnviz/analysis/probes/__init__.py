"""Probes of somebody's own attention function: it is run on them, and compared with the usual mistakes."""
