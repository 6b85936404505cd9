"""Make buffers one-dimensional, so that every access has one index.

Before::

    def f(A: f32[4, 8], C: f32[8, 4]):
        for i in serial(0, 4):
            for j in serial(0, 8):
                C[j, i] = A[i, j]

After::

    def f(A: f32[4, 8], C: f32[8, 4]):
        A_flat = view(A, f32[32], offset=0)
        C_flat = view(C, f32[32], offset=0)
        for i in serial(0, 4):
            for j in serial(0, 8):
                C_flat[j * 4 + i] = A_flat[i * 8 + j]

A parameter keeps its shape, since the signature never changes: a flat view stands for it.
Sizes of other buffers are computed without wrapping around: ``alloc(f32[n, n])`` becomes
``alloc(f32[mul_sat(n, n)])``, which fails for a large n instead of allocating too little.
"""

from functools import reduce

from irkit.core import Node, rewrite, symbols_bound, walk
from irkit.ir import (
    I64,
    Allocate,
    Buffer,
    Const,
    Expr,
    Load,
    PrimFunc,
    Stmt,
    Store,
    View,
    as_int,
    convert,
    element_count,
    flat_access,
    index,
    no_blocks,
    product,
    strided_count,
)
from irkit.transform import define_pass


@define_pass(idempotent=True, needs=(no_blocks,), gives=(flat_access,), atomic=True)
def flatten_buffers(func: PrimFunc) -> PrimFunc:
    """Replace buffers of any rank by one-dimensional ones, and indices by offsets in elements."""
    used = {node.buffer for node in walk(func.body, (Load, Store))}
    bound = [b for b in symbols_bound(func) if isinstance(b, Buffer)]
    params = {param for param in func.params if isinstance(param, Buffer)}
    flat = {
        buffer: _flat(buffer, is_param=buffer in params)
        for buffer in bound
        if not _is_flat(buffer) and (buffer in used or buffer not in params)
    }
    if not flat:
        return func

    def flatten(node: Node) -> Node | None:
        match node:
            case Load() | Store() if node.buffer in flat:
                offset = _offset(node.buffer, node.indices)
                return node.replace(buffer=flat[node.buffer], indices=(offset,))
            case Allocate() if node.buffer in flat:
                return node.replace(buffer=flat[node.buffer])
            case View():
                source = flat.get(node.source, node.source)
                return node.replace(buffer=flat.get(node.buffer, node.buffer), source=source)
            case _:
                return None

    body: Stmt = rewrite(func.body, flatten, on=(Load, Store, Allocate, View))
    for param in reversed(func.params):
        if param in flat:
            body = View(flat[param], param, Const(0, I64), body, span=param.span or func.span)
    return func.replace(body=body)


def _is_flat(buffer: Buffer) -> bool:
    return buffer.rank == 1 and (buffer.strides is None or as_int(buffer.strides[0]) == 1)


def _flat(buffer: Buffer, is_param: bool) -> Buffer:
    name = f"{buffer.name}_flat" if is_param else buffer.name
    if buffer.strides is not None:
        size = strided_count(buffer.shape, buffer.strides)
    elif is_param:  # The elements of an array exist: their number is less than 2**63.
        size = product(map(_wide, buffer.shape))
    else:
        size = element_count(buffer.shape)
    return Buffer(name, (size,), buffer.dtype, buffer.scope, None, buffer.align, buffer.span)


def _strides(buffer: Buffer) -> tuple[Expr, ...]:
    if buffer.strides is not None:
        return buffer.strides
    return tuple(product(map(_wide, buffer.shape[axis + 1 :])) for axis in range(buffer.rank))


def _offset(buffer: Buffer, indices: tuple[Expr, ...]) -> Expr:
    terms = [
        wide if as_int(stride) == 1 else wide * stride
        for wide, stride in zip(map(_wide, indices), _strides(buffer), strict=True)
    ]
    return reduce(lambda a, b: a + b, terms) if terms else index(0)


def _wide(at: Expr) -> Expr:
    # An index can overflow its own type when it is multiplied by a stride.
    return convert(at, I64.with_lanes(at.dtype.lanes))
