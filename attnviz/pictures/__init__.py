"""Figures of a run, for Plotly and for the page."""
