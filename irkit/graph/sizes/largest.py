"""The largest and the smallest that a size can be, over the dimensions that prefixes bind."""

from collections.abc import Mapping
from functools import reduce

from irkit.core import IRKitError, children, postorder, walk
from irkit.ir import (
    I64,
    Add,
    Binary,
    Const,
    Expr,
    FloorDiv,
    Max,
    Min,
    Mul,
    Sub,
    Var,
    as_int,
    floordiv,
    maximum,
    minimum,
)


def largest(size: Expr, most: Mapping[Var, Expr]) -> Expr:
    """Return the largest that ``size`` is, where each dimension of ``most`` is from 0 to the
    expression given for it. The result may be larger than what is reached.

    Raises: IRKitError for an expression that has no known limit.
    """
    known: dict[int, tuple[Expr, Expr]] = {}
    for node in postorder(size):
        assert isinstance(node, Expr)
        known[id(node)] = _limits(node, most, known)
    return known[id(size)][1]


def _limits(
    size: Expr, most: Mapping[Var, Expr], known: Mapping[int, tuple[Expr, Expr]]
) -> tuple[Expr, Expr]:
    """Return the least and the most that a size is; ``known`` has those of its operands."""
    if isinstance(size, Var) and size in most:
        return Const(0, I64), most[size]
    parts = [known[id(child)] for child in children(size)]
    if all(low is high for low, high in parts):
        return size, size
    if not isinstance(size, Binary):
        raise _unlimited(size)
    (low, high), (least, top) = parts
    match size:
        case Add():
            return low + least, high + top
        case Sub():
            return low - top, high - least
        case Min():
            return minimum(low, least), minimum(high, top)
        case Max():
            return maximum(low, least), maximum(high, top)
        case Mul() if _is_positive(size.a) and _is_positive(size.b):
            return low * least, high * top
        case Mul():
            ends = [a * b for a in (low, high) for b in (least, top)]
            return reduce(minimum, ends), reduce(maximum, ends)
        case FloorDiv() if (as_int(size.b) or 0) > 0:
            return floordiv(low, size.b), floordiv(high, size.b)
        case _:
            raise _unlimited(size)


def _is_positive(size: Expr) -> bool:
    """Return True if nothing in an expression makes it negative: dimensions never are."""
    return not any(isinstance(each, Sub) for each in walk(size, Binary)) and all(
        (as_int(each) or 0) >= 0 for each in walk(size, Const)
    )


def _unlimited(size: Expr) -> IRKitError:
    return IRKitError(
        f"a size that is computed by {type(size).__name__} from a dimension which is only known "
        "during a call has no known limit",
        hint="Sizes of this kind are computed by +, -, *, min, max, and // by a number.",
    )
