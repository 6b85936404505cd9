"""Tensors for the tests of tensor expressions."""

from irkit import te


def matrix(rows: object = 4, columns: object = 5, name: str = "A") -> te.Tensor:
    """Make a placeholder with two axes."""
    return te.placeholder((rows, columns), name=name)  # pyright: ignore[reportArgumentType] -- a size of any type
