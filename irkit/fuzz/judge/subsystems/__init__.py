"""Parts of irkit that are judged by a check of their own, each in a file.

A check draws a case from the choices that it is given, runs a part of irkit on it, and raises
`WrongSample` if the result is wrong. What is right comes from elsewhere: another compiler, PyTorch,
NumPy, finite differences, or what was drawn.

Reading order: c_source, torch_programs, gradients, tune_records, device_programs, block_orders,
wrong_calls and operand_shapes, equal_work (the checks), table (a row for each kind, with what it
needs).
"""
