"""Print expressions: Python syntax, minimal parentheses, and exact constants.

The fast printer recurses, to at most ``MAX_DEPTH`` levels and ``MAX_TEXT`` characters. An
expression beyond that, deep or shared so often that the text would explode, is printed bottom-up by
the slow one, which puts parts on lines of their own under reserved names (``_1 = ...``). Both use
the same form for each class.
"""

import math
import struct
from collections.abc import Callable
from typing import Any

from irkit.core import ALIAS, Node, PrintedNames, children, deep_recursion
from irkit.ir.buffer import Load, Ramp
from irkit.ir.conditional import Conditional, Select
from irkit.ir.dtype import BF16, BOOL, F16, F32, F64, I8, I16, I32, I64, U8, DType
from irkit.ir.expr import (
    OPERATIONS,
    Binary,
    Broadcast,
    Cast,
    Compare,
    Const,
    Expr,
    Neg,
    Not,
    Var,
)
from irkit.ir.intrinsics import Call, InstructionCall, Ldexp, Reinterpret
from irkit.ir.operators import FLOATS, NUMBERS

MAX_DEPTH = 50
MAX_TEXT = 1500

# How tightly a class binds; classes not listed are atoms. The second number
# is the level that a left operand needs to go without parentheses, the third that of a right one.
_BINDING: dict[type[Binary], tuple[int, int, int]] = {
    cls: (row.level, row.level + issubclass(cls, Compare), row.level + 1)
    for cls, row in OPERATIONS.items()
    if row.python is not None
}
# A sign before an operand binds tighter than any operator, so a signed operand is an atom too.
_NOT, _UNARY, _ATOM = 3, 11, 12
_LEVEL: dict[type[Node], int] = {cls: row[0] for cls, row in _BINDING.items()}
_SIGNS: dict[type[Binary], tuple[str, int, int]] = {
    cls: (f" {cls.sign} ", row[1], row[2]) for cls, row in _BINDING.items()
}


_ARITHMETIC = frozenset(cls for cls in _SIGNS if FLOATS <= OPERATIONS[cls].kinds <= NUMBERS)
"""Operators that the reader takes as bare between bare operands."""
_MOST_NESTED = 4
"""Of arithmetic of numbers that are written bare."""

_TYPES = {each: str(each) for each in (BOOL, I8, I16, I32, I64, U8, F16, BF16, F32, F64)}


class TooDeep(Exception):
    """The expression is too deep for the fast printer and needs lines of its own."""


class ExprPrinter:
    """Printer of the expressions of one function; ``aliases`` are the parts on lines of their own.

    If it is ``brief``, constants are bare where the reader takes their type from what they meet.
    """

    def __init__(self, printed: PrintedNames, *, brief: bool = False) -> None:
        self.printed = printed
        self.brief = brief
        self.aliases: dict[int, str] = {}
        self._done: dict[int, str] | None = None
        self._depth = 0

    def line(self, expr: Expr) -> str:
        """Print on the current line. Raises: TooDeep if it does not fit."""
        self._depth = 0
        return self.text(expr)

    def with_lines(self, expr: Expr) -> tuple[list[str], str]:
        """Print, and also return the lines that must come first: they name parts that do not
        fit."""
        try:
            return [], self.line(expr)
        except TooDeep:
            return self._slowly(expr)

    def text(self, expr: Expr) -> str:
        if self._done is not None:
            return self._done[id(expr)]
        return self.part(expr, self._depth + 1)

    def part(self, expr: Expr, depth: int) -> str:
        """Print an expression at a depth.

        Printing spends nearly all its time here, so the usual classes are handled directly instead
        of by their form.
        """
        if self.aliases and id(expr) in self.aliases:
            return self.aliases[id(expr)]
        if depth > MAX_DEPTH:
            raise TooDeep
        cls: type[Any] = expr.__class__
        node: Any = expr
        if cls is Var:
            return self.printed.get(id(expr)) or self.printed.add(expr)
        if cls is Const:
            text = _const(self, node)
        elif cls is Load and node.mask is None:
            text = f"{self.name(node.buffer)}[{self._parts(node.indices, depth + 1) or '()'}]"
        elif cls in _SIGNS:
            sign, left, right = _SIGNS[cls]
            if self.brief and (_is_numbers(node.a) or _is_numbers(node.b)):
                bare_a, bare_b = self.meeting(node.a, node.b, (left, right))
                first = bare_a or self._side(node.a, left, depth)
                text = f"{first}{sign}{bare_b or self._side(node.b, right, depth)}"
            else:
                text = f"{self._side(node.a, left, depth)}{sign}{self._side(node.b, right, depth)}"
        else:
            text = self._formed(expr, depth)
        if len(text) > MAX_TEXT:
            raise TooDeep
        return text

    def meeting(self, a: Expr, b: Expr, least: tuple[int, int] = (0, 0)) -> tuple[str, str]:
        """Return the bare text of the operand that takes its type from the other one; empty if it
        must say its own. Of two that consist of numbers, the first says it. (Where nothing says a
        type, all of it is i64, as bare numbers are.)

        What binds less tightly than ``least`` is in parentheses.
        """
        if self.brief and a.dtype == b.dtype:
            if _is_numbers(a) and not _is_numbers(b):
                return _bare(a, least[0]), ""
            if _is_numbers(b):
                return "", _bare(b, least[1])
        return "", ""

    def typed(self, expr: Expr, wanted: DType) -> str:
        """Return the bare text of numbers that stand where their type is known, or an empty
        string."""
        known = self.brief and expr.dtype == wanted and _is_numbers(expr)
        return _bare(expr, 0) if known else ""

    def _side(self, expr: Expr, least: int, depth: int) -> str:
        """Print an operand of an expression at a depth."""
        cls = expr.__class__
        if cls is Var:
            return self.printed.get(id(expr)) or self.printed.add(expr)
        text = self.part(expr, depth + 1)
        return enclosed(expr, text, least) if cls in _LEVEL or cls is Not else text

    def _parts(self, exprs: tuple[Expr, ...], depth: int) -> str:
        """Print expressions at a depth, with commas between."""
        names, part = self.printed, self.part
        return ", ".join(
            [
                (names.get(id(expr)) or names.add(expr)) if expr.__class__ is Var
                else part(expr, depth)
                for expr in exprs
            ]
        )  # fmt: skip

    def _formed(self, expr: Expr, depth: int) -> str:
        """Print by the form of the class, which calls back for operands."""
        form = _FORMS.get(expr.__class__)
        assert form is not None, f"no printed form for {type(expr).__name__}"
        outer, self._depth = self._depth, depth
        text = form(self, expr)
        self._depth = outer
        return text

    def operand(self, expr: Expr, least: int) -> str:
        """Print, in parentheses if it binds less tightly than ``least``."""
        if expr.__class__ is Var:
            return self.name(expr)
        return enclosed(expr, self.text(expr), least)

    def name(self, symbol: Node) -> str:
        return self.printed.get(id(symbol)) or self.printed.add(symbol)

    def listed(self, exprs: tuple[Expr, ...]) -> str:
        """Print expressions with commas between."""
        if self._done is None:
            return self._parts(exprs, self._depth + 1)
        return ", ".join([self.operand(expr, 0) for expr in exprs])

    def tupled(self, exprs: tuple[Expr, ...]) -> str:
        """Print expressions as a Python tuple."""
        return f"({self.listed(exprs)},)" if len(exprs) == 1 else f"({self.listed(exprs)})"

    def _slowly(self, root: Expr) -> tuple[list[str], str]:
        lines = list[str]()
        heights: dict[int, int] = {}
        self._done = done = dict[int, str]()
        for expr in _bottom_up(root, self.aliases):
            alias = self.aliases.get(id(expr))
            if alias is not None:
                done[id(expr)] = alias
                continue
            text = _FORMS[expr.__class__](self, expr)
            height = 1 + max((heights.get(id(part), 0) for part in children(expr)), default=0)
            if expr is not root and (height >= MAX_DEPTH - 2 or len(text) > MAX_TEXT // 4):
                alias = f"_{len(self.aliases) + 1}"
                lines.append(f"{alias} = {text}")
                self.aliases[id(expr)] = text = alias
                height = 0
            heights[id(expr)] = height
            done[id(expr)] = text
        self._done = None
        return lines, done[id(root)]


def _bottom_up(root: Expr, leaves: dict[int, str]) -> list[Expr]:
    """Return the parts of an expression once each, operands first; ``leaves`` are not entered."""
    order, seen = list[Expr](), set[int]()

    def enter(expr: Any) -> None:
        if id(expr) not in seen:
            seen.add(id(expr))
            if id(expr) not in leaves:
                for part in children(expr):
                    enter(part)
            order.append(expr)

    with deep_recursion:
        enter(root)
    return order


def enclosed(expr: Expr, text: str, least: int) -> str:
    """Return the text of ``expr``, in parentheses if it binds less tightly than ``least``."""
    return text if level(expr) >= least or ALIAS.match(text) else f"({text})"


def level(expr: Expr) -> int:
    """Return how tightly the printed form of an expression binds."""
    cls = expr.__class__
    known = _LEVEL.get(cls)
    if known is not None:
        return known
    return _NOT if cls is Not and expr.dtype.is_bool else _ATOM


def _is_plain(expr: Expr) -> bool:
    """Return True if an expression prints as a bare integer."""
    return isinstance(expr, Const) and expr.dtype == I64 and type(expr.value) is int


def bare_text(expr: Const) -> str:
    """Return a number without its type; empty if it is none, or would not be read as one."""
    value = expr.value
    if isinstance(value, bool) or (isinstance(value, int) and abs(value) >= 1 << 63):
        return ""
    return repr(value) if isinstance(value, int) or math.isfinite(value) else ""


def _is_numbers(expr: Expr, depth: int = 0) -> bool:
    """Return True if an expression is a constant, or arithmetic of a few constants."""
    cls: type[Any] = expr.__class__
    if cls is Const:
        return True
    node: Any = expr
    return (
        cls in _ARITHMETIC
        and depth < _MOST_NESTED
        and node.dtype.lanes == 1
        and _is_numbers(node.a, depth + 1)
        and _is_numbers(node.b, depth + 1)
    )


def _bare(expr: Expr, least: int) -> str:
    """Return numbers without their type, in parentheses if they bind less tightly than ``least``;
    empty if they would not be read as such."""
    if isinstance(expr, Const):
        return bare_text(expr)
    assert isinstance(expr, Binary)
    sign, left, right = _SIGNS[type(expr)]
    a, b = _bare(expr.a, left), _bare(expr.b, right)
    return enclosed(expr, f"{a}{sign}{b}", least) if a and b else ""


def float_literal(value: float) -> str:
    """Write a float so that the same bits are read back."""
    if math.isfinite(value):
        return repr(value)
    if math.isinf(value):
        return '"inf"' if value > 0 else '"-inf"'
    (bits,) = struct.unpack("<Q", struct.pack("<d", value))
    return '"nan"' if bits == 0x7FF8000000000000 else f'"{bits:#x}"'


def _const(printer: ExprPrinter, expr: Const) -> str:
    value, dtype = expr.value, expr.dtype
    name = _TYPES.get(dtype) or str(dtype)
    if isinstance(value, float):
        return f"{name}({float_literal(value)})"
    plain = dtype.is_bool if isinstance(value, bool) else name == "i64"
    return str(value) if plain else f"{name}({value})"


def _binary(printer: ExprPrinter, expr: Binary) -> str:
    sign, left, right = _SIGNS[expr.__class__]
    return printer.operand(expr.a, left) + sign + printer.operand(expr.b, right)


def _call_of_two(printer: ExprPrinter, expr: Binary) -> str:
    a, b = printer.meeting(expr.a, expr.b)
    return f"{expr.sign}({a or printer.text(expr.a)}, {b or printer.text(expr.b)})"


def _load(printer: ExprPrinter, expr: Load) -> str:
    name = printer.name(expr.buffer)
    if expr.mask is not None:
        mask = printer.text(expr.mask)
        return f"load({name}, {printer.tupled(expr.indices)}, mask={mask})"
    return f"{name}[{printer.listed(expr.indices) or '()'}]"


def _neg(printer: ExprPrinter, expr: Neg) -> str:
    # -1 is read as a constant, so the negation of the constant 1 needs another form.
    return (
        f"neg({printer.text(expr.a)})"
        if _is_plain(expr.a)
        else f"-{printer.operand(expr.a, _UNARY)}"
    )


def _ramp(printer: ExprPrinter, expr: Ramp) -> str:
    stride = printer.typed(expr.stride, expr.base.dtype)
    inside = (
        f"{printer.text(expr.base)}, {stride}"
        if stride
        else printer.listed((expr.base, expr.stride))
    )
    return f"ramp({inside}, {expr.dtype.lanes})"


def _not(printer: ExprPrinter, expr: Not) -> str:
    if expr.dtype.is_bool:
        return f"not {printer.operand(expr.a, _NOT)}"
    return f"~{printer.operand(expr.a, _UNARY)}"


def _conditional(printer: ExprPrinter, expr: Conditional) -> str:
    then, cond = printer.text(expr.then), printer.text(expr.cond)
    return f"({then} if {cond} else {printer.text(expr.otherwise)})"


_FORMS: dict[type[Node], Callable[[ExprPrinter, Any], str]] = {
    **{cls: _binary if row.python else _call_of_two for cls, row in OPERATIONS.items()},
    Var: lambda printer, expr: printer.name(expr),
    Const: _const,
    Not: _not,
    Neg: _neg,
    Cast: lambda printer, expr: f"cast({printer.text(expr.value)}, {expr.dtype})",
    Reinterpret: lambda printer, expr: f"reinterpret({printer.text(expr.value)}, {expr.dtype})",
    Ldexp: lambda printer, expr: f"ldexp({printer.listed((expr.value, expr.exponent))})",
    Select: lambda printer, expr: (
        f"select({printer.listed((expr.cond, expr.then, expr.otherwise))})"
    ),
    Conditional: _conditional,
    **dict.fromkeys(
        (Call, InstructionCall),
        lambda printer, expr: f"{expr.name}({printer.listed(expr.args)})",
    ),
    Load: _load,
    Ramp: _ramp,
    Broadcast: lambda printer, expr: f"broadcast({printer.text(expr.value)}, {expr.dtype.lanes})",
}


def printed_classes() -> tuple[type[Node], ...]:
    """Return the expression classes that have a printed form."""
    return tuple(_FORMS)
