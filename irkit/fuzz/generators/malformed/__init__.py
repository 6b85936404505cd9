"""Malformed models and text, made by changing valid ones, each from a number.

Reading order: byte_damage; onnx_seeds, onnx_cases; text_changes, text_cases.
"""
