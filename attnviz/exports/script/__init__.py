"""A run as a program: NumPy, PyTorch and a notebook."""
