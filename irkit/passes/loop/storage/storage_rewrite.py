"""Share memory between buffers that are not needed at the same time.

Before::

    def f(A: f32[4096], C: f32[4096]):
        T = alloc(f32[4096])
        U = alloc(f32[4096])
        for i in serial(0, 4096):
            T[i] = exp(A[i])
        for j in serial(0, 4096):
            U[j] = T[j] * f32(2.0)
        for k in serial(0, 4096):
            C[k] = U[4095 - k]

After::

    def f(A: f32[4096], C: f32[4096]):
        T = alloc(f32[4096])
        for i in serial(0, 4096):
            T[i] = exp(A[i])
        for j in serial(0, 4096):
            T[j] = T[j] * f32(2.0)
        for k in serial(0, 4096):
            C[k] = T[4095 - k]

A buffer can replace the one that it is computed from, element by element, if that one is not needed
afterwards. Small buffers stay as they are: they can become registers, but not if they share memory.
"""

from irkit.core import IRKitError, Node, deep_recursion, remark, substitute, walk
from irkit.ir import (
    Allocate,
    Buffer,
    Expr,
    For,
    PrimFunc,
    Stmt,
    as_int,
    const,
    flat_access,
    map_below,
    no_blocks,
)
from irkit.ir.analysis import EnclosingStmts, InPlace, enclosing, liveness
from irkit.ir.arith import simplify
from irkit.transform import define_pass

CHEAP = 64 << 10
"""Buffers of up to this many bytes are on the stack for the whole call anyway."""


@define_pass(idempotent=True, needs=(flat_access, no_blocks), atomic=True)
def storage_rewrite(func: PrimFunc, *, smallest: int = 4096) -> PrimFunc:
    """Merge allocations of at least ``smallest`` (bytes) whose live ranges do not overlap."""
    allocates = [each for each in walk(func.body, Allocate) if _is_plain(each, smallest)]
    if len(allocates) < 2:
        return func
    try:
        rooms = _StoragePlanner(func).rooms(allocates)
    except IRKitError:
        remark(func, "a statement is shared between several places: buffers keep their own memory")
        return func
    shared = [room for room in rooms if len(room.members) > 1]
    return _rebuilt(func, shared) if shared else func


def _is_plain(allocate: Allocate, smallest: int) -> bool:
    buffer = allocate.buffer
    if allocate.attrs or buffer.rank != 1 or buffer.strides is not None:
        return False
    size = as_int(buffer.shape[0])
    return size is None or size * buffer.dtype.bytes >= smallest


class _SharedMemory:
    """Memory for several buffers, allocated around the statement ``at``."""

    def __init__(self, first: Allocate) -> None:
        self.members = [first]
        self.at = first.body
        self.size = first.buffer.shape[0]

    @property
    def buffer(self) -> Buffer:
        """Return a new buffer that replaces all members."""
        first = self.members[0].buffer
        align = max(each.buffer.align for each in self.members)
        return Buffer(first.name, (self.size,), first.dtype, first.scope, None, align, first.span)


class _StoragePlanner:
    """Assigns each allocation, in text order, to the first room that it fits, or to a new one."""

    def __init__(self, func: PrimFunc) -> None:
        self.around: EnclosingStmts = enclosing(func)
        self.live = liveness(func)
        self.in_place = InPlace(func)

    def rooms(self, allocates: list[Allocate]) -> list[_SharedMemory]:
        rooms: list[_SharedMemory] = []
        for allocate in allocates:
            if not any(self._joins(allocate, room) for room in rooms):
                rooms.append(_SharedMemory(allocate))
        return rooms

    def _joins(self, allocate: Allocate, room: _SharedMemory) -> bool:
        buffer, first = allocate.buffer, room.members[0].buffer
        if (buffer.dtype, buffer.scope) != (first.dtype, first.scope):
            return False
        if buffer.is_shared and _is_in_threads(self.around.loops(allocate)):
            return False  # Only barriers tell which threads still need it.
        size = _larger(buffer.shape[0], room.size)
        meeting = [m.buffer for m in room.members if self.live.interfere(m.buffer, buffer)]
        if size is None or len(meeting) > 1:
            return False
        at = self._common(allocate, room, size)
        if at is None or not all(self._follow(m, buffer) for m in meeting):
            return False
        how = "in place of" if meeting else "in the memory of"
        other = meeting[0] if meeting else first
        remark(allocate, f"{buffer.name!r} lies {how} {other.name!r}")
        room.members.append(allocate)
        room.at, room.size = at, size
        return True

    def _follow(self, a: Buffer, b: Buffer) -> bool:
        return self.in_place.takes(a, b) or self.in_place.takes(b, a)

    def _common(self, allocate: Allocate, room: _SharedMemory, size: Expr) -> Stmt | None:
        """Return the statement to allocate memory around; None if it cannot be shared."""
        mine = (*self.around.path(allocate), allocate)
        others = (*self.around.path(room.at), room.at)
        alike = sum(1 for a, b in zip(mine, others, strict=False) if a is b)
        at = others[alike - 1] if alike else None
        left = (*mine[alike - 1 :], *others[alike:-1])
        if at is None or not all(_may_leave(stmt) for stmt in left):
            return None
        if at is room.at:
            return at
        # Memory on the heap would be held longer than either buffer needs it.
        bytes_ = (as_int(size) or CHEAP + 1) * allocate.buffer.dtype.bytes
        return at if bytes_ <= CHEAP else None


def _may_leave(stmt: Stmt) -> bool:
    """Return True if memory can be allocated before a statement instead of inside it.

    Iterations of other loops run at the same time, and need memory of their own.
    """
    return not isinstance(stmt, For) or stmt.kind in ("serial", "unrolled")


def _is_in_threads(loops: tuple[For, ...]) -> bool:
    return any(loop.kind == "thread" for loop in loops)


def _larger(a: Expr, b: Expr) -> Expr | None:
    x, y = as_int(a), as_int(b)
    if x is not None and y is not None:
        return const(max(x, y), b.dtype)
    return b if x is None and y is None and as_int(simplify(a - b)) == 0 else None


def _rebuilt(func: PrimFunc, rooms: list[_SharedMemory]) -> PrimFunc:
    gone = {member.buffer for room in rooms for member in room.members}
    homes: dict[int, list[tuple[_SharedMemory, Buffer]]] = {}
    names: dict[Node, Node] = {}
    for room in rooms:
        buffer = room.buffer
        homes.setdefault(id(room.at), []).append((room, buffer))
        names.update({member.buffer: buffer for member in room.members})

    def moved(stmt: Stmt) -> Stmt:
        if isinstance(stmt, Allocate) and stmt.buffer in gone:
            made = moved(stmt.body)
        else:
            made = map_below(stmt, moved)
        for room, buffer in homes.get(id(stmt), []):
            made = Allocate(buffer, made, span=room.members[0].span)
        return made

    with deep_recursion:
        return func.replace(body=substitute(moved(func.body), names))
