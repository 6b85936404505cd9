"""What irkit does with a malformed file: it refuses it with a located error, or computes what the
file says.

Reading order: verdict, read_text, run_model, compare_outputs, load_trace.
"""
