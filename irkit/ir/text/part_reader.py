"""Read the parts of statements that are not expressions: attributes, buffer layouts, regions."""

import ast
from collections.abc import Callable
from types import NoneType

from irkit.core import Attrs, AttrValue, DTypeError, Span
from irkit.ir.buffer import Buffer
from irkit.ir.dtype import DType
from irkit.ir.expr import Const, Expr, Sub, binary
from irkit.ir.scopes import scope_problem
from irkit.ir.stmt import Region
from irkit.ir.text.bare_numbers import bare_number
from irkit.ir.text.call_reader import CallReader, float_from


def word_of(call: ast.expr | None) -> str:
    """Return the name of a called function, or an empty string if it is not a call by name."""
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
        return call.func.id
    return ""


class PartReader(CallReader):
    """Reader of the parts of the current statement, whose place is ``span``."""

    def __init__(self, file: str) -> None:
        super().__init__(file)
        self.span = Span("text")

    def value(self, node: ast.expr) -> AttrValue:
        """Read the value of an attribute."""
        if isinstance(node, ast.Tuple):
            return tuple([self.value(item) for item in node.elts])  # pyright: ignore[reportReturnType] -- the verifier reports deeper tuples
        if isinstance(node, ast.Constant) and isinstance(node.value, (str, int, float, NoneType)):
            return node.value
        number = bare_number(node)
        if number is not None:
            return number
        if isinstance(node, ast.Call) and word_of(node) == "float" and len(node.args) == 1:
            found = float_from(self.string(node.args[0]))
            if found is not None:
                return found
        raise self.error("expected a string, number, bool, None, or a tuple of such", node)

    def attrs(self, call: ast.Call, but: tuple[str, ...] = ()) -> Attrs:
        """Read keywords as attributes; those in ``but`` have another meaning."""
        found = list[tuple[str, AttrValue]]()
        for keyword in call.keywords:
            if keyword.arg is not None:
                if keyword.arg not in but:
                    found.append((keyword.arg, self.value(keyword.value)))
            elif isinstance(keyword.value, ast.Dict):
                for key, value in zip(keyword.value.keys, keyword.value.values, strict=True):
                    if key is None:
                        raise self.error("expected a name in quotes", keyword.value)
                    found.append((self.string(key), self.value(value)))
            else:
                raise self.error('expected **{"name": value}', keyword.value)
        return tuple(found)

    def layout(self, node: ast.expr) -> tuple[DType, tuple[Expr, ...]]:
        """Read type and shape, as in ``f32[m, n]``."""
        if not isinstance(node, ast.Subscript):
            raise self.error("expected a type and a shape, as in f32[16]", node)
        return self.dtype_of(node.value), self.index(node.slice)

    def buffer_of(
        self, call: ast.Call, layout: ast.expr, scope: str = "global"
    ) -> Callable[[str], Buffer]:
        """Read type, shape and the keywords of a buffer; return a function that takes its name."""
        element, shape = self.layout(layout)
        strides, align = None, 0
        for keyword in call.keywords:
            if keyword.arg == "strides":
                if not isinstance(keyword.value, ast.Tuple):
                    raise self.error("expected a tuple of strides", keyword.value)
                strides = self.index(keyword.value)
            elif keyword.arg == "scope":
                scope = self.string(keyword.value)
                problem = scope_problem(scope)
                if problem is not None:
                    raise self.error(problem[0], keyword.value, problem[1])
            elif keyword.arg == "align":
                align = self.integer(keyword.value)
        span = self.span
        return lambda name: Buffer(name, shape, element, scope, strides, align, span)

    def region(self, node: ast.expr) -> Region:
        """Read a region, as in ``A[i:i + 4, j]``."""
        if not isinstance(node, ast.Subscript):
            raise self.error("expected a box, as in A[i:i + 4, j]", node)
        buffer, inner = self.buffer(node.value), node.slice
        dims = inner.elts if isinstance(inner, ast.Tuple) else [inner]
        pairs = [self._slice(dim) for dim in dims]
        return Region(buffer, tuple(b for b, _ in pairs), tuple(e for _, e in pairs))

    def _slice(self, node: ast.expr) -> tuple[Expr, Expr]:
        if not isinstance(node, ast.Slice):
            begin = self.expr(node)
            if not begin.dtype.is_integer or begin.dtype.lanes != 1:
                raise self.error(f"expected a scalar integer, found {begin.dtype}", node)
            return begin, Const(1, begin.dtype)
        low, high = node.lower, node.upper
        if low is None or high is None or node.step is not None:
            raise self.error("expected begin:end", node)
        begin, first, last = self.expr(low), bare_number(low), bare_number(high)
        if first == 0:
            return begin, self.expr(high)
        if isinstance(first, int) and isinstance(last, int):
            return begin, Const(last - first, begin.dtype)
        # Printed slices end with "begin + extent"; in other texts the extent is the difference.
        if (
            isinstance(high, ast.BinOp)
            and isinstance(high.op, ast.Add)
            and ast.dump(high.left) == ast.dump(low)
        ):
            return begin, self.expr(high.right)
        try:
            return begin, binary(Sub, self.expr(high), begin)
        except DTypeError as found:
            raise self.error(found.message, node, found.hint) from None
