"""The first elements of a tensor in order, where extents are only known at a call."""

from irkit.frontend.onnx.convert.shapes.kernel_dims import KernelDims
from irkit.frontend.onnx.onnx_node import OnnxNode
from irkit.frontend.sizes import Dim
from irkit.graph import TensorType, Value
from irkit.ir import I64, DType, PrimFunc, index, parse


def ranked(node: OnnxNode, x: Value, axis: int, count: Dim, largest: bool) -> tuple[Value, Value]:
    """Emit the first ``count`` elements along an axis, the largest or smallest first, and where
    they are. A call with fewer elements than that is refused."""
    dims = node.dims(x)
    kernel = _rank_kernel(dims, axis, count, node.dtype(x), largest)
    shape = tuple(index(count if at == axis else dim) for at, dim in enumerate(dims))
    types = (TensorType(shape, node.dtype(x)), TensorType(shape, I64))
    first, places = node.loops(kernel, x, types=types)
    return first, places


def _rank_kernel(
    dims: tuple[Dim, ...], axis: int, count: Dim, dtype: DType, largest: bool
) -> PrimFunc:
    """Return a function that counts, for each element, those that come before it: of equal ones the
    first does, and NaN is largest."""
    named = KernelDims()
    extents, most = [named(dim) for dim in dims], named(count)
    shape = ", ".join(most if at == axis else extent for at, extent in enumerate(extents))
    own, other = (
        f"x[{', '.join(each if at == axis else f'i{at}' for at in range(len(dims)))}]"
        for each in ("a", "b")
    )
    to = ", ".join("s[0]" if at == axis else f"i{at}" for at in range(len(dims)))
    before, same = f"{other} {'>' if largest else '<'} {own}", f"{other} == {own}"
    if dtype.is_float:
        above, below = (other, own) if largest else (own, other)
        before = f"{before} or isnan({above}) and not isnan({below})"
        same = f"{same} or isnan({own}) and isnan({other})"
    around = [at for at in range(len(dims)) if at != axis]
    inside = "    " * (2 + len(around))
    lines = [
        f"def find_first(x: {dtype}[{', '.join(extents)}], y: {dtype}[{shape}], "
        f"places: i64[{shape}]):",
        f'    assert {most} <= {extents[axis]}, "there are fewer elements than TopK is to return"',
        "    with alloc(i64[1]) as s:",
        *(
            f"{'    ' * (2 + depth)}for i{at} in serial(0, {extents[at]}):"
            for depth, at in enumerate(around)
        ),
        f"{inside}for a in serial(0, {extents[axis]}):",
        f"{inside}    s[0] = 0",
        f"{inside}    for b in serial(0, {extents[axis]}):",
        f"{inside}        if {before} or b < a and ({same}):",
        f"{inside}            s[0] = s[0] + 1",
        f"{inside}    if s[0] < {most}:",
        f"{inside}        y[{to}] = {own}",
        f"{inside}        places[{to}] = a",
    ]
    return parse("\n".join(lines) + "\n")
