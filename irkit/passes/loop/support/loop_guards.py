"""Guards in loops, and the iterations in which each of them holds.

A guard is a comparison of integers in the condition of a branch or select, in the form "a sum is at
least 0". For one loop, the sum is a multiple of its variable, plus a part that no iteration
changes, plus a part with known limits.
"""

from collections.abc import Iterator

import msgspec

from irkit.core import FARTHEST, Node, any_node, walk
from irkit.ir import (
    GE,
    GT,
    LE,
    LT,
    Compare,
    Conditional,
    Expr,
    For,
    If,
    Let,
    Load,
    Select,
    Stmt,
    Var,
    conjuncts,
)
from irkit.ir.arith import IndexSums, Interval, Product, Sum, simplify as simplest

Bound = int | Expr
MAX_CHAIN = 64


class LoopGuard(msgspec.Struct, frozen=True, eq=False):
    """A condition, whether it is in a vectorized loop, and the sum that is at least 0 when it
    holds."""

    cond: Compare
    in_lanes: bool
    form: Sum


class GuardReach(msgspec.Struct, frozen=True, eq=False):
    """The iterations of a loop in which a guard always holds, and those in which it can hold.

    If ``rising``, a guard always holds from iteration ``always`` on, and can hold from ``ever`` on;
    otherwise it always holds before ``always``, and can hold before ``ever``.
    """

    cond: Compare
    rising: bool
    always: Bound
    ever: Bound

    @property
    def is_constant(self) -> bool:
        """Return True if its limits are numbers."""
        return isinstance(self.always, int) and isinstance(self.ever, int)

    @property
    def cut(self) -> int:
        """Return ``always``, which must be a number."""
        assert isinstance(self.always, int)
        return self.always

    def decided(self, begin: int, end: int) -> bool | None:
        """Return whether it holds in the iterations from ``begin`` up to ``end``; None if only in
        some.

        Its limits must be constant.
        """
        assert isinstance(self.always, int)
        assert isinstance(self.ever, int)
        if self.rising:
            return True if begin >= self.always else False if end <= self.ever else None
        return True if end <= self.always else False if begin >= self.ever else None


class LoopGuards:
    """The guards below a statement, by the loop variables that they contain."""

    def __init__(self, root: Stmt, ranges: dict[Var, Interval], *, in_lanes: bool) -> None:
        loops = {loop.var: loop for loop in walk(root, For)}
        values = {
            let.var: let.value
            for let in walk(root, Let)
            if let.value.dtype.is_integer and not any_node(let.value, Load)
        }
        self.ranges = ranges
        self.sums = IndexSums(ranges, values)
        self.of: dict[Var, list[LoopGuard]] = {}
        lanes = [root] if in_lanes else [f.body for f in loops.values() if f.kind == "vectorized"]
        inside = {id(cond) for body in lanes for cond in _asked(body)}
        for cond in {id(cond): cond for cond in _asked(root)}.values():
            guard = LoopGuard(cond, id(cond) in inside, self._form(cond))
            for atom in guard.form.terms:
                var = self.sums.atom(atom)
                if isinstance(var, Var) and var in loops:
                    self.of.setdefault(var, []).append(guard)

    def _form(self, cond: Compare) -> Sum:
        a, b = self.sums.sum_of(cond.a), self.sums.sum_of(cond.b)
        if isinstance(cond, (GT, GE)):
            a, b = b, a
        return b - a - Sum({}, int(isinstance(cond, (LT, GT))))

    def reaches(self, loop: For, steady: set[Var], *, only_in_lanes: bool) -> list[GuardReach]:
        """Return where the guards of a loop hold; ``steady`` are the variables that are the same in
        every iteration."""
        guards = self.guards_of(loop, only_in_lanes=only_in_lanes)
        found = [self._reach(guard, loop.var, steady) for guard in guards]
        return [reach for reach in found if reach is not None]

    def guards_of(self, loop: For, *, only_in_lanes: bool) -> list[LoopGuard]:
        """Return the guards that contain the variable of a loop."""
        found = self.of.get(loop.var, [])
        return [guard for guard in found if guard.in_lanes] if only_in_lanes else found

    def _reach(self, guard: LoopGuard, var: Var, steady: set[Var]) -> GuardReach | None:
        (own,) = self.sums.sum_of(var).terms
        fixed: dict[Product, int] = {}
        low = high = guard.form.constant
        for atom, factor in guard.form.terms.items():
            if atom == own:
                continue
            expr = self.sums.atom(atom)
            if all(used in steady for used in walk(expr, Var)):
                fixed[atom] = factor
                continue
            ends = Sum({atom: factor}).exact(self.sums.spans)
            low, high = low + ends[0], high + ends[1]
        if max(-low, high) > FARTHEST:
            return None
        factor = guard.form.terms[own]
        always = self._cut(Sum(fixed, low), factor)
        # ``decided`` is used with constant limits only.
        ever = always if fixed else self._cut(Sum({}, high), factor)
        return GuardReach(guard.cond, factor > 0, always, ever)

    def _cut(self, rest: Sum, factor: int) -> Bound:
        """Solve ``factor * i + rest >= 0`` for i: return the first solution, or the number after
        the last."""
        if not rest.terms:
            return -(rest.constant // factor) if factor > 0 else rest.constant // -factor + 1
        quotient = self.sums.expr(rest) // abs(factor)
        return simplest(-quotient if factor > 0 else quotient + 1, self.ranges)


def _asked(root: Node) -> Iterator[Compare]:
    """Return the comparisons in conditions of branches and selects."""
    for node in walk(root, (If, Conditional, Select)):
        assert isinstance(node, (If, Conditional, Select))
        for cond in conjuncts(node.cond):
            if isinstance(cond, (LT, LE, GT, GE)) and _is_of_integers(cond):
                yield cond


def _is_of_integers(cond: Compare) -> bool:
    dtype = cond.a.dtype
    plain = dtype.kind == "i" or (dtype.is_integer and dtype.bits < 64)
    return plain and dtype.lanes == 1 and not any_node(cond, Load)


def whole_guards(loop: For) -> set[int]:
    """Return the identities of the conditions that guard the whole body of a loop."""
    found: set[int] = set()
    stmt = loop.body
    for _ in range(MAX_CHAIN):
        if isinstance(stmt, If) and stmt.otherwise is None:
            found.update(map(id, conjuncts(stmt.cond)))
            stmt = stmt.then
        elif isinstance(stmt, For) and stmt.kind != "thread":
            stmt = stmt.body
        else:
            break
    return found
