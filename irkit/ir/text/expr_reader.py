"""Read expressions: Python's ``ast`` parses each line, and nothing is ever executed.

Types are inferred as by ``build.py``: a number takes the type of the other operand, and operands of
different types are converted. If the types agree already, as in all printed text, the node is made
directly.
"""

import ast
import re
import warnings
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from irkit.core import MAX_LEVELS, DTypeError, ParseError, Span, children
from irkit.ir.buffer import Buffer, Load
from irkit.ir.dtype import BOOL, I64, DType, dtype
from irkit.ir.expr import (
    OPERATIONS,
    Binary,
    Compare,
    Const,
    Expr,
    ExprLike,
    Neg,
    Not,
    binary,
    const,
)
from irkit.ir.text.bare_numbers import bare_number, is_bare, retyped

SCALARS: dict[str, DType] = {
    name: dtype(name)
    for name in "bool i8 i16 i32 i64 u8 u16 u32 u64 f16 f32 f64 bf16".split()  # noqa: SIM905
}

MAX_LINE = 1 << 16
MAX_NESTING = 200
_ODD = re.compile(r"\\|[0-9A-Fa-f_.jJ](?:and|else|for|if|in|is|or|not)")
"""Text that Python can warn about: an unknown escape, a word right after a number."""

_OPERATORS: dict[type[ast.AST], type[Binary]] = {
    row.python: cls for cls, row in OPERATIONS.items() if row.python is not None
}
# The kinds of operands for which the node can be made without calling ``binary``.
_KINDS = {cls: row.kinds for cls, row in OPERATIONS.items()}


Read = Callable[[Any, Any], Expr]
"""Turns a node of Python's syntax tree (the second argument) into an expression."""


class ExprReader:
    """Reader of the expressions of one text; ``scope`` maps names to what they stand for.

    ``readers`` has a function for each class of Python's syntax tree; subclasses add more.
    """

    readers: ClassVar[Mapping[type[ast.AST], Read]] = {}

    def __init__(self, file: str) -> None:
        self.file = file
        self.scope: dict[str, Expr | Buffer] = {}
        self.line = 0
        self.start: int = 0
        """The number of characters before the text that was passed to ``ast``."""
        self.source = ""
        self._depth = 0
        self._parts: dict[int, tuple[Expr, int]] = {}

    def error(self, message: str, node: Any = None, hint: str = "") -> ParseError:
        """Return the error for ``node``, with line and column in the text."""
        offset = getattr(node, "col_offset", 0)
        before = self.source.encode("utf-8", "replace")[:offset].decode("utf-8", "ignore")
        span = Span("text", "", self.file, self.line, self.start + len(before) + 1)
        return ParseError(message, hint=hint, span=span)

    def tree(self, source: str, start: int) -> ast.stmt:
        """Parse one statement with ``ast``; ``start`` is its column, from 0."""
        self.source, self.start, self._depth = source, start, 0
        if len(source) > MAX_LINE:
            raise self.error(f"a line has {len(source)} characters; expected at most {MAX_LINE}")
        try:
            body = _parsed(source).body
        except SyntaxError as found:
            self.source, self.start = "", start + max(0, (found.offset or 1) - 1)
            raise self.error(f"cannot read this line: {found.msg}") from None
        except (ValueError, RecursionError, MemoryError, OverflowError) as found:
            raise self.error(
                f"cannot read this line: {found or 'it is nested too deeply'}"
            ) from None
        if len(body) != 1:
            raise self.error("expected one statement a line", body[1] if body else None)
        return body[0]

    def expr(self, node: ast.expr) -> Expr:
        """Turn a syntax tree into an expression."""
        read = self.readers.get(node.__class__)
        if read is None:
            raise self.error(f"expected an expression, found {_described(node)}", node)
        self._depth += 1
        if self._depth > MAX_NESTING:
            raise self.error(
                f"expected at most {MAX_NESTING} levels of nesting",
                node,
                "Name a part of the expression on a line before: _1 = ...",
            )
        result = read(self, node)
        self._depth -= 1
        return result

    def part(self, node: ast.expr) -> Expr:
        """Turn the syntax tree of a part that has a line of its own into an expression."""
        made = self.expr(node)
        levels = 0
        stack: list[tuple[Expr, int]] = [(made, 1)]
        while stack:
            expr, above = stack.pop()
            named = self._parts.get(id(expr))
            levels = max(levels, above if named is None else above - 1 + named[1])
            if named is None:
                below = [child for child in children(expr) if isinstance(child, Expr)]
                stack.extend((child, above + 1) for child in below)
        if levels > MAX_LEVELS:
            raise self.error(f"expected at most {MAX_LEVELS} levels of nested expressions", node)
        self._parts[id(made)] = made, levels
        return made

    def index(self, node: ast.expr) -> tuple[Expr, ...]:
        """Read one index, or a tuple of them."""
        if isinstance(node, ast.Tuple):
            return tuple([self.expr(item) for item in node.elts])
        return (self.expr(node),)

    def operation(self, cls: type[Binary], left: ast.expr, right: ast.expr, at: ast.expr) -> Expr:
        """Read a binary operation."""
        return self.joined(cls, self.expr(left), left, right, at)

    def joined(
        self, cls: type[Binary], a: Expr, left: ast.expr | None, right: ast.expr, at: ast.expr
    ) -> Expr:
        """Combine an operand that was read (from ``left``, if that may be bare) with one that was
        not."""
        b = self.expr(right)
        type_a = a.dtype
        if type_a == b.dtype and type_a.kind in _KINDS[cls]:
            return cls(a, b, BOOL.with_lanes(type_a.lanes) if issubclass(cls, Compare) else type_a)
        try:
            return binary(cls, *self.meeting((left, a), (right, b)))
        except DTypeError as found:
            raise self.error(found.message, at, found.hint) from None

    def meeting(self, *read: tuple[ast.expr | None, Expr]) -> list[ExprLike]:
        """Convert bare operands to the type of the first operand that is not bare; a number stays a
        number, for which the functions of ``build.py`` find the type."""
        said = (expr.dtype for node, expr in read if node is None or not is_bare(node))
        like = next(said, None)
        met = list[ExprLike]()
        for node, expr in read:
            number = None if node is None else bare_number(node)
            if isinstance(number, bool):
                met.append(expr)
            elif number is not None:
                met.append(number)
            elif node is not None and like is not None and is_bare(node):
                met.append(retyped(expr, like))
            else:
                met.append(expr)
        return met

    like = staticmethod(bare_number)

    def typed(self, node: ast.expr, wanted: DType) -> Expr:
        """Read an expression; what stands bare becomes one of type ``wanted``."""
        number = bare_number(node)
        try:
            if number is None:
                expr = self.expr(node)
                known = expr.dtype == wanted or not is_bare(node)
                return expr if known else retyped(expr, wanted.element)
            if wanted == I64 or (isinstance(number, float) and not wanted.is_float):
                return self.expr(node)
            return const(number, wanted.element)
        except (DTypeError, OverflowError) as found:
            raise self.error(
                getattr(found, "message", "the number is out of range"), node
            ) from None

    def buffer(self, node: ast.expr) -> Buffer:
        """Read the name of a buffer."""
        found = self.scope.get(node.id) if isinstance(node, ast.Name) else None
        if not isinstance(found, Buffer):
            raise self.error(f"expected the name of a buffer, found {_described(node)}", node)
        return found

    def integer(self, node: ast.expr) -> int:
        """Read a literal integer."""
        value = bare_number(node)
        if not isinstance(value, int) or isinstance(value, bool):
            raise self.error(f"expected an integer, found {_described(node)}", node)
        return value

    def string(self, node: ast.expr) -> str:
        """Read a literal string."""
        if not (isinstance(node, ast.Constant) and isinstance(node.value, str)):
            raise self.error(f"expected a string in quotes, found {_described(node)}", node)
        return node.value

    def dtype_of(self, node: ast.expr) -> DType:
        """Read the name of a type, quoted or not."""
        name = node.id if isinstance(node, ast.Name) else getattr(node, "value", None)
        try:
            return SCALARS.get(name) or dtype(name)  # pyright: ignore[reportArgumentType] -- checked by the except clause
        except (DTypeError, TypeError):
            raise self.error(
                f"expected a type such as f32, found {_described(node)}", node
            ) from None

    def arguments(
        self, node: ast.Call, form: str, keywords: tuple[str, ...] = ()
    ) -> list[ast.expr]:
        """Check a call against a form such as ``select(cond, then, otherwise)``."""
        wanted = form.count(",") + 1 - len(keywords)
        given = {keyword.arg: keyword.value for keyword in node.keywords}
        if len(node.args) != wanted or set(given) != set(keywords) or _has_star(node):
            raise self.error(f"expected {form}", node)
        return [*node.args, *(given[word] for word in keywords)]


def _has_star(node: ast.Call) -> bool:
    return any(isinstance(arg, ast.Starred) for arg in node.args)


def _described(node: ast.AST) -> str:
    if isinstance(node, ast.Name):
        return repr(node.id)
    if isinstance(node, ast.Constant):
        text = repr(node.value) if not isinstance(node.value, int) else "a number"
        return text if len(text) < 40 else f"{text[:40]}..."
    return f"Python's {type(node).__name__}"


def _name(reader: ExprReader, node: ast.Name) -> Expr:
    found = reader.scope.get(node.id)
    if isinstance(found, Expr):
        return found
    if found is not None:
        raise reader.error(
            f"{node.id!r} is a buffer; expected a value", node, f"Write {node.id}[...]."
        )
    raise reader.error(f"unknown name {node.id!r}", node)


def _constant(reader: ExprReader, node: ast.Constant) -> Expr:
    value = node.value
    if value is True or value is False:
        return Const(value, BOOL)
    if isinstance(value, int):
        if value >= 1 << 63:
            raise reader.error("the number does not fit into i64", node)
        return Const(value, I64)
    if isinstance(value, float):
        return Const(value, SCALARS["f32"])
    raise reader.error(f"expected an expression, found {_described(node)}", node)


def _operator(reader: ExprReader, node: ast.BinOp) -> Expr:
    cls = _OPERATORS.get(node.op.__class__)
    if cls is None:
        raise reader.error(f"unknown operator {type(node.op).__name__}", node)
    return reader.operation(cls, node.left, node.right, node)


def _compare(reader: ExprReader, node: ast.Compare) -> Expr:
    cls = _OPERATORS.get(node.ops[0].__class__)
    if cls is None or len(node.ops) != 1:
        raise reader.error("expected one comparison with ==, !=, <, <=, > or >=", node)
    return reader.operation(cls, node.left, node.comparators[0], node)


def _junction(reader: ExprReader, node: ast.BoolOp) -> Expr:
    cls = _OPERATORS[node.op.__class__]
    result = reader.expr(node.values[0])
    for right in node.values[1:]:
        result = reader.joined(cls, result, None, right, node)
    return result


def _unary(reader: ExprReader, node: ast.UnaryOp) -> Expr:
    op = node.op
    if isinstance(op, ast.USub):
        if isinstance(node.operand, ast.Constant):
            number = bare_number(node)
            if isinstance(number, int) and not isinstance(number, bool) and number >= -(1 << 63):
                return Const(number, I64)
            if isinstance(number, float):
                return Const(number, SCALARS["f32"])
        value = reader.expr(node.operand)
        if value.dtype.is_bool:
            raise reader.error("- is not defined on bool", node)
        return Neg(value, value.dtype)
    value = reader.expr(node.operand)
    if isinstance(op, ast.Not) and value.dtype.is_bool:
        return Not(value, value.dtype)
    if isinstance(op, ast.Invert) and value.dtype.is_integer:
        return Not(value, value.dtype)
    sign = "not" if isinstance(op, ast.Not) else "~" if isinstance(op, ast.Invert) else "unary +"
    raise reader.error(f"{sign} is not defined on {value.dtype}", node)


def _subscript(reader: ExprReader, node: ast.Subscript) -> Expr:
    buffer = reader.buffer(node.value)
    indices = reader.index(node.slice)
    lanes = 1
    for index in indices:
        lanes = max(lanes, index.dtype.lanes)
    return Load(buffer, indices, None, buffer.dtype.with_lanes(lanes))


def _parsed(source: str) -> ast.Module:
    """Parse a line; Python's warnings are errors here, and are not shown on the terminal."""
    if _ODD.search(source) is None:
        return ast.parse(source)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return ast.parse(source)


ExprReader.readers = {
    ast.Name: _name,
    ast.Constant: _constant,
    ast.BinOp: _operator,
    ast.Compare: _compare,
    ast.BoolOp: _junction,
    ast.UnaryOp: _unary,
    ast.Subscript: _subscript,
}
