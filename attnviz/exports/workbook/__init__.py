"""A run as a workbook of live formulas."""
