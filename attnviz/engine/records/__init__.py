"""What goes into a run and what comes out of it: settings, edits, typed rows, the trace."""
