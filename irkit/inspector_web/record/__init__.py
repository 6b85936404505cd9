"""Make traces in a child process with limits, and read them back.

Reading order: progress (how far the child is), tempdirs (where it writes), step_recorder (record
the steps of every pipeline that runs), script (run a user's script), untrusted_onnx (import a model
that somebody else made), record (what the child runs), restore (read the result in the parent),
absent_constants (read constants again that a trace holds by digest only).
"""
