"""Whether different iterations of a loop can touch the same element."""

from collections.abc import Callable, Iterator, Set
from math import gcd, inf

import msgspec

from irkit.core import Node, substitute, symbols_bound, walk
from irkit.ir.arith import IndexSums, Product, Sum, simplify
from irkit.ir.buffer import Buffer, Load
from irkit.ir.build import product
from irkit.ir.expr import Expr, Var
from irkit.ir.stmt import For, Stmt, Store

MAX_PAIRS = 1 << 16
MAX_DISTANCES = 1 << 12
_EXACT = 1 << 52  # Limits are floats, which represent integers exactly up to here.


class Access(msgspec.Struct, frozen=True):
    """A load or store: the buffer it names, the buffer that owns the memory, and its indices as
    sums."""

    memory: Buffer
    buffer: Buffer
    indices: tuple[Sum, ...]
    exprs: tuple[Expr, ...]
    writes: bool


def accesses_of(loop: For, sums: IndexSums, memory: Callable[[Buffer], Buffer]) -> list[Access]:
    """Return the stores in the body of a loop, and the loads from memory that it stores to, without
    duplicates."""
    stored = {memory(store.buffer) for store in walk(loop.body, Store)}
    return accesses_in(loop.body, sums, memory, only=stored)


def accesses_in(
    root: Stmt | Expr,
    sums: IndexSums,
    memory: Callable[[Buffer], Buffer],
    only: Set[Buffer] | None = None,
) -> list[Access]:
    """Return the loads and stores below a statement or expression, without duplicates; with
    ``only``, those of that memory."""
    found: dict[object, Access] = {}
    for node in walk(root, (Load, Store)):
        if only is not None and memory(node.buffer) not in only:
            continue
        indices = tuple(sums.sum_of(at) for at in node.indices)
        key = tuple(form.key for form in indices)
        writes = isinstance(node, Store)
        access = Access(memory(node.buffer), node.buffer, indices, node.indices, writes)
        found.setdefault((node.buffer, key, writes), access)
    return list(found.values())


def conflict(
    loop: For,
    count: int | None,
    sums: IndexSums,
    accesses: list[Access],
    *,
    thorough: bool = False,
    only: Buffer | None = None,
) -> str | None:
    """Return why two of ``count`` successive iterations may touch the same element, one of them
    writing, or None if they certainly do not.

    With ``thorough``, values computed by inner loops are bounded too, and neighbouring dimensions
    are treated as one row-major index. With ``only``, elements of other memory do not count.
    """
    if count is not None and count <= 1:
        return None
    stores = [access for access in accesses if access.writes]
    changing = {store.memory for store in stores}
    stores = [store for store in stores if only is None or store.memory is only]
    if len(stores) * len(accesses) > MAX_PAIRS:
        return "it touches memory in too many places"
    written = {access.buffer for access in accesses if access.memory in changing}
    test = ConflictTest(loop, count, sums, written, thorough)
    for store in stores:
        for other in accesses:
            if other.memory is store.memory and not test.apart(store, other):
                verb = "writes" if other.writes else "reads"
                return (
                    f"iterations may touch the same element of {store.buffer.name!r}: "
                    f"one writes what another {verb}"
                )
    return None


def crossing(
    loop: For, count: int | None, sums: IndexSums, first: list[Access], second: list[Access]
) -> str | None:
    """Return why an iteration of ``first`` may touch the same element as an earlier one of
    ``second``, one of them writing, or None if that certainly never happens.

    Both are in the body of the loop, ``first`` before ``second``.
    """
    if count is not None and count <= 1:
        return None
    if len(first) * len(second) > MAX_PAIRS:
        return "it touches memory in too many places"
    changing = {access.memory for access in (*first, *second) if access.writes}
    written = {access.buffer for access in (*first, *second) if access.memory in changing}
    test = ConflictTest(loop, count, sums, written, thorough=True, ahead=True)
    for one in first:
        for other in second:
            meet = one.memory is other.memory and (one.writes or other.writes)
            if meet and not test.apart(one, other):
                return (
                    f"a later iteration of the first part may touch an element of "
                    f"{one.buffer.name!r} that an earlier one of the second touches"
                )
    return None


class ConflictTest:
    """Comparison of accesses of two different iterations of a loop.

    With ``ahead``, the first access is in a later iteration than the second. ``written`` are
    buffers whose elements can change between the two.
    """

    def __init__(
        self,
        loop: For,
        count: int | None,
        sums: IndexSums,
        written: set[Buffer],
        thorough: bool,
        ahead: bool = False,
    ) -> None:
        self.ahead = ahead
        self.sums = sums
        self.count = count
        self.lane = loop.var
        self.inner = {inner.var for inner in walk(loop.body, For)}
        self.bound = {*symbols_bound(loop.body), loop.var}
        self.written = written
        self.thorough = thorough
        self._steady: dict[Product, bool] = {}
        self._values: dict[Node, Node] = dict(sums.values.items())

    def apart(self, a: Access, b: Access) -> bool:
        """Return True if iteration x of ``a`` and another iteration y of ``b`` never touch the same
        element."""
        if a.buffer is not b.buffer:
            return False
        if any(self._differs(p, q) for p, q in zip(a.indices, b.indices, strict=True)):
            return True
        return self.thorough and any(
            self._differs(p, q) for p, q in zip(self._runs(a), self._runs(b), strict=True)
        )

    def _runs(self, access: Access) -> list[Sum]:
        """Return each run of neighbouring dimensions as one row-major index."""
        key = (id(access.buffer), *map(id, access.exprs))
        known = self.sums.runs.get(key)
        if known is None:
            known = self.sums.runs[key] = access, list(self._joined(access))
        return known[1]

    def _joined(self, access: Access) -> Iterator[Sum]:
        rank, shape = len(access.exprs), access.buffer.shape
        for length in range(2, rank + 1):
            for first in range(rank - length + 1):
                end = first + length
                terms = [access.exprs[d] * product(shape[d + 1 : end]) for d in range(first, end)]
                whole = sum(terms[1:], terms[0])
                yield self.sums.sum_of(simplify(substitute(whole, self._values), self.sums.ranges))

    def _differs(self, p: Sum, q: Sum) -> bool:
        if any(not self._moves(n) for n in (p - q).terms):
            return False
        lane_p = lane_q = 0
        step, low, high = 0, 0.0, 0.0
        for form, sign in ((p, 1), (q, -1)):
            for atom, factor in form.terms.items():
                expr = self.sums.atom(atom)
                if expr is self.lane:
                    lane_p, lane_q = (factor, lane_q) if sign == 1 else (lane_p, factor)
                elif isinstance(expr, Var) and expr in self.inner:
                    at = Sum({atom: sign * factor}).exact(self.sums.spans)
                    step, low, high = gcd(step, factor), low + at[0], high + at[1]
                elif self._moves(atom):
                    at = self._reach(atom)
                    if at is None:
                        return False
                    ends = sorted((sign * factor * at[0], sign * factor * at[1]))
                    step, low, high = gcd(step, factor), low + ends[0], high + ends[1]
        if lane_p != lane_q:
            return self._never_equal(lane_p, lane_q, p.constant - q.constant, step, (low, high))
        rest = p.constant - q.constant
        if not may_meet(lane_p, rest, step, (low, high), self.count, self.ahead):
            return True
        return self.thorough and self.count is not None and self._apart_by_places(p, q, lane_p)

    def _apart_by_places(self, p: Sum, q: Sum, lane: int) -> bool:
        """Return True if the difference of two indices can be 0 only in one iteration: terms are
        the places of a number, each larger than what all smaller ones can reach."""
        assert self.count is not None
        terms = [(lane, 1 - self.count, self.count - 1)]
        for form, sign in ((p, 1), (q, -1)):
            for atom, factor in form.terms.items():
                if self.sums.atom(atom) is not self.lane and self._moves(atom):
                    low, high = Sum({atom: 1}).exact(self.sums.spans)
                    terms.append((sign * factor, low, high))
        return only_zero(terms, p.constant - q.constant)

    def _never_equal(
        self, lane_p: int, lane_q: int, rest: int, step: int, reach: tuple[float, float]
    ) -> bool:
        """Return True if indices that depend differently on the loop variable are never equal, in
        any two iterations."""
        known = self.sums.ranges.get(self.lane)
        if known is None or known.low is None or known.high is None:
            return False
        low, high = reach
        for factor in (lane_p, -lane_q):
            ends = sorted((factor * known.low, factor * known.high))
            low, high = low + ends[0], high + ends[1]
        if not -_EXACT < low <= high < _EXACT or abs(rest) >= _EXACT:
            return False
        return rest % gcd(step, lane_p, lane_q) != 0 or not low <= -rest <= high

    def _reach(self, atom: Product) -> tuple[int, int] | None:
        """Bound an atom that varies only with inner loops; None if it does not, or nothing is
        known."""
        nodes = list(walk(self.sums.atom(atom)))
        moved_otherwise = any(node in self.bound - self.inner for node in nodes if node.symbol)
        if not self.thorough or moved_otherwise or any(isinstance(n, Load) for n in nodes):
            return None
        return Sum({atom: 1}).exact(self.sums.spans)

    def _moves(self, atom: Product) -> bool:
        """Return True if an atom can differ between iterations, or between steps of an inner
        loop."""
        known = self._steady.get(atom)
        if known is None:
            known = self._steady[atom] = any(
                node in self.bound or (isinstance(node, Load) and node.buffer in self.written)
                for node in walk(self.sums.atom(atom))
                if isinstance(node, (Var, Load))
            )
        return known


def only_zero(terms: list[tuple[int, int, int]], rest: int) -> bool:
    """Return True if the first variable must be 0, or none fit, where ``rest`` and the terms add up
    to 0.

    A term is a factor, and the least and largest value of its variable. Terms of one factor count
    as one. Those with the largest factors are fixed first, if the others leave one value only.
    """
    mine, (factor, *_) = terms[0], terms[0]
    joined: dict[int, tuple[int, int]] = {}
    for each, low, high in terms[1:]:
        low, high = (low, high) if each > 0 else (-high, -low)
        a, b = joined.get(abs(each), (0, 0))
        joined[abs(each)] = a + low, b + high
    if not factor or abs(factor) in joined:
        return False
    joined[abs(factor)] = mine[1:]  # It is as far below 0 as above.
    while joined:
        largest = max(joined)
        least, most = joined.pop(largest)
        below = sum(a * low for a, (low, _) in joined.items())
        above = sum(a * high for a, (_, high) in joined.items())
        # largest * x is between -(rest + above) and -(rest + below).
        first = max(least, -((rest + above) // largest))
        last = min(most, -(rest + below) // largest)
        if first > last:
            return True
        if first < last:
            return False
        if largest == abs(factor):
            return first == 0
        rest += largest * first
    return False


def may_meet(
    factor: int,
    rest: int,
    step: int,
    reach: tuple[float, float],
    count: int | None,
    ahead: bool = False,
) -> bool:
    """Return True if ``factor * distance + rest + t`` can be 0.

    ``distance`` is not 0 and less than ``count`` in either direction; t is a multiple of ``step``
    within ``reach``. With ``ahead``, only distances above 0 count.
    """
    low, high = reach
    first, last = _distances(factor, rest, low, high)
    if count is not None:
        first, last = max(first, 1 - count), min(last, count - 1)
    if ahead:
        first = max(first, 1)
    if last - first >= MAX_DISTANCES:
        divisor = gcd(factor, step)
        return rest == 0 if divisor == 0 else rest % divisor == 0
    for distance in range(int(first), int(last) + 1):
        fixed = factor * distance + rest
        if distance and (fixed == 0 if step == 0 else fixed % step == 0 and low <= -fixed <= high):
            return True
    return False


def _distances(factor: int, rest: int, low: float, high: float) -> tuple[float, float]:
    """Bound the distances at which a sum can be 0; infinite if nothing is known."""
    if factor == 0 or not -_EXACT < low <= high < _EXACT or abs(rest) >= _EXACT:
        return -inf, inf
    ends = [(-rest - int(low)) // factor, (-rest - int(high)) // factor]
    return min(ends), max(ends) + 1
