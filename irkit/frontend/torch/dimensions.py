"""The dimensions of a program from PyTorch: symbols, their ranges, expressions as PyTorch writes
them, and arithmetic on them."""

import ast
from collections.abc import Callable, Mapping
from typing import Any

from irkit.core import IRKitError, walk
from irkit.frontend.sizes import Dim, add, divide, larger, multiply, smaller, subtract
from irkit.graph import Dimension
from irkit.ir import Expr, Interval, Var, const, floormod, index

MOST = (1 << 31) - 1
APART = 2
"""The smallest size that PyTorch says of a dimension if it treats 0 and 1 apart."""


def _negative(a: Dim) -> Dim:
    return subtract(0, a)


def _remainder(a: Dim, b: Dim) -> Dim:
    return a % b if isinstance(a, int) and isinstance(b, int) else floormod(index(a), index(b))


def _quotient(a: Dim, b: Dim) -> Dim:
    if not isinstance(b, int) or b <= 0:
        raise IRKitError("a size is divided by what is no positive number")
    return divide(a, b)


ON_SIZES: dict[str, Callable[..., Any]] = {
    "add": add,
    "floordiv": _quotient,
    "mod": _remainder,
    "mul": multiply,
    "neg": _negative,
    "sub": subtract,
    "sym_max": larger,
    "sym_min": smaller,
}
"""Functions of sizes that a program calls, by name."""

ON_FLOATS = {
    "add": "add",
    "mul": "multiply",
    "neg": "negative",
    "pow": "power",
    "sub": "subtract",
    "sym_float": "identity",
    "truediv": "divide",
}
"""Functions whose results are floats if an argument is one, or always: operators of the graph."""

_CALLS: dict[str, Callable[[Dim, Dim], Dim]] = {
    "FloorDiv": _quotient,
    "Max": larger,
    "Min": smaller,
    "Mod": _remainder,
    "PythonMod": _remainder,
}
_OPERATORS: dict[type[ast.operator], Callable[[Dim, Dim], Dim]] = {
    ast.Add: add,
    ast.FloorDiv: _quotient,
    ast.Mod: _remainder,
    ast.Mult: multiply,
    ast.Sub: subtract,
}


class Dimensions:
    """The symbols of a program as variables; ``sizes`` fixes some."""

    def __init__(self, ranges: Mapping[str, tuple[int, int]], sizes: Mapping[str, int]) -> None:
        self._ranges = ranges
        self._sizes = sizes
        self._vars: dict[str, Var] = {}
        self._needed: dict[Var, int] = {}

    def of_input(self, dim: int | str) -> Expr:
        """Return an extent of an input. Raises: IRKitError for what is no symbol."""
        if isinstance(dim, int):
            return const(dim, "i64")
        if dim in self._sizes:
            return const(self._sizes[dim], "i64")
        if not dim.isidentifier():
            raise IRKitError(f"an input has the extent {dim}; expected a number or a symbol")
        return self._vars.setdefault(dim, Var(dim))

    def declared(self, extent: int | str) -> Dim | None:
        """Return an extent as PyTorch writes it; None if it is of symbols that no input has, or
        written in an unknown way."""
        if isinstance(extent, int):
            return extent
        try:
            return self._read(ast.parse(extent, mode="eval").body)
        except (SyntaxError, IRKitError):
            return None

    def _read(self, node: ast.expr) -> Dim:
        match node:
            case ast.Constant(int() as number):
                return number
            case ast.Name(name) if name in self._sizes:
                return self._sizes[name]
            case ast.Name(name) if name in self._vars:
                return self._vars[name]
            case ast.UnaryOp(ast.USub(), operand):
                return subtract(0, self._read(operand))
            case ast.BinOp(left, op, right) if type(op) in _OPERATORS:
                return _OPERATORS[type(op)](self._read(left), self._read(right))
            case ast.Call(ast.Name(name), [first, *rest]) if name in _CALLS:
                found = self._read(first)
                for each in rest:
                    found = _CALLS[name](found, self._read(each))
                return found
            case _:
                raise IRKitError(f"{ast.unparse(node)} is no size")

    def ranges(self, least: int = APART) -> dict[Var, Interval]:
        """Return the sizes of each dimension.

        ``least`` is the smallest of a dimension that PyTorch has from ``APART`` on: it may only
        treat smaller sizes apart.
        """
        return {
            var: Interval(self._least(name, least), self._most(name))
            for name, var in self._vars.items()
        }

    def restrict(self, size: Dim, least: int) -> None:
        """Note that the dimensions of a size are at least so large, where PyTorch says so."""
        for var in walk(index(size), Var):
            self._needed[var] = max(self._needed.get(var, 0), least)

    def declarations(self) -> dict[str, Dimension]:
        """Return the dimensions for the attribute ``dims`` of a function."""
        return {
            var.name: Dimension(
                var.name, self._least(name, self._needed.get(var, 0)), self._most(name)
            )
            for name, var in self._vars.items()
        }

    def _least(self, name: str, least: int) -> int:
        stated = max(self._ranges.get(name, (0, MOST))[0], 0)
        return least if stated == APART else stated

    def _most(self, name: str) -> int:
        return min(self._ranges.get(name, (0, MOST))[1], MOST)
