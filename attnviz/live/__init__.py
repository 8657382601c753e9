"""The plan of a run as a program for the browser, which computes there what follows from a changed number."""
