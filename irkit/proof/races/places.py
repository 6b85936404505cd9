"""The accesses of each statement of a function, and the memory that they touch."""

from collections.abc import Iterable

from irkit.core import children, walk
from irkit.ir import (
    Buffer,
    Expr,
    For,
    Load,
    PrimFunc,
    Stmt,
    Store,
    Var,
    View,
    dimension_vars,
)
from irkit.ir.analysis import uses_of
from irkit.proof.accesses.guarded_accesses import GuardedAccess, visit_accesses

UNORDERED = ("parallel", "vectorized", "thread")


class AccessTable:
    """The loads and stores of one function by their statements.

    ``views`` are the views by their buffers; ``free`` are the sizes and scalar parameters.
    """

    def __init__(self, func: PrimFunc) -> None:
        self.func = func
        self.memory = uses_of(func).memory
        scalars = [param for param in func.params if isinstance(param, Var)]
        self.free = tuple(dict.fromkeys((*dimension_vars(func.params), *scalars)))
        self.views = {view.buffer: view for view in walk(func.body, View)}
        self._accesses: dict[int, list[GuardedAccess]] = {}
        self._owners: dict[int, list[Stmt]] = {}
        self._outermost: dict[For, For] = {}
        visit_accesses(func, self._add)
        self._visit(func.body)

    def _add(self, access: GuardedAccess) -> None:
        if access.node is not None:
            self._accesses.setdefault(id(access.stmt), []).append(access)

    def _visit(self, body: Stmt) -> None:
        stack: list[tuple[Stmt, tuple[For, ...]]] = [(body, ())]
        while stack:
            stmt, loops = stack.pop()
            if isinstance(stmt, For):
                loops = (*loops, stmt)
                first = next((each for each in loops if each.kind in UNORDERED), stmt)
                self._outermost[stmt] = first
            for below in children(stmt):
                if isinstance(below, Stmt):
                    stack.append((below, loops))
                else:
                    self._owners.setdefault(id(below), []).append(stmt)

    def of(self, what: Stmt | Expr) -> list[GuardedAccess]:
        """Return the accesses in a statement, or in an expression that belongs to one."""
        if isinstance(what, Stmt):
            inside = {id(stmt) for stmt in walk(what, on=Stmt)}
            return [access for key in inside for access in self._accesses.get(key, ())]
        loads = {id(load) for load in walk(what, Load)}
        owners = self._owners.get(id(what), ())
        found = [access for stmt in owners for access in self._accesses.get(id(stmt), ())]
        return [access for access in found if id(access.node) in loads]

    def changing(self, loop: For) -> frozenset[Buffer]:
        """Return the memory that can change while iterations of a loop run, or of a loop around it
        that has no order either."""
        stores = walk(self._outermost[loop].body, Store)
        return frozenset(self.memory(store.buffer) for store in stores)


def pairs_that_may_meet(
    ones: Iterable[GuardedAccess], others: Iterable[GuardedAccess], table: AccessTable
) -> Iterable[tuple[GuardedAccess, GuardedAccess]]:
    """Yield each two accesses of the same memory, one of them writing, once."""
    seen: set[frozenset[int]] = set()
    later = list(others)
    for one in ones:
        for other in later:
            key = frozenset((id(one), id(other)))
            if key not in seen and "store" in (one.kind, other.kind):
                seen.add(key)
                if table.memory(buffer_of(one)) is table.memory(buffer_of(other)):
                    yield one, other


def buffer_of(access: GuardedAccess) -> Buffer:
    """Return the buffer that a load or store names."""
    assert access.node is not None
    return access.node.buffer
