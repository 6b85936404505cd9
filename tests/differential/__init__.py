"""Drawn programs against other implementations: ``python -m tests.differential --help``.

The generators share no code with irkit's fuzzer: ONNX models against ONNX Runtime, tensor
expressions against NumPy, PyTorch programs and gradients against PyTorch. A case is its number; a
kind is a file with ``judge(number)``.
"""
