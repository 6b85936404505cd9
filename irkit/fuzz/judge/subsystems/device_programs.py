"""Programs of blocks and threads, launched on an OpenCL device, against the interpreter."""

import warnings
from typing import Any

import msgspec
import numpy as np

from irkit.core import IRKitError, Target
from irkit.fuzz.generators.loops.loop_functions import thread_function
from irkit.fuzz.generators.programs.program_samples import draw_loop_function
from irkit.fuzz.generators.sample import Sample, Unusable
from irkit.fuzz.judge.loops import LoopCase
from irkit.fuzz.judge.outcome import WrongSample
from irkit.fuzz.judge.progress import TierProgress
from irkit.fuzz.picks import Picks
from irkit.ir import PrimFunc
from irkit.runtime import NoDevice, build_device_kernels

_TRIES = 6


def devices_agree(picks: Picks) -> None:
    """A program of threads computes on a device what it computes in the interpreter.

    Raises: WrongSample; Unusable if the device can express nothing that was drawn.
    """
    for _ in range(_TRIES):
        case = _interpreted(picks)
        if case is not None and _launched(case):
            return
    raise Unusable("the device can express nothing that was drawn")


def _interpreted(picks: Picks) -> LoopCase | None:
    """Draw a program that the interpreter runs, and finds no race in."""
    try:
        sample = draw_loop_function(picks, thread_function)
        case = LoopCase(_exact(sample), TierProgress())
        case.run(native=False)
    except (Unusable, WrongSample, IRKitError):
        return None  # Other kinds find what is wrong before it is a launch.
    return case


def _exact(sample: Sample) -> Sample:
    """Return a sample whose products and sums are rounded one by one."""
    assert isinstance(sample.ir, PrimFunc)
    attrs = tuple(pair for pair in sample.ir.attrs if pair[0] != "contract")
    func = sample.ir.replace(attrs=(*attrs, ("contract", False)))
    return msgspec.structs.replace(sample, ir=func)


def _launched(case: LoopCase) -> bool:
    """Launch the program as it is drawn; return False if the target cannot express it."""
    func = case.func
    try:
        kernel = build_device_kernels({func.name: func}, Target("opencl"))[func.name]
        kernel.source()
    except IRKitError:
        return False
    for number, inputs in enumerate(case.sample.inputs):
        args: list[Any] = inputs.copied()
        if any(isinstance(each, np.ndarray) and not each.flags.c_contiguous for each in args):
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # Compilers of drivers say much.
                kernel(*args)
        except NoDevice as error:
            raise Unusable(str(error)) from None
        except IRKitError as error:
            raise WrongSample("failed", f"{error}\n{func.script()}") from None
        why = case.reference.disagreement(number, args)
        if why:
            raise WrongSample("mismatch", f"OpenCL: {why}\n{func.script()}\n{kernel.source()}")
    return True
