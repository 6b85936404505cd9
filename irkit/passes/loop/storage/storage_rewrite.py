"""Let buffers that are not needed at the same time have the same memory.

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

A buffer may take the place of one that it is computed from, element by element, if that one is not
needed any more. Small buffers stay as they are: they may become registers, and of two that share
memory neither does.
"""

from irkit.core import IRKitError, Node, Visit, remark, substitute, visit, walk
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
    no_blocks,
    visit_below,
)
from irkit.ir.analysis import Enclosing, InPlace, enclosing, liveness
from irkit.ir.arith import simplify
from irkit.transform import define_pass

CHEAP = 64 << 10
"""Memory of this many bytes lies on the stack for all of a call, whatever needs it."""


@define_pass(idempotent=True, needs=(flat_access, no_blocks), atomic=True)
def storage_rewrite(func: PrimFunc, *, smallest: int = 4096) -> PrimFunc:
    """Merge allocations of at least ``smallest`` (bytes) whose lives do not meet."""
    allocates = [each for each in walk(func.body, Allocate) if _is_plain(each, smallest)]
    if len(allocates) < 2:
        return func
    try:
        rooms = _StoragePlanner(func).rooms(allocates)
    except IRKitError:
        remark(func, "a statement stands in several places: buffers keep memory of their own")
        return func
    shared = [room for room in rooms if len(room.members) > 1]
    return _rebuilt(func, shared) if shared else func


def _is_plain(allocate: Allocate, smallest: int) -> bool:
    buffer = allocate.buffer
    if allocate.attrs or buffer.rank != 1 or buffer.strides is not None:
        return False
    size = as_int(buffer.shape[0])
    return size is None or size * buffer.dtype.bytes >= smallest


class _Room:
    """Memory for some buffers, around the statement ``at``."""

    def __init__(self, first: Allocate) -> None:
        self.members = [first]
        self.at = first.body
        self.size = first.buffer.shape[0]

    @property
    def buffer(self) -> Buffer:
        """Make the buffer that stands for all members."""
        first = self.members[0].buffer
        align = max(each.buffer.align for each in self.members)
        return Buffer(first.name, (self.size,), first.dtype, first.scope, None, align, first.span)


class _StoragePlanner:
    """Give each allocation a room, in text order: the first that it fits into, or its own."""

    def __init__(self, func: PrimFunc) -> None:
        self.around: Enclosing = enclosing(func)
        self.live = liveness(func)
        self.in_place = InPlace(func)

    def rooms(self, allocates: list[Allocate]) -> list[_Room]:
        rooms: list[_Room] = []
        for allocate in allocates:
            if not any(self._joins(allocate, room) for room in rooms):
                rooms.append(_Room(allocate))
        return rooms

    def _joins(self, allocate: Allocate, room: _Room) -> bool:
        buffer, first = allocate.buffer, room.members[0].buffer
        if (buffer.dtype, buffer.scope) != (first.dtype, first.scope):
            return False
        if buffer.scope == "shared" and _is_in_threads(self.around.loops(allocate)):
            return False  # Which thread still needs it is a matter of barriers.
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

    def _common(self, allocate: Allocate, room: _Room, size: Expr) -> Stmt | None:
        """Find the statement that the memory has to be around; None where it may not be."""
        mine = (*self.around.path(allocate), allocate)
        others = (*self.around.path(room.at), room.at)
        alike = sum(1 for a, b in zip(mine, others, strict=False) if a is b)
        at = others[alike - 1] if alike else None
        left = (*mine[alike - 1 :], *others[alike:-1])
        if at is None or not all(_may_leave(stmt) for stmt in left):
            return None
        if at is room.at:
            return at
        # Memory from the heap would be held longer than each of them needs it.
        bytes_ = (as_int(size) or CHEAP + 1) * allocate.buffer.dtype.bytes
        return at if bytes_ <= CHEAP else None


def _may_leave(stmt: Stmt) -> bool:
    """Say whether memory may be taken before a statement and not inside it.

    The iterations of other loops run side by side, and need memory of their own.
    """
    return not isinstance(stmt, For) or stmt.kind in ("serial", "unrolled")


def _is_in_threads(loops: tuple[For, ...]) -> bool:
    return any(loop.kind == "thread" for loop in loops)


def _larger(a: Expr, b: Expr) -> Expr | None:
    x, y = as_int(a), as_int(b)
    if x is not None and y is not None:
        return const(max(x, y), b.dtype)
    return b if x is None and y is None and as_int(simplify(a - b)) == 0 else None


def _rebuilt(func: PrimFunc, rooms: list[_Room]) -> PrimFunc:
    gone = {member.buffer for room in rooms for member in room.members}
    homes: dict[int, list[tuple[_Room, Buffer]]] = {}
    names: dict[Node, Node] = {}
    for room in rooms:
        buffer = room.buffer
        homes.setdefault(id(room.at), []).append((room, buffer))
        names.update({member.buffer: buffer for member in room.members})

    def rewritten(stmt: Stmt) -> Visit[Stmt, Stmt]:
        if isinstance(stmt, Allocate) and stmt.buffer in gone:
            made = yield stmt.body
        else:
            made = yield from visit_below(stmt)
        for room, buffer in homes.get(id(stmt), []):
            made = Allocate(buffer, made, span=room.members[0].span)
        return made

    return func.replace(body=substitute(visit(func.body, rewritten), names))
