"""Shrink allocated buffers to the part that is accessed in their scope.

Before::

    def f(A: f32[64], C: f32[64]):
        for i in serial(0, 4):
            T = alloc(f32[64])
            for j in serial(0, 16):
                T[i * 16 + j] = A[i * 16 + j]
            for k in serial(0, 16):
                C[i * 16 + k] = T[i * 16 + k] + T[i * 16]

After::

    def f(A: f32[64], C: f32[64]):
        for i in serial(0, 4):
            T = alloc(f32[16])
            for j in serial(0, 16):
                T[j] = A[i * 16 + j]
            for k in serial(0, 16):
                C[i * 16 + k] = T[k] + T[0]

This makes tiles small enough for registers. A dimension keeps its extent if the accessed part has
no constant size. Memory that threads share is one for all iterations of a loop inside the threads:
its tile is written again in each, so threads that wait at barriers get another one there.
"""

from irkit.core import Node, any_node, remark, rewrite, uses, walk
from irkit.ir import (
    I64,
    Allocate,
    Buffer,
    Evaluate,
    Expr,
    For,
    If,
    Load,
    PrimFunc,
    Store,
    as_int,
    const,
    no_blocks,
)
from irkit.ir.analysis import (
    BoxSide,
    IndexBoxes,
    bound_inside,
    enclosing,
    merged_sides,
)
from irkit.ir.threads import UniformityInfo, is_barrier, is_thread_loop, outermost_nests
from irkit.passes.loop.support.thread_barriers import with_barriers
from irkit.transform import define_pass

Sides = tuple[BoxSide | None, ...]


@define_pass(idempotent=True, needs=(no_blocks,), atomic=True)
def compact_buffers(func: PrimFunc) -> PrimFunc:
    """Shrink every allocated buffer to the bounding box of its accesses, and make their indices
    relative to the corner of the box."""
    allocates = list(walk(func.body, Allocate))
    if not allocates:
        return func
    tiles = [each for each in allocates if each.buffer.is_shared and _waits_around(func, each)]
    apart = {each.buffer for each in tiles if not _is_common(func, each)}
    made = _shrunk(func, [each for each in allocates if each.buffer not in apart])
    again = {each.buffer for each in tiles} - {*_allocated(made)}
    nests = {
        nest.var
        for nest in outermost_nests(func.body)
        if any(each.buffer in again for each in walk(nest, Allocate))
    }
    return with_barriers(made, of=nests) if nests else made


def _waits_around(func: PrimFunc, allocate: Allocate) -> bool:
    """Return True if memory is allocated in a nest whose threads wait at barriers."""
    loops = [loop for loop in enclosing(func).loops(allocate) if is_thread_loop(loop)]
    return bool(loops) and any_node(loops[0], Evaluate, is_barrier)


def _is_common(func: PrimFunc, allocate: Allocate) -> bool:
    """Return True if all threads come to an allocation together, so that they can wait there."""
    uniform, inside = UniformityInfo(), False
    for stmt in enclosing(func).path(allocate):
        inside = inside or is_thread_loop(stmt)
        limits = (stmt.begin, stmt.end) if isinstance(stmt, For) else ()
        conds = (stmt.cond,) if isinstance(stmt, If) else limits
        if inside and not uniform.holds(*conds):
            remark(allocate, f"threads do not come to {allocate.buffer.name!r} together")
            return False
        uniform.enter(stmt, inside=inside)
    return True


def _allocated(func: PrimFunc) -> list[Buffer]:
    return [allocate.buffer for allocate in walk(func.body, Allocate)]


def _shrunk(func: PrimFunc, allocates: list[Allocate]) -> PrimFunc:
    boxes = IndexBoxes(func)
    smaller: dict[Node, tuple[Buffer, Sides]] = {}
    for allocate in allocates:
        sides = _touched(allocate, boxes, _threads_around(func, allocate))
        if sides is not None and any(side is not None for side in sides):
            smaller[allocate.buffer] = (_resized(allocate.buffer, sides), sides)
    if not smaller:
        return func

    def move(node: Node) -> Node | None:
        match node:
            case Load() | Store() if node.buffer in smaller:
                buffer, sides = smaller[node.buffer]
                indices = tuple(
                    at if side is None else boxes.inside(at, side)
                    for at, side in zip(node.indices, sides, strict=True)
                )
                return node.replace(buffer=buffer, indices=indices)
            case Allocate() if node.buffer in smaller:
                return node.replace(buffer=smaller[node.buffer][0])
            case _:
                return None

    return rewrite(func, move, on=(Load, Store, Allocate))


def _threads_around(func: PrimFunc, allocate: Allocate) -> set[Node]:
    """Return the variables of the threads that share a buffer although it is inside their loops."""
    if not allocate.buffer.is_shared:
        return set()
    return {loop.var for loop in enclosing(func).loops(allocate) if is_thread_loop(loop)}


def _touched(allocate: Allocate, boxes: IndexBoxes, threads: set[Node]) -> Sides | None:
    """Return the box of all accesses, with None for a dimension to leave; None if there is none."""
    buffer = allocate.buffer
    found: list[tuple[Expr, ...]] = []
    for node in walk(allocate.body):
        if buffer not in uses(node):
            continue
        if not isinstance(node, (Load, Store)):
            remark(allocate, f"{buffer.name!r} has a view or is named by a region")
            return None
        found.append(node.indices)
    if not found or buffer.strides is not None:
        return None
    inner = bound_inside(allocate.body) | threads
    sides = [
        merged_sides(boxes.side(indices[dim], inner) for indices in found)
        for dim in range(buffer.rank)
    ]
    for dim, side in enumerate(sides):
        if side is None:
            remark(allocate, f"dimension {dim} of {buffer.name!r}: no box of constant size")
    return tuple(_worthwhile(side, as_int(buffer.shape[dim])) for dim, side in enumerate(sides))


def _worthwhile(side: BoxSide | None, extent: int | None) -> BoxSide | None:
    if side is None or (extent is not None and side.extent >= extent):
        return None
    return side


def _resized(buffer: Buffer, sides: Sides) -> Buffer:
    shape = tuple(
        dim if side is None else const(side.extent, I64)
        for dim, side in zip(buffer.shape, sides, strict=True)
    )
    return buffer.replace(shape=shape)
