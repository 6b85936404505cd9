"""Split loops so that guards which nearly always hold need not be tested.

Before::

    def f(A: f32[35], C: f32[35]):
        for i in serial(0, 3):
            for j in vectorized(0, 16):
                if i * 16 + j < 35:
                    C[i * 16 + j] = A[i * 16 + j]

After::

    def f(A: f32[35], C: f32[35]):
        for i in serial(0, 2):
            for j in vectorized(0, 16):
                C[i * 16 + j] = A[i * 16 + j]
        for j_1 in vectorized(0, 3):
            C[2 * 16 + j_1] = A[2 * 16 + j_1]

A loop becomes up to three: the iterations before all of its guards hold, those in which they hold,
and those after. A parallel loop stays one loop, with a branch between the body without guards and
the body with them, so that all its iterations are still scheduled together. The hint ``partition``
on a loop, True or False, overrides everything else.
"""

import msgspec

from irkit.core import (
    Attrs,
    Node,
    Recorder,
    allowed,
    any_node,
    deep_recursion,
    fresh,
    recording,
    remark,
    rewrite,
    substitute,
    symbols_bound,
    walk,
    with_span_of,
)
from irkit.ir import (
    And,
    Compare,
    Conditional,
    Const,
    Expr,
    For,
    If,
    Let,
    Load,
    PrimFunc,
    Select,
    Stmt,
    Var,
    as_int,
    cast,
    const,
    dimension_vars,
    ge,
    is_empty,
    logical_and,
    lt,
    map_below,
    no_blocks,
    seq,
)
from irkit.ir.arith import Interval, loop_ranges
from irkit.passes.loop.support.loop_guards import Bound, LoopGuards
from irkit.passes.loop.support.loop_parts import (
    LoopPart,
    PartitionPlan,
    TooManyCopies,
    constant_plan,
    steps_at_least,
    symbolic_plan,
)
from irkit.transform import define_pass

HINT = "partition"
_MOST_COPIES = 18
"""A stencil in three dimensions has a branch in its parallel loop, and three parts in each of two
others."""


class PartitionContext(msgspec.Struct, frozen=True, eq=False):
    """Context of a statement: the guards in it and beside it, and the number of copies still
    allowed."""

    guards: LoopGuards
    copies: int


@define_pass(idempotent=True, needs=(no_blocks,))
def loop_partition(
    func: PrimFunc,
    *,
    constant_loops: bool = True,
    symbolic_loops: bool = True,
    only_vectorized: bool = True,
    max_copies: int = _MOST_COPIES,
    max_steps: int = 16,
) -> PrimFunc:
    """Split loops where their guards begin and stop to hold, and drop the guards in between.

    ``constant_loops`` are those with constant bounds and guards; ``symbolic_loops`` are the others.
    ``only_vectorized`` leaves guards alone that are not in a vectorized loop. All loops of a nest
    together make at most ``max_copies`` copies of its body, and only one copy of a body with more
    than ``max_steps`` stores (those of unrolled loops counted each time): there a guard costs
    little, and a copy much.
    """
    if not any_node(func.body, (If, Conditional, Select)):
        return func
    kinds = (constant_loops, symbolic_loops)
    limits = (max_copies, max_steps)
    partition = _Partitioner(func, kinds, limits, only_vectorized=only_vectorized)
    around = PartitionContext(partition.guards_in(func.body), max_copies)
    with deep_recursion:
        return func.replace(body=partition.visit(func.body, around))


class _Partitioner:
    """Partitions the loops of a function; holds what is known where the visit is."""

    def __init__(
        self,
        func: PrimFunc,
        kinds: tuple[bool, bool],
        limits: tuple[int, int],
        *,
        only_vectorized: bool,
    ) -> None:
        self.kinds, self.only_vectorized = kinds, only_vectorized
        self.copies, self.steps = limits
        self.ranges = loop_ranges(func)
        self.steady = {param for param in func.params if isinstance(param, Var)}
        self.steady.update(dimension_vars(func.params))
        self.lanes = 0
        """Number of vectorized loops around the visit."""

    def guards_in(self, stmt: Stmt) -> LoopGuards:
        return LoopGuards(stmt, self.ranges, in_lanes=self.lanes > 0)

    def visit(self, stmt: Stmt, around: PartitionContext) -> Stmt:
        if isinstance(stmt, For):
            return self._loop(stmt, around)
        if isinstance(stmt, Let):
            fixed = all(used in self.steady for used in walk(stmt.value, Var))
            if fixed and not (self.lanes and any_node(stmt.value, Load)):
                self.steady.add(stmt.var)
        return map_below(stmt, lambda inner: self.visit(inner, around))

    def _loop(self, loop: For, around: PartitionContext) -> Stmt:
        try:
            plan = self._plan(loop, around)
        except TooManyCopies as why:
            remark(loop, f"{why}, which is more than allowed: left whole")
            if around.copies < self.copies:  # On its own, it would be allowed more.
                loop = _finished(loop)
            plan = None
        if plan is None:
            return self._whole(loop, around)
        pieces = self._pieces(loop, plan)
        if not allowed("partition", loop, with_span_of(seq(*pieces), loop)):
            return self._under(loop, around)
        made: list[Stmt] = []
        for piece, part in zip(pieces, plan.parts, strict=True):
            # A part is not split again, and a single iteration is not a loop.
            whole = piece if isinstance(piece, For) and not part.is_single else None
            if whole is not None and isinstance(part.begin, int) and isinstance(part.end, int):
                self.ranges[whole.var] = Interval(part.begin, part.end - 1)
            inside = PartitionContext(self.guards_in(piece), around.copies // plan.copies)
            if whole is None:
                made.append(self.visit(piece, inside))
            else:
                left = whole if self._is_settled(whole, inside) else _finished(whole)
                made.append(self._under(left, inside))
        return with_span_of(seq(*made), loop)

    def _plan(self, loop: For, around: PartitionContext) -> PartitionPlan | None:
        if dict(loop.attrs).get(HINT) is False or loop.kind in ("thread", "unrolled"):
            return None
        only_in_lanes = self._only_in_lanes(loop)
        reaches = around.guards.reaches(loop, self.steady, only_in_lanes=only_in_lanes)
        if not reaches:
            return None
        if any_node(loop.begin, Load) or any_node(loop.end, Load):
            remark(loop, "its bounds are read from memory, which its body may change: left whole")
            return None
        constant, symbolic = self.kinds
        large = only_in_lanes and steps_at_least(loop.body, self.steps + 1)
        copies = 1 if large else around.copies
        limits = as_int(loop.begin) is not None and as_int(loop.end) is not None
        numbers = limits and all(reach.is_constant for reach in reaches)
        plan = constant_plan(loop, reaches, copies) if constant else None
        if plan is None and symbolic and not numbers:
            plan = symbolic_plan(loop, reaches, self.ranges, copies)
        return plan

    def _whole(self, loop: For, around: PartitionContext) -> Stmt:
        """Visit a loop that is not split, and mark it if loops in it were: more would be known of
        its guards then, and splitting it would copy those loops again."""
        made = self._under(loop, around)
        return made if made is loop or self._is_settled(loop, around) else _finished(made)

    def _is_settled(self, loop: For, around: PartitionContext) -> bool:
        """Return True if a loop has no guards that could be taken out of it."""
        guards = around.guards.guards_of(loop, only_in_lanes=self._only_in_lanes(loop))
        return not guards or loop.kind in ("thread", "unrolled")

    def _only_in_lanes(self, loop: For) -> bool:
        return self.only_vectorized and dict(loop.attrs).get(HINT) is not True

    def _under(self, loop: For, around: PartitionContext) -> For:
        """Visit the body of a loop that stays, and return the loop with the new body."""
        vectorized = loop.kind == "vectorized"
        self.lanes += vectorized
        if not vectorized and loop.kind != "thread":
            self.steady.add(loop.var)
        body = self.visit(loop.body, around)
        self.lanes -= vectorized
        return loop.replace(body=body)

    def _pieces(self, loop: For, plan: PartitionPlan) -> list[Stmt]:
        """Return the parts of a loop; the one with the most guards decided keeps its symbols."""
        parts = plan.parts
        kept = max(range(len(parts)), key=lambda at: sum(parts[at].decided.values()), default=0)
        return [self._piece(loop, plan, part, kept=at == kept) for at, part in enumerate(parts)]

    def _piece(self, loop: For, plan: PartitionPlan, part: LoopPart, *, kept: bool) -> Stmt:
        body = _settled(loop.body, part)
        if plan.branch is not None:
            body = self._branches(loop, part, plan.branch)
        if part.is_single:
            assert isinstance(part.begin, int)
            only: dict[Node, Node] = {loop.var: const(part.begin, loop.var.dtype)}
            piece: Stmt = substitute(body, only)
        else:
            begin, end = _bound(part.begin, loop.var), _bound(part.end, loop.var)
            piece = loop.replace(begin=begin, end=end, body=body)
        return piece if kept else self._copy(piece)

    def _branches(self, loop: For, whole: LoopPart, main: LoopPart) -> Stmt:
        """Return a branch to the body without guards in the main part, and to a copy elsewhere."""
        bounds = list[Expr]()
        if main.begin is not whole.begin:
            bounds.append(ge(loop.var, _bound(main.begin, loop.var)))
        if main.end is not whole.end:
            bounds.append(lt(loop.var, _bound(main.end, loop.var)))
        then, otherwise = _settled(loop.body, main), self._copy(loop.body)
        return If(logical_and(*bounds), then, otherwise, span=loop.span)

    def _copy(self, stmt: Stmt) -> Stmt:
        """Copy a statement with fresh symbols, which have the ranges of the old ones."""
        made = fresh(stmt)
        for old, new in zip(symbols_bound(stmt), symbols_bound(made), strict=True):
            if isinstance(old, Var) and isinstance(new, Var) and old in self.ranges:
                self.ranges[new] = self.ranges[old]
        return made


def _finished(loop: For) -> For:
    if dict(loop.attrs).get(HINT) is False:
        return loop
    attrs: Attrs = tuple((key, value) for key, value in loop.attrs if key != HINT)
    return loop.replace(attrs=(*attrs, (HINT, False)))


def _bound(bound: Bound, var: Var) -> Expr:
    return const(bound, var.dtype) if isinstance(bound, int) else cast(bound, var.dtype)


def _settled(body: Stmt, part: LoopPart) -> Stmt:
    """Replace guards by their known values, and drop the statements that never run then."""

    def settle(node: Node) -> Node | None:
        match node:
            case Compare():
                known = part.decided.get(id(node))
                return None if known is None else Const(known, node.dtype)
            case And(Const(holds), other) | And(other, Const(holds)):
                return other if holds else Const(False, node.dtype)
            case If(Const(holds), then, otherwise):
                return (then if holds else otherwise) or seq()
            case Conditional(Const(holds), then, otherwise):
                return then if holds else otherwise
            case Select(Const(holds), then, otherwise):
                return then if holds else otherwise
            case For(body=inner) if is_empty(inner):
                return seq()
            case _:
                return None

    if not part.decided:
        return body
    with recording(Recorder()):  # One application in all: the loop is split, or it is not.
        return rewrite(body, settle, on=(Compare, And, If, Conditional, Select, For))
