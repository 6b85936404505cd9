"""Samples that are graphs.

Reading order: values, operators, forms, meaning (the reference), graph_samples."""
