"""Interleave virtual threads: one thread runs each statement for all of them.

Before::

    def f(A: f32[8], C: f32[8]):
        for t in thread(0, 4, "threadIdx.x"):
            for v in thread(0, 2, "vthread"):
                R = alloc(f32[1], scope="local")
                R[0] = f32(0.0)
                for k in serial(0, 3):
                    R[0] = R[0] + A[v * 4 + t]
                C[v * 4 + t] = R[0]

After::

    def f(A: f32[8], C: f32[8]):
        for t in thread(0, 4, "threadIdx.x"):
            R = alloc(f32[1], scope="local")
            R_1 = alloc(f32[1], scope="local")
            R[0] = f32(0.0)
            R_1[0] = f32(0.0)
            for k in serial(0, 3):
                R[0] = R[0] + A[0 * 4 + t]
                R_1[0] = R_1[0] + A[1 * 4 + t]
            C[0 * 4 + t] = R[0]
            C[1 * 4 + t] = R_1[0]

Statements between two barriers are interleaved only if no virtual thread accesses what another one
accesses there; otherwise they are copied as a whole. Private memory gets a copy for each thread.
"""

from collections.abc import Callable

from irkit.core import (
    IRKitError,
    Node,
    any_node,
    count_nodes,
    deep_recursion,
    fresh,
    remark,
    substitute,
    symbols_bound,
    symbols_used,
    walk,
    with_span_of,
)
from irkit.ir import (
    Allocate,
    Assert,
    Buffer,
    Const,
    Evaluate,
    For,
    If,
    Let,
    Load,
    PrimFunc,
    Seq,
    Stmt,
    Store,
    Var,
    View,
    as_int,
    map_below,
    no_blocks,
    replace_stmts,
    seq,
    trip_count,
)
from irkit.ir.analysis import uses_of
from irkit.ir.threads import (
    Path,
    ThreadConflicts,
    UniformityInfo,
    holding,
    is_barrier,
    with_own_memory,
)
from irkit.transform import define_pass

MAX_LOOPS = 64
MAX_NODES = 1 << 17


@define_pass(idempotent=True, needs=(no_blocks,), atomic=True)
def inject_virtual_threads(func: PrimFunc, *, max_extent: int = 16) -> PrimFunc:
    """Replace each loop over at most ``max_extent`` virtual threads by interleaved copies of its
    body, the innermost loop first."""
    if not any_node(func.body, For, _is_virtual):
        return func
    with deep_recursion:
        body = with_own_memory(func.body, _is_virtual)
    func = func if body is func.body else func.replace(body=body)
    left: set[Var] = set()
    for _ in range(MAX_LOOPS):
        loops = [
            loop for loop in walk(func.body, For) if _is_virtual(loop) and loop.var not in left
        ]
        if not loops:
            break
        inner = loops[-1]
        count = trip_count(inner)
        if count is None or count > max_extent:
            remark(inner, f"its extent is not a constant of at most {max_extent}: left as threads")
            left.add(inner.var)
            continue
        if count * count_nodes(inner.body) > MAX_NODES:
            remark(inner, "its copies would be too large: left as threads")
            left.add(inner.var)
            continue
        func = replace_stmts(func, {inner: _Copies(func, inner).stmt()})
    return func


def _is_virtual(loop: For) -> bool:
    return loop.kind == "thread" and loop.thread.startswith("vthread")


class _Copies:
    """Copies the body of one loop; ``values`` holds, for each copy, the replacements of its
    variable and of the symbols that differ between its threads."""

    def __init__(self, func: PrimFunc, loop: For) -> None:
        self.loop = loop
        self.memory: Callable[[Buffer], Buffer] = uses_of(func).memory
        self.conflicts = ThreadConflicts(func)
        self.with_barriers = holding(loop.body, is_barrier)
        self.uniform = UniformityInfo()
        self.uniform.add(loop.var)
        self.varying: set[Node] = {loop.var}
        first, count = as_int(loop.begin) or 0, trip_count(loop) or 0
        self.values: list[dict[Node, Node]] = [
            {loop.var: Const(first + at, loop.var.dtype)} for at in range(count)
        ]

    @deep_recursion
    def stmt(self) -> Stmt:
        """Return the statement that replaces the loop."""
        return self.visit(self.loop.body, (self.loop,)) if self.values else seq()

    def visit(self, stmt: Stmt, path: Path) -> Stmt:
        waits = id(stmt) in self.with_barriers
        if is_barrier(stmt) or (not waits and self._is_same_for_all(stmt)):
            return stmt
        if not waits and self.conflicts.between((stmt, path), (stmt, path)):
            return self._whole(stmt)
        return self._inside(stmt, path)

    def _inside(self, stmt: Stmt, path: Path) -> Stmt:
        """Copy the statements inside one, interleaved."""
        match stmt:
            case Seq():
                made = [self.visit(part, path) for part in self._sections(stmt)]
                return with_span_of(seq(*made), stmt)
            case For() if self.uniform.holds(stmt.begin, stmt.end):
                return stmt.replace(body=self.visit(stmt.body, (*path, stmt)))
            case If() if self.uniform.holds(stmt.cond):
                return map_below(stmt, lambda inner: self.visit(inner, path))
            case Let() | View():
                return self._named(stmt, path)
            case Allocate() if self.uniform.holds(*stmt.buffer.shape, *(stmt.buffer.strides or ())):
                return self._named(stmt, path)
            case _:
                return self._whole(stmt)

    def _sections(self, stmt: Seq) -> list[Stmt]:
        """Return the parts of a sequence: each statement if they can be interleaved, else the
        ranges between barriers."""
        if id(stmt) not in self.with_barriers:
            return list(stmt.stmts)
        parts: list[Stmt] = []
        run: list[Stmt] = []
        for inner in (*stmt.stmts, None):
            if inner is not None and id(inner) not in self.with_barriers:
                run.append(inner)
                continue
            parts += [with_span_of(seq(*run), stmt)] if run else []
            parts += [inner] if inner is not None else []
            run = []
        return parts

    def _named(self, stmt: Let | View | Allocate, path: Path) -> Stmt:
        """Bind a name once for each copy, if it differs between them."""
        symbol = stmt.var if isinstance(stmt, Let) else stmt.buffer
        self.uniform.enter(stmt, inside=True)
        if not self.uniform.differs(symbol):
            return stmt.replace(body=self.visit(stmt.body, path))
        self.varying.add(symbol)
        heads = [substitute(stmt.replace(body=seq()), values) for values in self.values]
        for values in self.values[1:]:
            values[symbol] = symbol.copy()
        made = self.visit(stmt.body, path)
        for head, values in reversed(list(zip(heads, self.values, strict=True))):
            own = values.get(symbol, symbol)
            named = {"var": own} if isinstance(head, Let) else {"buffer": own}
            made = head.replace(body=made, **named)
        return made

    def _whole(self, stmt: Stmt) -> Stmt:
        """Copy a whole statement for one virtual thread after the other."""
        if id(stmt) in self.with_barriers:
            raise IRKitError(
                "virtual threads may not agree on what is around a barrier, so that they cannot "
                "go side by side",
                hint="Move the barrier out of the condition or loop.",
                span=stmt.span,
            )
        copies = [substitute(stmt, values) for values in self.values]
        return with_span_of(seq(copies[0], *map(fresh, copies[1:])), stmt)

    def _is_same_for_all(self, stmt: Stmt) -> bool:
        """Return True if running a statement once has the same effect as in every virtual
        thread."""
        if not isinstance(stmt, (Store, Seq, For, If, Let, Evaluate, Assert)):
            return False
        if symbols_used(stmt) & self.varying:
            return False
        stored = {self.memory(store.buffer) for store in walk(stmt, Store)}
        read = {self.memory(load.buffer) for load in walk(stmt, Load)}
        own = {symbol for symbol in symbols_bound(stmt) if isinstance(symbol, Buffer)}
        return not stored & read and not own
