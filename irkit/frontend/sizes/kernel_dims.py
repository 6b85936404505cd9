"""Dimensions in the text of a kernel: numbers, or names."""

from irkit.core import equal
from irkit.frontend.sizes.arithmetic import Dim
from irkit.ir import Expr, as_int


class KernelDims:
    """Dimensions of one kernel, as text: the same dimension has the same name."""

    def __init__(self) -> None:
        self._named: list[tuple[Expr, str]] = []

    def __call__(self, dim: Dim) -> str:
        number = as_int(dim)
        if number is not None:
            return str(number)
        assert isinstance(dim, Expr)
        for known, name in self._named:
            if equal(known, dim):
                return name
        name = f"d{len(self._named)}"
        self._named.append((dim, name))
        return name
