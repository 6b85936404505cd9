"""Judge a graph or an ONNX model: NumPy, the graph interpreter before and after the graph passes,
and native code twice, with the memory plan.

Arrays lie where the plan says, so there are no guard pages between them.
"""

from typing import Any

import numpy as np

from irkit.core import IRKitError, IRModule, Target
from irkit.frontend.onnx import import_onnx
from irkit.fuzz.campaign.agreement import apart
from irkit.fuzz.campaign.course import Course
from irkit.fuzz.campaign.outcome import Wrong
from irkit.fuzz.generators import Sample
from irkit.graph import GraphFunc, arrays_of, interpret
from irkit.phases import compile
from irkit.transform import IR, Step

_LAST = "plan-memory"


class ModelCase:
    """A model on its way through the tiers."""

    def __init__(self, sample: Sample, course: Course) -> None:
        self.sample, self.course = sample, course
        self.steps: list[Step] = []
        self.wanted: list[list[Any]] = []
        with course.running("draw"):
            self.module = self._module(sample)

    def _module(self, sample: Sample) -> IRModule:
        match sample.ir:
            case IRModule():
                return sample.ir
            case GraphFunc():
                return IRModule({"main": sample.ir})
            case bytes():
                try:
                    return import_onnx(sample.ir)
                except IRKitError as error:
                    raise Wrong("failed", f"the importer refuses it: {error}") from None
            case _:
                raise AssertionError(f"a {type(sample.ir).__name__} is no model")

    def run(self, *, native: bool = True) -> None:
        """Run all tiers, or all but native code. Raises: Wrong."""
        with self.course.running("interpreter"):
            self._interpret_as_drawn()
        with self.course.running("lower"):
            after: IR = self.module
            self.steps = list(self.sample.pipeline.steps(self.module, verify=False))
            for step in self.steps:
                after = step.applied_to(after)
            self.course.fired = [step.name for step in self.steps if step.changed]
        with self.course.running("lowered"):
            self.interpret(after)
        if native and _LAST in self.sample.pipeline.names:
            for level in (0, 3):
                with self.course.running(f"O{level}"):
                    self._run_native(level)

    def _interpret_as_drawn(self) -> None:
        for number in range(len(self.sample.inputs)):
            try:
                found = self._results(self.module, number)
            except IRKitError as error:
                known = self.sample.expected[number] is not None
                raise Wrong("failed" if known else "invalid", str(error)) from None
            expected = self.sample.expected[number]
            self.wanted.append(list(found if expected is None else expected))
            why = self._disagreement(number, found)
            if why:
                raise Wrong("mismatch", f"the interpreter disagrees with NumPy: {why}")

    def _results(self, program: IR, number: int) -> list[Any]:
        assert isinstance(program, (IRModule, GraphFunc))
        with np.errstate(all="ignore"):
            result = interpret(program, self.sample.inputs[number].copied())
        return [np.asarray(array) for array in arrays_of(result)]

    def _disagreement(self, number: int, found: list[Any]) -> str:
        wanted, allowed = self.wanted[number], self.sample.allowed[number]
        if len(wanted) != len(found):
            return f"there are {len(found)} results, expected {len(wanted)}"
        for at, (a, b) in enumerate(zip(wanted, found, strict=True)):
            limit = allowed[at] if allowed else None
            why = apart(np.asarray(a), b, limit, signs=self.sample.zeros_have_signs)
            if why:
                return f"result {at}{why} (inputs: {self.sample.inputs[number].name})"
        return ""

    def interpret(self, program: IR, named: str = "") -> None:
        """Interpret what was made of the model, its kernels too. Raises: Wrong."""
        for number in range(len(self.sample.inputs)):
            try:
                found = self._results(program, number)
            except IRKitError as error:
                raise Wrong("failed", str(error), named) from None
            why = self._disagreement(number, found)
            if why:
                raise Wrong("mismatch", why, named)

    def _run_native(self, level: int) -> None:
        try:
            target = Target(opt_level=level)
            model = compile(
                self.module,
                target=target,
                graph_pipeline=self.sample.pipeline,
                verify=False,
                keep_trace=False,
            )
            for number, inputs in enumerate(self.sample.inputs):
                names = [spec.name for spec in model.plan.inputs]
                given = dict(zip(names, inputs.copied(), strict=True))
                why = self._disagreement(number, list(model.run(given).values()))
                if why:
                    raise Wrong("mismatch", f"native code: {why}")
        except IRKitError as error:
            raise Wrong("failed", str(error)) from None

    def after_each_pass(self) -> None:
        """Verify and interpret after each pass. Raises: Wrong, with the name."""
        whole: IR = self.module
        for step in self.sample.pipeline.steps(self.module):
            whole = step.applied_to(whole)
            if step.changed:
                self.interpret(whole, step.name)


def is_model(program: object) -> bool:
    """Say whether a program is a graph or an ONNX model."""
    return isinstance(program, (GraphFunc, IRModule, bytes)) and not isinstance(program, str)
