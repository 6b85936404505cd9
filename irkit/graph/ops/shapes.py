"""Arithmetic on dimensions that can be symbolic, and checks shared by type rules."""

from collections.abc import Sequence
from math import gcd

from irkit.core import DTypeError, ShapeError
from irkit.graph.ops.spec import Array, OpOptions
from irkit.graph.types import TensorType
from irkit.ir import (
    I64,
    Add,
    Const,
    DType,
    Expr,
    LinearForm,
    Mul,
    Sub,
    as_int,
    equal_sums,
    floordiv,
    from_numpy,
    linear,
    minimum,
    product,
)

Dim = Expr | int
_LEAST, _MOST = -(1 << 63), (1 << 63) - 1


def dim(value: Dim) -> Expr:
    """Return an extent as an expression.

    Raises: ShapeError if it does not fit into i64.
    """
    if not isinstance(value, int):
        return value
    if not _LEAST <= value <= _MOST:
        raise ShapeError(f"an extent of {value} does not fit into i64")
    return Const(value, I64)


def same_extent(a: Dim, b: Dim) -> bool:
    """Return True if two extents are certainly equal as sums; symbolic ones can be of any depth."""
    left, right = as_int(a), as_int(b)
    if left is not None and right is not None:
        return left == right
    return equal_sums(dim(a), dim(b))


def same_shape(a: Sequence[Dim], b: Sequence[Dim]) -> bool:
    """Return True if two shapes are certainly equal."""
    return len(a) == len(b) and all(map(same_extent, a, b))


def tensor(shape: Sequence[Dim], dtype: DType) -> TensorType:
    """Return a tensor type."""
    return TensorType(tuple(dim(extent) for extent in shape), dtype)


def written(shape: Sequence[Dim]) -> str:
    """Return a shape as text for a message."""
    return f"[{', '.join(_written(extent) for extent in shape)}]"


def _written(extent: Dim) -> str:
    number = as_int(extent)
    if number is not None:
        return str(number)
    name = getattr(extent, "name", None)
    return str(name) if name is not None else "an expression"


def decoded(codes: Sequence[int], likes: Sequence[TensorType]) -> list[Dim]:
    """Return the extents that an attribute ``shape`` stands for.

    A number of -2 or less is an extent of the arguments ``like``: -2 the first of the first of
    them, -3 the next, on through all of them. So a shape can have dimensions that are not known.
    Raises: ShapeError if there are not that many.
    """
    extents = [extent for like in likes for extent in like.shape]
    found: list[Dim] = []
    for code in codes:
        if code < -1 - len(extents):
            raise ShapeError(
                f"attribute shape holds {code}, but the arguments like have {len(extents)} extents"
            )
        found.append(extents[-2 - code] if code < -1 else code)
    return found


def types_of(arrays: Sequence[Array]) -> list[TensorType]:
    """Return the types of arrays."""
    return [tensor(array.shape, from_numpy(array.dtype)) for array in arrays]


def add(a: Dim, b: int) -> Expr:
    """Add a constant to an extent, folding constants, also one added before."""
    number = as_int(a)
    if number is not None:
        return dim(number + b)
    rest = dim(a)
    if isinstance(rest, (Add, Sub)):
        before = as_int(rest.b)
        if before is not None:
            b += before if isinstance(rest, Add) else -before
            rest = rest.a
    return rest if b == 0 else rest + b if b > 0 else rest - -b


def divide(a: Dim, b: int) -> Expr:
    """Divide an extent, rounding down and folding constants."""
    number = as_int(a)
    if number is not None:
        return dim(number // b)
    return dim(a) if b == 1 else floordiv(a, b)


def smaller(a: Dim, b: Dim) -> Expr:
    """Return the smaller of two extents."""
    left, right = as_int(a), as_int(b)
    if left is not None and right is not None:
        return dim(min(left, right))
    return dim(a) if same_extent(a, b) else minimum(a, b)


def factors(shape: Sequence[Dim]) -> tuple[int, list[Expr]]:
    """Split the product of a shape into a constant and symbolic factors; of a sum such as n + n,
    what divides all its terms is a factor."""
    whole, symbolic = 1, list[Expr]()
    for extent in shape:
        stack = [dim(extent)]
        while stack:
            expr = stack.pop()
            number = as_int(expr)
            if number is not None:
                whole *= number
            elif isinstance(expr, Mul):
                stack += [expr.a, expr.b]
            elif isinstance(expr, (Add, Sub)) and (parted := _common_factor(expr)) is not None:
                stack += parted
            else:
                symbolic.append(expr)
    return whole, symbolic


def _common_factor(expr: Expr) -> tuple[Expr, Expr] | None:
    """Return a sum as a product with the largest number that divides all its terms, if that is not
    1."""
    form = linear(expr)
    if form is None:
        return None
    number = gcd(form.constant, *(coefficient for _, coefficient in form.terms))
    if number <= 1 or any(abs(each) > _MOST for _, each in form.terms):
        return None
    terms = tuple((atom, each // number) for atom, each in form.terms)
    rest = LinearForm(terms, form.constant // number, form.dtype)
    return rest.expr(), dim(number)


def same_size(a: Sequence[Dim], b: Sequence[Dim]) -> bool:
    """Return True if two shapes certainly have equally many elements."""
    (left, more), (right, others) = factors(a), factors(b)
    return left == right and all(_removed(factor, others) for factor in more) and not others


def _removed(factor: Expr, factors: list[Expr]) -> bool:
    """Remove one factor from a list; return True if it was there."""
    for at, other in enumerate(factors):
        if same_extent(factor, other):
            del factors[at]
            return True
    return False


def quotient(shape: Sequence[Dim], known: Sequence[Dim]) -> Expr | None:
    """Divide the product of one shape by that of another; None if it is not divisible."""
    (whole, symbolic), (divisor, others) = factors(shape), factors(known)
    if not all(_removed(factor, symbolic) for factor in others):
        return None
    if divisor == 0 or whole % divisor:
        return None
    return product([*symbolic, whole // divisor])


def broadcast(names: Sequence[str], shapes: Sequence[Sequence[Dim]]) -> tuple[Expr, ...]:
    """Broadcast shapes by NumPy's rules; a symbolic dimension meets only itself and 1."""
    rank = max(map(len, shapes))
    result: list[Expr] = []
    for at in range(rank):
        found, by = dim(1), 0
        for position, shape in enumerate(shapes):
            offset = at - rank + len(shape)
            extent = dim(shape[offset]) if offset >= 0 else dim(1)
            if as_int(extent) == 1 or same_extent(extent, found):
                continue
            if as_int(found) != 1:
                raise _no_broadcast(names, shapes, by, position, at - rank)
            found, by = extent, position
        result.append(found)
    return tuple(result)


def _no_broadcast(
    names: Sequence[str], shapes: Sequence[Sequence[Dim]], by: int, position: int, axis: int
) -> ShapeError:
    known = as_int(shapes[by][axis]) is not None and as_int(shapes[position][axis]) is not None
    return ShapeError(
        f"argument {names[position]} of shape {written(shapes[position])} does not broadcast "
        f"with {names[by]} of shape {written(shapes[by])}: axis {axis} is "
        f"{_written(shapes[position][axis])}, expected {_written(shapes[by][axis])} or 1",
        hint="" if known else "Symbolic dimensions must be equal, or 1.",
    )


def checked_axis(axis: int, rank: int, name: str = "axis") -> int:
    """Return an axis counted from the front.

    Raises: ShapeError if there is no such axis.
    """
    if not -rank <= axis < rank:
        raise ShapeError(
            f"{name} {axis} is out of range: expected {-rank} to {rank - 1} for rank {rank}"
        )
    return axis % rank


def checked_axes(axes: Sequence[int], rank: int) -> tuple[int, ...]:
    """Return axes counted from the front; they must differ."""
    found = tuple(checked_axis(axis, rank, "axes holds") for axis in axes)
    if len(set(found)) != len(found):
        raise ShapeError(f"axes must differ, found {tuple(axes)}")
    return found


def with_axis(ranks: tuple[int, ...], options: OpOptions) -> OpOptions:
    """Resolve the attribute ``axis`` by the rank of the first argument."""
    return options.replace(axis=checked_axis(options.int("axis"), ranks[0]))


def expect_rank(name: str, given: TensorType, rank: int, what: str) -> None:
    """Raise ShapeError unless an argument has a rank."""
    if len(given.shape) != rank:
        raise ShapeError(
            f"argument {name} must have rank {rank} ({what}), found shape {written(given.shape)}"
        )


def expect_extent(name: str, given: TensorType, axis: int, wanted: Dim, what: str) -> None:
    """Raise ShapeError unless one dimension of an argument has an extent."""
    if not same_extent(given.shape[axis], wanted):
        raise ShapeError(
            f"argument {name} must have {_written(wanted)} along axis {axis} ({what}), found shape "
            f"{written(given.shape)}"
        )


def expect_dtype(name: str, given: TensorType, wanted: DType) -> None:
    """Raise DTypeError unless an argument has an element type."""
    if given.dtype != wanted:
        raise DTypeError(
            f"argument {name} must be {wanted}, found {given.dtype}", hint="Insert a cast."
        )


def expect_number(name: str, given: TensorType) -> None:
    """Raise DTypeError if the elements of an argument are bools."""
    if given.dtype.is_bool:
        raise DTypeError(f"argument {name} must be a number, found bool")


def expect_float(name: str, given: TensorType) -> None:
    """Raise DTypeError unless an argument has a float type."""
    if not given.dtype.is_float:
        raise DTypeError(f"argument {name} must have a float type, found {given.dtype}")


def float_type(tensors: Sequence[TensorType], options: OpOptions | None = None) -> TensorType:
    """Return the type of the first argument, which must be of floats."""
    expect_float("x", tensors[0])
    return tensors[0]
