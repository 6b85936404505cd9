"""Which statements read and write each variable and buffer, and whose memory a buffer is."""

from functools import cached_property

from irkit.core import (
    CHILDREN,
    USES,
    Node,
    analysis,
    binders,
    children,
    parts,
    symbols_used,
    uses,
    walk,
)
from irkit.ir.analysis.enclosing import statements
from irkit.ir.buffer import Buffer
from irkit.ir.build import is_thread_loop
from irkit.ir.expr import Const, Var
from irkit.ir.function import PrimFunc
from irkit.ir.stmt import Allocate, Block, For, Stmt, Store, View


class UseTable:
    """The statements that use each variable and buffer of one function, in text order.

    A statement uses what its own expressions and accesses name, not what the statements below it
    use. Reads and writes are those of the buffer named; ``memory`` tells which buffers share
    memory. Each table is made when it is first asked for.
    """

    def __init__(self, stmts: tuple[Stmt, ...]) -> None:
        self._stmts = stmts
        self._sources: dict[Buffer, Buffer] = {
            stmt.buffer: stmt.source for stmt in stmts if isinstance(stmt, View)
        }

    @cached_property
    def _binders(self) -> dict[Node, Stmt]:
        return {symbol: stmt for stmt in self._stmts for symbol in _bound(stmt)}

    @cached_property
    def _reads(self) -> dict[Node, dict[Stmt, None]]:
        found: dict[Node, dict[Stmt, None]] = {}
        for stmt in self._stmts:
            for used in symbols_read(stmt):
                found.setdefault(used, {})[stmt] = None
        return found

    @cached_property
    def _writes(self) -> dict[Node, dict[Stmt, None]]:
        found: dict[Node, dict[Stmt, None]] = {}
        for stmt in self._stmts:
            if isinstance(stmt, Store):
                found.setdefault(stmt.buffer, {})[stmt] = None
        return found

    def binder(self, symbol: Var | Buffer) -> Stmt | None:
        """Return the statement that introduces a symbol, or None for parameters and what they
        bind."""
        return self._binders.get(symbol)

    def reads(self, symbol: Var | Buffer) -> tuple[Stmt, ...]:
        """Return the statements that read a variable, or that may read a buffer: by a load, a view,
        or the region of a block."""
        return tuple(self._reads.get(symbol, ()))

    def writes(self, buffer: Buffer) -> tuple[Stmt, ...]:
        """Return the stores to a buffer."""
        return tuple(self._writes.get(buffer, ()))

    def of(self, symbol: Var | Buffer) -> tuple[Stmt, ...]:
        """Return the statements that use a symbol in any way, reads first."""
        return tuple(self._reads.get(symbol, {}) | self._writes.get(symbol, {}))

    def memory(self, buffer: Buffer) -> Buffer:
        """Return the buffer that owns the memory: the source of a chain of views."""
        while buffer in self._sources:
            buffer = self._sources[buffer]
        return buffer


@analysis
def uses_of(func: PrimFunc) -> UseTable:
    """Return which statements read and write each variable and buffer of a function."""
    return UseTable(statements(func).all)


def symbols_read(stmt: Stmt) -> set[Node]:
    """Return the symbols that a statement itself refers to, in its expressions and in the shapes of
    the buffers it introduces, except for the buffer that a store writes."""
    found: set[Node] = set() if isinstance(stmt, Store) else set(uses(stmt))
    stack = [child for child in children(stmt) if not isinstance(child, Stmt)]
    stack += [part for symbol in _bound(stmt) for part in parts(symbol)]
    seen: set[int] = set()
    while stack:
        node = stack.pop()
        cls = node.__class__
        if cls is Const:
            continue
        if isinstance(node, Var):
            found.add(node)
        elif id(node) not in seen:
            seen.add(id(node))
            found.update(USES[cls](node))
            stack += CHILDREN[cls](node)
    return found


def _bound(stmt: Stmt) -> list[Node]:
    axes = stmt.axes if isinstance(stmt, Block) else ()
    return [*binders(stmt), *(axis.var for axis in axes)]


class MemoryOwners:
    """Which iterations of the loops of one function have memory of their own.

    A buffer belongs to one iteration of the loops around its allocation. Of these, the threads of a
    nest share it if its scope is ``shared``. If its scope is ``private``, such as ``local``, each
    thread has its own, also if it is allocated around the loops over threads and blocks. A
    parameter belongs to the caller.
    """

    def __init__(self, func: PrimFunc) -> None:
        allocated = [allocate.buffer for allocate in walk(func.body, Allocate)]
        self.private = frozenset(buffer for buffer in allocated if buffer.is_private)
        self._own: dict[For, frozenset[Buffer]] = {}

    def own(self, loop: For) -> frozenset[Buffer]:
        """Return the buffers of which each iteration of a loop has its own."""
        if loop not in self._own:
            inside = {allocate.buffer for allocate in walk(loop.body, Allocate)}
            if is_thread_loop(loop):
                inside = {buffer for buffer in inside if not buffer.is_shared}
            self._own[loop] = (
                self.private.union(inside) if loop.kind == "thread" else frozenset(inside)
            )
        return self._own[loop]


def is_divided(stmt: Allocate) -> bool:
    """Return True if an allocation stands for several buffers, one for each thread of loops inside
    that use it."""
    if not stmt.buffer.is_private:
        return False
    loops = [loop for loop in walk(stmt.body, For) if loop.kind == "thread"]
    symbols = with_views(stmt)
    return any(not symbols.isdisjoint(symbols_used(loop)) for loop in loops)


def with_views(stmt: Allocate) -> set[Buffer]:
    """Return an allocated buffer, and the views of its memory."""
    found = {stmt.buffer}
    for view in walk(stmt.body, View):  # From the outside in.
        if view.source in found:
            found.add(view.buffer)
    return found


@analysis
def memory_owners(func: PrimFunc) -> MemoryOwners:
    """Return which iterations of the loops of a function have memory of their own."""
    return MemoryOwners(func)
