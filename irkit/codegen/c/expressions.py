"""Code of expressions: a table from class to code, operands first.

A scalar nests in the expression around it, unless it is used twice or the line would get long. A
conditional evaluates one side only: by ``?:`` if a side needs no lines of its own, else by ``if``.
"""

from collections.abc import Callable
from typing import Any, cast

from irkit.codegen.c import helpers
from irkit.codegen.c.functions import by_lanes, intrinsic, limits
from irkit.codegen.c.lanes import as_bools, broadcast, choose, each_lane, iota, wrapped
from irkit.codegen.c.memory_access import load
from irkit.codegen.c.operations.conditionals import LAZY, note_loads
from irkit.codegen.c.operations.contraction import contracted
from irkit.codegen.c.operations.conversions import convert, reinterpret, scaled
from irkit.codegen.c.operations.instruction_calls import instruction_call
from irkit.codegen.c.types import lane, literal, padded, value_type
from irkit.codegen.c.writer import ATOM, LONGEST, LOWEST, PLUS, TIMES, UNARY, Code, FunctionWriter
from irkit.core import IRKitError, children as children_of, postorder
from irkit.ir import (
    EQ,
    GE,
    GT,
    LE,
    LT,
    NE,
    Add,
    And,
    Binary,
    BitAnd,
    BitOr,
    BitXor,
    Broadcast,
    Call,
    Cast,
    Compare,
    Conditional,
    Const,
    Div,
    DType,
    Expr,
    FloorDiv,
    FloorMod,
    InstructionCall,
    Ldexp,
    Load,
    Max,
    Min,
    Mul,
    Neg,
    Not,
    Or,
    Ramp,
    Reinterpret,
    Select,
    Shl,
    Shr,
    Sub,
    Var,
    as_int,
)
from irkit.ir.math import is_saturated

_LANES_IN_LINE = 64


def evaluate(writer: FunctionWriter, root: Expr) -> Code:
    """Return the code of an expression; write lines for what cannot nest."""
    if id(root) not in writer.memo:
        _note_shared(writer, root)
        note_loads(writer, root)
    return code(writer, root)


def _note_shared(writer: FunctionWriter, root: Expr) -> None:
    """Record which expressions occur more than once: they become variables."""
    seen = set[int]()
    for node in postorder(root):
        for below in children_of(node):
            if id(below) in seen and not isinstance(below, (Var, Const)):
                writer.shared.add(id(below))
            seen.add(id(below))


def code(writer: FunctionWriter, node: Expr) -> Code:
    """Return the code of an expression whose loads and shared parts are noted."""
    known = writer.memo.get(id(node))
    if known is not None:
        return known
    cls = node.__class__
    lazy = LAZY.get(cls)
    value = None if lazy is None else lazy(writer, node, code)
    if value is None:
        emit = EMIT.get(cls)
        if emit is None:
            raise IRKitError(f"there is no C code for expressions of class {cls.__name__}")
        for below in children_of(node):
            _operand(writer, cast(Expr, below))
        value = emit(writer, node)
    plain = value.text.isidentifier() or isinstance(node, (Const, Var))
    if not plain and (id(node) in writer.shared or len(value.text) > LONGEST):
        value = writer.variable(node.dtype, value)
    writer.keep(node, value)
    return value


def evaluate_index(writer: FunctionWriter, root: Expr) -> None:
    """Evaluate an index; its lanes only when ``writer.of`` asks for them."""
    if id(root) not in writer.memo:
        _note_shared(writer, root)
        note_loads(writer, root)
        _operand(writer, root)


def _operand(writer: FunctionWriter, node: Expr) -> None:
    """Evaluate an operand; of a vector made of scalars only these, until its lanes are needed."""
    late = DEFERRED.get(node.__class__)
    if late is None:
        code(writer, node)
        return
    for below in children_of(node):
        if id(below) not in writer.memo:
            _operand(writer, cast(Expr, below))
    writer.deferred[id(node)] = late


def _of(writer: FunctionWriter, expr: Expr) -> Code:
    return writer.of(expr)


def _var(writer: FunctionWriter, node: Var) -> Code:
    return writer.of_var(node)


def _const(writer: FunctionWriter, node: Const) -> Code:
    text = literal(node.value, node.dtype)
    level = UNARY if text[0] == "-" else ATOM
    if node.dtype.is_float:
        return Code(text, level)
    value = int(node.value) & ((1 << node.dtype.bits) - 1)
    value = value - (1 << node.dtype.bits) if value > node.dtype.high else value
    return Code(text, level, value, value, is_literal=True)


def _arithmetic(sign: str, level: int) -> Callable[[FunctionWriter, Binary], Code]:
    def emit(writer: FunctionWriter, node: Binary) -> Code:
        dtype, a, b = node.dtype, _of(writer, node.a), _of(writer, node.b)
        if dtype.is_float:
            made = contracted(writer, node) if level == PLUS else None
            if made is not None:
                return made
            return Code(f"{a.within(level)} {sign} {b.within(level + 1)}", level)
        if dtype.lanes > 1:
            return wrapped(writer, dtype, sign, a, b)
        return integer_arithmetic(dtype, sign, level, a, b)

    return emit


def integer_arithmetic(dtype: DType, sign: str, level: int, a: Code, b: Code) -> Code:
    """Return integer arithmetic: plain if it cannot leave the type, else in the unsigned type."""
    corners = [_exact(sign, x, y) for x in (a.low, a.high) for y in (b.low, b.high)]
    low, high = min(corners), max(corners)
    kind, fits = f"int{dtype.bits}_t", dtype.low <= low and high <= dtype.high
    a = _typed(dtype, a, b)
    plain = f"{a.within(level)} {sign} {b.within(level + 1)}"
    if fits:
        return Code(plain, level, low, high)
    if dtype.kind == "u":
        if dtype.bits >= 32:
            return Code(plain, level, *limits(dtype))
        return Code(
            f"(u{kind})(1u * {a.within(UNARY)} {sign} {b.within(UNARY)})", UNARY, *limits(dtype)
        )
    wide = f"uint{max(dtype.bits, 32)}_t"
    text = f"({kind})(({wide}){a.within(UNARY)} {sign} ({wide}){b.within(UNARY)})"
    return Code(text, UNARY, *limits(dtype))


def _typed(dtype: DType, a: Code, b: Code) -> Code:
    """Return an operand such that C computes in the type, also if both operands are literals."""
    if not (a.is_literal and b.is_literal) or dtype.is_float or dtype.lanes > 1:
        return a
    return Code(f"({value_type(dtype)}){a.within(UNARY)}", UNARY, a.low, a.high)


def _exact(sign: str, a: int, b: int) -> int:
    return a + b if sign == "+" else a - b if sign == "-" else a * b


def _divide(how: str) -> Callable[[FunctionWriter, Binary], Code]:
    def emit(writer: FunctionWriter, node: Binary) -> Code:
        dtype, a, b = node.dtype, _of(writer, node.a), _of(writer, node.b)
        if dtype.is_float:
            call = helpers.float_divide(writer.source, dtype, how)
            return by_lanes(writer, dtype, [a, b], call)
        known = as_int(node.b)
        if dtype.lanes == 1 and known is not None and known > 0 and a.low >= 0:
            sign = "/" if how == "floordiv" else "%"
            ends = (a.low // known, a.high // known) if sign == "/" else (0, known - 1)
            a = _typed(dtype, a, b)
            return Code(f"{a.within(TIMES)} {sign} {b.within(UNARY)}", TIMES, *ends)
        call = helpers.divide(writer.source, dtype.element, how)
        made = by_lanes(writer, dtype, [a, b], call)
        if dtype.lanes == 1 and known is not None and known > 0:
            ends = (a.low // known, a.high // known) if how == "floordiv" else (0, known - 1)
            return Code(made.text, made.level, *ends)
        return made

    return emit


def _bits(sign: str) -> Callable[[FunctionWriter, Binary], Code]:
    def emit(writer: FunctionWriter, node: Binary) -> Code:
        a, b = _of(writer, node.a), _of(writer, node.b)
        return Code(f"{a.within(UNARY)} {sign} {b.within(UNARY)}", LOWEST, *limits(node.dtype))

    return emit


def _logical(sign: str) -> Callable[[FunctionWriter, Binary], Code]:
    def emit(writer: FunctionWriter, node: Binary) -> Code:
        a, b = _of(writer, node.a), _of(writer, node.b)
        both = sign if node.dtype.lanes > 1 else 2 * sign
        return Code(f"{a.within(UNARY)} {both} {b.within(UNARY)}", LOWEST, 0, 1)

    return emit


def _shift(name: str) -> Callable[[FunctionWriter, Binary], Code]:
    def emit(writer: FunctionWriter, node: Binary) -> Code:
        call = helpers.shift(writer.source, node.dtype.element, name)
        return by_lanes(writer, node.dtype, [_of(writer, node.a), _of(writer, node.b)], call)

    return emit


def _extreme(name: str) -> Callable[[FunctionWriter, Binary], Code]:
    sign = "<" if name == "min" else ">"

    def emit(writer: FunctionWriter, node: Binary) -> Code:
        dtype, a, b = node.dtype, _of(writer, node.a), _of(writer, node.b)
        if dtype.is_bool:
            joined = f"{a.within(UNARY)} {'&' if name == 'min' else '|'} {b.within(UNARY)}"
            return Code(joined, LOWEST, 0, 1)
        if dtype.lanes > 1:
            x, y = writer.named(dtype, a), writer.named(dtype, b)
            test = f"({x} {sign} {y}) | ({x} != {x})" if dtype.is_float else f"{x} {sign} {y}"
            mask = as_bools(writer, test, dtype)
            return choose(writer, dtype, mask.text, Code(x), Code(y))
        if dtype.is_float:
            return by_lanes(
                writer, dtype, [a, b], helpers.float_min_max(writer.source, dtype, name)
            )
        x, y = writer.named(dtype, _typed(dtype, a, b)), writer.named(dtype, b)
        pick = min if name == "min" else max
        ends = pick(a.low, b.low), pick(a.high, b.high)
        return Code(f"({x} {sign} {y} ? {x} : {y})", ATOM, *ends)

    return emit


_SIGNS: dict[type[Compare], str] = {EQ: "==", NE: "!=", LT: "<", LE: "<=", GT: ">", GE: ">="}


def _compare(writer: FunctionWriter, node: Compare) -> Code:
    a, b, sign = _of(writer, node.a), _of(writer, node.b), _SIGNS[type(node)]
    text = f"{a.within(PLUS)} {sign} {b.within(PLUS)}"
    if node.dtype.lanes == 1:
        return Code(text, LOWEST, 0, 1)
    if node.a.dtype.is_bool:  # True is -1.
        text = f"{b.within(PLUS)} {sign} {a.within(PLUS)}"
    return as_bools(writer, text, node.a.dtype)


def _not(writer: FunctionWriter, node: Not) -> Code:
    a, dtype = _of(writer, node.a), node.dtype
    if dtype.is_bool and dtype.lanes == 1:
        return Code(f"!{a.within(UNARY)}", UNARY, 0, 1)
    text = f"~{a.within(UNARY)}"
    if dtype.lanes == 1 and dtype.bits < 32:
        kind = f"{'u' if dtype.kind == 'u' else ''}int{dtype.bits}_t"
        text = f"({kind}){text}"
    return Code(text, UNARY, *limits(dtype))


def _neg(writer: FunctionWriter, node: Neg) -> Code:
    a, dtype = _of(writer, node.a), node.dtype
    if dtype.is_float:
        return Code(f"-{a.within(ATOM)}", UNARY)
    if dtype.lanes == 1:
        return integer_arithmetic(dtype, "-", PLUS, Code(literal(0, dtype), is_literal=True), a)
    return wrapped(writer, dtype, "-", Code(writer.source.zeros(writer.type_of(dtype))), a)


def _cast(writer: FunctionWriter, node: Cast) -> Code:
    value, in_range = _of(writer, node.value), is_saturated(node)
    return convert(writer, node.value.dtype, node.dtype, value, in_range=in_range)


def _reinterpret(writer: FunctionWriter, node: Reinterpret) -> Code:
    return reinterpret(writer, node.value.dtype, node.dtype, _of(writer, node.value))


def _ldexp(writer: FunctionWriter, node: Ldexp) -> Code:
    value, exponent = _of(writer, node.value), _of(writer, node.exponent)
    return scaled(writer, node.dtype, node.exponent.dtype, value, exponent)


def _select(writer: FunctionWriter, node: Select | Conditional) -> Code:
    cond, then, otherwise = (_of(writer, x) for x in (node.cond, node.then, node.otherwise))
    if node.cond.dtype.lanes > 1:
        mask = writer.named(node.cond.dtype, cond)
        return choose(writer, node.dtype, mask, then, otherwise)
    ends = min(then.low, otherwise.low), max(then.high, otherwise.high)
    then = _typed(node.dtype, then, otherwise)
    text = f"({cond.within(PLUS)} ? {then.within(PLUS)} : {otherwise.within(PLUS)})"
    return Code(text, ATOM, *ends)


def _call(writer: FunctionWriter, node: Call) -> Code:
    return intrinsic(writer, node.name, node.args[0].dtype, [_of(writer, arg) for arg in node.args])


def _ramp(writer: FunctionWriter, node: Ramp) -> Code:
    dtype, stride = node.dtype, as_int(node.stride)
    base = broadcast(writer, dtype, _of(writer, node.base))
    if stride is not None and padded(dtype.lanes) <= _LANES_IN_LINE:
        return wrapped(writer, dtype, "+", base, Code(iota(writer, dtype, stride)))
    wide = f"uint{dtype.bits}_t"
    start = writer.named(node.base.dtype, _of(writer, node.base))
    step = writer.named(node.stride.dtype, _of(writer, node.stride))
    text = f"(({wide}){start} + ({wide})lane * ({wide}){step})"
    if dtype.bits < 32:
        text = f"({wide})(1u * ({wide}){start} + 1u * ({wide})lane * ({wide}){step})"
    return each_lane(writer, lane(dtype), dtype.lanes, text)


def _broadcast(writer: FunctionWriter, node: Broadcast) -> Code:
    return broadcast(writer, node.dtype, _of(writer, node.value))


def _load(writer: FunctionWriter, node: Load) -> Code:
    return load(writer, node)


EMIT: dict[type[Expr], Callable[[FunctionWriter, Any], Code]] = {
    Var: _var,
    Const: _const,
    Add: _arithmetic("+", PLUS),
    Sub: _arithmetic("-", PLUS),
    Mul: _arithmetic("*", TIMES),
    Div: _arithmetic("/", TIMES),
    FloorDiv: _divide("floordiv"),
    FloorMod: _divide("floormod"),
    BitAnd: _bits("&"),
    BitOr: _bits("|"),
    BitXor: _bits("^"),
    Shl: _shift("shl"),
    Shr: _shift("shr"),
    Min: _extreme("min"),
    Max: _extreme("max"),
    **dict.fromkeys(_SIGNS, _compare),
    And: _logical("&"),  # If no side needs guarding; see LAZY for the rest.
    Or: _logical("|"),
    Not: _not,
    Neg: _neg,
    Cast: _cast,
    Reinterpret: _reinterpret,
    Ldexp: _ldexp,
    Select: _select,
    Conditional: _select,
    Call: _call,
    InstructionCall: instruction_call,
    Load: _load,
    Ramp: _ramp,
    Broadcast: _broadcast,
}

DEFERRED: dict[type[Expr], Callable[[FunctionWriter, Any], Code]] = {
    Ramp: _ramp,
    Broadcast: _broadcast,
}
