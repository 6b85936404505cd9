"""A function for a device, as data: its kernels, and what the host does around the launches.

Each outermost nest of thread loops is a kernel; its blocks are the iterations of the loops over
``blockIdx``, its threads those over ``threadIdx``. Views, variables and shared memory around a nest
belong to the kernel, so the host knows whole buffers only. Memory of each thread moves into the
loops over threads, and memory of each block into scope "shared".
"""

from collections.abc import Sequence
from typing import Union, cast

import msgspec

from irkit.codegen.c.types import identifier
from irkit.codegen.device.block_memory import with_block_memory
from irkit.core import (
    IRKitError,
    Node,
    Span,
    children,
    deep_recursion,
    fresh,
    substitute,
    symbols_used,
    walk,
)
from irkit.ir import (
    I64,
    Allocate,
    Buffer,
    Const,
    Expr,
    For,
    If,
    Let,
    Load,
    PrimFunc,
    Seq,
    Stmt,
    Var,
    View,
    as_int,
    is_empty,
    nested,
    script,
    shape_vars,
)
from irkit.ir.arith import simplify
from irkit.ir.threads import extent_of, is_block_loop, with_own_memory

AXES = ("x", "y", "z")
Dims = tuple[Expr, Expr, Expr]


class Launch(msgspec.Struct, frozen=True):
    """A launch of a kernel: ``grid`` blocks of ``block`` threads, along x, y and z.

    ``kernel.params`` are whole buffers of the host, then numbers. ``shared`` lists the buffers
    that the threads of a block share. Grid and block may depend on numbers of the host.
    """

    kernel: PrimFunc
    grid: Dims
    block: Dims
    shared: tuple[Buffer, ...]
    span: Span | None = None


class Temporary(msgspec.Struct, frozen=True):
    """Memory of the device that the host allocates for some steps, and frees after them."""

    buffer: Buffer
    steps: "Steps"


class HostLoop(msgspec.Struct, frozen=True):
    """Steps that the host repeats, one iteration after the other."""

    loop: For
    steps: "Steps"


class HostBranch(msgspec.Struct, frozen=True):
    """Steps that depend on a condition over numbers of the host."""

    cond: Expr
    then: "Steps"
    otherwise: "Steps"


Step = Union[Launch, Temporary, HostLoop, HostBranch]
Steps = tuple[Step, ...]


class DeviceProgram(msgspec.Struct, frozen=True):
    """A function as kernels and the steps of the host."""

    func: PrimFunc
    steps: Steps

    @property
    def launches(self) -> list[Launch]:
        """Return the launches in the order of the text."""
        return _launches(self.steps)

    @property
    def scalars(self) -> tuple[Var, ...]:
        """Return the numbers that the host knows: scalar parameters, then variables of shapes."""
        given = [param for param in self.func.params if isinstance(param, Var)]
        return (*given, *shape_vars(self.func))


def _launches(steps: Steps) -> list[Launch]:
    found: list[Launch] = []
    stack = [*reversed(steps)]
    while stack:
        step = stack.pop()
        if isinstance(step, Launch):
            found.append(step)
            continue
        inside = (*step.then, *step.otherwise) if isinstance(step, HostBranch) else step.steps
        stack.extend(reversed(inside))
    return found


@deep_recursion
def device_program(func: PrimFunc) -> DeviceProgram:
    """Take a lowered function, whose thread loops are still there, apart into kernels and host.

    Raises: IRKitError if a statement is in no thread loop, or a nest is no single launch.
    """
    if not any(loop.kind == "thread" for loop in walk(func.body, For)):
        raise IRKitError(
            f"function {func.name!r} has no loop that is bound to threads, so no kernel could be "
            "made of it",
            hint='Bind loops of its schedule: s.bind(i, "blockIdx.x"), s.bind(j, "threadIdx.x").',
            span=func.span,
        )
    body = with_own_memory(func.body, lambda loop: loop.kind == "thread", scope="global")
    return DeviceProgram(func, _Splitter(func).steps(body, ()))


class _Splitter:
    """Takes a body apart; ``around`` are the views, variables and shared buffers around a
    statement, from the outside in, which go into the kernels."""

    def __init__(self, func: PrimFunc) -> None:
        self.func = func
        self.count = 0

    def steps(self, stmt: Stmt, around: tuple[Let | View | Allocate, ...]) -> Steps:
        match stmt:
            case For(kind="thread"):
                return (self._launch(stmt, around),)
            case Seq():
                found: list[Step] = []
                for each in stmt.stmts:
                    found += self.steps(each, around)
                return tuple(found)
            case View():
                return self.steps(stmt.body, (*around, stmt))
            case Let():
                self._refuse_loads(stmt, "variable", stmt.value)
                return self.steps(stmt.body, (*around, stmt))
            case Allocate() if stmt.buffer.is_shared and self._is_of_one_launch(stmt):
                return self.steps(stmt.body, (*around, stmt))
            case Allocate():
                return (Temporary(stmt.buffer, self.steps(stmt.body, around)),)
            case For(kind="serial" | "unrolled" | "parallel") if _holds_threads(stmt):
                self._refuse_loads(stmt, "range of a loop", stmt.begin, stmt.end)
                begin, end = (_with_lets(x, around) for x in (stmt.begin, stmt.end))
                loop = stmt.replace(begin=begin, end=end)
                return (HostLoop(loop, self.steps(stmt.body, around)),)
            case If() if _holds_threads(stmt):
                self._refuse_loads(stmt, "condition", stmt.cond)
                other = () if stmt.otherwise is None else self.steps(stmt.otherwise, around)
                cond = _with_lets(stmt.cond, around)
                return (HostBranch(cond, self.steps(stmt.then, around), other),)
            case _ if is_empty(stmt):
                return ()
            case _:
                raise IRKitError(
                    f"a statement of {self.func.name!r} is in no thread loop: expected a kernel "
                    "for everything that touches memory",
                    hint="Bind a loop around it to threads, or compute it inside a kernel.",
                    span=_span_of(stmt) or self.func.span,
                )

    def _is_of_one_launch(self, stmt: Allocate) -> bool:
        """Return True if shared memory is that of each block of one launch, although it is
        allocated around it; False if it is memory that launches of one block share.

        Raises: IRKitError if several launches share it, and have several blocks.
        """
        seen: set[Node] = {stmt.buffer}
        for view in walk(stmt.body, View):  # From the outside in.
            if view.source in seen:
                seen.add(view.buffer)
        users = [each for each in _nests(stmt.body) if not seen.isdisjoint(symbols_used(each[0]))]
        if len(users) == 1 and not users[0][1]:
            return True
        if any(is_block_loop(loop) for nest, _ in users for loop in walk(nest, For)):
            raise IRKitError(
                f"shared buffer {stmt.buffer.name!r} is allocated around several launches; "
                "expected memory of the blocks of one",
                hint='Allocate it inside the loops over blocks, or in scope "global".',
                span=stmt.buffer.span or stmt.span or self.func.span,
            )
        return False

    def _refuse_loads(self, stmt: Stmt, what: str, *exprs: Expr) -> None:
        for expr in exprs:
            load = next(iter(walk(expr, Load)), None)
            if load is not None:
                raise IRKitError(
                    f"the {what} around a launch reads {load.buffer.name!r}, which is memory of "
                    "the device",
                    hint="Read it inside the thread loops.",
                    span=stmt.span or self.func.span,
                )

    def _launch(self, nest: For, around: tuple[Let | View | Allocate, ...]) -> Launch:
        nest = cast(For, with_block_memory(nest))
        name = identifier(f"{self.func.name}_kernel{self.count or ''}")
        self.count += 1
        loops = self._chain(nest)
        used = symbols_used(nest)
        kept: list[Let | View | Allocate] = []
        for each in reversed(around):
            symbol: Node = each.var if isinstance(each, Let) else each.buffer
            if symbol in used:
                kept.append(each)
                used |= symbols_used(each.replace(body=Seq(())))
        body = fresh(nested(kept[::-1], nest))
        found = {loop.thread: extent_of(_chosen(loop, around)) for loop in loops}
        grid, block = (
            tuple(found.get(f"{kind}.{axis}", Const(1, I64)) for axis in AXES)
            for kind in ("blockIdx", "threadIdx")
        )
        params = self._captured(body)
        shared = tuple(a.buffer for a in walk(body, Allocate) if a.buffer.is_shared)
        kernel = PrimFunc(name, params, body, self.func.attrs, span=self.func.span)
        return Launch(kernel, _three(grid), _three(block), shared, nest.span)

    def _chain(self, nest: For) -> list[For]:
        """Return the thread loops of a nest, which must be around each other."""
        chain: list[For] = []
        stmt: Stmt = nest
        while isinstance(stmt, (For, Let, View, Allocate)):
            if isinstance(stmt, For):
                if stmt.kind != "thread":
                    break
                chain.append(stmt)
            stmt = stmt.body
        inside = [loop for loop in walk(nest, For) if loop.kind == "thread"]
        extra = next((loop for loop in inside if not any(loop is each for each in chain)), None)
        seen: dict[str, For] = {}
        for loop in chain:
            if loop.thread in seen:
                extra = extra or loop
            seen[loop.thread] = loop
        wrong = next((loop for loop in chain if loop.thread.startswith("vthread")), extra)
        blocks = [is_block_loop(loop) for loop in chain]
        if wrong is None and blocks != sorted(blocks, reverse=True):
            wrong = chain[-1]
        if wrong is not None:
            raise IRKitError(
                f"loop {wrong.var.name!r}, bound to {wrong.thread}, is not around everything in "
                "its launch; expected one loop for each axis, around all statements, blocks first",
                hint="Give loops of one axis the same extent, at the same place of the schedule; "
                "the remarks of unify-thread-bindings in the trace say why it left them.",
                span=wrong.span or self.func.span,
            )
        return chain

    def _captured(self, body: Stmt) -> tuple[Buffer | Var, ...]:
        """Return the buffers and numbers that a kernel takes from around it."""
        bound = {node for part in walk(body) for node in _bound_by(part)}
        free = [node for node in _in_order(body) if node not in bound]
        params: dict[Node, int] = {p: place for place, p in enumerate(self.func.params)}
        free.sort(key=lambda node: params.get(node, len(params)))
        buffers = [node for node in free if isinstance(node, Buffer)]
        variables = dict.fromkeys(node for node in free if isinstance(node, Var))
        for buffer in buffers:
            dims = (*buffer.shape, *(buffer.strides or ()))
            variables.update((v, None) for dim in dims for v in walk(dim, Var))
        return (*dict.fromkeys(buffers), *variables)


def _in_order(body: Stmt) -> Sequence[Node]:
    """Return what is referred to, in an order that does not depend on hashes."""
    used = symbols_used(body)
    found: dict[Node, None] = {}
    for node in walk(body):
        for name in ("buffer", "source"):
            other = getattr(node, name, None)
            if isinstance(other, Buffer) and other in used:
                found[other] = None
        if isinstance(node, Var) and node in used:
            found[node] = None
    for node in used:
        found.setdefault(node, None)
    return list(found)


def _bound_by(node: Node) -> tuple[Node, ...]:
    if isinstance(node, (For, Let)):
        return (node.var,)
    return (node.buffer,) if isinstance(node, (Allocate, View)) else ()


def _nests(stmt: Stmt, *, again: bool = False) -> list[tuple[For, bool]]:
    """Return the outermost thread loops, each with whether it is launched again and again."""
    if isinstance(stmt, For):
        if stmt.kind == "thread":
            return [(stmt, again)]
        again = True
    below = [child for child in children(stmt) if isinstance(child, Stmt)]
    return [found for child in below for found in _nests(child, again=again)]


def _three(dims: tuple[Expr, ...]) -> Dims:
    x, y, z = dims
    return x, y, z


def _holds_threads(stmt: Stmt) -> bool:
    return any(loop.kind == "thread" for loop in walk(stmt, For))


def _chosen(loop: For, around: tuple[Let | View | Allocate, ...]) -> For:
    begin, end = (_with_lets(x, around) for x in (loop.begin, loop.end))
    return loop.replace(begin=begin, end=end)


def _with_lets(expr: Expr, around: tuple[Let | View | Allocate, ...]) -> Expr:
    """Return an expression over what the host knows: values in place of variables around it."""
    for each in reversed(around):
        if isinstance(each, Let):
            expr = substitute(expr, {each.var: each.value})
    return simplify(expr)


def _span_of(stmt: Stmt) -> Span | None:
    return next((each.span for each in walk(stmt, Stmt) if each.span is not None), None)


def dim_text(dim: Expr) -> str:
    """Return a size of a grid or a block as text."""
    known = as_int(dim)
    return script(dim) if known is None else str(known)


def constant_dims(dims: Dims) -> tuple[int | None, ...]:
    """Return the sizes of a grid or a block, None for each that depends on the call."""
    return tuple(as_int(dim) for dim in dims)
