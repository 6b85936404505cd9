"""The check of graph passes: the part that a pass changed, run with its own weights."""
