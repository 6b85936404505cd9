"""What NumPy computes: tensor expressions in f64 with a bound on the error of each element, and
ONNX models with `onnx.reference`.

Reading order: bounded_array, bounded; onnx_reference."""
