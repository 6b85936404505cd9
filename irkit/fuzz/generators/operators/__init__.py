"""Samples that call operators of topi.

Reading order: pointwise, structured (the table), operator_samples."""
