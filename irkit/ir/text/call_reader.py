"""Read calls and conditionals: typed constants, casts, vectors, masked loads, intrinsic
functions."""

import ast
import struct
from collections.abc import Callable, Mapping
from typing import ClassVar

from irkit.core import DTypeError
from irkit.ir import build
from irkit.ir.buffer import Load, Ramp
from irkit.ir.conditional import Conditional, Select
from irkit.ir.dtype import MAX_LANES, DType
from irkit.ir.expr import OPERATIONS, Binary, Broadcast, Cast, Expr, Neg, const
from irkit.ir.instructions import Instruction, find_instruction
from irkit.ir.intrinsics import INTRINSICS, Call
from irkit.ir.text.bare_numbers import bare_number
from irkit.ir.text.expr_reader import SCALARS, ExprReader, Read


def _conditional(reader: ExprReader, node: ast.IfExp) -> Expr:
    return _choice(reader, Conditional, node.test, node.body, node.orelse, node)


def _choice(
    reader: ExprReader,
    cls: type[Select] | type[Conditional],
    test: ast.expr,
    then: ast.expr,
    otherwise: ast.expr,
    at: ast.expr,
) -> Expr:
    cond, a, b = reader.expr(test), reader.expr(then), reader.expr(otherwise)
    lanes = cond.dtype.lanes
    fits = lanes == a.dtype.lanes or (cls is Conditional and lanes == 1)
    if fits and a.dtype == b.dtype and cond.dtype.is_bool:
        return cls(cond, a, b, a.dtype)
    make = build.select if cls is Select else build.if_then_else
    try:
        return make(cond, *reader.meeting((then, a), (otherwise, b)))
    except DTypeError as found:
        raise reader.error(found.message, at, found.hint) from None


def _call(reader: ExprReader, node: ast.Call) -> Expr:
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    read = _FUNCTIONS.get(name)
    if read is not None:
        return read(reader, node)
    if name in SCALARS:
        return _literal(reader, node, SCALARS[name])
    instruction = None if name in INTRINSICS else find_instruction(name)
    if instruction is not None:
        return _instruction(reader, node, instruction)
    if name not in INTRINSICS:
        raise reader.error(
            f"unknown function {name!r}" if name else "expected a function name", node
        )
    if node.keywords:
        raise reader.error(f"{name} takes no keywords", node)
    args = [reader.expr(arg) for arg in node.args]
    row = INTRINSICS[name]
    if args and row.gives == "same" and row.arity == len(args) and row.on == "float":
        first = args[0].dtype
        if first.is_float and all(arg.dtype == first for arg in args):
            return Call(name, tuple(args), first)
    try:
        return build.call(name, *reader.meeting(*zip(node.args, args, strict=True)))
    except DTypeError as found:
        raise reader.error(found.message, node, found.hint) from None


def _instruction(reader: ExprReader, node: ast.Call, row: Instruction) -> Expr:
    names = [operand.name for operand in row.operands]
    given = reader.arguments(node, f"{row.name}({', '.join(names)})")
    args = tuple(reader.expr(arg) for arg in given)
    try:
        return row(*args)
    except DTypeError as found:
        raise reader.error(found.message, node, found.hint) from None


def _literal(reader: ExprReader, node: ast.Call, kind: DType) -> Expr:
    (arg,) = reader.arguments(node, f"{kind}(number)")
    number = bare_number(arg)
    if isinstance(arg, ast.Constant) and isinstance(arg.value, str) and kind.is_float:
        number = float_from(arg.value)
        if number is None:
            raise reader.error('expected "nan", "inf", "-inf" or 16 hexadecimal digits', arg)
    if number is None:
        return build.cast(reader.expr(arg), kind)
    try:
        return const(number, kind)
    except DTypeError as found:
        raise reader.error(found.message, arg, found.hint) from None
    except OverflowError:
        raise reader.error(f"the number does not fit into {kind}", arg) from None


def float_from(text: str) -> float | None:
    """Read a float written by ``expr_printer.float_literal`` without decimal form."""
    if text in ("nan", "inf", "-inf"):
        return float(text)
    digits = text.removeprefix("0x")
    if len(digits) != 16 or len(text) != 18 or not set(digits) <= set("0123456789abcdef"):
        return None
    return struct.unpack("<d", struct.pack("<Q", int(digits, 16)))[0]


def _cast(reader: ExprReader, node: ast.Call) -> Expr:
    value, kind = reader.arguments(node, "cast(value, type)")
    expr, wanted = reader.expr(value), reader.dtype_of(kind)
    if wanted.lanes != expr.dtype.lanes:
        if wanted.lanes != 1:
            raise reader.error(
                f"cannot cast {expr.dtype} to {wanted}: the number of lanes differs", node
            )
        wanted = wanted.with_lanes(expr.dtype.lanes)
    return Cast(expr, wanted)


def _reinterpret(reader: ExprReader, node: ast.Call) -> Expr:
    value, kind = reader.arguments(node, "reinterpret(value, type)")
    expr, wanted = reader.expr(value), reader.dtype_of(kind)
    return _checked(reader, node, lambda: build.reinterpret(expr, wanted))


def _ldexp(reader: ExprReader, node: ast.Call) -> Expr:
    value, exponent = reader.arguments(node, "ldexp(value, exponent)")
    x, n = reader.expr(value), reader.expr(exponent)
    return _checked(reader, node, lambda: build.ldexp(x, n))


def _checked(reader: ExprReader, node: ast.Call, make: Callable[[], Expr]) -> Expr:
    try:
        return make()
    except DTypeError as found:
        raise reader.error(found.message, node, found.hint) from None


def _lanes(reader: ExprReader, node: ast.expr) -> int:
    lanes = reader.integer(node)
    if not 2 <= lanes <= MAX_LANES:
        raise reader.error(f"expected 2 to {MAX_LANES} lanes, found {lanes}", node)
    return lanes


def _ramp(reader: ExprReader, node: ast.Call) -> Expr:
    begin, step, count = reader.arguments(node, "ramp(base, stride, lanes)")
    a = reader.expr(begin)
    b = reader.typed(step, a.dtype)
    lanes = _lanes(reader, count)
    if a.dtype == b.dtype and a.dtype.lanes == 1:
        return Ramp(a, b, a.dtype.with_lanes(lanes))
    try:
        base, stride = reader.meeting((begin, a), (step, b))
        return build.ramp(base, stride, lanes)
    except DTypeError as found:
        raise reader.error(found.message, node, found.hint) from None


def _broadcast(reader: ExprReader, node: ast.Call) -> Expr:
    value, count = reader.arguments(node, "broadcast(value, lanes)")
    expr, lanes = reader.expr(value), _lanes(reader, count)
    if expr.dtype.lanes != 1:
        raise reader.error(f"expected a scalar, found {expr.dtype}", value)
    return Broadcast(expr, expr.dtype.with_lanes(lanes))


def _load(reader: ExprReader, node: ast.Call) -> Expr:
    args = reader.arguments(node, "load(buffer, indices, mask=mask)", ("mask",))
    buffer, indices = reader.buffer(args[0]), reader.index(args[1])
    lanes = max((index.dtype.lanes for index in indices), default=1)
    return Load(buffer, indices, reader.expr(args[2]), buffer.dtype.with_lanes(lanes))


def _select(reader: ExprReader, node: ast.Call) -> Expr:
    test, then, otherwise = reader.arguments(node, "select(cond, then, otherwise)")
    return _choice(reader, Select, test, then, otherwise, node)


def _neg(reader: ExprReader, node: ast.Call) -> Expr:
    value = reader.expr(reader.arguments(node, "neg(value)")[0])
    if value.dtype.is_bool:
        raise reader.error("neg is not defined on bool", node)
    return Neg(value, value.dtype)


def _operation(cls: type[Binary]) -> Callable[[ExprReader, ast.Call], Expr]:
    form = f"{cls.sign}(a, b)"

    def read(reader: ExprReader, node: ast.Call) -> Expr:
        left, right = reader.arguments(node, form)
        return reader.operation(cls, left, right, node)

    return read


_FUNCTIONS: dict[str, Callable[[ExprReader, ast.Call], Expr]] = {
    **{cls.sign: _operation(cls) for cls, row in OPERATIONS.items() if row.python is None},
    "select": _select,
    "cast": _cast,
    "ramp": _ramp,
    "broadcast": _broadcast,
    "load": _load,
    "neg": _neg,
    "reinterpret": _reinterpret,
    "ldexp": _ldexp,
}


class CallReader(ExprReader):
    """Reader of expressions that include calls and conditionals."""

    readers: ClassVar[Mapping[type[ast.AST], Read]] = {
        **ExprReader.readers,
        ast.IfExp: _conditional,
        ast.Call: _call,
    }
