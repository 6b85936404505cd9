"""Attributes of operators, as ONNX nodes take them."""

from typing import Any


def onnx_attrs(attrs: dict[str, Any]) -> dict[str, Any]:
    names = {"kernel": "kernel_shape", "groups": "group"}
    return {
        names.get(name, name): list(value)
        if isinstance(value, tuple)
        else int(value)
        if isinstance(value, bool)
        else value
        for name, value in attrs.items()
    }
