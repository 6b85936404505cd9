"""Expressions over dimensions as steps of the arithmetic on sizes."""

from collections.abc import Mapping

from irkit.codegen.executor_plan import Size, SizeStep, computed
from irkit.core import ALIGNMENT, IRKitError, deep_recursion
from irkit.ir import Add, Binary, Expr, FloorDiv, Max, Min, Mul, Sub, Var, as_int

_OPS: dict[type[Expr], str] = {Add: "+", Sub: "-", Mul: "*", FloorDiv: "//", Min: "min", Max: "max"}


class SizeArithmetic:
    """Steps made so far; the same computation is made once.

    ``names`` are the names of the dimensions that the shapes of inputs bind.
    """

    def __init__(self, names: Mapping[Var, str]) -> None:
        self.names = dict(names)
        self.steps: list[SizeStep] = []
        self._bound: set[str] = set()
        self._made: dict[tuple[object, ...], str] = {}
        self._sizes: dict[int, tuple[Expr, Size]] = {}  # With the expression, which keeps its id.

    def bind(self, var: Var) -> str:
        """Return the name of a dimension that the run binds: a new one each time."""
        taken = {*self.names.values(), *(step.name for step in self.steps), *self._bound}
        name, number = var.name, 1
        while name in taken:
            number += 1
            name = f"{var.name}_{number}"
        self._bound.add(name)
        self.names[var] = name
        return name

    @deep_recursion
    def extent(self, expr: Expr, what: str) -> Size:
        """Return a dimension of a tensor, which refuses a call in which it is negative."""
        size = self._of(expr, what)
        if isinstance(size, int) or isinstance(expr, Var):
            return size
        return self._step("extent", size, 0, what)

    @deep_recursion
    def check(self, expr: Expr, what: str) -> None:
        """Refuse a call in which an expression is negative; ``what`` is the message.

        Raises: IRKitError, with ``what``, if it always is.
        """
        size = self._of(expr, what)
        if isinstance(size, int) and size < 0:
            raise IRKitError(what)
        if isinstance(size, str):
            self._step("check", size, 0, what)

    @deep_recursion
    def number(self, expr: Expr, what: str) -> Size:
        """Return what an expression computes."""
        return self._of(expr, what)

    def bytes_of(self, shape: tuple[Size, ...], element: int, what: str) -> Size:
        """Return the bytes of a tensor."""
        count: Size = element
        for dim in sorted(shape, key=lambda dim: isinstance(dim, str)):
            count = self.product(count, dim, what)
        return count

    def product(self, a: Size, b: Size, what: str) -> Size:
        if isinstance(a, int) and isinstance(b, int):
            return a * b
        return b if a == 1 else a if b == 1 else self._step("*", a, b, what)

    def sum(self, a: Size, b: Size, what: str) -> Size:
        if isinstance(a, int) and isinstance(b, int):
            return a + b
        return b if a == 0 else a if b == 0 else self._step("+", a, b, what)

    def largest(self, a: Size, b: Size, what: str) -> Size:
        if isinstance(a, int) and isinstance(b, int):
            return max(a, b)
        return a if a == b else self._step("max", a, b, what)

    def aligned(self, size: Size, what: str) -> Size:
        """Round bytes up to the alignment of places in the arena."""
        if isinstance(size, int):
            return -(-size // ALIGNMENT) * ALIGNMENT
        up = self._step("+", size, ALIGNMENT - 1, what)
        return self._step("*", self._step("//", up, ALIGNMENT, what), ALIGNMENT, what)

    def _of(self, expr: Expr, what: str) -> Size:
        known = self._sizes.get(id(expr))
        if known is None:
            known = self._sizes[id(expr)] = expr, self._computed(expr, what)
        return known[1]

    def _computed(self, expr: Expr, what: str) -> Size:
        number = as_int(expr)
        if number is not None:
            return number
        if isinstance(expr, Var):
            if expr not in self.names:
                raise IRKitError(
                    f"{what} depends on {expr.name!r}, which is no whole dimension of an input"
                )
            return self.names[expr]
        op = _OPS.get(type(expr))
        if op is None or not isinstance(expr, Binary):
            raise IRKitError(
                f"{what} is computed by {type(expr).__name__}; sizes of a model are computed by "
                "+, -, *, //, min and max",
                hint="Fix the shapes of inputs: shapes={name: (1, 3, 8, 8)}.",
            )
        a, b = self._of(expr.a, what), self._of(expr.b, what)
        if isinstance(a, int) and isinstance(b, int):
            return computed(op, a, b)
        return self._step(op, a, b, what)

    def _step(self, op: str, a: Size, b: Size, what: str) -> str:
        key = (op, type(a), a, type(b), b)
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = self._unused()
            self.steps.append(SizeStep(found, op, a, b, what))  # pyright: ignore[reportArgumentType] -- an operator of the table
        return found

    def _unused(self) -> str:
        number = len(self.steps)
        while f"n{number}" in self.names.values() or f"n{number}" in self._bound:
            number += 1
        return f"n{number}"
