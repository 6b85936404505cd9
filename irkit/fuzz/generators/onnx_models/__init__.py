"""Samples that are ONNX models.

Reading order: windows (pooling for the reference), operators, forms, model_samples."""
