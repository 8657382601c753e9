"""Bars and curves: what is no heatmap."""
