"""Kernels that nobody scheduled against NumPy, torch, ONNX Runtime and numba.

Reading order: case (one kernel and its peers), rows, convolutions, loops (the kernels), compare
(timing and figures), ``__main__``.
"""
