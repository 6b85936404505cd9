"""Kernels that compute with dimensions: shapes as values, counts, and windows that dimensions
place."""

from collections.abc import Callable, Sequence

from irkit.core import equal, walk
from irkit.frontend.onnx.onnx_node import OnnxNode
from irkit.frontend.sizes import (
    Dim,
    Window,
    counting_kernel,
    size_kernel,
    subtract,
    window_kernel,
)
from irkit.graph import Value
from irkit.ir import (
    I64,
    DType,
    Expr,
    Var,
    cast,
    convert,
    eq,
    if_then_else,
    index,
    logical_and,
    lt,
    select,
)
from irkit.te import Tensor


def shape_values(node: OnnxNode, x: Value, dims: Sequence[Dim]) -> Value:
    """Emit the dimensions of a tensor as a tensor, which the converters after it can read."""

    def at(*i: Expr) -> Expr:
        found = index(dims[-1])
        for place in range(len(dims) - 2, -1, -1):
            found = select(eq(i[0], place), dims[place], found)
        return convert(found, I64)

    made = _kernel(node, "shape", [x], (len(dims),), I64, lambda _: at)
    return node.as_known_sizes(made, dims)


def counted(node: OnnxNode, start: Dim, count: Dim, step: int, dtype: DType) -> Value:
    """Emit ``start``, ``start + step`` and so on."""
    likes = _sources(node, (start, count))
    kinds = [node.type(like) for like in likes]
    made, kind = counting_kernel(start, count, step, dtype, kinds, node.span)
    return node.loops(made, *likes, types=(kind,))[0]


def reversed_rows(node: OnnxNode, x: Value) -> Value:
    """Emit the rows of a tensor, of which there can be any number, from the last to the first."""
    rows = node.dims(x)[0]
    if isinstance(rows, int):
        return node.op("slice", x, begins=(-1,), ends=(-rows - 1,), strides=(-1,), axes=(0,))
    return node.op("take", x, counted(node, subtract(rows, 1), rows, -1, I64), axis=0)


def window(node: OnnxNode, x: Value, windows: Sequence[Window]) -> Value:
    """Emit a part of a tensor."""
    sizes = [size for each in windows for size in (each.begin, each.count)]
    likes = [value for value in _sources(node, sizes) if value is not x]
    made, kind = window_kernel(
        node.type(x), windows, [node.type(like) for like in likes], node.span
    )
    return node.loops(made, x, *likes, types=(kind,))[0]


def in_room(node: OnnxNode, x: Value, room: Sequence[Dim]) -> Value:
    """Emit a tensor at the beginning of one that is at least as large, and 0 behind it."""

    def of(tensors: Sequence[Tensor]) -> Callable[..., Expr]:
        def at(*i: Expr) -> Expr:
            pairs = zip(i, dims, room, strict=True)
            inside = [lt(i_, dim) for i_, dim, most in pairs if not equal(index(dim), index(most))]
            nothing = cast(0, node.dtype(x))
            return if_then_else(logical_and(*inside), tensors[0](*i), nothing)

        return at

    dims = node.dims(x)
    args = list(dict.fromkeys([x, *_sources(node, room)]))
    return _kernel(node, "pad", args, room, node.dtype(x), of)


def _sources(node: OnnxNode, sizes: Sequence[Dim]) -> list[Value]:
    """Return values whose shapes have the dimensions that sizes are computed from."""
    found: dict[Value, None] = {}
    for size in sizes:
        for var in walk(size, Var) if isinstance(size, Expr) else ():
            place = node.place(var)
            if place is None:
                raise node.fail(f"it needs the dimension {var.name!r}, which no tensor before has")
            found[place[0]] = None
    return list(found)


def _kernel(
    node: OnnxNode,
    name: str,
    args: Sequence[Value],
    shape: Sequence[Dim],
    dtype: DType,
    of: Callable[[Sequence[Tensor]], Callable[..., Expr]],
) -> Value:
    kinds = [node.type(arg) for arg in args]
    func, kind = size_kernel(name, kinds, shape, dtype, of, node.span)
    return node.loops(func, *args, types=(kind,))[0]
