"""Code generated from a formula: steps with names, scripts, LaTeX, one cell, a spreadsheet, JavaScript and cost."""
