"""Small pictures of steps, heads and frames, of which a reader picks one."""
