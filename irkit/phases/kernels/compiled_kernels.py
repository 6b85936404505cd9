"""Compile the kernels of a model: those that are kept are taken from there, the others are made by
processes side by side, where that is worth it."""

import pickle
import sys
from collections.abc import Callable, Sequence

from irkit.phases.kernels.kernel_cache import KERNELS, KernelKeys
from irkit.phases.kernels.kernel_code import KernelCode, KernelTask, LoweredKernel
from irkit.processes import compile_jobs, side_by_side

FEWEST = 6
"""Kernels below which one process makes them: to fork takes as long as a small one or two."""


def compile_kernels(
    tasks: Sequence[KernelTask],
    lower: Callable[[KernelTask], LoweredKernel],
    done: Callable[[KernelTask], object],
) -> list[KernelCode]:
    """Compile kernels; ``lower`` runs the passes in this process, and ``done`` is called after each
    kernel.

    Raises: what compiling the first kernel raises that cannot be compiled.
    """
    keys = KernelKeys()
    known = [keys.of(task) for task in tasks]
    found: dict[int, KernelCode] = {}
    for at, (task, key) in enumerate(zip(tasks, known, strict=True)):
        kept = None if key is None else KERNELS.get(key, task.func.name)
        if kept is not None:
            found[at] = kept
            done(task)
    left = [at for at in range(len(tasks)) if at not in found]
    if len(left) >= FEWEST and all(tasks[at].is_own for at in left):
        order = sorted(left, key=lambda at: _effort(tasks[at]), reverse=True)
        found |= side_by_side(
            lambda at: _code(tasks[at], tasks[at].lowered()),
            order,
            compile_jobs(),
            lambda at: done(tasks[at]),
        )
    for at in left:
        task, key = tasks[at], known[at]
        if at not in found:
            found[at] = _code(task, lower(task))
            done(task)
        if key is not None:
            KERNELS.put(key, found[at])
    return [found[at] for at in range(len(tasks))]


def _code(task: KernelTask, lowered: LoweredKernel) -> KernelCode:
    return lowered.code(task.target)


def _effort(task: KernelTask) -> int:
    """Return a number that grows with the time that a kernel takes."""
    try:
        return len(pickle.dumps(task.func, protocol=5))
    except RecursionError:  # Nested more deeply than anything else.
        return sys.maxsize
