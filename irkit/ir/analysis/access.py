"""Which part of each buffer a statement reads and writes."""

from irkit.core import analysis
from irkit.ir.function import PrimFunc
from irkit.ir.regions import stmt_regions
from irkit.ir.stmt import Region, Stmt

Boxes = tuple[tuple[Region, ...], tuple[Region, ...]]


class AccessRegions:
    """Boxes of buffers, for each statement of one function, found when they are first asked for.

    They are in terms of what is bound around the statement, never too small, and may be too large
    (``regions.py``). A buffer that the statement allocates itself is not among them.
    """

    def __init__(self) -> None:
        self._known: dict[Stmt, Boxes] = {}

    def reads(self, stmt: Stmt) -> tuple[Region, ...]:
        """List the boxes that a statement, with all below it, may read."""
        return self._of(stmt)[0]

    def writes(self, stmt: Stmt) -> tuple[Region, ...]:
        """List the boxes that a statement, with all below it, may write."""
        return self._of(stmt)[1]

    def _of(self, stmt: Stmt) -> Boxes:
        if stmt not in self._known:
            self._known[stmt] = stmt_regions(stmt)
        return self._known[stmt]


@analysis
def access_regions(func: PrimFunc) -> AccessRegions:  # pyright: ignore[reportUnusedParameter] -- it is what the result is cached for
    """Find which parts of buffers the statements of a function read and write."""
    return AccessRegions()
