"""A candidate as code: what a builder's process does."""

import hashlib
import pickle
import time
from functools import lru_cache
from importlib import import_module
from typing import Any

import msgspec

from irkit.autoschedule import operations
from irkit.codegen import (
    assembly_and_object,
    compile_object,
    complete_target,
    emit,
    record_size,
    symbol,
)
from irkit.core import IRKitError, Target, walk
from irkit.ir import Block, PrimFunc
from irkit.schedule import BlockRef, Schedule
from irkit.tune.cost import instruction_mix
from irkit.tune.records import Values
from irkit.tune.space import Space

LOWER = "irkit.phases.candidates:lower_candidate"
"""What lowers scheduled loops, by name: workers import it, and this folder does not know it."""
QUICK, FULL = 1, 3
"""LLVM's levels for candidates and for finalists."""
_SERIAL_REFERENCE = 1 << 26
"""Iterations up to which the reference is the loops as written; larger ones run along rows."""
_REFERENCE_ROWS = 4


class CandidateCode(msgspec.Struct, frozen=True):
    """An object file with one kernel, which takes the addresses of its parameters, and of a record
    if it has one. ``trace`` is the JSON of its schedule. Units: milliseconds."""

    image: bytes
    name: str
    records: int
    ms: float
    opt_level: int
    trace: bytes = b""
    counts: dict[str, float] = {}

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.image).hexdigest()


def build_candidate(
    packed: bytes, values: Values, level: int, lower: str, counted: bool = False
) -> CandidateCode:
    """Compile the loops that decisions make, for this machine; ``packed`` is the pickled space.

    With ``counted``, and of finalists, the instructions of the hottest loop are counted.

    Raises: ScheduleError if they are not legal; IRKitError if there is no code for them.
    """
    started = time.perf_counter()
    made = _space(packed).derive(values)
    trace = b""
    if level == FULL and made.trace.steps:
        trace = made.trace.without_where().as_json().encode()
    return _compiled(made.func, level, lower, started, trace, counted=counted or level == FULL)


def build_reference(packed: bytes, lower: str) -> CandidateCode:
    """Compile the loops of a space as they are written, without threads or other orders of sums.

    Of long reductions the innermost loop runs along rows instead, so that this takes seconds only.
    """
    started = time.perf_counter()
    func = plain_loops(_space(packed).func)
    attrs = tuple(pair for pair in func.attrs if pair[0] not in ("contract", "threads"))
    func = func.replace(attrs=(*attrs, ("contract", False), ("threads", False)))
    return _compiled(func, FULL, lower, started, b"", counted=False)


def plain_loops(func: PrimFunc) -> PrimFunc:
    """Return loops as written; of reductions that are long, the last spatial loop is innermost, and
    around it that of a few rows: what they read is still in a cache."""
    if (operations(func.body) or 0) <= _SERIAL_REFERENCE:
        return func
    sch = Schedule(func, check="off")
    for block in list(walk(func, on=Block)):
        ref = BlockRef(block.name)
        loops = sch.get_loops(ref)
        kinds = {axis.binding: axis.kind for axis in block.axes}
        spatial = [loop for loop in loops if kinds.get(loop.var) == "spatial"]
        reduced = [loop for loop in loops if kinds.get(loop.var) == "reduce"]
        if block.init is not None and spatial and len(spatial) + len(reduced) == len(loops):
            sch.decompose_reduction(ref, loops[0])
            rows = [] if len(spatial) < 2 else sch.split(spatial[-2], [None, _REFERENCE_ROWS])
            sch.reorder(*spatial[:-2], *rows[:1], *reduced, *rows[1:], spatial[-1])
    return sch.func


@lru_cache(maxsize=4)
def _space(packed: bytes) -> Space:
    return pickle.loads(packed)


def _compiled(
    func: PrimFunc, level: int, lower: str, started: float, trace: bytes, *, counted: bool
) -> CandidateCode:
    target = msgspec.structs.replace(complete_target(Target()), opt_level=level)
    lowered = _lowering(lower)(func)
    if not isinstance(lowered, PrimFunc):
        raise IRKitError(f"{lower} returned a {type(lowered).__name__}; expected loops")
    text = emit([lowered], target)
    counts: dict[str, float] = {}
    if counted:
        listing, image = assembly_and_object(text, target)
        counts = instruction_mix(listing)
    else:
        image = compile_object(text, target)
    ms = (time.perf_counter() - started) * 1e3
    return CandidateCode(
        image, symbol(lowered.name), record_size(lowered), ms, level, trace, counts
    )


@lru_cache(maxsize=8)
def _lowering(where: str) -> Any:
    module, _, name = where.partition(":")
    found = getattr(import_module(module), name, None)
    if not callable(found):
        raise IRKitError(f"there is no function {where}")
    return found
