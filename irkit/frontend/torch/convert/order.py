"""Elements in order, and what is stored or combined at indices along an axis."""

from irkit.frontend.sizes import Dim, KernelDims, rank_kernel
from irkit.frontend.torch.aten_node import AtenNode, Convert, apply
from irkit.frontend.torch.convert.shapes import gathered
from irkit.graph import TensorExpr, TensorType
from irkit.ir import I64, DType, PrimFunc, as_int, index, parse

_COMBINED = {
    "add": "{old} + {new}",
    "sum": "{old} + {new}",
    "prod": "{old} * {new}",
    "multiply": "{old} * {new}",
    "amax": "max({old}, {new})",
    "amin": "min({old}, {new})",
}


def _topk(node: AtenNode) -> tuple[TensorExpr, ...]:
    x = node.tensor(0)
    axis, count = node.axis(2, "dim", x.rank, -1), node.size(1, "k", 1)
    if not isinstance(count, int):
        raise node.fail("k is computed from dimensions", "Give a number, or sort and slice.")
    return _first(node, x, axis, count, largest=bool(node.given(3, "largest", True)))


def _sort(node: AtenNode) -> tuple[TensorExpr, ...]:
    x = node.tensor(0)
    axis, largest = node.axis(1, "dim", x.rank, -1), bool(node.given(2, "descending", False))
    return _first(node, x, axis, node.dims(x)[axis] if x.rank else 1, largest=largest)


def _first(
    node: AtenNode, x: TensorExpr, axis: int, count: Dim, *, largest: bool
) -> tuple[TensorExpr, ...]:
    """Return the first elements in order, and their places; of equal ones the first is first.

    The rank of each element is counted, so the work grows with the square of the extent.
    """
    if not x.rank:
        return x, apply("full_like", x.cast("i64"), value=0)
    dims = tuple(node.dims(x))
    func = rank_kernel(
        dims, axis, count, x.dtype, largest=largest, asker=node.node.target, values=False
    )
    shape = tuple(index(count if at == axis else dim) for at, dim in enumerate(dims))
    places = node.source.kernel(func, [x], TensorType(shape, I64), node.span)
    return gathered(node, x, places, axis), places


def _scatter(node: AtenNode) -> TensorExpr:
    """Store elements at indices along an axis; with a reduction, combine them with what is there.

    A number in the place of elements is stored at each index.
    """
    x, places, given = node.tensor(0), node.tensor(2), node.given(3, "value")
    reduction = node.given(4, "reduce", "")
    if isinstance(given, TensorExpr):
        rows = given
    else:
        rows = node.broadcast(node.of_type(given, x.dtype), *node.dims(places))
    return _stored(node, x, places, rows, str(reduction or ""))


def _scatter_add(node: AtenNode) -> TensorExpr:
    return _stored(node, node.tensor(0), node.tensor(2), node.tensor(3), "add")


def _scatter_reduce(node: AtenNode) -> TensorExpr:
    if not node.given(5, "include_self", True):
        raise node.fail("include_self=False is not supported")
    return _stored(
        node, node.tensor(0), node.tensor(2), node.tensor(3), str(node.given(4, "reduce"))
    )


def _stored(
    node: AtenNode, x: TensorExpr, places: TensorExpr, rows: TensorExpr, reduction: str
) -> TensorExpr:
    if reduction and reduction not in _COMBINED:
        raise node.fail(f"reduction {reduction!r}, expected one of {', '.join(_COMBINED)}")
    if not x.rank:
        raise node.fail("a tensor without axes")
    if 0 in [as_int(dim) for dim in places.dims]:
        return x  # Such indices may have any number of axes.
    axis = node.axis(1, "dim", x.rank)
    func = _scatter_kernel(
        (node.dims(x), node.dims(places), node.dims(rows)), axis, x.dtype, reduction
    )
    return node.source.kernel(func, [x, places.cast("i64"), rows], x.type, node.span)


def _scatter_kernel(
    shapes: tuple[list[Dim], list[Dim], list[Dim]], axis: int, dtype: DType, reduction: str
) -> PrimFunc:
    """Return a function that copies ``x`` and stores ``rows`` at ``places``, one after another."""
    named = KernelDims()
    own, wanted, given = ([named(dim) for dim in shape] for shape in shapes)
    rank, deep = len(own), "    " * (1 + len(wanted))
    here = ", ".join(f"i{at}" for at in range(rank))
    there = ", ".join(f"places[{here}]" if at == axis else f"i{at}" for at in range(rank))
    new = f"rows[{here}]"
    made = _COMBINED[reduction].format(old=f"y[{there}]", new=new) if reduction else new
    lines = [
        f"def scatter(x: {dtype}[{', '.join(own)}], places: i64[{', '.join(wanted)}], "
        f"rows: {dtype}[{', '.join(given)}], y: {dtype}[{', '.join(own)}]):",
        *(f"{'    ' * (1 + at)}for i{at} in serial(0, {own[at]}):" for at in range(rank)),
        f"{deep}y[{here}] = x[{here}]",
        *(f"{'    ' * (1 + at)}for i{at} in serial(0, {wanted[at]}):" for at in range(rank)),
        f"{deep}assert places[{here}] >= 0 and places[{here}] < {own[axis]}, "
        '"an index is outside of the axis"',
        f"{deep}y[{there}] = {made}",
    ]
    return parse("\n".join(lines) + "\n")


ORDER: dict[str, Convert] = {
    "topk": _topk,
    "sort": _sort,
    "scatter": _scatter,
    "scatter_add": _scatter_add,
    "scatter_reduce": _scatter_reduce,
}
