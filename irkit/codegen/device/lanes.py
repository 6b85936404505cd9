"""Loops over the lanes of a warp, and memory in scope "warp": what each lane does with its part.

In the IR a warp forks into lanes and joins again: loops over lanes, bound to ``threadIdx.x``, stand
beside instructions of the whole warp, and a buffer in scope "warp" has a row of ``n`` elements for
each lane, one after the other. On a device, lanes are there all the time::

    D = alloc(f32[128], scope="warp")               for l in thread(0, 32, "threadIdx.x"):
    for l in thread(0, 32, "threadIdx.x"):              D = alloc(f32[4], scope="local")
        for r in unrolled(0, 4):                        for r in unrolled(0, 4):
            D[l * 4 + r] = f32(0.0)                         D[r] = f32(0.0)
    D[ramp(0, 1, 128)] = mma(D[ramp(0, 1, 128)],        D[ramp(0, 1, 4)] = mma(D[ramp(0, 1, 4)],
                             ...)                                              ...)

A lane may touch its own rows only. Where lanes meet in other memory, they wait for each other.
"""

from typing import NoReturn, cast

from irkit.codegen.warp_barrier import WarpBarrier
from irkit.core import IRKitError, Node, any_node, deep_recursion, rewrite, substitute, walk
from irkit.ir import (
    I32,
    I64,
    Allocate,
    Buffer,
    Const,
    DType,
    Evaluate,
    Expr,
    For,
    If,
    InstructionCall,
    Let,
    Load,
    PrimFunc,
    Ramp,
    Seq,
    Stmt,
    Store,
    Var,
    View,
    as_int,
    const,
    convert,
    find_instruction,
    is_hint,
    map_below,
    seq,
    trip_count,
)
from irkit.ir.analysis import uses_of
from irkit.ir.arith import IndexSums, Sum, bounds, loop_ranges
from irkit.ir.threads import is_barrier

SCOPE, AXIS = "warp", "threadIdx.x"
Access = Load | Store


@deep_recursion
def join_lanes(func: PrimFunc, warp: int) -> PrimFunc:
    """Put a loop over lanes around what a warp does, in every launch with memory in scope "warp".

    ``warp`` is the number of threads of a warp of the device, 1 if it has none.
    Raises: IRKitError if something is not for all lanes together, or a lane touches another's row.
    """
    held = [each for each in walk(func.body, Allocate) if each.buffer.scope == SCOPE]
    if not held:
        return func
    if warp < 2:
        _refuse(
            "memory in scope 'warp' needs a device whose threads run in warps",
            "Use a target such as 'cuda', or memory in scope 'local' or 'shared'.",
            held[0],
        )
    joined = _Lanes(func, warp)
    return func.replace(body=joined.visit(func.body))


class _Lanes:
    """Finds the statement of a warp in each launch, and joins its lanes."""

    def __init__(self, func: PrimFunc, warp: int) -> None:
        lets = {let.var: let.value for let in walk(func.body, Let)}
        self.warp = warp
        self.ranges = loop_ranges(func)
        self.sums = IndexSums(self.ranges, lets)
        self.memory = uses_of(func).memory
        self.rows = dict[Buffer, int]()  # The elements of each lane in a row.
        self.own = dict[Buffer, Buffer]()

    def visit(self, stmt: Stmt) -> Stmt:
        """Replace each outermost statement of a warp: what is inside the loops over blocks and
        over threads of other axes."""
        if isinstance(stmt, For) and stmt.kind == "thread" and _holds_warp(stmt):
            return self._launch(stmt)
        return map_below(stmt, self.visit)

    def _launch(self, stmt: Stmt) -> Stmt:
        match stmt:
            case For(kind="thread") if stmt.thread != AXIS:
                return stmt.replace(body=self._launch(stmt.body))
            case Let() | View():
                return stmt.replace(body=self._launch(stmt.body))
            case Allocate() if stmt.buffer.is_shared:
                return stmt.replace(body=self._launch(stmt.body))
            case _:
                lane = Var("lane", I32)
                found = _Warp(self, lane).joined(stmt)
                return For(
                    lane, const(0, I32), const(self.warp, I32), found, "thread", AXIS,
                    span=stmt.span,
                )  # fmt: skip

    # Places in memory of a warp.

    def of_lane(self, access: Access, lane: Var) -> Expr:
        """Return the place of an access of a lane in memory of its own."""
        (index,) = access.indices
        base = index.base if isinstance(index, Ramp) else index
        step = as_int(index.stride) if isinstance(index, Ramp) else 0
        if base.dtype.lanes > 1 or step is None or step < 0:
            self._foreign(access)
        found = self.sums.sum_of(base)
        (at,) = self.sums.sum_of(lane).terms
        row = found.terms.get(at, 0)
        self._row(access, row)
        whole, rest = self._parts(found - Sum({at: row}), row)
        limits = bounds(self.sums.expr(rest), self.ranges)
        reach = step * (index.dtype.lanes - 1)
        if limits.low is None or limits.high is None:
            self._foreign(access)
        if limits.low < 0 or limits.high + reach >= row:
            self._foreign(access)
        own = convert(self.sums.expr(whole + rest), base.dtype)
        return index.replace(base=own) if isinstance(index, Ramp) else own

    def of_warp(self, access: Access) -> Expr:
        """Return the place, in memory of each lane, of rows that a warp takes together."""
        (index,) = access.indices
        lanes = index.dtype.lanes
        if not isinstance(index, Ramp) or as_int(index.stride) != 1 or lanes % self.warp:
            self._foreign(access)
        row = lanes // self.warp
        self._row(access, row)
        whole, rest = self._parts(self.sums.sum_of(index.base), row)
        if rest.terms or rest.constant or row < 2:
            self._foreign(access)
        base = convert(self.sums.expr(whole), index.base.dtype)
        return Ramp(base, index.stride, index.dtype.with_lanes(row))

    def _parts(self, found: Sum, row: int) -> tuple[Sum, Sum]:
        """Split a place into whole rows of all lanes, as one lane counts them, and the rest."""
        size = row * self.warp
        whole = {at: c // self.warp for at, c in found.terms.items() if c % size == 0}
        rest = {at: c for at, c in found.terms.items() if c % size}
        rows, left = divmod(found.constant, size)
        return Sum(whole, rows * row), Sum(rest, left)

    def _row(self, access: Access, row: int) -> None:
        buffer = access.buffer
        known = self.rows.setdefault(buffer, row)
        if row < 1 or known != row:
            self._foreign(access)

    def _foreign(self, access: Access) -> NoReturn:
        _refuse(
            f"an access of {access.buffer.name!r} is not one of each lane's own row",
            f"Of memory in scope 'warp', lane l of {self.warp} has elements l * n to l * n + n - 1 "
            "of each group of rows, and an instruction takes whole groups.",
            access,
        )


class _Warp:
    """Joins the lanes of one warp. ``touched`` has the memory that lanes read (False) and wrote
    (True) since they last waited for each other."""

    def __init__(self, lanes: _Lanes, lane: Var) -> None:
        self.lanes = lanes
        self.lane = lane
        self.touched: dict[Buffer, bool] = {}
        self.values: dict[Node, Node] = {}

    def joined(self, stmt: Stmt) -> Stmt:
        return substitute(self.visit(stmt), self.values)

    def visit(self, stmt: Stmt) -> Stmt:
        match stmt:
            case For(kind="thread"):
                return self._lanes(stmt)
            case For(kind="serial" | "unrolled"):
                return self._loop(stmt)
            case If():
                return self._branches(stmt)
            case Seq():
                return seq(*[self.visit(each) for each in stmt.stmts])
            case Let():
                if any_node(stmt.value, (Load, InstructionCall), _is_of_warp):
                    value = self._together(stmt.value, stmt)
                    var = self.values[stmt.var] = Var(stmt.var.name, value.dtype)
                    return Let(var, value, self.visit(stmt.body), span=stmt.span)
                return self._after_others(stmt, stmt.value)
            case View():
                return self._after_others(stmt, stmt.offset)
            case Allocate():
                return self._allocate(stmt)
            case Store():
                if stmt.buffer.scope != SCOPE or stmt.mask is not None:
                    self._refuse_warp(stmt)
                value, place = self._together(stmt.value, stmt), self.lanes.of_warp(stmt)
                return Store(self._own(stmt.buffer), (place,), value, span=stmt.span)
            case Evaluate() if is_barrier(stmt) or is_hint(stmt):
                self.touched = {} if is_barrier(stmt) else self.touched
                return stmt
            case _:
                return self._refuse_warp(stmt)

    def _refuse_warp(self, stmt: Stmt) -> NoReturn:
        _refuse(
            "a statement beside the loops over lanes is no instruction of a warp",
            f"Put it into a loop of {self.lanes.warp} iterations that is bound to {AXIS!r}.",
            stmt,
        )

    def _after_others(self, stmt: Let | View, expr: Expr) -> Stmt:
        """Return a statement of all lanes that evaluates an expression first."""
        waits = self._evaluated(stmt, expr)
        made = stmt.replace(body=self.visit(stmt.body))
        return seq(WarpBarrier(stmt.span), made) if waits else made

    def _evaluated(self, stmt: Stmt, *exprs: Expr) -> bool:
        """Note that all lanes evaluate expressions; return True if they must wait before that."""
        if any(any_node(expr, (Load, InstructionCall), _is_of_warp) for expr in exprs):
            self._refuse_warp(stmt)
        waits = self._waits(*exprs)
        self._touch(*exprs)
        return waits

    def _loop(self, loop: For) -> Stmt:
        waits = self._evaluated(loop, loop.begin, loop.end)
        before = dict(self.touched)
        self._touch(loop.body)  # What an iteration touched, the next one meets.
        made = loop.replace(body=self.visit(loop.body))
        if not trip_count(loop):
            self._add(before)
        return seq(WarpBarrier(loop.span), made) if waits else made

    def _branches(self, stmt: If) -> Stmt:
        waits = self._evaluated(stmt, stmt.cond)
        before = dict(self.touched)
        then = self.visit(stmt.then)
        after, self.touched = self.touched, before
        otherwise = None if stmt.otherwise is None else self.visit(stmt.otherwise)
        self._add(after)
        made = stmt.replace(then=then, otherwise=otherwise)
        return seq(WarpBarrier(stmt.span), made) if waits else made

    def _add(self, touched: dict[Buffer, bool]) -> None:
        for buffer, wrote in touched.items():
            self.touched[buffer] = wrote or self.touched.get(buffer, False)

    def _allocate(self, stmt: Allocate) -> Stmt:
        buffer = stmt.buffer
        if buffer.is_shared:
            return stmt.replace(body=self.visit(stmt.body))
        if buffer.scope != SCOPE:
            _refuse(
                f"buffer {buffer.name!r} in scope {buffer.scope!r} is allocated beside the loops "
                "over lanes, so lanes would share it",
                "Allocate it inside a loop over lanes, or in scope 'warp' or 'shared'.",
                stmt,
            )
        if buffer.rank != 1 or as_int(buffer.shape[0]) is None or buffer.strides is not None:
            _refuse(
                f"buffer {buffer.name!r} in scope 'warp' must have constant size",
                "Give it a row for each lane.",
                stmt,
            )
        body = self.visit(stmt.body)
        return Allocate(self._own(buffer), body, stmt.attrs, span=stmt.span)

    def _own(self, buffer: Buffer) -> Buffer:
        """Return the memory that a lane has of a buffer of the warp: whole rows, also of the last
        lane, of which compact-buffers leaves what is used."""
        known = self.lanes.own.get(buffer)
        if known is None:
            row, size = self.lanes.rows.get(buffer, 1), as_int(buffer.shape[0]) or 0
            size = -(-size // (row * self.lanes.warp)) * row
            known = buffer.replace(shape=(Const(size, I64),), scope="local")
            self.lanes.own[buffer] = known
        return known

    def _together(self, value: Expr, stmt: Stmt) -> Expr:
        """Return the part of a lane of what a warp computes together."""
        warp = self.lanes.warp
        match value:
            case InstructionCall():
                row = find_instruction(value.name)
                if row is None or row.threads != warp:
                    _refuse(
                        f"{value.name} is an instruction of "
                        f"{row.threads if row else 'unknown'} threads, beside loops over {warp} "
                        "lanes",
                        "Use one of a whole warp, or call it inside a loop over lanes.",
                        stmt,
                    )
                args = tuple([self._together(arg, stmt) for arg in value.args])
                return value.replace(args=args, dtype=_part(value, warp))
            case Load(mask=None) if value.buffer.scope == SCOPE:
                place = self.lanes.of_warp(value)
                return Load(self._own(value.buffer), (place,), None, _part(value, warp))
            case Var() if isinstance(self.values.get(value), Var):
                return cast(Var, self.values[value])
            case _:
                return self._refuse_warp(stmt)

    def _lanes(self, loop: For) -> Stmt:
        """Return the body of a loop over lanes, for the lane that runs it."""
        begin, end = as_int(loop.begin), as_int(loop.end)
        if loop.thread != AXIS or begin != 0 or end != self.lanes.warp:
            _refuse(
                f"loop {loop.var.name!r} is bound to {loop.thread} beside memory in scope 'warp'; "
                f"expected the {self.lanes.warp} lanes of a warp, bound to {AXIS!r}",
                "Bind loops over warps to threadIdx.y, around everything of a warp.",
                loop,
            )
        waits = self._waits(loop.body)
        self._touch(loop.body)

        def own(node: Access) -> Node | None:
            if node.buffer.scope != SCOPE:
                return None
            place = self.lanes.of_lane(node, loop.var)
            return node.replace(buffer=self._own(node.buffer), indices=(place,))

        self.values[loop.var] = convert(self.lane, loop.var.dtype)
        body = rewrite(loop.body, own, on=(Load, Store))
        return seq(WarpBarrier(loop.span), body) if waits else body

    def _waits(self, *parts: Node) -> bool:
        """Return True if lanes must wait before they run something, and note that they do."""
        for buffer, wrote in self._memory(*parts):
            if (wrote and buffer in self.touched) or self.touched.get(buffer):
                self.touched = {}
                return True
        return False

    def _touch(self, *parts: Node) -> None:
        for buffer, wrote in self._memory(*parts):
            self._add({buffer: wrote})

    def _memory(self, *parts: Node) -> list[tuple[Buffer, bool]]:
        """Return the memory that lanes share and something touches, with whether it writes."""
        found = list[tuple[Buffer, bool]]()
        for part in parts:
            inside = {each.buffer for each in walk(part, Allocate)}
            for node in walk(part, (Load, Store)):
                buffer = self.lanes.memory(node.buffer)
                if buffer.scope != SCOPE and buffer not in inside:
                    found.append((buffer, isinstance(node, Store)))
        return found


def _is_of_warp(node: Node) -> bool:
    return not isinstance(node, Load) or node.buffer.scope == SCOPE


def _part(value: Expr, warp: int) -> DType:
    return value.dtype.with_lanes(value.dtype.lanes // warp)


def _holds_warp(stmt: Stmt) -> bool:
    return any(each.buffer.scope == SCOPE for each in walk(stmt, Allocate))


def _refuse(what: str, hint: str, node: Node) -> NoReturn:
    raise IRKitError(what, hint=hint, span=getattr(node, "span", None))
