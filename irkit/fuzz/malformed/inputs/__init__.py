"""Malformed files, made by changing valid ones.

Reading order: byte_damage; onnx_seeds, onnx_cases; text_changes, text_cases; trace_cases.
"""
