"""Code of expressions: a table from class to instructions, operands first.

A shared subexpression is computed once in a statement, unless it is computed on one side of a
branch only.
"""

from collections.abc import Callable
from typing import Any

from irkit.codegen.llvm.arithmetic import integer_ops
from irkit.codegen.llvm.arithmetic.conversions import (
    convert,
    fence_rounding,
    reinterpret,
    scaled,
)
from irkit.codegen.llvm.builder.scope import FunctionScope
from irkit.codegen.llvm.builder.types import (
    as_vector,
    integers,
    literal,
    splat,
    value_type,
)
from irkit.codegen.llvm.expressions.conditionals import LAZY
from irkit.codegen.llvm.expressions.instruction_calls import instruction_call
from irkit.codegen.llvm.expressions.memory_access import broadcast, load
from irkit.codegen.llvm.math.intrinsics import floor_divide, intrinsic
from irkit.core import IRKitError, children as children_of, postorder
from irkit.ir import (
    EQ,
    GE,
    GT,
    HINT_NAMES,
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
from irkit.ir.math import expansion


def evaluate(scope: FunctionScope, root: Expr) -> str:
    """Write the code of an expression; return the name of its value, or a constant."""
    if id(root) not in scope.memo:
        _note_loads(scope, root)
    return _code(scope, root)


def evaluate_index(scope: FunctionScope, root: Expr) -> None:
    """Write the code of an index; that of its lanes only when ``scope.of`` asks for them."""
    if id(root) not in scope.memo:
        _note_loads(scope, root)
        _operand(scope, root)


def _code(scope: FunctionScope, node: Expr) -> str:
    memo, cls = scope.memo, node.__class__
    if id(node) in memo:
        return memo[id(node)]
    lazy = LAZY.get(cls)
    value = None if lazy is None else lazy(scope, node, _code)
    if value is None:
        for below in children_of(node):
            if id(below) not in memo:
                _operand(scope, below)  # pyright: ignore[reportArgumentType] -- expressions hold expressions
        emit = EMIT.get(cls)
        if emit is None:
            raise IRKitError(f"there is no code for expressions of class {cls.__name__}")
        value = emit(scope, node)
    scope.keep(node, value)
    return value


def _operand(scope: FunctionScope, node: Expr) -> None:
    """Evaluate an operand; of a vector made of scalars only these, until its lanes are needed."""
    late = DEFERRED.get(node.__class__)
    if late is None:
        _code(scope, node)
        return
    for below in children_of(node):
        if id(below) not in scope.memo:
            _operand(scope, below)  # pyright: ignore[reportArgumentType] -- expressions hold expressions
    scope.deferred[id(node)] = late


def _note_loads(scope: FunctionScope, root: Expr) -> None:
    """Record which expressions read memory or call functions: a conditional must guard those."""
    order = postorder(root)
    if not any(node.__class__ in LAZY for node in order):
        return
    loading = scope.loading
    for node in order:
        if isinstance(node, (Load, Call, InstructionCall)) or any(
            id(n) in loading for n in children_of(node)
        ):
            loading.add(id(node))


def _var(scope: FunctionScope, node: Var) -> str:
    return scope.variable(node)


def _const(scope: FunctionScope, node: Const) -> str:
    return literal(node.value, node.dtype)


def _arithmetic(integer: str, floating: str) -> Callable[[FunctionScope, Binary], str]:
    def emit(scope: FunctionScope, node: Binary) -> str:
        kind, dtype = value_type(node.dtype), node.dtype
        a, b = scope.of(node.a), scope.of(node.b)
        if not dtype.is_float:
            return scope.text.op(f"{integer} {kind} {a}, {b}")
        return scope.text.op(f"{floating} {scope.flags} {kind} {a}, {b}")

    return emit


def _extreme(name: str) -> Callable[[FunctionScope, Binary], str]:
    def emit(scope: FunctionScope, node: Binary) -> str:
        kind, dtype, text = value_type(node.dtype), node.dtype, scope.text
        a, b = scope.of(node.a), scope.of(node.b)
        if dtype.is_bool:
            return text.op(f"{'and' if name == 'min' else 'or'} {kind} {a}, {b}")
        if dtype.is_float and "contract" in scope.flags:  # nsz: either zero will do.
            return text.intrinsic(f"{name}imum", kind, a, b, flags="nsz ")
        if dtype.is_float:  # Bits are to be the same everywhere: of two zeros, b.
            before = text.op(f"fcmp {'olt' if name == 'min' else 'ogt'} {kind} {a}, {b}")
            unordered = text.op(f"fcmp uno {kind} {a}, {a}")
            bits = as_vector("i1", dtype.lanes)
            first = text.op(f"or {bits} {before}, {unordered}")
            return text.op(f"select {bits} {first}, {kind} {a}, {kind} {b}")
        return text.intrinsic(("u" if dtype.kind == "u" else "s") + name, kind, a, b)

    return emit


def _divide(how: str) -> Callable[[FunctionScope, Binary], str]:
    def emit(scope: FunctionScope, node: Binary) -> str:
        a, b, dtype = scope.of(node.a), scope.of(node.b), node.dtype
        if dtype.is_float:
            return floor_divide(scope.text, dtype, a, b, how)
        known = as_int(node.b.value if isinstance(node.b, Broadcast) else node.b)
        return integer_ops.divide(scope.text, dtype, a, b, known, how)

    return emit


def _bits(name: str) -> Callable[[FunctionScope, Binary], str]:
    def emit(scope: FunctionScope, node: Binary) -> str:
        kind = value_type(node.dtype)
        return scope.text.op(f"{name} {kind} {scope.of(node.a)}, {scope.of(node.b)}")

    return emit


def _shift(
    how: Callable[..., str],
) -> Callable[[FunctionScope, Binary], str]:
    def emit(scope: FunctionScope, node: Binary) -> str:
        return how(scope.text, node.dtype, scope.of(node.a), scope.of(node.b))

    return emit


_FLOAT_TESTS: dict[type[Compare], str] = {
    EQ: "oeq",
    NE: "une",
    LT: "olt",
    LE: "ole",
    GT: "ogt",
    GE: "oge",
}
_INT_TESTS: dict[type[Compare], str] = {EQ: "eq", NE: "ne", LT: "lt", LE: "le", GT: "gt", GE: "ge"}


def _compare(scope: FunctionScope, node: Compare) -> str:
    operands = node.a.dtype
    kind, cls = value_type(operands), type(node)
    if operands.is_float:
        test = f"fcmp {_FLOAT_TESTS[cls]}"
    else:
        sign = "" if cls in (EQ, NE) else "s" if operands.kind == "i" else "u"
        test = f"icmp {sign}{_INT_TESTS[cls]}"
    return scope.text.op(f"{test} {kind} {scope.of(node.a)}, {scope.of(node.b)}")


def _not(scope: FunctionScope, node: Not) -> str:
    ones = "true" if node.dtype.is_bool else "-1"
    if node.dtype.lanes > 1:
        ones = splat(ones, node.dtype)
    return scope.text.op(f"xor {value_type(node.dtype)} {scope.of(node.a)}, {ones}")


def _neg(scope: FunctionScope, node: Neg) -> str:
    kind = value_type(node.dtype)
    if node.dtype.is_float:
        return scope.text.op(f"fneg {kind} {scope.of(node.a)}")
    zero = "0" if node.dtype.lanes == 1 else "zeroinitializer"
    return scope.text.op(f"sub {kind} {zero}, {scope.of(node.a)}")


def _cast(scope: FunctionScope, node: Cast) -> str:
    value = scope.of(node.value)
    if not isinstance(node.value, (Binary, Load)):
        value = fence_rounding(scope.text, node.value.dtype, node.dtype, value)
    return convert(scope.text, node.value.dtype, node.dtype, value)


def _select(scope: FunctionScope, node: Select | Conditional) -> str:
    cond, then, otherwise = (scope.of(x) for x in (node.cond, node.then, node.otherwise))
    kind, test = value_type(node.dtype), value_type(node.cond.dtype)
    return scope.text.op(f"select {test} {cond}, {kind} {then}, {kind} {otherwise}")


def _reinterpret(scope: FunctionScope, node: Reinterpret) -> str:
    return reinterpret(scope.text, node.value.dtype, node.dtype, scope.of(node.value))


def _ldexp(scope: FunctionScope, node: Ldexp) -> str:
    made = _expanded(scope, node)
    if made is not None:
        return made
    kind, value, exponent = value_type(node.dtype), scope.of(node.value), scope.of(node.exponent)
    return scaled(scope.text, kind, node.exponent.dtype, value, exponent)


def _expanded(scope: FunctionScope, node: Expr) -> str | None:
    """Write what an expression amounts to, if the legalisation has left that to be done here."""
    made = expansion(node, scope.text.module.math)
    if made is None:
        return None
    scope.expanded.append(made)  # The memo knows expressions by their id.
    return _code(scope, made)


def _call(scope: FunctionScope, node: Call) -> str:
    if node.name == "barrier" or node.name in HINT_NAMES:
        raise IRKitError(f"{node.name!r} is a statement and has no value")
    made = _expanded(scope, node)
    if made is not None:
        return made
    args = [scope.of(arg) for arg in node.args]
    return intrinsic(scope.text, node.name, node.args[0].dtype, args, scope.flags)


def _ramp(scope: FunctionScope, node: Ramp) -> str:
    dtype, stride = node.dtype, as_int(node.stride)
    kind, scalar = value_type(dtype), value_type(dtype.element)
    base = broadcast(scope, scalar, scope.of(node.base), dtype.lanes)
    if stride is not None:
        steps = integers([lane * stride for lane in range(dtype.lanes)], dtype)
        return scope.text.op(f"add {kind} {base}, {steps}")
    lanes = integers(list(range(dtype.lanes)), dtype)
    step = broadcast(scope, scalar, scope.of(node.stride), dtype.lanes)
    return scope.text.op(f"add {kind} {base}, {scope.text.op(f'mul {kind} {step}, {lanes}')}")


def _broadcast(scope: FunctionScope, node: Broadcast) -> str:
    value = scope.of(node.value)
    if not value.startswith("%"):
        return splat(value, node.dtype)
    return broadcast(scope, value_type(node.dtype.element), value, node.dtype.lanes)


EMIT: dict[type[Expr], Callable[[FunctionScope, Any], str]] = {
    Var: _var,
    Const: _const,
    Add: _arithmetic("add", "fadd"),
    Sub: _arithmetic("sub", "fsub"),
    Mul: _arithmetic("mul", "fmul"),
    Div: _arithmetic("", "fdiv"),
    FloorDiv: _divide("floordiv"),
    FloorMod: _divide("floormod"),
    BitAnd: _bits("and"),
    BitOr: _bits("or"),
    BitXor: _bits("xor"),
    Shl: _shift(integer_ops.shift_left),
    Shr: _shift(integer_ops.shift_right),
    Min: _extreme("min"),
    Max: _extreme("max"),
    **dict.fromkeys(_INT_TESTS, _compare),
    And: _bits("and"),  # If no side needs guarding; see LAZY for the rest.
    Or: _bits("or"),
    Not: _not,
    Neg: _neg,
    Cast: _cast,
    Reinterpret: _reinterpret,
    Ldexp: _ldexp,
    Select: _select,
    Conditional: _select,
    Call: _call,
    InstructionCall: instruction_call,
    Load: load,
    Ramp: _ramp,
    Broadcast: _broadcast,
}

DEFERRED: dict[type[Expr], Callable[[FunctionScope, Any], str]] = {
    Ramp: _ramp,
    Broadcast: _broadcast,
}
