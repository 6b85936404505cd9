"""Traces: recorded lists of steps, and their files.

Reading order: model (Trace), file and frames (the format), write (rows), stream and save (files),
read (tables), stored (IR on demand) and load (files), size_limits (checks of untrusted files);
trace_folder writes what IRKIT_TRACE asks for; table shows steps in a notebook, channel sends them
to another process.
"""
