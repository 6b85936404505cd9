"""Whether iterations of a loop can touch the same element, given the conditions around accesses.

A tiled loop writes ``C[(o * 16 + i) * 17 + j * 8 + k]`` where ``j * 8 + k < 17``: without the
condition, a row would reach into the next one. Vectors are compared with their lanes and masks.
"""

from collections.abc import Callable, Mapping, Sequence, Set
from math import gcd

import msgspec

from irkit.core import children, deep_recursion, postorder, walk
from irkit.ir.analysis import ConflictTest
from irkit.ir.arith import IndexSums, Product, Sum
from irkit.ir.buffer import Buffer, Load, Ramp
from irkit.ir.build import as_int
from irkit.ir.expr import EQ, GE, GT, LE, LT, Add, And, Broadcast, Expr, Sub, Var
from irkit.ir.stmt import Block, For, If, Stmt, Store

MAX_PAIRS = 1 << 10
MAX_DISTANCES = 1 << 12
MAX_VISITS = 1 << 12
LANE: Product = (-1,)
"""The term of a vector's lane, in place of the numbers of atoms."""

Terms = dict[Product, int]
Limits = tuple[int, int]
Linear = tuple[Sum, int]  # A sum, and what each lane adds.


class _GuardedAccess(msgspec.Struct, frozen=True):
    memory: Buffer
    buffer: Buffer
    indices: tuple[Linear | None, ...]
    lanes: int
    conditions: tuple[Expr, ...]
    writes: bool


def meet_under_conditions(
    loop: For,
    count: int | None,
    sums: IndexSums,
    memory: Callable[[Buffer], Buffer],
    own: Set[Buffer],
    only: Buffer | None = None,
) -> bool:
    """Return False if two of ``count`` iterations of a loop certainly never touch the same element,
    one of them writing, because of the conditions under which they do.

    Each iteration has the buffers ``own`` to itself. With ``only``, elements of other memory do not
    count.
    """
    finder = _AccessFinder(sums, memory)
    with deep_recursion:
        finder.visit(loop.body, ())
    found = [access for access in finder.found if access.memory not in own]
    stores = [access for access in found if access.writes]
    changing = {store.memory for store in stores}
    stores = [store for store in stores if only is None or store.memory is only]
    if len(stores) * len(found) > MAX_PAIRS:
        return True
    written = {access.buffer for access in found if access.memory in changing}
    test = _GuardedTest(loop, count, sums, written)
    return not all(
        test.never_meet(store, other)
        for store in stores
        for other in found
        if other.memory is store.memory
    )


class _AccessFinder:
    """Collects accesses with the conditions of the statements around them and their masks."""

    def __init__(self, sums: IndexSums, memory: Callable[[Buffer], Buffer]) -> None:
        self.sums, self.memory = sums, memory
        self.found: list[_GuardedAccess] = []

    def visit(self, stmt: Stmt, conditions: tuple[Expr, ...]) -> None:
        inside = conditions
        match stmt:
            case If(cond, then, otherwise):
                self._loads(cond, conditions)
                self.visit(then, (*conditions, *_joined(cond)))
                if otherwise is not None:
                    self.visit(otherwise, conditions)
                return
            case Block(predicate=Expr() as predicate):
                inside = (*conditions, *_joined(predicate))
            case Store(buffer, indices, _, mask):
                self._add(buffer, indices, mask, conditions, writes=True)
            case _:
                pass
        for child in children(stmt):
            if isinstance(child, Stmt):
                self.visit(child, inside)
            elif isinstance(child, Expr):
                self._loads(child, conditions)
            else:
                for load in walk(child, Load):
                    self._add(load.buffer, load.indices, load.mask, (), writes=False)

    def _loads(self, expr: Expr, conditions: tuple[Expr, ...]) -> None:
        for load in walk(expr, Load):
            self._add(load.buffer, load.indices, load.mask, conditions, writes=False)

    def _add(
        self,
        buffer: Buffer,
        indices: tuple[Expr, ...],
        mask: Expr | None,
        conditions: tuple[Expr, ...],
        *,
        writes: bool,
    ) -> None:
        lanes = max((index.dtype.lanes for index in indices), default=1)
        forms = tuple(linear(index, self.sums) for index in indices)
        masked = conditions if mask is None else (*conditions, *_joined(mask))
        access = _GuardedAccess(self.memory(buffer), buffer, forms, lanes, masked, writes)
        self.found.append(access)


def _joined(cond: Expr) -> tuple[Expr, ...]:
    return (*_joined(cond.a), *_joined(cond.b)) if isinstance(cond, And) else (cond,)


def linear(expr: Expr, sums: IndexSums) -> Linear | None:
    """Return an integer expression as a sum of scalars and a multiple of the lane; None if it is
    none, or may wrap around."""
    known: dict[int, Linear | None] = {}
    # Below a scalar or a lane number, the sums have the answer.
    for node in postorder(expr) if isinstance(expr, (Add, Sub)) else (expr,):
        assert isinstance(node, Expr)
        if node is expr or node.dtype.lanes > 1:
            known[id(node)] = _linear(node, sums, known)
    return known[id(expr)]


def _linear(expr: Expr, sums: IndexSums, known: Mapping[int, Linear | None]) -> Linear | None:
    dtype = expr.dtype
    if not dtype.is_integer:
        return None
    if dtype.lanes == 1:
        return sums.sum_of(expr), 0
    found: Linear | None = None
    match expr:
        case Broadcast(value):
            found = sums.sum_of(value), 0
        case Ramp(base, stride):
            step = as_int(stride)
            found = None if step is None else (sums.sum_of(base), step)
        case Add(a, b) | Sub(a, b):
            one, other = known[id(a)], known[id(b)]
            if one is not None and other is not None:
                by = 1 if isinstance(expr, Add) else -1
                found = one[0] + other[0].scaled(by), one[1] + by * other[1]
        case _:
            pass
    if found is None or (dtype.kind == "i" and dtype.bits == 64):
        return found
    last = Sum({}, found[1] * (dtype.lanes - 1))
    sums_at_ends = (found[0], found[0] + last)
    return found if all(sums.fits(each, dtype.element) for each in sums_at_ends) else None


_Key = tuple[frozenset[tuple[Product, int]], int]


class _Part(msgspec.Struct, frozen=True):
    """An index: the factor of the loop variable, and the sums that inner loops and lanes move, by
    what they are: each with its factor and limits."""

    factor: int
    terms: dict[_Key, tuple[int, Limits]]


class _GuardedTest(ConflictTest):
    """Comparison of accesses of two different iterations under their conditions."""

    def __init__(self, loop: For, count: int | None, sums: IndexSums, written: set[Buffer]) -> None:
        super().__init__(loop, count, sums, written, thorough=True)

    def never_meet(self, a: _GuardedAccess, b: _GuardedAccess) -> bool:
        """Return True if iteration x of ``a`` and another iteration y of ``b`` certainly never
        touch the same element."""
        if self._at(a) is not None and self._at(a) == self._at(b):  # Only one iteration does both.
            return True
        if a.buffer is not b.buffer:
            return False
        known = self._limits(a), self._limits(b)
        if known[0] is None or known[1] is None:  # One of them never happens.
            return True
        for p, q in zip(a.indices, b.indices, strict=True):
            if p is not None and q is not None:
                one, other = self._part(p, a.lanes, known[0]), self._part(q, b.lanes, known[1])
                if one is not None and other is not None and self._apart(p, q, one, other):
                    return True
        return False

    def _at(self, access: _GuardedAccess) -> int | None:
        """Return the number to which a condition fixes the loop variable, if any."""
        sides = [(c.a, c.b) for c in access.conditions if isinstance(c, EQ)]
        numbers = [as_int(y) for a, b in sides for x, y in ((a, b), (b, a)) if x is self.lane]
        return next((number for number in numbers if number is not None), None)

    def _apart(self, p: Linear, q: Linear, one: _Part, other: _Part) -> bool:
        if any(not self._moves(atom) for atom in (p[0] - q[0]).terms):
            return False
        if one.factor != other.factor:
            return False
        parts = [
            (by, limits[0] - other.terms[key][1][1], limits[1] - other.terms[key][1][0])
            if key in other.terms
            else (by, *limits)
            for key, (by, limits) in one.terms.items()
        ]
        parts += [
            (-key[1], *limits) for key, (_, limits) in other.terms.items() if key not in one.terms
        ]
        rest = p[0].constant - q[0].constant
        return not _may_meet(one.factor, self.count, rest, parts)

    def _terms(self, form: Linear) -> tuple[int, Terms] | None:
        """Return the factor of the loop variable, and the terms that inner loops and lanes move;
        terms that are the same in all iterations are left out."""
        factor = 0
        inner: Terms = {LANE: form[1]} if form[1] else {}
        for atom, by in form[0].terms.items():
            expr = self.sums.atom(atom)
            if expr is self.lane:
                factor = by
            elif self._moves(atom):
                if not (isinstance(expr, Var) and expr in self.inner) and self._reach(atom) is None:
                    return None
                inner[atom] = by
        return factor, inner

    def _box(self, terms: Mapping[Product, int], lanes: int) -> Limits:
        scalars = {atom: by for atom, by in terms.items() if atom != LANE}
        low, high = Sum(scalars).exact(self.sums.spans)
        ends = sorted((0, terms.get(LANE, 0) * (lanes - 1)))
        return low + ends[0], high + ends[1]

    def _limits(self, access: _GuardedAccess) -> list[tuple[Terms, int, Limits]] | None:
        """Return sums of inner loops that conditions bound; None if they cannot all hold."""
        found: dict[frozenset[tuple[Product, int]], tuple[Terms, int, Limits]] = {}
        for terms, most in filter(None, map(self._bound, access.conditions)):
            sign = 1 if min(terms.items())[1] > 0 else -1
            terms = {atom: sign * by for atom, by in terms.items()}
            key = frozenset(terms.items())
            low, high = found[key][2] if key in found else self._box(terms, access.lanes)
            low, high = (low, min(high, most)) if sign > 0 else (max(low, -most), high)
            if low > high:
                return None
            found[key] = terms, access.lanes, (low, high)
        return list(found.values())

    def _bound(self, cond: Expr) -> tuple[Terms, int] | None:
        """Return the terms of a comparison, and their largest value."""
        if not isinstance(cond, (LT, LE, GT, GE)):
            return None
        small, large = (cond.a, cond.b) if isinstance(cond, (LT, LE)) else (cond.b, cond.a)
        p, q = linear(small, self.sums), linear(large, self.sums)
        if p is None or q is None:
            return None
        gap = p[0] - q[0]
        split = self._terms((gap, p[1] - q[1]))
        if split is None or split[0] or not split[1]:
            return None
        if len(split[1]) != len(gap.terms) + bool(p[1] - q[1]):
            return None  # It depends on what does not move, too.
        return split[1], -gap.constant - isinstance(cond, (LT, GT))

    def _part(
        self, form: Linear, lanes: int, known: list[tuple[Terms, int, Limits]]
    ) -> _Part | None:
        split = self._terms(form)
        if split is None:
            return None
        left = dict(split[1])
        found: dict[_Key, tuple[int, Limits]] = {}
        for terms, _, reach in known:
            by, rest = divmod(left.get(min(terms), 0), terms[min(terms)])
            if rest or not by or any(left.get(atom, 0) != by * c for atom, c in terms.items()):
                continue
            found[frozenset(terms.items()), by] = by, reach
            for atom in terms:
                del left[atom]
        for atom, by in left.items():
            found[frozenset({(atom, 1)}), by] = by, self._box({atom: 1}, lanes)
        return _Part(split[0], found)


def _may_meet(
    factor: int, count: int | None, rest: int, parts: Sequence[tuple[int, int, int]]
) -> bool:
    """Return True if ``factor * distance + rest`` plus a multiple of each part can be 0.

    A part is a factor and the limits of what it multiplies. ``distance`` is not 0 and less than
    ``count`` in either direction.
    """
    reach = sum(abs(by) * max(abs(low), abs(high)) for by, low, high in parts)
    far = MAX_DISTANCES if factor == 0 else (reach + abs(rest)) // abs(factor)
    far = far if count is None else min(far, count - 1)
    if factor == 0:
        return count is None or count > 1
    if far > MAX_DISTANCES:
        return True
    ordered = tuple(sorted(parts, key=lambda part: -abs(part[0])))
    left = [MAX_VISITS]
    return any(
        _may_be_zero(factor * distance + rest, ordered, 0, left)
        for distance in range(-far, far + 1)
        if distance
    )


def _may_be_zero(
    total: int, parts: tuple[tuple[int, int, int], ...], at: int, left: list[int]
) -> bool:
    """Return True if a total plus multiples of parts from ``at`` on, the largest first, can be 0;
    also if there are too many to try."""
    left[0] -= 1
    if left[0] < 0:
        return True
    if at == len(parts):
        return total == 0
    divisor = gcd(*(by for by, _, _ in parts[at:]))
    if divisor and total % divisor:
        return False
    by, low, high = parts[at]
    ends = [sorted((c * a, c * b)) for c, a, b in parts[at + 1 :]]
    least, most = sum(one for one, _ in ends), sum(other for _, other in ends)
    # total + by * t + r == 0 for an r within the reach of the others.
    first, last = sorted((-total - most, -total - least))
    if by < 0:
        first, last, by_size = -last, -first, -by
    else:
        by_size = by
    begin, end = max(low, -(-first // by_size)), min(high, last // by_size)
    for t in range(begin, end + 1):
        possible = _may_be_zero(total + by * t, parts, at + 1, left)
        if possible:
            return True
    return False
