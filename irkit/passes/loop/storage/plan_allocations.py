"""Move each allocation inwards, to the smallest part of the program that contains all its uses.

Before::

    def f(A: f32[64], C: f32[64]):
        T = alloc(f32[64])
        for i in serial(0, 4):
            for j in serial(0, 16):
                T[i * 16 + j] = A[i * 16 + j]
            for k in serial(0, 16):
                C[i * 16 + k] = T[i * 16 + k]

After::

    def f(A: f32[64], C: f32[64]):
        for i in serial(0, 4):
            T = alloc(f32[64])
            for j in serial(0, 16):
                T[i * 16 + j] = A[i * 16 + j]
            for k in serial(0, 16):
                C[i * 16 + k] = T[i * 16 + k]

An allocation moves into a loop only if no iteration can read what another one wrote, or if each
thread of the loop has its own memory anyway. It does not move into vectorized loops: their lanes
would need a buffer each.
"""

from collections.abc import Set
from typing import NamedTuple

from irkit.core import (
    Node,
    allowed,
    children,
    deep_recursion,
    remark,
    same,
    statements_postorder,
    uses,
    walk,
    with_span_of,
)
from irkit.ir import Allocate, Buffer, For, PrimFunc, Seq, Stmt, map_below, nested, seq
from irkit.ir.analysis import CarriedValues, enclosing, symbols_read
from irkit.transform import define_pass


class _AllocationPlace(NamedTuple):
    """A statement, or neighbouring statements of a sequence."""

    stmt: Stmt
    first: int
    last: int


@define_pass(idempotent=True)
def plan_allocations(func: PrimFunc) -> PrimFunc:
    """Allocate every buffer just around its uses, and drop buffers without uses."""
    allocates = list(walk(func.body, Allocate))
    for _ in allocates:  # When an allocation moves inwards, those around it can shrink.
        made = _planned(func, allocates)
        if made is func:
            break
        func, allocates = made, list(walk(made.body, Allocate))
    return func


def _planned(func: PrimFunc, allocates: list[Allocate]) -> PrimFunc:
    planner = _AllocationPlanner(func)
    moving: set[Buffer] = set()
    placed: dict[int, list[tuple[_AllocationPlace, Allocate]]] = {}
    for allocate, place in _joined([(each, planner.place(each)) for each in allocates]):
        if place is None:
            if allowed("drop", allocate, allocate.body):
                moving.add(allocate.buffer)
        elif _is_elsewhere(place, allocate) and allowed("move", allocate, place.stmt):
            moving.add(allocate.buffer)
            placed.setdefault(id(place.stmt), []).append((place, allocate))
    if not moving:
        return func

    def insert(stmt: Stmt) -> Stmt:
        here = placed.get(id(stmt), [])
        if isinstance(stmt, Allocate) and stmt.buffer in moving:
            return insert(stmt.body)
        if isinstance(stmt, Seq) and here:
            parts = [insert(inner) for inner in stmt.stmts]
            return with_span_of(_in_sequence(parts, here), stmt)
        return nested([allocate for _, allocate in here], map_below(stmt, insert))

    with deep_recursion:
        made = func.replace(body=insert(func.body))
    # Ranges that overlap can end up around everything, as before.
    return func if same(made, func) else made


def _joined(
    found: list[tuple[Allocate, _AllocationPlace | None]],
) -> list[tuple[Allocate, _AllocationPlace | None]]:
    """Merge ranges of a sequence that overlap, since they cannot be nested."""
    starts = sorted((place.first, at) for at, (_, place) in enumerate(found) if place is not None)
    made = dict(enumerate(place for _, place in found))
    open_at: dict[int, list[int]] = {}
    for _, at in starts:
        place = made[at]
        assert place is not None
        group = open_at.setdefault(id(place.stmt), [])
        last = made[group[-1]] if group else None
        if last is None or place.first >= last.last:
            group.clear()
        group.append(at)
        if last is not None and len(group) > 1:
            whole = _AllocationPlace(place.stmt, last.first, max(last.last, place.last))
            made.update(dict.fromkeys(group, whole))
    return [(allocate, made[at]) for at, (allocate, _) in enumerate(found)]


def _is_elsewhere(place: _AllocationPlace, allocate: Allocate) -> bool:
    body = allocate.body
    while isinstance(body, Allocate):
        body = body.body
    size = len(body.stmts) if isinstance(body, Seq) else 0
    return place.stmt is not body or (place.first, place.last) != (0, size)


def _in_sequence(parts: list[Stmt], here: list[tuple[_AllocationPlace, Allocate]]) -> Stmt:
    """Return a sequence with allocations around its ranges; ranges that overlap become one."""
    made: list[Stmt] = []
    at = 0
    waiting = sorted(here, key=lambda pair: pair[0].first)
    while waiting:
        first, last = waiting[0][0].first, waiting[0][0].last
        inside: list[Allocate] = []
        while waiting and waiting[0][0].first < last:
            place, allocate = waiting.pop(0)
            inside.append(allocate)
            last = max(last, place.last)
        made += parts[at:first]
        made.append(nested(inside, seq(*parts[first:last])))
        at = last
    return seq(*made, *parts[at:])


class _AllocationPlanner:
    """Finds places for allocations, from the buffers that each statement uses, itself and below."""

    def __init__(self, func: PrimFunc) -> None:
        self.carried = CarriedValues(func)
        self.around = enclosing(func)
        self.own: dict[int, set[Node]] = {}
        self.below: dict[int, set[Node]] = {}
        allocated = {allocate.buffer for allocate in walk(func.body, Allocate)}
        for stmt in statements_postorder(func.body):
            if not isinstance(stmt, Stmt):
                continue
            own = (symbols_read(stmt) | {*uses(stmt)}) & allocated
            self.own[id(stmt)] = own
            nested = [c for c in children(stmt) if isinstance(c, Stmt)]
            self.below[id(stmt)] = own.union(*(self.below[id(inner)] for inner in nested))

    def place(self, allocate: Allocate) -> _AllocationPlace | None:
        """Return the innermost place for an allocation; None if it has no uses."""
        buffer, at = allocate.buffer, allocate.body
        if buffer not in self.below[id(at)]:
            remark(allocate, f"{buffer.name!r} is never used: its allocation is dropped")
            return None
        axes = {loop.thread for loop in self.around.loops(allocate) if loop.kind == "thread"}
        while True:
            place = _AllocationPlace(at, 0, len(at.stmts) if isinstance(at, Seq) else 0)
            if buffer in self.own[id(at)]:
                return place
            nested = [c for c in children(at) if isinstance(c, Stmt)]
            holding = [n for n, c in enumerate(nested) if buffer in self.below[id(c)]]
            if len(holding) > 1:
                return (
                    _AllocationPlace(at, holding[0], holding[-1] + 1)
                    if isinstance(at, Seq)
                    else place
                )
            if isinstance(at, For):
                if not self._may_enter(at, buffer, axes):
                    return place
                axes |= {at.thread} if at.kind == "thread" else set()
            at = nested[holding[0]]

    def _may_enter(self, loop: For, buffer: Buffer, axes: Set[str]) -> bool:
        if loop.kind == "vectorized":
            return False
        if loop.kind == "thread" and buffer.is_private and loop.thread not in axes:
            return True  # It belongs to one thread anyway.
        why = self.carried.reason(loop, buffer)
        if why is not None:
            remark(loop, f"{buffer.name!r} is allocated outside this loop: {why}")
        return why is None
