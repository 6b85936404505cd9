"""What is known at some point of a program: ranges, and conditions as linear facts."""

from collections.abc import Hashable, Iterable

from irkit.core import postorder
from irkit.ir.arith.interval import Pair, Ranges
from irkit.ir.arith.sums import Atoms, Sum
from irkit.ir.buffer import Load
from irkit.ir.expr import EQ, GE, GT, LE, LT, NE, And, Compare, Const, Expr, Not

_NEGATED: dict[type[Compare], type[Compare]] = {LT: GE, GE: LT, GT: LE, LE: GT, EQ: NE, NE: EQ}


def negated(expr: Expr) -> Expr | None:
    """Return the opposite of a condition without ``not``, or None if NaN or its form prevents
    that."""
    if isinstance(expr, Not):
        return expr.a
    if not isinstance(expr, Compare):
        return None
    cls = expr.__class__
    if expr.a.dtype.is_float and cls is not EQ and cls is not NE:
        return None
    return _NEGATED[cls](expr.a, expr.b, expr.dtype)


class Knowledge(Atoms):
    """Atoms with facts: sums known to be at least 0, and conditions known to be true or false."""

    def __init__(self, ranges: Ranges) -> None:
        super().__init__(ranges)
        self.facts: list[Sum] = []
        self.settled: dict[Hashable, bool] = {}

    def assume(self, conditions: Iterable[Expr]) -> None:
        """Assume that conditions hold, except those that read memory: a store can change them
        later."""
        stack = list(conditions)
        while stack:
            cond = stack.pop()
            if isinstance(cond, And):
                stack += (cond.b, cond.a)
            elif isinstance(cond, Not) and (opposite := negated(cond.a)) is not None:
                stack.append(opposite)
            elif not isinstance(cond, Const) and not any(
                isinstance(node, Load) for node in postorder(cond)
            ):
                self._assume(cond)

    def _assume(self, cond: Expr) -> None:
        self.settled[self.sum_of(cond).key] = True
        opposite = negated(cond)
        if opposite is not None:
            self.settled[self.sum_of(opposite).key] = False
        if isinstance(cond, Compare) and cond.a.dtype.is_integer and cond.dtype.lanes == 1:
            a, b = self.sum_of(cond.a), self.sum_of(cond.b)
            if self.fits(a, cond.a.dtype) and self.fits(b, cond.b.dtype):
                for fact in _not_negative(cond.__class__, a, b):
                    self._learn(fact)

    def _learn(self, fact: Sum) -> None:
        if len(fact.terms) != 1:
            self.facts.append(fact)
            return
        ((product, c),) = fact.terms.items()
        atom = next(iter(product))
        if len(product) > 1:
            self.facts.append(fact)
        elif c > 0:
            self.narrow(atom, -(fact.constant // c), self.spans[atom][1])
        else:
            self.narrow(atom, self.spans[atom][0], fact.constant // -c)

    def span(self, found: Sum) -> Pair:
        """Return the exact range of a sum, using every fact."""
        low, high = found.exact(self.spans)
        for fact in self.facts:
            low = max(low, self._low_by(found, fact))
            high = min(high, -self._low_by(found.scaled(-1), fact))
        return (low, high) if low <= high else found.exact(self.spans)

    def _low_by(self, found: Sum, fact: Sum) -> int:
        """Bound a sum from below by ``k * fact``, with k chosen so that a shared term cancels."""
        best = found.exact(self.spans)[0]
        tried: set[int] = set()
        for product, c in fact.terms.items():
            times, left = divmod(found.terms.get(product, 0), c)
            if left == 0 and times > 0 and times not in tried:
                tried.add(times)
                best = max(best, (found - fact.scaled(times)).exact(self.spans)[0])
        return best


def _not_negative(cls: type[Compare], a: Sum, b: Sum) -> tuple[Sum, ...]:
    one = Sum({}, 1)
    if cls is LT:
        return (b - a - one,)
    if cls is LE:
        return (b - a,)
    if cls is GT:
        return (a - b - one,)
    if cls is GE:
        return (a - b,)
    return (b - a, a - b) if cls is EQ else ()
