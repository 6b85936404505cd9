"""Passes that behave badly: state, chance, the hash seed, exits, crashes and hangs."""

import os
import sys
import time

from irkit.core import rewrite
from irkit.ir import Expr, Mul, PrimFunc
from tests.catalogue.entries import Entries
from tests.catalogue.programs import each, kernel

entry = Entries("conduct", legal=False, contracts=True)
SCALE = each("f32", "f32", "A[i] * f32(2.0) + f32(1.0)")
PAIR = kernel(
    "A: f32[8], B: f32[8], C: f32[2, 8]",
    """
    for i in serial(0, 8):
        C[0, i] = A[i] * B[i]
        C[1, i] = B[i] * B[i]
    """,
)


@entry(PAIR)
def fold_the_first_name_of_a_set(func: PrimFunc) -> PrimFunc:
    """Which name a set of strings gives first depends on the hash seed."""
    first = next(iter({buffer.name for buffer in func.params} | {"x", "y", "z", "w", "v"}))
    return func.replace(attrs=(*func.attrs, ("first", first)))


_SEEN: list[str] = []


@entry(PAIR)
def rewrite_the_second_time_only(func: PrimFunc) -> PrimFunc:
    """What it does depends on how often it was called."""
    _SEEN.append(func.name)
    if len(_SEEN) % 2:
        return func

    def swap(node: Mul) -> Expr | None:
        return node.b * node.a

    return rewrite(func, swap)


@entry(SCALE)
def decide_by_the_clock(func: PrimFunc) -> PrimFunc:
    """Marks the loop with the time of day."""
    return func.replace(attrs=(*func.attrs, ("at", time.time_ns())))


@entry(SCALE, isolated=True)
def leave_the_program(func: PrimFunc) -> PrimFunc:
    """sys.exit with success, in the middle of a compilation."""
    sys.exit(0)


@entry(SCALE, isolated=True)
def end_the_process(func: PrimFunc) -> PrimFunc:
    """The process ends with success and without a word."""
    os._exit(0)


@entry(SCALE, isolated=True)
def abort(func: PrimFunc) -> PrimFunc:
    """Raises SIGABRT."""
    os.abort()


@entry(SCALE, isolated=True)
def run_for_ever(func: PrimFunc) -> PrimFunc:
    """A fixed point that is not one."""
    while func:
        func = func.replace(attrs=())
    return func
