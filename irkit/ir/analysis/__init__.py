"""What is known about a function, computed once for each: functions of immutable functions, cached
weakly by identity.

Reading order: enclosing (what is around a statement, and what runs before it), uses (who reads and
writes), access (which part of a buffer), liveness, dependence; what the last rests on: axes,
numbering,
affine, apart. The bounds of variables are ``loop_ranges`` of ``arith``.
"""

from irkit.ir.analysis.affine import (
    Affine as Affine,
    Sums as Sums,
)
from irkit.ir.analysis.axes import (
    axis_values as axis_values,
)
from irkit.ir.analysis.carried_values import (
    CarriedValues as CarriedValues,
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
from irkit.ir.analysis.guarded_loads import (
    GuardPath as GuardPath,
    guard_path as guard_path,
    guarded_loads as guarded_loads,
    path_conditions as path_conditions,
)
from irkit.ir.analysis.in_bounds import (
    is_in_bounds as is_in_bounds,
)
from irkit.ir.analysis.in_place import (
    InPlace as InPlace,
)
from irkit.ir.analysis.index_boxes import (
    BoxSide as BoxSide,
    IndexBoxes as IndexBoxes,
    bound_inside as bound_inside,
    merged_sides as merged_sides,
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
