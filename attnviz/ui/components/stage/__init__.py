"""The matrix in the middle of the page, and what is drawn into and beside it."""
