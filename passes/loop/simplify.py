"""Bring expressions into their simplest form, and drop branches that are decided.

Before::

    def f(A: f32[64], C: f32[64]):
        for i in serial(0, 4):
            for j in serial(0, 16):
                if i * 16 + j < 64:
                    C[(i * 16 + j) // 16 * 16 + j] = A[j + i * 16 + 0]

After::

    def f(A: f32[64], C: f32[64]):
        for i in serial(0, 4):
            for j in serial(0, 16):
                C[i * 16 + j] = A[j + i * 16]

A loop of one iteration becomes its body. Conditions around a statement, and the bounds of the
loops around it, count as known inside it.
"""

from irkit.core import Node, any_node, children, substitute, with_fields
from irkit.ir import (
    Block,
    Const,
    Expr,
    For,
    If,
    Let,
    Load,
    PrimFunc,
    Stmt,
    Var,
    as_int,
    ge,
    is_empty,
    logical_not,
    lt,
    seq,
)
from irkit.ir.arith import loop_ranges
from irkit.ir.arith import simplify as simplest
from irkit.passes.loop.descend import Visit, allowed, carried, conjuncts, descend, visit_below
from irkit.transform import define_pass


@define_pass
def simplify(func: PrimFunc) -> PrimFunc:
    """Simplify every expression by what holds where it stands, decide the branches that can be
    decided, and dissolve loops that run once or never."""
    scope = _Scope(func)
    body = descend(func.body, scope.visit)
    # Shapes of buffers may mention a variable that is gone.
    return func.replace(body=substitute(body, scope.values))


class _Scope:
    """What holds at the statement being visited."""

    def __init__(self, func: PrimFunc) -> None:
        self.ranges = loop_ranges(func)
        self.values: dict[Node, Node] = {}
        self.facts: list[Expr] = []

    def visit(self, stmt: Stmt) -> Visit[Stmt, Stmt]:
        match stmt:
            case For():
                return (yield from self._loop(stmt))
            case If():
                return (yield from self._branch(stmt))
            case Let():
                return (yield from self._let(stmt))
            case Block():
                return (yield from self._block(stmt))
            case _:
                return (yield from visit_below(self._expressions(stmt)))

    def _expressions(self, stmt: Stmt) -> Stmt:
        new: dict[int, Node] = {}
        for child in children(stmt):
            if isinstance(child, Expr):
                made = self.simplest(child)
                if made is not child:
                    new[id(child)] = made
        changed = with_fields(stmt, new) if new else stmt
        assert isinstance(changed, Stmt)
        return changed

    def simplest(self, expr: Expr) -> Expr:
        """Simplify an expression of the statement being visited."""
        given = substitute(expr, self.values) if self.values else expr
        made = simplest(given, self.ranges, tuple(self.facts))
        return made if made is given or allowed("simplify", expr, made) else given

    def _under(self, conds: list[Expr], stmt: Stmt) -> Visit[Stmt, Stmt]:
        """Visit a statement where some conditions hold."""
        known = len(self.facts)
        # What is in memory may change before the condition is used.
        self.facts += [cond for cond in conds if not any_node(cond, Load)]
        made = yield stmt
        del self.facts[known:]
        return made

    def _loop(self, loop: For) -> Visit[Stmt, Stmt]:
        begin, end = self.simplest(loop.begin), self.simplest(loop.end)
        extent = as_int(simplest(end - begin, self.ranges, tuple(self.facts)))
        if extent is not None and loop.kind != "thread" and begin.dtype == loop.var.dtype:
            if extent <= 0 and allowed("never runs", loop, seq()):
                return seq()
            if extent == 1 and not any_node(begin, Load) and allowed("runs once", loop, loop.body):
                self.values[loop.var] = begin
                return carried((yield loop.body), loop)
        limits = [] if as_int(end) is not None else [lt(loop.var, end)]
        limits += [] if as_int(begin) is not None else [ge(loop.var, begin)]
        body = yield from self._under(limits, loop.body)
        return loop.replace(begin=begin, end=end, body=body)

    def _branch(self, stmt: If) -> Visit[Stmt, Stmt]:
        cond = self.simplest(stmt.cond)
        if isinstance(cond, Const):
            chosen = stmt.then if cond.value else stmt.otherwise
            if allowed("decided", stmt, chosen or seq()):
                return seq() if chosen is None else (yield chosen)
        then = yield from self._under(conjuncts(cond), stmt.then)
        otherwise = stmt.otherwise
        if otherwise is not None:
            otherwise = yield from self._under([logical_not(cond)], otherwise)
            otherwise = None if is_empty(otherwise) else otherwise
        return stmt.replace(cond=cond, then=then, otherwise=otherwise)

    def _let(self, stmt: Let) -> Visit[Stmt, Stmt]:
        value = self.simplest(stmt.value)
        if isinstance(value, (Const, Var)) and allowed("plain name", stmt, stmt.body):
            self.values[stmt.var] = value
            return carried((yield stmt.body), stmt)
        return stmt.replace(value=value, body=(yield stmt.body))

    def _block(self, block: Block) -> Visit[Stmt, Stmt]:
        axes = tuple(
            axis.replace(extent=self.simplest(axis.extent), binding=self.simplest(axis.binding))
            for axis in block.axes
        )
        if all(a is b for a, b in zip(axes, block.axes, strict=True)):
            axes = block.axes
        predicate = None if block.predicate is None else self.simplest(block.predicate)
        if isinstance(predicate, Const) and predicate.value:
            predicate = None
        known = [] if predicate is None else conjuncts(predicate)
        init = block.init
        if init is not None:
            init = yield from self._under(known, init)
        body = yield from self._under(known, block.body)
        return block.replace(axes=axes, predicate=predicate, init=init, body=body)
