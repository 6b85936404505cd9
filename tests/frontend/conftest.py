"""ONNX's own suite is made once for all tests and processes."""

from tests.shared import onnx_cases

onnx_cases.install()
