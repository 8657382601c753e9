"""The rows of every menu that changes a number, one table a file."""
