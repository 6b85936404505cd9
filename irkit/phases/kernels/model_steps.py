"""The steps of a compilation, of which those of kernels may be made when they are asked for.

Passes are functions: run again on the same loops they take the same steps, only their times are
those of the second run.
"""

from collections.abc import Iterator, Sequence

from irkit.ir import PrimFunc
from irkit.phases.kernels.kernel_code import KernelTask, LoweredKernel
from irkit.transform import Apply, Step, Trace, apply_here


class ModelSteps:
    """The steps of the graph, and of the kernels as far as they were recorded."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.of_graph: list[Step] = []
        self.tasks: Sequence[KernelTask] = ()
        self.of_kernels: dict[str, list[Step]] = {}

    def lower(self, task: KernelTask, apply: Apply = apply_here) -> LoweredKernel:
        """Run the passes of a kernel, and record their steps."""
        steps = self.of_kernels[task.func.name] = []
        return task.recorded(steps.append, apply=apply)

    def trace(self) -> Trace:
        """Return all steps; those that were not recorded are made."""
        return Trace.of(self._steps(), title=self.title)

    def _steps(self) -> Iterator[Step]:
        yield from self.of_graph
        for task in self.tasks:
            recorded = self.of_kernels.get(task.func.name)
            yield from task.steps() if recorded is None else recorded


def lowered_functions(
    tasks: Sequence[KernelTask], known: Sequence[LoweredKernel]
) -> tuple[PrimFunc, ...]:
    """Return the functions of kernels at the end of all passes: those known, or made again."""
    found = {each.name: each.func for each in known}
    return tuple(found.get(task.func.name) or task.lowered().func for task in tasks)
