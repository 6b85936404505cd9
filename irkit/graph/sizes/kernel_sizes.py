"""What the variables in the signature of a kernel stand for in one of its calls.

A kernel that is shared by calls has variables of its own: they are found by comparing the shapes of
its parameters with those of the call. Shapes of a kernel have the form of the shapes that it was
made for, so comparing their structure is enough.
"""

from collections.abc import Sequence

from irkit.core import IRKitError, children
from irkit.graph.types import TensorType
from irkit.ir import Buffer, Expr, PrimFunc, Var


def kernel_sizes(kernel: PrimFunc, tensors: Sequence[TensorType]) -> dict[Var, Expr]:
    """Return what each variable in the shapes of a kernel's buffers is, for tensors of these types.

    Raises: IRKitError for a number that the kernel takes and no shape tells.
    """
    buffers = [param for param in kernel.params if isinstance(param, Buffer)]
    found: dict[Var, Expr] = {}
    pairs = [
        pair
        for buffer, tensor in zip(buffers, tensors, strict=False)
        for pair in zip(buffer.shape, tensor.shape, strict=False)
    ]
    # Whole dimensions first: they need no comparison of structures.
    for own, given in sorted(pairs, key=lambda pair: not isinstance(pair[0], Var)):
        _bind(own, given, found)
    for param in kernel.params:
        if isinstance(param, Var) and param not in found:
            raise IRKitError(
                f"kernel {kernel.name!r} takes the number {param.name!r}, which is no dimension of "
                "its tensors",
                span=kernel.span,
            )
    return found


def _bind(own: Expr, given: Expr, found: dict[Var, Expr]) -> None:
    """Bind the variables of a size of a kernel where the two sizes have the same structure."""
    stack, seen = [(own, given)], set[tuple[int, int]]()
    while stack:
        one, other = stack.pop()
        if isinstance(one, Var):
            found.setdefault(one, other)
            continue
        mine, others = list(children(one)), list(children(other))
        if type(one) is not type(other) or len(mine) != len(others) or (id(one), id(other)) in seen:
            continue
        seen.add((id(one), id(other)))
        stack += [
            (left, right)
            for left, right in zip(mine[::-1], others[::-1], strict=True)
            if isinstance(left, Expr) and isinstance(right, Expr)
        ]
