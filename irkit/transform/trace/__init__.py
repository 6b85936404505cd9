"""Traces: the kept list of steps, and their file. Reading order: model (Trace), file (the format),
write, read, size_limits (what a hostile file may not do); table shows steps in a notebook,
channel sends them to another process."""
