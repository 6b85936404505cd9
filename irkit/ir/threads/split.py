"""Split nests of thread loops at their barriers, so that threads can run one after another.

Each piece between two barriers gets thread loops of its own. A value that a thread keeps from one
piece to the next is stored in an array with an element per thread. Loops and conditions around a
barrier move outside the thread loops, so all threads must agree on them.
"""

from irkit.core import (
    IRKitError,
    Node,
    analysis,
    any_node,
    binders,
    deep_recursion,
    fresh,
    substitute,
    symbols_used,
    with_span_of,
)
from irkit.ir.analysis import axis_values
from irkit.ir.buffer import Buffer, Load
from irkit.ir.build import (
    element_count,
    eq,
    is_thread_loop,
    logical_and,
    ramp,
    seq,
)
from irkit.ir.expr import Expr, Var
from irkit.ir.function import PrimFunc
from irkit.ir.scoped_rewriter import map_below
from irkit.ir.stmt import Allocate, Block, For, If, Let, Seq, Stmt, Store, View
from irkit.ir.threads.nest import UniformityInfo, holding, is_barrier
from irkit.ir.threads.private import element_reach, thread_number, times, with_own_memory

MAX_COPIES = 1 << 16
Env = tuple[For | Let | View, ...]


def split_threads(func: PrimFunc) -> PrimFunc:
    """Split every nest of thread loops that contains a barrier into nests without barriers, and
    give each thread its own memory of private buffers that are allocated around the loops.

    If there is nothing to do, the same function is returned.

    Raises: IRKitError if threads may disagree on a condition or loop around a barrier.
    """
    body = _split_body(func)
    return func if body is None else func.replace(body=body)


@analysis
def _split_body(func: PrimFunc) -> Stmt | None:
    with deep_recursion:
        body = with_own_memory(func.body, lambda loop: loop.kind == "thread", scope="global")
        held = holding(body, is_barrier)
        if not held:
            return None if body is func.body else body
        body = _prepared(body, held)
        return _NestSplitter(holding(body, is_barrier)).visit(body, ())


def _prepared(body: Stmt, held: set[int]) -> Stmt:
    """Dissolve blocks around a barrier, and give names to what thread loops and views around it
    read.

    Memory can change before a later piece reads it again.
    """
    bound = axis_values(body)
    gone: dict[Node, Node] = {}

    def prepare(stmt: Stmt) -> Stmt:
        if id(stmt) not in held:
            return stmt
        if not isinstance(stmt, Block):
            made = map_below(stmt, prepare)
            return _with_names(made) if isinstance(made, (For, View)) else made
        inner = prepare(stmt.body)
        if stmt.init is not None:
            first = [eq(axis.var, 0) for axis in stmt.axes if axis.kind == "reduce"]
            init = If(logical_and(*first), stmt.init, span=stmt.span) if first else stmt.init
            inner = seq(init, inner)
        gone.update((axis.var, bound[axis.var]) for axis in stmt.axes)
        if stmt.predicate is not None:
            inner = If(stmt.predicate, inner, span=stmt.span)
        return with_span_of(inner, stmt)

    return substitute(prepare(body), gone)


def _with_names(stmt: For | View) -> Stmt:
    if isinstance(stmt, View):
        if not any_node(stmt.offset, Load):
            return stmt
        offset = Var(f"{stmt.buffer.name}_offset", stmt.offset.dtype)
        return Let(offset, stmt.offset, stmt.replace(offset=offset), span=stmt.span)
    if not is_thread_loop(stmt) or not (any_node(stmt.begin, Load) or any_node(stmt.end, Load)):
        return stmt
    begin, end = (Var(f"{stmt.var.name}_{at}", stmt.var.dtype) for at in ("begin", "end"))
    loop = stmt.replace(begin=begin, end=end)
    return Let(begin, stmt.begin, Let(end, stmt.end, loop, span=stmt.span), span=stmt.span)


class _NestSplitter:
    """Visitor that tracks the statements around the current one inside the nest, outermost
    first."""

    def __init__(self, held: set[int]) -> None:
        self.held = held
        self.uniform = UniformityInfo()
        self.placed: set[int] = set()  # Binders that are already around an earlier piece.
        self.copies = 0

    def visit(self, stmt: Stmt, env: Env) -> Stmt:
        if id(stmt) not in self.held:
            return self.piece(stmt, env)
        if is_barrier(stmt):
            return seq()
        match stmt:
            case Seq():
                return self._seq(stmt, env)
            case For():
                return self._loop(stmt, env)
            case If():
                self._agree(stmt, "condition", stmt.cond)
                then = self.visit(stmt.then, env)
                otherwise = None if stmt.otherwise is None else self.visit(stmt.otherwise, env)
                return stmt.replace(then=then, otherwise=otherwise)
            case Let():
                return self._let(stmt, env)
            case Allocate():
                return self._allocate(stmt, env)
            case View():
                return self._view(stmt, env)
            case _:
                raise AssertionError(f"{type(stmt).__name__} holds no barrier")

    def _seq(self, stmt: Seq, env: Env) -> Stmt:
        made: list[Stmt] = []
        together: list[Stmt] = []
        for inner in stmt.stmts:
            if id(inner) not in self.held:
                together.append(inner)
                continue
            made += [self.piece(with_span_of(seq(*together), stmt), env)] if together else []
            together.clear()
            made.append(self.visit(inner, env))
        made += [self.piece(with_span_of(seq(*together), stmt), env)] if together else []
        return with_span_of(seq(*made), stmt)

    def _loop(self, loop: For, env: Env) -> Stmt:
        self._agree(loop, f"range of {loop.var.name!r}", loop.begin, loop.end)
        if is_thread_loop(loop):
            self.uniform.add(loop.var)
            return self.visit(loop.body, (*env, loop))
        if env and loop.kind in ("parallel", "vectorized"):
            raise IRKitError(
                f"threads meet at a barrier inside the {loop.kind} loop {loop.var.name!r}; its "
                "iterations have no order to meet in",
                hint="Make the loop serial.",
                span=loop.span,
            )
        return loop.replace(body=self.visit(loop.body, env))

    def _let(self, let: Let, env: Env) -> Stmt:
        self.uniform.enter(let, inside=bool(env))
        if self.uniform.holds(let.var):
            return let.replace(body=self.visit(let.body, env))
        if not any_node(let.value, Load):  # The value can be recomputed in each piece.
            return self.visit(let.body, (*env, let))
        lanes = let.var.dtype.lanes
        count, number = thread_number([each for each in env if isinstance(each, For)])
        size = element_count((count, lanes))
        kept = Buffer(f"{let.var.name}_all", (size,), let.var.dtype.element, "local")
        at = number if lanes == 1 else ramp(number * lanes, 1, lanes)
        store = self.piece(Store(kept, (at,), let.value, span=let.span), env)
        rest = self.visit(let.body, (*env, let.replace(value=kept[at])))
        return Allocate(kept, seq(store, rest), span=let.span)

    def _allocate(self, stmt: Allocate, env: Env) -> Stmt:
        buffer = stmt.buffer
        self._agree(stmt, f"size of {buffer.name!r}", *buffer.shape, *(buffer.strides or ()))
        self.uniform.enter(stmt, inside=bool(env))
        if not self.uniform.differs(buffer):
            return stmt.replace(body=self.visit(stmt.body, env))
        count, number = thread_number([each for each in env if isinstance(each, For)])
        size = element_reach(buffer)
        kept = Buffer(
            f"{buffer.name}_all",
            (element_count((count, size)),),
            buffer.dtype,
            buffer.scope,
            span=buffer.span,
        )
        own = View(buffer, kept, times(number, size), seq(), span=stmt.span)
        rest = self.visit(stmt.body, (*env, own))
        return Allocate(kept, rest, stmt.attrs, span=stmt.span)

    def _view(self, stmt: View, env: Env) -> Stmt:
        self.uniform.enter(stmt, inside=bool(env))
        if self.uniform.differs(stmt.buffer):
            return self.visit(stmt.body, (*env, stmt))
        return stmt.replace(body=self.visit(stmt.body, env))

    def _agree(self, stmt: Stmt, what: str, *exprs: Expr) -> None:
        if not self.uniform.holds(*exprs):
            raise IRKitError(
                f"threads may disagree on the {what} around a barrier, so some would wait "
                "for others that never arrive",
                hint="Move the barrier outwards, to where every thread of the nest reaches it.",
                span=stmt.span,
            )

    def piece(self, stmt: Stmt, env: Env) -> Stmt:
        """Wrap a statement in the thread loops and in the binders around it that it uses."""
        self.copies += len(env)
        if self.copies > MAX_COPIES:
            raise IRKitError("there are too many barriers in one nest of threads", span=stmt.span)
        used = symbols_used(stmt)
        again = False
        for around in reversed(env):
            (symbol,) = binders(around)
            if not isinstance(around, For) and symbol not in used:
                continue
            again = again or id(symbol) in self.placed
            self.placed.add(id(symbol))
            stmt = around.replace(body=stmt)
            if isinstance(stmt, For):
                stmt = stmt.replace(kind="serial", thread="")
            used |= symbols_used(around.replace(body=_NOTHING))
        # Each symbol is bound once, so later pieces have copies.
        return fresh(stmt) if again else stmt


_NOTHING = seq()
