"""Traces: recorded lists of steps, and their files.

Reading order: model (Trace), file (the format), write, read, size_limits (checks of untrusted
files); table shows steps in a notebook, channel sends them to another process.
"""
