"""Samples that are ONNX models: operators with all that the importer reads, such as several
results, and operator sets from 6 on.

Reading order: windows (pooling for the reference), operators, forms, model_samples.
"""
