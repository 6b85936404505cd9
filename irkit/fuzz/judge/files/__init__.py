"""Judge a file, which may be malformed: irkit refuses it with a located error, within a second of
processor time, or does what the file says.

Accepted text prints and reads back the same; an accepted model agrees with `onnx.reference`, which
runs in a fork because it may crash. Where the reference fails, or differs for a model that the
checker of onnx refuses, nothing is known: such cases are counted, not hidden.

Reading order: input_verdict, read_text, run_model, compare_outputs, judge_file.
"""
