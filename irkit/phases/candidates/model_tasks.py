"""The tasks of a model: each kernel once, weighted by how much of the model's time it is."""

from collections import Counter
from collections.abc import Mapping

from irkit.autoschedule import Machine
from irkit.core import IRKitError, IRModule, Target
from irkit.graph import GraphFunc, Invoke
from irkit.ir import PrimFunc, is_unscheduled, work_of
from irkit.phases.graph import GRAPH
from irkit.phases.schedule_choice import FEWEST, for_machine, machine_of
from irkit.tune import Task, task

_BYTES = 4.0
"""Operations that take as long as moving a byte."""


def model_tasks(
    module: IRModule, *, threads: int = 1, seconds: Mapping[str, float] | None = None
) -> list[Task]:
    """Return a task for each kernel of a module with a graph function ``main``, the weightiest
    first; kernels of fewer operations than are worth a schedule are left out.

    The weight is the kernel's seconds in a run of the model, where a profile says so, and otherwise
    an estimate from its operations, its bytes, and how often it runs.
    Raises: IRKitError if there is no such graph function.
    """
    machine = machine_of("host", Target())
    lowered = for_machine(GRAPH, machine, "none", layouts="auto").run(module)
    main = lowered["main"]
    if not isinstance(main, GraphFunc):
        raise IRKitError("the module has no graph function 'main'")
    calls = Counter(
        bind.step.function for bind in main.body.bindings if isinstance(bind.step, Invoke)
    )
    made = [
        _task(lowered[name], name, times, machine, threads, seconds or {})
        for name, times in calls.items()
    ]
    found = [each for each in made if each is not None]
    return sorted(found, key=lambda each: (-each.weight, each.name))


def _task(
    func: object,
    name: str,
    times: int,
    machine: Machine,
    threads: int,
    seconds: Mapping[str, float],
) -> Task | None:
    if not isinstance(func, PrimFunc) or not is_unscheduled(func):
        return None
    work = work_of(func)
    operations = 0.0 if work is None else work.flops + _BYTES * work.moved
    if operations < FEWEST:
        return None
    weight = seconds.get(name, times * operations * 1e-12)
    return task(func, name=name, weight=weight, threads=threads, machine=machine)
