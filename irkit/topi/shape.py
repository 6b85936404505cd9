"""Operators that rearrange elements: each element of the result is one element of the input."""

from collections.abc import Sequence

from irkit import ir
from irkit.core import ShapeError, user_span
from irkit.ir import Expr, ExprLike
from irkit.te import IterVar, Tensor, define_stage, dims_text
from irkit.topi.extents import (
    Dim,
    axes_of,
    axis_of,
    check_equal,
    count,
    extents,
    known,
    plus,
    times,
)


def reshape(x: Tensor, shape: Sequence[Dim]) -> Tensor:
    """Reshape a tensor, keeping the row-major order of its elements; one extent can be -1.

    Raises: ShapeError if the numbers of elements are known and differ.
    Source: ONNX Reshape-14, with the zeros already replaced.
    """
    source, target = extents(x), _target(x, shape)
    same = 0  # Unchanged leading axes need no division.
    while same < min(len(source), len(target)) and _equal(source[same], target[same]):
        same += 1
    inner, outer = source[same:], target[same:]

    def at(*i: IterVar) -> Expr:
        flat: ExprLike = 0
        for index, dim in zip(i[same:], outer, strict=True):
            flat = plus(times(known_index(flat), dim), index)
        return x(*i[:same], *_unravel(flat, inner))

    return define_stage(target, at, "reshape", tag="injective")


def known_index(value: ExprLike) -> Dim:
    """Return a constant index as an int, and others unchanged."""
    return known(ir.index(value))


def _equal(a: Dim, b: Dim) -> bool:
    return a is b or a == b


def _target(x: Tensor, shape: Sequence[Dim]) -> tuple[Dim, ...]:
    given = [known(dim) for dim in shape]
    total = count(extents(x))
    holes = [place for place, dim in enumerate(given) if dim == -1]
    rest = count([dim for dim in given if dim != -1])
    text = f"reshape: {x.name!r} of shape {dims_text(x.shape)}"
    if len(holes) > 1:
        raise ShapeError(f"{text}: only one extent can be -1", span=user_span("reshape"))
    if holes:
        if isinstance(total, int) and isinstance(rest, int) and (rest == 0 or total % rest):
            raise ShapeError(
                f"{text} has {total} elements, which {rest} does not divide",
                span=user_span("reshape"),
            )
        given[holes[0]] = total // rest
    elif isinstance(total, int) and isinstance(rest, int) and total != rest:
        raise ShapeError(
            f"{text} has {total} elements; the new shape has {rest}", span=user_span("reshape")
        )
    return tuple(given)


def _unravel(flat: ExprLike, dims: Sequence[Dim]) -> list[ExprLike]:
    """Convert a row-major position to one index for each extent."""
    found: list[ExprLike] = []
    rest = ir.index(flat)
    for place in range(len(dims) - 1, -1, -1):
        dim = dims[place]
        if dim == 1:
            found.append(0)
        elif place == 0 or all(each == 1 for each in dims[:place]):
            found.append(rest)
        else:
            found.append(rest % dim)
            rest = rest // dim
    return found[::-1]


def flatten(x: Tensor, axis: int = 1) -> Tensor:
    """Reshape to a matrix: the axes before ``axis`` become its rows, the others its columns.

    Source: ONNX Flatten-13.
    """
    dims = extents(x)
    at = axis if axis == x.ndim else axis_of(axis, x.ndim, "flatten")
    return reshape(x, (count(dims[:at]), count(dims[at:])))


def transpose(x: Tensor, axes: Sequence[int] | None = None) -> Tensor:
    """Permute the axes; without an order, reverse them.

    Source: ONNX Transpose-13.
    """
    order = axes_of(tuple(range(x.ndim))[::-1] if axes is None else axes, x.ndim, "transpose")
    if len(order) != x.ndim:
        raise ShapeError(
            f"transpose: {order} does not name each of the {x.ndim} axes of {x.name!r}",
            span=user_span("transpose"),
        )
    place = {axis: new for new, axis in enumerate(order)}

    def at(*i: IterVar) -> Expr:
        return x(*(i[place[axis]] for axis in range(x.ndim)))

    return define_stage([x.shape[axis] for axis in order], at, "transpose", tag="injective")


def expand_dims(x: Tensor, axes: int | Sequence[int]) -> Tensor:
    """Add axes of extent 1 at the given positions of the result.

    Source: ONNX Unsqueeze-13.
    """
    number = 1 if isinstance(axes, int) else len(axes)
    new = set(axes_of(axes, x.ndim + number, "expand_dims"))
    old = iter(x.shape)
    shape = [ir.index(1) if at in new else next(old) for at in range(x.ndim + number)]

    def at(*i: IterVar) -> Expr:
        return x(*(index for place, index in enumerate(i) if place not in new))

    return define_stage(shape, at, "expand_dims", tag="injective")


def squeeze(x: Tensor, axes: int | Sequence[int] | None = None) -> Tensor:
    """Remove axes of extent 1: the given ones, or all that are known to be 1.

    Raises: ShapeError if one of them is not 1.
    Source: ONNX Squeeze-13.
    """
    dims = extents(x)
    ones = [at for at, dim in enumerate(dims) if dim == 1]
    drop = set(ones if axes is None else axes_of(axes, x.ndim, "squeeze"))
    for axis in sorted(drop):
        check_equal(dims[axis], 1, f"squeeze: axis {axis} of {x.name!r} must be 1")
    kept = [axis for axis in range(x.ndim) if axis not in drop]

    def at(*i: IterVar) -> Expr:
        index = dict(zip(kept, i, strict=True))
        return x(*(index.get(axis, 0) for axis in range(x.ndim)))

    return define_stage([x.shape[axis] for axis in kept], at, "squeeze", tag="injective")


def concatenate(tensors: Sequence[Tensor], axis: int = 0) -> Tensor:
    """Join tensors along one axis.

    Raises: ShapeError if they disagree about another axis, or about the number of axes.
    Source: ONNX Concat-13.
    """
    if not tensors:
        raise ShapeError("concatenate needs at least one tensor", span=user_span("concatenate"))
    first = tensors[0]
    at_axis = axis_of(axis, first.ndim, "concatenate")
    for other in tensors[1:]:
        text = f"concatenate: {first.name!r} and {other.name!r}"
        check_equal(first.ndim, other.ndim, f"{text} must have the same number of axes")
        for each, (a, b) in enumerate(zip(extents(first), extents(other), strict=True)):
            if each != at_axis:
                check_equal(a, b, f"{text} must agree about axis {each}")
    starts: list[Dim] = [0]
    for tensor in tensors:
        starts.append(plus(starts[-1], extents(tensor)[at_axis]))

    def at(*i: IterVar) -> Expr:
        def piece(number: int) -> Expr:
            index = list[ExprLike](i)
            if number:
                index[at_axis] = i[at_axis] - starts[number]
            return tensors[number](*index)

        value = piece(len(tensors) - 1)
        for number in range(len(tensors) - 2, -1, -1):
            here = ir.lt(i[at_axis], starts[number + 1])
            value = ir.if_then_else(here, piece(number), value)
        return value

    shape: list[Dim] = list(extents(first))
    shape[at_axis] = starts[-1]
    return define_stage(shape, at, "concatenate", tag="injective")


def pad(x: Tensor, before: Sequence[Dim], after: Sequence[Dim], value: ExprLike = 0) -> Tensor:
    """Pad a tensor with a value; negative widths crop it instead.

    Shapes: x [..., D, ...] -> [..., before + D + after, ...].
    Raises: ShapeError if there is not one width for each axis.
    Source: ONNX Pad-13, mode constant.
    """
    if not len(before) == len(after) == x.ndim:
        raise ShapeError(
            f"pad: {x.name!r} has {x.ndim} axes; found {len(before)} widths before and "
            f"{len(after)} after",
            span=user_span("pad"),
        )
    dims = extents(x)
    low, high = [known(width) for width in before], [known(width) for width in after]
    shape = [plus(plus(dim, b), a) for dim, b, a in zip(dims, low, high, strict=True)]
    filler = ir.convert(ir.as_expr(value, x.dtype), x.dtype)

    def at(*i: IterVar) -> Expr:
        inside: list[Expr] = []
        for index, dim, b, a in zip(i, dims, low, high, strict=True):
            if not (isinstance(b, int) and b <= 0):
                inside.append(ir.ge(index, b))
            if not (isinstance(a, int) and a <= 0):
                inside.append(ir.lt(index, plus(dim, b)))
        point = [index if b == 0 else index - b for index, b in zip(i, low, strict=True)]
        return ir.if_then_else(ir.logical_and(*inside), x(*point), filler) if inside else x(*point)

    return define_stage(shape, at, "pad", tag="injective")
