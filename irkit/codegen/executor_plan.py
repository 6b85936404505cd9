"""Plan of a model's executor, as data: tensors, their places, kernel calls, branches, loops,
copies, and the arithmetic on sizes that are only known at the call."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import msgspec

from irkit.core import IRKitError
from irkit.graph import Dimension, StatePair
from irkit.ir import Work

Size = int | str
"""A number, or the name of a dimension or of a computed size."""

MOST_BYTES = 1 << 47
"""Memory of a call for which no limit is set: what an address reaches."""


class SizeStep(msgspec.Struct, frozen=True):
    """One step of the arithmetic on sizes, in i64: ``name`` is what it computes from ``a`` and
    ``b``.

    A result that i64 does not hold, and an ``extent`` or ``check`` (which is ``a``) that is
    negative, refuse the call; ``what`` says what it was for, and of a check why it refuses. ``//``
    rounds down, and is 0 for a divisor of 0.
    """

    name: str
    op: Literal["+", "-", "*", "//", "min", "max", "extent", "check"]
    a: Size
    b: Size = 0
    what: str = ""


class TensorSpec(msgspec.Struct, frozen=True):
    """An input, output or parameter of a model.

    Shapes: ``shape`` in elements. ``dtype`` is spelled as in IR text.
    """

    name: str
    shape: tuple[Size, ...]
    dtype: str

    @property
    def extents(self) -> tuple[int, ...]:
        """Return the shape, which must be known.

        Raises: IRKitError if a dimension is not.
        """
        known = tuple(dim for dim in self.shape if isinstance(dim, int))
        if len(known) != len(self.shape):
            listed = ", ".join(map(str, self.shape))
            raise IRKitError(f"the shape [{listed}] of {self.name!r} is only known at a call")
        return known

    def at_sizes(self, sizes: Mapping[str, int]) -> "TensorSpec":
        """Return the description in a call in which dimensions and sizes have these values."""
        shape = tuple(dim if isinstance(dim, int) else sizes[dim] for dim in self.shape)
        return TensorSpec(self.name, shape, self.dtype)


class TensorPlace(msgspec.Struct, frozen=True):
    """Where a tensor lives during a run.

    Units: ``at`` is the number of an input or output, or an offset in bytes into the parameters or
    the arena; only the last can be a computed size.
    """

    kind: Literal["input", "output", "param", "arena"]
    at: Size


class KernelCall(msgspec.Struct, frozen=True):
    """Call of a kernel with the places of its buffers, in the order of its parameters.

    ``scalars`` are the numbers that it takes before its buffers, ``extents`` those behind them.
    ``node`` names the graph node it computes, ``operators`` what was fused into it: operators with
    the nodes they came from. ``records`` means that the kernel also takes a record.
    """

    kernel: str
    args: tuple[TensorPlace, ...]
    node: str = ""
    records: bool = False
    operators: tuple[str, ...] = ()
    scalars: tuple[Size, ...] = ()
    extents: tuple[Size, ...] = ()


class Copy(msgspec.Struct, frozen=True):
    """Copy of bytes.

    At the end of a run, it serves an output that is also an input, a parameter or another output.
    """

    to: TensorPlace
    source: TensorPlace
    size: Size


class Branch(msgspec.Struct, frozen=True, tag=True):
    """Choice between two ranges of calls: those from ``begin`` to before ``middle`` are made where
    the bool scalar at ``cond`` is true, those from ``middle`` to before ``end`` where it is false.
    """

    cond: TensorPlace
    begin: int
    middle: int
    end: int


class RowCopy(msgspec.Struct, frozen=True):
    """Copy of a row that an iteration computes to the table ``to`` of ``rows`` rows, which is 0
    before. Units: ``size`` in bytes, that of a row."""

    to: TensorPlace
    source: TensorPlace
    size: Size
    rows: Size


class Repeat(msgspec.Struct, frozen=True, tag=True):
    """Repetition of the calls from ``begin`` to before ``end`` while the bool scalar at ``cond`` is
    true and the i64 at ``number``, which counts iterations, is less than that at ``count`` and the
    number of rows.

    ``enter`` are copies before the first iteration, of the condition and the state; ``carry`` those
    after each, then ``rows``. ``name`` is that of the graph node.
    """

    begin: int
    end: int
    number: TensorPlace
    count: TensorPlace
    cond: TensorPlace
    enter: tuple[Copy, ...]
    carry: tuple[Copy, ...]
    rows: tuple[RowCopy, ...] = ()
    name: str = ""


Region = Branch | Repeat


class ImportedFunction(msgspec.Struct, frozen=True):
    """A function that kernels call, and the shared library that has it: its name, or a path."""

    symbol: str
    library: str


class MeasuredSize(msgspec.Struct, frozen=True):
    """A dimension that a run binds: the number of rows that the i64 at ``count`` says once the
    kernel call of the number ``after`` is done.

    It must be from 0 to ``most``. Then ``steps`` are computed; ``what`` says whose rows they are.
    """

    name: str
    count: TensorPlace
    after: int
    most: Size
    steps: tuple[SizeStep, ...]
    what: str


class ExecutorPlan(msgspec.Struct, frozen=True):
    """Everything a run does.

    ``regions`` are branches and loops over ``calls``, an outer one before those inside it.
    Units: sizes in bytes; ``params`` has the offset of each parameter in the parameter block.
    ``work`` says what one run of a kernel computes and moves, for kernels of which that is known.
    ``dims`` are the dimensions that the shapes of inputs bind at the call, ``sizes`` the arithmetic
    on them, in order. ``memory`` is what a call needs for arena and outputs: more than
    ``memory_limit`` refuses it. ``machine`` is what the automatic schedule of the kernels was
    chosen for, where that differs from the machine "generic". ``state`` pairs inputs with
    the outputs that are written over them. ``messages`` are those of the assertions of kernels,
    ``imports`` the functions that kernels of backends call. ``measured`` are dimensions that are
    only known during the run, in the order in which they are; ``capacities`` the largest shapes of
    outputs with such dimensions, by their numbers.
    """

    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    params: tuple[tuple[int, TensorSpec], ...]
    param_bytes: int
    arena_bytes: Size
    calls: tuple[KernelCall, ...]
    copies: tuple[Copy, ...] = ()
    regions: tuple[Region, ...] = ()
    work: dict[str, Work] = {}
    dims: tuple[Dimension, ...] = ()
    sizes: tuple[SizeStep, ...] = ()
    memory: Size = 0
    memory_limit: int = MOST_BYTES
    machine: dict[str, int | float | str] = {}
    state: tuple[StatePair, ...] = ()
    messages: dict[str, tuple[str, ...]] = {}
    imports: tuple[ImportedFunction, ...] = ()
    measured: tuple[MeasuredSize, ...] = ()
    capacities: dict[int, tuple[Size, ...]] = {}

    @property
    def size_names(self) -> tuple[str, ...]:
        """Return the names of dimensions and computed sizes, in the order of the table that the
        executor reads."""
        before = (*(dim.name for dim in self.dims), *(step.name for step in self.sizes))
        own = [(each.name, *(step.name for step in each.steps)) for each in self.measured]
        loops = [iteration_of(number) for number in self.measuring_loops]
        return (*before, *(name for names in own for name in names), *loops)

    @property
    def measuring_loops(self) -> tuple[int, ...]:
        """Return the numbers of the loops in which a dimension is measured, outer ones first: an
        error says in which iteration of these it was."""
        return tuple(
            number
            for number, region in enumerate(self.regions)
            if isinstance(region, Repeat)
            and any(region.begin <= size.after < region.end for size in self.measured)
        )


def iteration_of(region: int) -> str:
    """Return the name of the size that is the number of the iteration of a loop, from 0."""
    return f"iteration of region {region}"


FlowKind = Literal["call", "measure", "if", "else", "loop", "end"]
FlowEvent = tuple[FlowKind, int]
"""The number of a call or of a measured size, or what happens to the region of a number."""


def control_flow(plan: ExecutorPlan) -> Iterator[FlowEvent]:
    """Yield the calls in order, and where branches and loops begin, change sides and end.

    Both sides of a branch have a call, as each writes the result; so has a loop.
    """
    opened: list[int] = []
    waiting = 0
    measured: dict[int, list[int]] = {}
    for number, size in enumerate(plan.measured):
        measured.setdefault(size.after, []).append(number)
    for at in range(len(plan.calls) + 1):
        while opened and plan.regions[opened[-1]].end == at:
            yield "end", opened.pop()
        if opened:
            inner = plan.regions[opened[-1]]
            if isinstance(inner, Branch) and inner.middle == at:
                yield "else", opened[-1]
        while waiting < len(plan.regions) and plan.regions[waiting].begin == at:
            yield "if" if isinstance(plan.regions[waiting], Branch) else "loop", waiting
            opened.append(waiting)
            waiting += 1
        if at < len(plan.calls):
            yield "call", at
            for size in measured.get(at, ()):
                yield "measure", size


def evaluate_sizes(steps: Sequence[SizeStep], dims: Mapping[str, int]) -> dict[str, int]:
    """Return what the steps compute from the sizes of dimensions, by name: what the emitted code
    does, with Python's integers.

    Raises: IRKitError, with what the size was for, where the emitted code refuses a call.
    """
    found = dict(dims)
    for step in steps:
        a, b = (each if isinstance(each, int) else found[each] for each in (step.a, step.b))
        value = computed(step.op, a, b)
        if not -(1 << 63) <= value < 1 << 63 or (step.op in ("extent", "check") and value < 0):
            raise IRKitError(refusal(step, value))
        found[step.name] = value
    return found


def refusal(step: SizeStep, value: int | None = None) -> str:
    """Return the message for a call that a step refuses."""
    if step.op == "check":
        return step.what
    if step.op == "extent":
        return f"{step.what} would be {'negative' if value is None else value}"
    return f"{step.what} is a number that 64 bits do not hold"


def computed(op: str, a: int, b: int) -> int:
    """Return what an operator of the arithmetic on sizes computes, with Python's integers."""
    match op:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "//":
            return a // b if b else 0
        case "min":
            return min(a, b)
        case "max":
            return max(a, b)
        case _:
            return a
