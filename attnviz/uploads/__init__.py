"""Arrays out of files and pasted text."""
