"""Make traces in a child process with limits, and read them back.

Reading order: progress (how far the child is), tempdirs (where it writes), step_recorder (keep the
steps of every pipeline that runs), script and untrusted_onnx (what a script or a stranger's model
needs), record (what the child runs), restore (the parent reads it), absent_constants (what a trace
keeps by digest only, read from the model again).
"""
