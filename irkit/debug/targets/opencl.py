"""OpenCL: a launch by pocl, or by oclgrind, which also finds races and accesses out of bounds."""

import importlib.util
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from irkit.core import IRKitError, Target, walk
from irkit.debug.execution.inputs import Array
from irkit.debug.isolation.with_strides import WithStrides
from irkit.debug.targets.executor import (
    Legalise,
    Refused,
    TargetCall,
    TargetExecutor,
    TargetOutcome,
    unchanged,
)
from irkit.ir import I32, For, PrimFunc, Var, const, parse
from irkit.processes import Child, ChildDied, Limits
from irkit.runtime import NoDevice, build_device_kernels

OCLGRIND = Path("/usr/lib/oclgrind")
_SECONDS = 120.0
_AS_WRITTEN = "-cl-opt-disable"
"""Optimised code has vectors of i1, and oclgrind 21.10 computes some of their operations wrong:
``zext`` of ``xor`` with true, and ``bitcast`` to an integer."""


class OpenCLExecutor(TargetExecutor):
    """Launches of OpenCL C. A function that binds no loop to threads is one thread."""

    def __init__(
        self, name: str, target: Target, legalise: Legalise = unchanged, *, watched: bool = False
    ) -> None:
        super().__init__(name, target, legalise)
        self.watched = watched

    @property
    def how(self) -> str:
        """What runs the code, for people."""
        return "OpenCL C, run by oclgrind" if self.watched else "OpenCL C"

    @property
    def missing(self) -> str:
        """What is not installed and where it comes from; empty if nothing is missing."""
        away = list[str]()
        if importlib.util.find_spec("pyopencl") is None:
            away.append("pyopencl is not installed: pip install pyopencl")
        if self.watched and not OCLGRIND.is_dir():
            away.append("oclgrind is not installed: apt install oclgrind")
        return "; ".join(away)

    def run_all(self, calls: Sequence[TargetCall]) -> list[TargetOutcome]:
        """Run calls, each of which is built for itself."""
        with tempfile.TemporaryDirectory(prefix="irkit-oclgrind-") as folder:
            log = Path(folder) / "log"
            env = {
                "LD_LIBRARY_PATH": str(OCLGRIND), "OCLGRIND_DATA_RACES": "1",
                "LD_PRELOAD": str(OCLGRIND / "liboclgrind-rt.so"), "OCLGRIND_LOG": str(log),
                "OCL_ICD_VENDORS": str(OCLGRIND), "OCLGRIND_BUILD_OPTIONS": _AS_WRITTEN,
            }  # fmt: skip
            env = env if self.watched else {}
            with Child(Limits(_SECONDS), env=env | {"PYOPENCL_NO_CACHE": "1"}) as child:
                return [self._one(child, call, log) for call in calls]

    def _one(self, child: Child, call: TargetCall, log: Path) -> TargetOutcome:
        text = as_launch(call.func).script()
        given = [WithStrides.of(arg) for arg in call.args]
        before = log.stat().st_size if log.exists() else 0
        try:
            arrays = child.call(launch, text, self.target, given)
        except ChildDied as error:
            who = "oclgrind" if self.watched else "its process"
            return TargetOutcome("failed", message=f"{who} {error.message}")
        except Refused as error:
            return TargetOutcome("refused", message=str(error))
        except Exception as error:  # A bug of the code generator, or of the driver, is a finding.
            text = str(error) if isinstance(error, IRKitError) else repr(error)
            return TargetOutcome("failed", message=text)
        if self.watched and log.exists() and log.stat().st_size > before:
            with log.open() as file:
                file.seek(before)
                said = " ".join(file.read().split())
            return TargetOutcome("failed", message=f"oclgrind says: {said[:300]}")
        return TargetOutcome("ran", tuple(arrays))


def as_launch(func: PrimFunc) -> PrimFunc:
    """Return a function whose body is one thread, unless it binds loops to threads itself."""
    if any(loop.kind == "thread" for loop in walk(func, For)):
        return func
    one = For(Var("only", I32), const(0, I32), const(1, I32), func.body, "thread", "threadIdx.x")
    return func.replace(body=one)


def launch(text: str, target: Target, args: list[WithStrides]) -> list[Array]:
    """Launch a function on the first device, and return its arrays; the child calls this."""
    try:
        func = parse(text)
        kernel = build_device_kernels({func.name: func}, target)[func.name]
        kernel.source()
    except IRKitError as error:
        raise Refused(error.message, hint=error.hint) from None
    given = [arg.value() for arg in args]
    if any(isinstance(each, np.ndarray) and not each.flags.c_contiguous for each in given):
        raise Refused("a launch takes arrays without gaps")
    try:
        kernel(*given)
    except NoDevice as error:
        raise Refused(error.message, hint=error.hint) from None
    return [each for each in given if isinstance(each, np.ndarray)]
