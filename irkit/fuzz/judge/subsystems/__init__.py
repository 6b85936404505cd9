"""Parts of irkit that are judged by a check of their own, each in a file.

A check draws a case from the choices that it is given, runs a part of irkit on it, and raises
`WrongSample` if the result is wrong. What is right comes from elsewhere: another compiler, PyTorch,
NumPy, finite differences, or what was drawn.

Reading order: c_source; torch_operands, torch_arguments, torch_programs; smooth_graphs, gradients;
tune_records, device_programs; numpy_windows, drawn_models, attention_orders, block_orders;
wrong_calls, operand_shapes; equal_work; table (a row for each kind, with what it needs).
"""
