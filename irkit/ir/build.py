"""Functions that build IR and infer its types; all code outside this folder uses them."""

from collections.abc import Iterable, Sequence
from functools import reduce

from irkit.core import DTypeError, Node
from irkit.ir.buffer import Ramp
from irkit.ir.conditional import Conditional, Select
from irkit.ir.dtype import BOOL, I64, MAX_LANES, DType, as_dtype, common
from irkit.ir.expr import (
    EQ,
    GE,
    GT,
    LE,
    LT,
    NE,
    And,
    Broadcast,
    Const,
    Expr,
    ExprLike,
    FloorDiv,
    FloorMod,
    Max,
    Min,
    Not,
    Or,
    as_expr,
    binary,
    convert,
    meet,
)
from irkit.ir.intrinsics import (
    HINT_NAMES,
    INTRINSICS,
    Call,
    Ldexp,
    Reinterpret,
    ldexp_problem,
    reinterpret_problem,
)
from irkit.ir.stmt import Allocate, Evaluate, For, Let, Seq, Stmt, View
from irkit.ir.tracing.refused_operators import bool_error
from irkit.ir.tracing.traces import TRACES, traced

_FAR = 1 << 58
"""No memory has so many elements, and the sum of many such numbers does not wrap around."""


def eq(a: ExprLike, b: ExprLike) -> Expr:
    """Return ``a == b``; false if either is NaN."""
    return binary(EQ, a, b)


def ne(a: ExprLike, b: ExprLike) -> Expr:
    """Return ``a != b``; true if either is NaN."""
    return binary(NE, a, b)


def lt(a: ExprLike, b: ExprLike) -> Expr:
    """Return ``a < b``."""
    return binary(LT, a, b)


def le(a: ExprLike, b: ExprLike) -> Expr:
    """Return ``a <= b``."""
    return binary(LE, a, b)


def gt(a: ExprLike, b: ExprLike) -> Expr:
    """Return ``a > b``."""
    return binary(GT, a, b)


def ge(a: ExprLike, b: ExprLike) -> Expr:
    """Return ``a >= b``."""
    return binary(GE, a, b)


def minimum(a: ExprLike, b: ExprLike) -> Expr:
    """Return the smaller; NaN if either is NaN."""
    return binary(Min, a, b)


def maximum(a: ExprLike, b: ExprLike) -> Expr:
    """Return the larger; NaN if either is NaN."""
    return binary(Max, a, b)


def floordiv(a: ExprLike, b: ExprLike) -> Expr:
    """Return ``a // b``: the quotient rounded towards minus infinity."""
    return binary(FloorDiv, a, b)


def floormod(a: ExprLike, b: ExprLike) -> Expr:
    """Return ``a % b``: the remainder with the sign of ``b``."""
    return binary(FloorMod, a, b)


def logical_and(*conditions: ExprLike) -> Expr:
    """Combine conditions with ``and``, left to right; without any, return True."""
    return _join(And, conditions, True)


def logical_or(*conditions: ExprLike) -> Expr:
    """Combine conditions with ``or``, left to right; without any, return False."""
    return _join(Or, conditions, False)


def _join(cls: type[And] | type[Or], conditions: tuple[ExprLike, ...], empty: bool) -> Expr:
    exprs = [as_expr(condition) for condition in conditions]
    kept = [expr for expr in exprs if not (isinstance(expr, Const) and expr.value is empty)]
    return reduce(lambda a, b: binary(cls, a, b), kept) if kept else Const(empty, BOOL)


def logical_not(a: ExprLike) -> Expr:
    """Negate a bool, or every bit of an integer."""
    value = as_expr(a)
    if value.dtype.is_float:
        raise DTypeError(f"not is not defined on {value.dtype}")
    made = Not(value, value.dtype)
    return traced(made) if TRACES else made


def cast(value: ExprLike, dtype: DType | str) -> Expr:
    """Convert to a type, with the lanes of the value."""
    return as_expr(value).astype(dtype)


def reinterpret(value: ExprLike, dtype: DType | str) -> Expr:
    """Return the bits of a value as a number of another type.

    Raises: DTypeError if the types differ in width, or one is bool.
    """
    expr = as_expr(value)
    made = Reinterpret(expr, as_dtype(dtype).with_lanes(expr.dtype.lanes))
    problem = reinterpret_problem(made)
    if problem is not None:
        raise DTypeError(problem)
    return traced(made) if TRACES else made


def ldexp(value: ExprLike, exponent: ExprLike) -> Expr:
    """Return ``value * 2**exponent``, rounded once.

    Raises: DTypeError unless it is a float and an integer; a scalar is repeated in every lane.
    """
    x, n = as_expr(value), as_expr(exponent)
    lanes = max(x.dtype.lanes, n.dtype.lanes)
    x, n = convert(x, x.dtype.with_lanes(lanes)), convert(n, n.dtype.with_lanes(lanes))
    made = Ldexp(x, n, x.dtype)
    problem = ldexp_problem(made)
    if problem is not None:
        raise DTypeError(problem)
    return traced(made) if TRACES else made


def select(cond: ExprLike, then: ExprLike, otherwise: ExprLike) -> Expr:
    """Choose by a condition, evaluating both sides."""
    test, a, b = _choice(cond, then, otherwise)
    made = Select(test, a, b, a.dtype)
    return traced(made) if TRACES else made


def if_then_else(cond: ExprLike, then: ExprLike, otherwise: ExprLike) -> Expr:
    """Choose by a condition, evaluating only the chosen side."""
    test, a, b = _choice(cond, then, otherwise)
    made = Conditional(test, a, b, a.dtype)
    return traced(made) if TRACES else made


def _choice(cond: ExprLike, then: ExprLike, otherwise: ExprLike) -> tuple[Expr, Expr, Expr]:
    test = as_expr(cond)
    a, b = meet(then, otherwise)
    if not test.dtype.is_bool:
        raise DTypeError(f"a condition must be bool, found {test.dtype}")
    lanes = (
        common(test.dtype.with_lanes(1), BOOL)
        .with_lanes(max(test.dtype.lanes, a.dtype.lanes))
        .lanes
    )
    if a.dtype.lanes == 1 and lanes > 1:
        a, b = convert(a, a.dtype.with_lanes(lanes)), convert(b, b.dtype.with_lanes(lanes))
    return (
        convert(test, BOOL.with_lanes(lanes)) if test.dtype.lanes == 1 and lanes > 1 else test,
        a,
        b,
    )


def call(name: str, *args: ExprLike) -> Expr:
    """Call an intrinsic function; the arguments are converted to their common type.

    Raises: DTypeError if there is no such function, or it is not defined on that type or number of
    arguments.
    """
    row = INTRINSICS.get(name)
    if row is None:
        raise DTypeError(
            f"unknown intrinsic {name!r}", hint="Known are: " + ", ".join(sorted(INTRINSICS))
        )
    if len(args) != row.arity:
        raise DTypeError(f"{name} takes {row.arity} arguments, found {len(args)}")
    if row.gives == "none":
        return Call(name, tuple(as_expr(arg) for arg in args), BOOL)
    first = next((arg.dtype for arg in args if isinstance(arg, Expr)), None)
    exprs = [as_expr(arg, first) for arg in args]
    dtype = reduce(common, (expr.dtype for expr in exprs))
    if not row.accepts(dtype):
        raise DTypeError(f"{name} is not defined on {dtype}; it takes a {row.on}")
    made = Call(name, tuple(convert(expr, dtype) for expr in exprs), row.result(dtype))
    return traced(made) if TRACES else made


def ramp(base: ExprLike, stride: ExprLike, lanes: int) -> Expr:
    """Return the vector base, base + stride, ...; one lane is the base itself."""
    a, b = meet(base, stride)
    return a if lanes == 1 else Ramp(a, b, _vector(a.dtype, lanes))


def broadcast(value: ExprLike, lanes: int) -> Expr:
    """Repeat a scalar over lanes; one lane is the scalar itself."""
    expr = as_expr(value)
    return expr if lanes == 1 else Broadcast(expr, _vector(expr.dtype, lanes))


def _vector(element: DType, lanes: int) -> DType:
    made = element.with_lanes(lanes)
    if not made.is_known():
        raise DTypeError(f"expected 1 to {MAX_LANES} lanes, found {lanes!r}")
    return made


def index(value: ExprLike) -> Expr:
    """Turn an int or an integer expression into an index; Python ints become i64."""
    expr = as_expr(value, I64)
    if not expr.dtype.is_integer:
        raise DTypeError(f"an index must be an integer, found {expr.dtype}")
    return expr


def is_const(expr: Expr, value: int | float | None = None) -> bool:
    """Return True if an expression is a constant (of that value, if given)."""
    return isinstance(expr, Const) and (value is None or expr.value == value)


def as_int(expr: ExprLike) -> int | None:
    """Return the value of a constant integer, or None."""
    if isinstance(expr, int):
        if isinstance(expr, bool):
            raise bool_error(expr)
        return expr
    return (
        expr.value
        if isinstance(expr, Const) and isinstance(expr.value, int) and not expr.dtype.is_bool
        else None
    )


def trip_count(loop: For) -> int | None:
    """Return how often a loop runs, or None if its begin or end is not a constant."""
    begin, end = as_int(loop.begin), as_int(loop.end)
    return None if begin is None or end is None else max(0, end - begin)


def is_block_loop(stmt: Node) -> bool:
    """Return True if a statement is a loop over blocks of threads, which no barrier joins."""
    return isinstance(stmt, For) and stmt.kind == "thread" and stmt.thread.startswith("blockIdx")


def is_thread_loop(stmt: Node) -> bool:
    """Return True if a statement is a loop whose iterations are threads that can meet at
    barriers."""
    return isinstance(stmt, For) and stmt.kind == "thread" and not is_block_loop(stmt)


def product(dims: Iterable[ExprLike]) -> Expr:
    """Multiply extents, folding constants; without any, return 1."""
    whole, rest = 1, list[Expr]()
    for dim in dims:
        number = as_int(dim)
        if number is None:
            rest.append(index(dim))
        else:
            whole *= number
    if whole != 1 or not rest:
        rest.append(Const(whole, I64))
    return reduce(lambda a, b: a * b, rest)


def element_count(dims: Iterable[ExprLike]) -> Expr:
    """Multiply extents in 64 bits into a number of elements; one beyond i64 is the largest i64.

    A product that wraps around would give less memory than is accessed.
    """
    whole, rest = 1, list[Expr]()
    for dim in dims:
        number = as_int(dim)
        if number is None:
            rest.append(convert(index(dim), I64))
        else:
            whole *= number
    if whole == 0 or not rest:
        return Const(max(I64.low, min(whole, I64.high)), I64)
    if whole != 1:
        rest.append(Const(max(I64.low, min(whole, I64.high)), I64))
    return reduce(lambda a, b: call("mul_sat", a, b), rest)


def strided_count(shape: Sequence[ExprLike], strides: Sequence[ExprLike]) -> Expr:
    """Return the number of elements from the first to the last of a buffer with strides, gaps
    included; 0 for an empty one, and no less than 2**58 if a stride leads farther."""
    far, terms = 1, list[Expr]()
    for dim, stride in zip(shape, strides, strict=True):
        size, step = as_int(dim), as_int(stride)
        if size is not None and step is not None:
            far += (size - 1) * step
        else:
            last = convert(index(dim), I64) - 1
            reach = last if step == 1 else call("mul_sat", last, convert(index(stride), I64))
            terms.append(minimum(reach, _FAR))
    far = max(I64.low >> 1, min(far, _FAR))
    if any(as_int(dim) == 0 for dim in shape):
        return Const(0, I64)
    if not terms:
        return Const(far, I64)
    whole = reduce(lambda a, b: a + b, [*terms, Const(far, I64)])
    symbolic = [le(index(dim), 0) for dim in shape if as_int(dim) is None]
    return select(logical_or(*symbolic), 0, whole) if symbolic else whole


def seq(*stmts: Stmt) -> Stmt:
    """Put statements in order, flattening sequences; a single statement is returned as it is."""
    return Seq(stmts).rebuilt() if stmts else Seq(())


def nested(around: Sequence[For | Let | Allocate | View], body: Stmt) -> Stmt:
    """Put a statement into others in place of their bodies, the first one outermost."""
    for stmt in reversed(around):
        body = stmt.replace(body=body)
    return body


def is_empty(stmt: Stmt) -> bool:
    """Return True if a statement is the empty sequence."""
    return isinstance(stmt, Seq) and not stmt.stmts


def evaluates(stmt: Node, name: str) -> bool:
    """Return True if a statement evaluates a call of the intrinsic function of a name."""
    return isinstance(stmt, Evaluate) and isinstance(stmt.value, Call) and stmt.value.name == name


def is_hint(stmt: Node) -> bool:
    """Return True if a statement changes nothing that a program computes: a prefetch, a clock."""
    value = stmt.value if isinstance(stmt, Evaluate) else None
    return isinstance(value, Call) and value.name in HINT_NAMES
