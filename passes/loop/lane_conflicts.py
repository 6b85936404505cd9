"""Whether iterations of a loop may run side by side, statement by statement.

Running lanes in lockstep reorders what different iterations do. That is harmless if no two
different iterations of one vector touch the same element, at least one of them writing.
"""

from math import gcd

import msgspec

from irkit.core import walk
from irkit.ir import Buffer, For, Let, Load, Store, Var, View
from irkit.ir.arith import Ranges
from irkit.passes.loop.affine import Affine, Sums


class _Access(msgspec.Struct, frozen=True):
    root: Buffer
    buffer: Buffer
    indices: tuple[Affine, ...]
    writes: bool


def lane_conflict(loop: For, lanes: int, ranges: Ranges) -> str | None:
    """Say why ``lanes`` successive iterations of a loop cannot be run in lockstep; None if they
    can."""
    values = {let.var: let.value for let in walk(loop.body, Let)}
    sums = Sums(ranges, values)
    roots = {view.buffer: view.source for view in walk(loop.body, View)}
    accesses = [
        _Access(
            _root(node.buffer, roots),
            node.buffer,
            tuple(sums.of(at) for at in node.indices),
            isinstance(node, Store),
        )
        for node in walk(loop.body, (Load, Store))
    ]
    written = {access.root for access in accesses if access.writes}
    test = _Test(loop, lanes, sums, written)
    for store in accesses:
        if not store.writes:
            continue
        for other in accesses:
            if other.root is store.root and not test.apart(store, other):
                verb = "writes" if other.writes else "reads"
                return (
                    f"iterations may touch the same element of {store.buffer.name!r}: "
                    f"one writes what another {verb}"
                )
    return None


def _root(buffer: Buffer, roots: dict[Buffer, Buffer]) -> Buffer:
    while buffer in roots:
        buffer = roots[buffer]
    return buffer


class _Test:
    def __init__(self, loop: For, lanes: int, sums: Sums, written: set[Buffer]) -> None:
        self.sums = sums
        self.lanes = lanes
        self.lane = loop.var
        self.inner = {inner.var for inner in walk(loop.body, For)}
        self.bound = {let.var for let in walk(loop.body, Let)} | {loop.var}
        self.written = written
        self._steady: dict[int, bool] = {}

    def apart(self, a: _Access, b: _Access) -> bool:
        """Say whether lane x of ``a`` and another lane y of ``b`` never meet."""
        if a.buffer is not b.buffer:
            return False
        return any(self._differs(p, q) for p, q in zip(a.indices, b.indices, strict=True))

    def _differs(self, p: Affine, q: Affine) -> bool:
        steady = {n: f for n, f in p.plus(q, -1).terms.items() if not self._moves(n)}
        if steady:
            return False
        lane_p = lane_q = 0
        step, low, high = 0, 0.0, 0.0
        for form, sign in ((p, 1), (q, -1)):
            for atom, factor in form.terms.items():
                expr = self.sums.atom(atom)
                if expr is self.lane:
                    lane_p, lane_q = (factor, lane_q) if sign == 1 else (lane_p, factor)
                elif isinstance(expr, Var) and expr in self.inner:
                    at = self.sums.limits(Affine({atom: sign * factor}))
                    step, low, high = gcd(step, factor), low + at[0], high + at[1]
                elif self._moves(atom):
                    return False
        if lane_p != lane_q:
            return False
        rest = p.constant - q.constant
        return not any(
            self._meets(lane_p * away + rest, step, low, high)
            for away in range(1 - self.lanes, self.lanes)
            if away
        )

    @staticmethod
    def _meets(fixed: int, step: int, low: float, high: float) -> bool:
        """Say whether ``fixed`` plus some multiple of ``step`` in low..high can be 0."""
        if step == 0:
            return fixed == 0
        return fixed % step == 0 and low <= -fixed <= high

    def _moves(self, number: int) -> bool:
        """Say whether an atom may differ between lanes, or between steps of an inner loop."""
        known = self._steady.get(number)
        if known is None:
            expr = self.sums.atom(number)
            known = self._steady[number] = any(
                (isinstance(node, Var) and (node in self.inner or node in self.bound))
                or (isinstance(node, Load) and node.buffer in self.written)
                for node in walk(expr)
            )
        return known
