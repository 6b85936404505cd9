"""Check every access against the bounds of its buffer, and every view against its memory.

Before::

    def f(A: f32[8], k: i64):
        for i in serial(0, 7):
            A[i] = (A[k] if k < 8 else A[i + 1])

After::

    @attrs(bounds_checked=True)
    def f(A: f32[8], k: i64):
        for i in serial(0, 7):
            assert not k < 8 or k >= 0, ("A[{}] is out of bounds: the shape is [8]", k)
            A[i] = (A[k] if k < 8 else A[i + 1])

A check counts only under the conditions of its access, and most are dropped because loops and
conditions prove them. The pass runs before accesses are flattened, so that messages name indices.
"""

from collections.abc import Iterator, Sequence

from irkit.core import any_node, binders, children, deep_recursion, parts, walk
from irkit.ir import (
    I64,
    Allocate,
    And,
    Assert,
    Broadcast,
    Call,
    Conditional,
    Const,
    Evaluate,
    Expr,
    Let,
    Load,
    Or,
    PrimFunc,
    Ramp,
    Rewriter,
    Stmt,
    Store,
    Var,
    View,
    as_int,
    conjuncts,
    convert,
    ge,
    is_hint,
    logical_and,
    logical_not,
    logical_or,
    lt,
    nested,
    no_blocks,
    seq,
)
from irkit.ir.analysis import GuardPath, guard_path, guarded_loads, path_conditions
from irkit.ir.arith import simplify
from irkit.passes.loop.support.one_lane import OneLane
from irkit.passes.loop.support.view_bounds import view_problem
from irkit.transform import define_pass

MARK = "bounds_checked"
"""Attribute of functions that have checks already."""
MAX_FACTS = 32
_FAR = 1 << 31


@define_pass(idempotent=True, needs=(no_blocks,), atomic=True)
def instrument_bounds(func: PrimFunc) -> PrimFunc:
    """Add assertions that stop at an access out of bounds, with buffer, indices and shape."""
    if dict(func.attrs).get(MARK) is True:
        return func
    with deep_recursion:
        made = _BoundsInstrumenter(func).run()
    return made if made is func else made.replace(attrs=(*made.attrs, (MARK, True)))


class _BoundsInstrumenter(Rewriter):
    """Puts assertions before statements whose accesses are not proved to be in bounds."""

    def __init__(self, func: PrimFunc) -> None:
        super().__init__(func)
        self.wanted = _vectors_that_decide(func)
        self.scalars: dict[Var, tuple[Var, ...]] = {}
        self.lanes = OneLane(self.scalars)

    def run(self) -> PrimFunc:
        return self.func.replace(body=self.visit(self.func.body))

    def visit(self, stmt: Stmt) -> Stmt:
        checks = list(self._checks(stmt))
        names = self._names(stmt)
        made = nested(names, self.below(stmt))
        return seq(*checks, made) if checks else made

    def _names(self, stmt: Stmt) -> list[Let]:
        """Name the lanes of a vector that is part of an index or condition."""
        if not isinstance(stmt, Let) or stmt.var not in self.wanted:
            return []
        count = stmt.var.dtype.lanes
        made = tuple(Var(stmt.var.name, stmt.var.dtype.element) for _ in range(count))
        self.scalars[stmt.var] = made
        return [
            Let(var, self.lanes.of(stmt.value, lane), seq(), span=stmt.span)
            for lane, var in enumerate(made)
        ]

    def _checks(self, stmt: Stmt) -> Iterator[Assert]:
        if is_hint(stmt):
            return  # It does not load.
        for root, path in _roots(stmt):
            for load, under in guarded_loads(root, path):
                yield from self._access(stmt, load, under)
        if isinstance(stmt, Store):
            yield from self._access(stmt, stmt, None)
        if isinstance(stmt, View):
            conds, message, values = view_problem(stmt)
            yield from self._assert(stmt, conds, None, message, values)

    def _access(self, stmt: Stmt, access: Load | Store, path: GuardPath | None) -> Iterator[Assert]:
        if access.mask is not None:
            path = guard_path(access.mask) if path is None else path.under(access.mask)
        count = max((at.dtype.lanes for at in access.indices), default=1)
        on_the_way = path_conditions(path)
        most = max([count, *(cond.dtype.lanes for cond in on_the_way)])
        if most == 1:
            yield from self._one(stmt, access, access.indices, path)
            return
        for lane in _deciding(access, most) if not on_the_way else range(most):
            of = self.lanes.of
            indices = tuple(of(at, lane) for at in access.indices)
            under: GuardPath | None = None
            for cond in (of(cond, lane) for cond in on_the_way):
                under = guard_path(cond) if under is None else under.under(cond)
            yield from self._one(stmt, access, indices, under, f" in lane {lane}")

    def _one(
        self,
        stmt: Stmt,
        access: Load | Store,
        indices: Sequence[Expr],
        path: GuardPath | None,
        where: str = "",
    ) -> Iterator[Assert]:
        conds: list[Expr] = []
        shape = access.buffer.shape
        for index, dim in zip(indices, shape, strict=True):
            conds += [ge(convert(index, I64), 0), lt(convert(index, I64), convert(dim, I64))]
        sizes = ["{}" if as_int(dim) is None else str(as_int(dim)) for dim in shape]
        at = ", ".join(["{}"] * len(indices))
        name = access.buffer.name.replace("{}", "{ }")
        message = f"{name}[{at}] is out of bounds{where}: the shape is [{', '.join(sizes)}]"
        values = (*indices, *(dim for dim in shape if as_int(dim) is None))
        yield from self._assert(stmt, conds, path, message, values)

    def _assert(
        self,
        stmt: Stmt,
        conds: Sequence[Expr],
        path: GuardPath | None,
        message: str,
        values: tuple[Expr, ...],
    ) -> Iterator[Assert]:
        """Assert the conditions that cannot be proved."""
        known = [part for cond in path_conditions(path)[-MAX_FACTS:] for part in conjuncts(cond)]
        facts = [fact for fact in known if not any_node(fact, Load)] + self.facts[-MAX_FACTS:]
        left = [simplify(cond, self.ranges, facts[:MAX_FACTS]) for cond in conds]
        left = [
            cond
            for cond, now in zip(conds, left, strict=True)
            if not (isinstance(now, Const) and now.value is True)
        ]
        if not left:
            return
        holds = logical_and(*left)
        if path is not None and path.whole is not None:
            holds = logical_or(logical_not(path.whole), holds)
        yield Assert(holds, message, values, span=stmt.span)


def _roots(stmt: Stmt) -> list[tuple[Expr, GuardPath | None]]:
    """Return the expressions that a statement itself evaluates, in order."""
    if isinstance(stmt, Assert):
        broken = guard_path(logical_not(stmt.cond))
        return [(stmt.cond, None), *((value, broken) for value in stmt.values)]
    if isinstance(stmt, Evaluate) and isinstance(stmt.value, Call):
        return [(stmt.value, None)]
    sizes = [
        part
        for symbol in (binders(stmt) if isinstance(stmt, (Allocate, View)) else ())
        for part in parts(symbol)
    ]
    below = [*sizes, *children(stmt)]
    return [(part, None) for part in below if isinstance(part, Expr)]


def _deciding(access: Load | Store, lanes: int) -> Sequence[int]:
    """Return the lanes that decide whether all are in bounds: of evenly spaced ones the ends."""
    for at in access.indices:
        steady = at.dtype.lanes == 1 or isinstance(at, Broadcast)
        step = as_int(at.stride) if isinstance(at, Ramp) else None
        # In 64 bits no step wraps around between two ends that are both in bounds.
        if not steady and (step is None or abs(step) >= _FAR or at.dtype.element != I64):
            return range(lanes)
    return (0, lanes - 1)


def _vectors_that_decide(func: PrimFunc) -> set[Var]:
    """Return the named vectors that indices, masks and conditions of accesses depend on."""
    found: set[Var] = set()

    def note(*roots: Expr | None) -> None:
        for root in roots:
            if root is not None and root.dtype.lanes > 1:
                found.update(var for var in walk(root, Var) if var.dtype.lanes > 1)

    for node in walk(func.body):
        match node:
            case Load() | Store():
                note(*node.indices, node.mask)
            case Conditional(cond, _, _):
                note(cond)
            case And(a, b) | Or(a, b):
                note(a, b)
            case _:
                pass
    if found:  # Inner names can use outer ones.
        for let in reversed(list(walk(func.body, Let))):
            if let.var in found:
                note(let.value)
    return found
