"""Code that is wrong on purpose, called in a process of its own."""

import numpy as np

from irkit.codegen import compile_object, emit
from irkit.fuzz.campaign.guarded import Flush, GuardedKernel, Yard
from irkit.fuzz.campaign.loops import target_of
from irkit.ir import parse


def call_amid_guards(text: str, flush: Flush, level: int) -> list[float]:
    """Compile a function of A and C, which it may read and write beside, and call it."""
    func = parse(text)
    image = compile_object(emit([func], target_of(level)), target_of(level))
    args = [np.arange(8, dtype=np.float32), np.zeros(8, np.float32)]
    return [float(value) for value in GuardedKernel(func, image)(Yard(), args, flush)[1]]
