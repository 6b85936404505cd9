"""``arange`` of a number that is only known at a call: a kernel that counts, since no operator of
the graph makes a tensor as long as a dimension."""

from irkit.core import Span, walk
from irkit.frontend.torch.aten_node import AtenNode
from irkit.frontend.torch.control_flow import GraphImporter
from irkit.graph import TensorExpr, TensorType, tensor_of
from irkit.ir import Expr, Var, convert
from irkit.te import Tensor, compute, create_prim_func, placeholder, size_params


def is_open_range(node: AtenNode, name: str) -> bool:
    """Return True for a range that ends where only a call knows."""
    return name == "arange" and isinstance(node.given(1, "end"), Expr)


def open_range(node: AtenNode, importer: GraphImporter, span: Span) -> TensorExpr:
    """Emit the numbers from one to before a dimension. Source: torch.arange.

    Raises: IRKitError for a step other than 1.
    """
    begin, end = node.whole(0, "start", 0), node.given(1, "end")
    if node.number(2, "step", 1) != 1:
        raise node.fail("a range up to a symbolic extent must have the step 1")
    count = end - begin if begin else end
    likes = list[TensorExpr]()
    for var in walk(count, Var):
        found = node.place(var)
        if found is None:
            raise node.fail(f"its extent {var.name!r} is that of no tensor before it")
        likes += [] if any(found[0] is each for each in likes) else [found[0]]
    tensors = [placeholder(x.dims, dtype=x.dtype, name=f"p{at}") for at, x in enumerate(likes)]
    made = compute((count,), lambda i: convert(i + begin, node.dtype), "arange")
    assert isinstance(made, Tensor)
    params = [*size_params([*tensors, made]), *tensors, made]
    func = create_prim_func(params, name="arange", span=span)
    values = [importer.value(like) for like in likes]
    kind = TensorType((count,), node.dtype)
    return tensor_of(importer.builder.kernel(func, *values, type=kind, span=span))
