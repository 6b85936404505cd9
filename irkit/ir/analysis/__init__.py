"""What is known about a function, computed once for each: functions of immutable functions, cached
weakly by identity.

Reading order: enclosing (what is around a statement, and what runs before it), uses (who reads and
writes), access (which part of a buffer), liveness, dependence; what the last rests on: axes,
numbering,
affine, apart. The bounds of variables are ``loop_ranges`` of ``arith``.
"""

from irkit.ir.analysis.affine import Affine, Sums
from irkit.ir.analysis.axes import axis_values
from irkit.ir.analysis.conflicts import Access, ConflictTest, accesses_in
from irkit.ir.analysis.dependence import Dependences, dependences, lane_conflict
from irkit.ir.analysis.enclosing import Enclosing, enclosing
from irkit.ir.analysis.liveness import Liveness, liveness
from irkit.ir.analysis.regions import AccessRegions, access_regions
from irkit.ir.analysis.uses import Uses, symbols_read, uses_of
from irkit.ir.analysis.value_numbering import Numbering

__all__ = [
    "Access",
    "AccessRegions",
    "Affine",
    "ConflictTest",
    "Dependences",
    "Enclosing",
    "Liveness",
    "Numbering",
    "Sums",
    "Uses",
    "access_regions",
    "accesses_in",
    "axis_values",
    "dependences",
    "enclosing",
    "lane_conflict",
    "liveness",
    "symbols_read",
    "uses_of",
]
