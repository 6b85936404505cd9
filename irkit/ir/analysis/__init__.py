"""Analyses of loop functions, each computed once per function and cached for its lifetime.

Reading order: enclosing (all statements, what surrounds one, and what ran before it),
uses (what reads and writes what), owners (whose memory a buffer is), regions (which part of a
buffer is accessed), liveness, dependence; what those rest on: axes, value_numbering, boxes, digits,
conflicts; then what passes ask about one buffer or load: carried_values, in_place, in_bounds,
guarded_loads, reductions. The ranges of variables are in ``arith``.

A result may hold statements of the function, never the function itself: the cache is keyed on it,
weakly. ``dependences`` is conservative, and the one answer for schedules; ``carried_values`` asks
another question, whether an iteration may use what another left in a buffer. Tests hold these
claims against runs of random programs in which every access is noted. A statement object that
stands in several places has no place of its own: dominance says no, liveness says always.
"""

from irkit.ir.analysis.axes import (
    axis_values as axis_values,
)
from irkit.ir.analysis.boxes import (
    Box as Box,
    BoxSide as BoxSide,
    BufferAccess as BufferAccess,
    IndexBoxes as IndexBoxes,
    SymbolicInterval as SymbolicInterval,
    bound_inside as bound_inside,
    box_of as box_of,
    interval as interval,
    merged_sides as merged_sides,
    touches as touches,
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
from irkit.ir.analysis.digits import (
    digit_weights as digit_weights,
)
from irkit.ir.analysis.enclosing import (
    EnclosingStmts as EnclosingStmts,
    StatementTable as StatementTable,
    enclosing as enclosing,
    statements as statements,
)
from irkit.ir.analysis.guarded_loads import (
    GuardedLoad as GuardedLoad,
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
from irkit.ir.analysis.liveness import (
    Liveness as Liveness,
    liveness as liveness,
)
from irkit.ir.analysis.owners import (
    MemoryOwners as MemoryOwners,
    is_divided as is_divided,
    memory_owners as memory_owners,
    with_views as with_views,
)
from irkit.ir.analysis.reductions import (
    IDENTITIES as IDENTITIES,
    Accumulation as Accumulation,
    accumulates as accumulates,
    accumulation_of as accumulation_of,
    identity_of as identity_of,
    same_place as same_place,
)
from irkit.ir.analysis.regions import (
    AccessRegions as AccessRegions,
    access_regions as access_regions,
    block_reads as block_reads,
    block_writes as block_writes,
    infer_regions as infer_regions,
)
from irkit.ir.analysis.uses import (
    UseTable as UseTable,
    symbols_read as symbols_read,
    uses_of as uses_of,
)
from irkit.ir.analysis.value_numbering import (
    ValueNumbering as ValueNumbering,
)
