"""Run programs of basic blocks over registers.

Loops are jumps; threads are tasks that meet at barriers. Nothing here recurses, and a thread waits
at a barrier by leaving its block, so depth and the number of threads only cost memory.
"""

import sys
from collections.abc import Callable
from typing import Any

import msgspec

from irkit.core import IRKitError, Span

Registers = list[Any]
Operation = Callable[[Registers], object]
Control = Callable[[Registers], int]
END = -1
RUN, SHARED, FIRST_FREE = 0, 1, 2  # Registers reserved in every program.
MAX_THREADS = 1 << 16


class StepLimit(IRKitError):
    """The interpreter reached its limit of steps."""


class MemoryLimit(IRKitError):
    """A function asks for more memory than there is, or than the interpreter may take."""


class Barrier(msgspec.Struct, frozen=True):
    """Stop of a block at which all threads of the nest must arrive before they continue at
    ``then``."""

    then: int
    span: Span | None


class Fork(msgspec.Struct, frozen=True):
    """Stop of a block that starts a thread at ``body`` for each value of a loop variable; when all
    have ended, execution continues at ``then``."""

    var: int
    begin: int
    end: int
    body: int
    then: int
    span: Span | None


class Program(msgspec.Struct, frozen=True):
    """Code that can run many times: basic blocks, the events they can stop for, and initial
    registers."""

    blocks: list[tuple[tuple[Operation, ...], Control]]
    events: list[Barrier | Fork]
    registers: Registers
    start: int


class RunLimits:
    """Limits of one run: the operations and bytes left."""

    def __init__(self, max_steps: int | None, max_bytes: int) -> None:
        self._all_steps = sys.maxsize if max_steps is None else max_steps
        self.steps_left = self._all_steps
        self.max_steps = max_steps
        self.bytes_left = max_bytes
        self.max_bytes = max_bytes

    @property
    def steps(self) -> int:
        """Return how many operations have run."""
        return self._all_steps - self.steps_left


class _ThreadTask:
    __slots__: tuple[str, ...] = ("at", "ended", "fork", "live", "parent", "registers")

    def __init__(self, at: int, registers: Registers, parent: "_ThreadTask | None") -> None:
        self.at = at
        self.registers = registers
        self.parent = parent
        self.fork: Fork | None = None
        self.live = 0
        self.ended = 0


def execute(program: Program, registers: Registers) -> None:
    """Run a program to its end, on registers filled by the caller.

    Raises: IRKitError if a limit is exceeded, or threads wait at different barriers.
    """
    ready = [_ThreadTask(program.start, registers, None)]
    waiting: list[tuple[_ThreadTask, Barrier]] = []
    threads = 1
    while ready or waiting:
        if not ready:
            _check_barrier(waiting)
            ready = [task for task, _ in reversed(waiting)]
            waiting = []
        task = ready.pop()
        code = _advance(program.blocks, task.registers, task.at)
        if code == END:
            threads -= 1
            ready.extend(_join(task))
            continue
        match program.events[-2 - code]:
            case Barrier() as barrier:
                task.at = barrier.then
                if task.parent is None:
                    ready.append(task)  # Outside every thread loop there is nothing to wait for.
                else:
                    waiting.append((task, barrier))
            case Fork() as fork:
                children = _fork(task, fork, MAX_THREADS - threads)
                threads += len(children)
                ready.extend(children or [task])


def _advance(
    blocks: list[tuple[tuple[Operation, ...], Control]], registers: Registers, at: int
) -> int:
    """Run blocks until one stops; return the code of the reason."""
    run: RunLimits = registers[RUN]
    left = run.steps_left
    while at >= 0:
        operations, control = blocks[at]
        left -= len(operations) + 1
        for operation in operations:
            operation(registers)
        if left < 0:
            raise StepLimit(
                f"the interpreter stopped after {run.max_steps} steps",
                hint="Give interpret a larger max_steps, or None for no limit.",
            )
        at = control(registers)
    run.steps_left = left
    return at


def _fork(task: _ThreadTask, fork: Fork, room: int) -> list[_ThreadTask]:
    registers = task.registers
    begin, end = int(registers[fork.begin]), int(registers[fork.end])
    task.at = fork.then
    if end <= begin:
        return []
    if end - begin > room:
        raise IRKitError(
            f"a thread loop would start {end - begin} threads; expected at most {MAX_THREADS} in "
            "all",
            span=fork.span,
        )
    task.fork, task.live, task.ended = fork, end - begin, 0
    kind: Callable[[int], Any] = registers[fork.begin].__class__
    shared: dict[int, Any] = {} if registers[SHARED] is None else registers[SHARED]
    children: list[_ThreadTask] = []
    for value in reversed(range(begin, end)):
        own = registers.copy()
        own[fork.var], own[SHARED] = kind(value), shared
        children.append(_ThreadTask(fork.body, own, task))
    return children


def _join(task: _ThreadTask) -> list[_ThreadTask]:
    """Count a thread as ended; the last one wakes the task that started them."""
    parent = task.parent
    if parent is None:
        return []
    parent.live -= 1
    parent.ended += 1
    return [] if parent.live else [parent]


def _check_barrier(waiting: list[tuple[_ThreadTask, Barrier]]) -> None:
    barrier = waiting[0][1]
    if any(other is not barrier for _, other in waiting):
        raise IRKitError("threads of one nest wait at different barriers", span=barrier.span)
    parents = {task.parent for task, _ in waiting}
    while parents:
        if any(parent is not None and parent.ended for parent in parents):
            raise IRKitError(
                "some threads of the nest ended without reaching this barrier",
                hint="Move the barrier out of the condition.",
                span=barrier.span,
            )
        parents = {parent.parent for parent in parents if parent is not None}
