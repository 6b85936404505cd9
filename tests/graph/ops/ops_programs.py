"""Each operator against NumPy or the ONNX reference, and its type rule against its array rule."""

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
