"""What is known about a function, computed once for each: functions of immutable functions, cached
weakly by identity.

Reading order: enclosing (what is around a statement, and what runs before it), uses (who reads and
writes), access (which part of a buffer), liveness, dependence; what the last rests on: axes,
numbering,
affine, apart. The bounds of variables are ``loop_ranges`` of ``arith``.

A result may hold statements of the function, never the function itself: the cache is keyed on it,
weakly. ``dependences`` is conservative, and the one answer for schedules; ``carried_values`` asks
another question, whether an iteration may use what another left in a buffer. Tests hold these
claims against runs of random programs in which every access is noted. A statement object that
stands in several places has no place of its own: dominance says no, liveness says always.
"""

from irkit.ir.analysis.affine import (
    Affine as Affine,
    Sums as Sums,
)
from irkit.ir.analysis.axes import (
    axis_values as axis_values,
)
from irkit.ir.analysis.conflicts import (
    Access as Access,
    ConflictTest as ConflictTest,
    accesses_in as accesses_in,
)
from irkit.ir.analysis.dependence import (
    Dependences as Dependences,
    dependences as dependences,
    lane_conflict as lane_conflict,
)
from irkit.ir.analysis.enclosing import (
    Enclosing as Enclosing,
    enclosing as enclosing,
)
from irkit.ir.analysis.liveness import (
    Liveness as Liveness,
    liveness as liveness,
)
from irkit.ir.analysis.regions import (
    AccessRegions as AccessRegions,
    access_regions as access_regions,
)
from irkit.ir.analysis.uses import (
    Uses as Uses,
    symbols_read as symbols_read,
    uses_of as uses_of,
)
from irkit.ir.analysis.value_numbering import (
    Numbering as Numbering,
)
