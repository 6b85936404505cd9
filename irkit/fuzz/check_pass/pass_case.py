"""The argument of a test's body: one program before and after the pass, and its lowering."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from irkit.core import IRKitError, Remark
from irkit.debug import InputSet, input_sets
from irkit.fuzz.check_pass.examination import Examination
from irkit.ir import Buffer, InterpretedFunction, PrimFunc
from irkit.transform import IR, AnyPass, Step, Trace


class PassCase:
    """A program that went through the lowering without breaking a contract.

    ``program`` is what was drawn, ``before`` and ``after`` are around the first run of the pass
    (the same object if nothing changed), ``lowered`` is the last IR. ``remarks`` are those of the
    pass.
    """

    def __init__(self, p: AnyPass, found: Examination, samples: int) -> None:
        first = next((step for step in found.own if step.changed), None)
        first = first or (found.own[0] if found.own else None)
        self.p = p
        self.program: IR = found.program
        self.before: IR = found.program if first is None else first.before
        self.after: IR = found.program if first is None else first.after
        self.changed = found.fired
        self.lowered: IR = found.program if found.lowered is None else found.lowered
        self.steps: tuple[Step, ...] = found.steps
        self.remarks: tuple[Remark, ...] = tuple(
            remark for step in found.own for remark in step.remarks
        )
        self._samples = samples

    def __repr__(self) -> str:
        return f"<case of {self.p}, {'changed' if self.changed else 'unchanged'}>"

    @property
    def trace(self) -> Trace:
        """The whole lowering, which can be saved and inspected."""
        return Trace.of(self.steps)

    @property
    def inputs(self) -> list[InputSet]:
        """Arguments to run the program with, the same in each call. Raises: IRKitError if it is not
        a single loop function."""
        return input_sets(self._function(self.program), samples=self._samples)

    @property
    def outputs(self) -> list[tuple[NDArray[Any], ...]]:
        """What the arrays among the arguments hold after the lowered program ran, for each of
        ``inputs``."""
        func = self._function(self.lowered)
        run = InterpretedFunction(func)
        found: list[tuple[NDArray[Any], ...]] = []
        for each in self.inputs:
            args = each.copied()
            run(*args)
            pairs = zip(func.params, args, strict=True)
            found.append(
                tuple(np.asarray(arg) for param, arg in pairs if isinstance(param, Buffer))
            )
        return found

    def _function(self, ir: IR) -> PrimFunc:
        if isinstance(ir, PrimFunc):
            return ir
        raise IRKitError("this program is not a single loop function: run it as a module")
