"""Double buffers: fill one half for the next iteration while this iteration uses the other.

Before::

    def f(A: f32[64], C: f32[64]):
        for i in serial(0, 8):
            T = alloc(f32[8], double_buffer=True)
            for j in serial(0, 8):
                T[j] = A[i * 8 + j]
            for k in serial(0, 8):
                C[i * 8 + k] = T[k]

After::

    def f(A: f32[64], C: f32[64]):
        T = alloc(f32[16])
        if 0 < 8:
            for j in serial(0, 8):
                T[j + 0] = A[0 * 8 + j]
            for i in serial(0, 8 - 1):
                for j_1 in serial(0, 8):
                    T[j_1 + (i + 1 - 0) % 2 * 8] = A[(i + 1) * 8 + j_1]
                for k in serial(0, 8):
                    C[i * 8 + k] = T[k + (i - 0) % 2 * 8]
            for k_1 in serial(0, 8):
                C[(8 - 1) * 8 + k_1] = T[k_1 + (8 - 1 - 0) % 2 * 8]

The buffer has two halves; one is filled while the other is read.
"""

from typing import NamedTuple

from irkit.core import (
    Node,
    any_node,
    deep_recursion,
    fresh,
    remark,
    rewrite,
    substitute,
    uses,
    walk,
    with_span_of,
)
from irkit.ir import (
    I64,
    Allocate,
    Assert,
    Buffer,
    Evaluate,
    Expr,
    For,
    If,
    Load,
    PrimFunc,
    Seq,
    Stmt,
    Store,
    Var,
    View,
    as_int,
    broadcast,
    const,
    convert,
    flat_access,
    floordiv,
    floormod,
    lt,
    map_below,
    nested,
    no_blocks,
    seq,
)
from irkit.transform import define_pass

ATTR = "double_buffer"
MAX_COPIES = 16


@define_pass(idempotent=True, needs=(flat_access, no_blocks), atomic=True)
def inject_double_buffers(func: PrimFunc, *, split_loop: int = 1) -> PrimFunc:
    """Double each buffer whose allocation has the attribute ``double_buffer``.

    ``split_loop`` is the number of iterations, at most 16, that the main loop does at once: with an
    even number the halves are constants. With 0 the last iteration is not split off, and each
    iteration tests whether there is a next one.
    """
    if not any(_is_marked(each) for each in walk(func.body, Allocate)):
        return func
    copies = max(0, min(split_loop, MAX_COPIES))

    def doubled(stmt: Stmt) -> Stmt:
        made = map_below(stmt, doubled)
        while isinstance(made, For):
            found = _parts(made)
            if found is None:
                break
            why = _misfit(found)
            if why:
                remark(found.allocate, f"{found.allocate.buffer.name!r} stays single: {why}")
                made = made.replace(body=nested(found.chain, _unmarked(found)))
                continue
            return with_span_of(_Doubled(found, copies).stmt(), stmt)
        return made

    with deep_recursion:
        return func.replace(body=doubled(func.body))


def _is_marked(allocate: Allocate) -> bool:
    return dict(allocate.attrs).get(ATTR) is True


class _DoubleBuffer(NamedTuple):
    """A loop with a marked allocation; ``chain`` are the other allocations directly inside."""

    loop: For
    allocate: Allocate
    chain: list[Allocate]
    fill: list[Stmt]
    use: list[Stmt]
    ordered: bool


def _parts(loop: For) -> _DoubleBuffer | None:
    chain: list[Allocate] = []
    marked: Allocate | None = None
    at = loop.body
    while isinstance(at, Allocate):
        if marked is None and _is_marked(at):
            marked = at
        else:
            chain.append(at)
        at = at.body
    if marked is None:
        return None
    stmts = list(at.stmts) if isinstance(at, Seq) else [at]
    fills = [_writes(stmt, marked.buffer) for stmt in stmts]
    fill = [stmt for stmt, first in zip(stmts, fills, strict=True) if first]
    use = [stmt for stmt, first in zip(stmts, fills, strict=True) if not first]
    read = [n for n, s in enumerate(stmts) if not fills[n] and _names(s, marked.buffer)]
    last = max((n for n, first in enumerate(fills) if first), default=-1)
    return _DoubleBuffer(loop, marked, chain, fill, use, bool(read) and last < read[0])


def _writes(stmt: Stmt, buffer: Buffer) -> bool:
    return any(store.buffer is buffer for store in walk(stmt, Store))


def _names(stmt: Stmt, buffer: Buffer) -> bool:
    return any(buffer in uses(node) for node in walk(stmt))


def _misfit(found: _DoubleBuffer) -> str:
    """Return why a buffer cannot be filled an iteration ahead; "" if it can."""
    loop, buffer = found.loop, found.allocate.buffer
    if loop.kind != "serial":
        return f"loop {loop.var.name!r} is {loop.kind}, and its iterations have no order"
    if any_node(loop.begin, Load) or any_node(loop.end, Load):
        return "the bounds of its loop are read from memory"
    if buffer.rank != 1 or buffer.strides is not None or not _is_small(buffer):
        return "its size is not constant"
    if not found.fill or not found.ordered:
        return "it is not filled by statements that come before all that use it"
    if any_node(loop.body, View):
        return "a view in its loop can alias it"
    if any(any_node(stmt, (Evaluate, Assert)) for stmt in found.fill):
        return "a statement that fills it has an effect other than on memory"
    return _dependence(found)


def _is_small(buffer: Buffer) -> bool:
    size = as_int(buffer.shape[0])
    return size is not None and size < 1 << 29  # So that 32-bit indices reach both halves.


def _dependence(found: _DoubleBuffer) -> str:
    buffer = found.allocate.buffer
    own = {each.buffer for stmt in found.fill for each in walk(stmt, Allocate)}
    mine = {each.buffer for each in found.chain}
    written = {store.buffer for store in walk(found.loop.body, Store)}
    for node in (node for stmt in found.fill for node in walk(stmt, (Load, Store))):
        other = node.buffer
        if other in own or other is buffer:
            continue
        if isinstance(node, Store):
            return f"what fills it writes {other.name!r} too"
        if other in mine or other in written:
            return f"what fills it reads {other.name!r}, which its loop writes"
    return ""


def _unmarked(found: _DoubleBuffer) -> Stmt:
    attrs = tuple(pair for pair in found.allocate.attrs if pair[0] != ATTR)
    body = found.allocate
    inner: Stmt = body
    while isinstance(inner, Allocate):
        inner = inner.body
    return found.allocate.replace(attrs=attrs, body=inner)


class _Doubled:
    """Rebuilds a loop with two halves of a buffer."""

    def __init__(self, found: _DoubleBuffer, copies: int) -> None:
        self.found, self.copies = found, copies
        self.loop = found.loop
        old = found.allocate.buffer
        self.old, self.size = old, as_int(old.shape[0]) or 0
        shape = (const(2 * self.size, old.shape[0].dtype),)
        self.new = Buffer(old.name, shape, old.dtype, old.scope, None, old.align, old.span)

    def stmt(self) -> Stmt:
        """Return the loop: fill the first half, run the main loop, use the last half."""
        loop, begin, end = self.loop, self.loop.begin, self.loop.end
        one = const(1, loop.var.dtype)
        runs = lt(begin, end)
        first = self.fill(begin, const(0, begin.dtype))
        if not self.copies:
            ahead = If(lt(loop.var + one, end), self.fill(loop.var + one), None, span=loop.span)
            body = nested(self.found.chain, seq(ahead, self.use(loop.var)))
            whole = seq(If(runs, first, None, span=loop.span), loop.replace(body=body))
        else:
            steady, start = self.steady(one)
            body = nested(self.found.chain, self.step(loop.var))
            rest = fresh(loop.replace(begin=start, end=end - one, body=body))
            last = fresh(nested(self.found.chain, self.use(end - one)))
            # A last iteration exists only if the loop runs at all.
            whole = If(runs, seq(first, *steady, rest, last), None, span=loop.span)
        attrs = tuple(pair for pair in self.found.allocate.attrs if pair[0] != ATTR)
        return Allocate(self.new, whole, attrs, span=self.found.allocate.span)

    def steady(self, one: Expr) -> tuple[list[Stmt], Expr]:
        """Return a loop that does several iterations at once, and where the remaining ones
        begin."""
        loop, count = self.loop, self.copies
        if count == 1:
            return [], loop.begin
        many = const(count, loop.var.dtype)
        rounds = floordiv(loop.end - one - loop.begin, many)
        outer = Var(loop.var.name, loop.var.dtype)
        steps: list[Stmt] = []
        for number in range(count):
            at = loop.begin + outer * many + const(number, outer.dtype)
            halves = (number % 2, (number + 1) % 2) if count % 2 == 0 else None
            steps.append(fresh(nested(self.found.chain, self.step(at, halves))))
        zero = const(0, outer.dtype)
        made = For(outer, zero, rounds, seq(*steps), span=loop.span)
        return [made], loop.begin + rounds * many

    def step(self, at: Expr, halves: tuple[int, int] | None = None) -> Stmt:
        """Return the statements that fill the half of the next iteration and use that of this
        one."""
        here, there = (None, None) if halves is None else (const(h, at.dtype) for h in halves)
        return seq(self.fill(at + const(1, at.dtype), there), self.use(at, here))

    def fill(self, at: Expr, half: Expr | None = None) -> Stmt:
        return fresh(self.placed(seq(*self.found.fill), at, half))

    def use(self, at: Expr, half: Expr | None = None) -> Stmt:
        return self.placed(seq(*self.found.use), at, half)

    def placed(self, stmt: Stmt, at: Expr, half: Expr | None) -> Stmt:
        """Return statements for iteration ``at``, with accesses to its half."""
        if half is None:
            half = floormod(at - self.loop.begin, const(2, at.dtype))

        def move(node: Load | Store) -> Node | None:
            if node.buffer is not self.old:
                return None
            (index,) = node.indices
            kind = index.dtype.element if index.dtype.bits >= 32 else I64
            known = as_int(half)
            offset = const((known or 0) * self.size, kind)
            if known is None:
                offset = convert(half, kind) * const(self.size, kind)
            index = convert(index, kind.with_lanes(index.dtype.lanes))
            more = broadcast(offset, index.dtype.lanes)
            return node.replace(buffer=self.new, indices=(index + more,))

        var: dict[Node, Node] = {self.loop.var: at}
        return rewrite(substitute(stmt, var), move, on=(Load, Store))
