"""What the simplifier claims: that two expressions are equal where its assumptions hold.

Nobody listens by default. :func:`recording_claims` keeps the claims made within a ``with`` block,
for a proof (``irkit.proof``).
"""

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from contextvars import ContextVar

import msgspec

from irkit.core import walk
from irkit.ir.arith.interval import Interval, Ranges
from irkit.ir.expr import Expr, Var


class Claim(msgspec.Struct, frozen=True, eq=False):
    """Two expressions of one type that are equal wherever the variables lie in their ranges and the
    facts hold; vectors are equal in each lane in which facts that are vectors hold."""

    before: Expr
    after: Expr
    ranges: dict[Var, Interval]
    facts: tuple[Expr, ...] = ()

    @property
    def variables(self) -> tuple[Var, ...]:
        """The variables that occur, in order."""
        parts = (self.before, self.after, *self.facts)
        return tuple(dict.fromkeys(var for part in parts for var in walk(part, Var)))


_CLAIMS: ContextVar[list[Claim] | None] = ContextVar("irkit_claims", default=None)


@contextmanager
def recording_claims() -> Generator[list[Claim]]:
    """Collect the claims that the simplifier makes within a ``with`` block."""
    found: list[Claim] = []
    token = _CLAIMS.set(found)
    try:
        yield found
    finally:
        _CLAIMS.reset(token)


def current_claims() -> list[Claim] | None:
    """Return the list that claims go to, or None if nobody asks for them."""
    return _CLAIMS.get()


def claim_of(before: Expr, after: Expr, ranges: Ranges, facts: Iterable[Expr] = ()) -> Claim:
    """Return a claim with the ranges as they are now; the table can change later."""
    made = Claim(before, after, {}, tuple(facts))
    used = {var: ranges[var] for var in made.variables if var in ranges}
    return Claim(before, after, used, made.facts)
