"""Samples: a program, what runs on it, arguments, and expected results."""

from typing import Any, Literal, TypeAlias, get_args

import msgspec
from numpy.typing import NDArray

from irkit.core import IRKitError, IRModule
from irkit.debug import NO_SCHEDULE, InputSet
from irkit.fuzz.picks import Picks
from irkit.graph import GraphFunc
from irkit.ir import Buffer, PrimFunc
from irkit.schedule import ScheduleTrace
from irkit.transform import Pipeline

ProgramKind = Literal["programs", "schedules", "pipelines", "graphs", "onnx", "text"]
SubsystemKind = Literal[
    "c", "torch", "gradients", "records", "devices", "attention", "takes", "calls", "work"
]
"""Kinds that judge one subsystem; each is a row of ``irkit.fuzz.judge.subsystems``."""
Kind = ProgramKind | SubsystemKind
PROGRAM_KINDS: tuple[ProgramKind, ...] = get_args(ProgramKind)
SUBSYSTEM_KINDS: tuple[SubsystemKind, ...] = get_args(SubsystemKind)
KINDS: tuple[Kind, ...] = (*PROGRAM_KINDS, *SUBSYSTEM_KINDS)
LOOP_SAMPLES: tuple[Kind, ...] = ("programs", "schedules", "pipelines")
"""Kinds of samples whose program is a loop function."""

LIMIT = 1 << 20
"""The numbers of a case of a subsystem are below this."""

Array: TypeAlias = NDArray[Any]
Tolerance: TypeAlias = "Array | None"
Program: TypeAlias = "PrimFunc | GraphFunc | IRModule | bytes | str | Numbered"


class Numbered(msgspec.Struct, frozen=True):
    """A case of a subsystem, as the numbers that it is drawn from when it is judged.

    Each is below ``LIMIT``, and stands for a share of however many things there are to choose from:
    0 is the simplest choice, also after the last number.
    """

    numbers: tuple[int, ...]

    @property
    def picks(self) -> Picks:
        """Return the choices that the numbers stand for."""
        left = iter(self.numbers)
        return Picks(lambda count: next(left, 0) * count // LIMIT)

    def script(self) -> str:
        """Return the numbers as text."""
        return f"numbers: {', '.join(map(str, self.numbers))}"


class Unusable(IRKitError):
    """Choices that led to no legal sample, such as a schedule with no accepted primitive."""


class Sample(msgspec.Struct, frozen=True, eq=False):
    """One program to test. ``ir`` is a function or module, the bytes of an ONNX model, IR
    text, or numbers, from which a subsystem draws the case itself.

    The schedule runs on it, then the pipeline. ``inputs`` are sets of arguments in the order of the
    parameters; outputs of loop functions are among them, filled with numbers that must not matter.
    For each set ``expected`` holds the results in order (those of ``outputs`` for a loop function,
    those of the graph or model otherwise), or None if NumPy did not compute them. ``allowed`` holds
    for each result the tolerance of its elements: None is bit for bit, except that NaN equals NaN,
    and that zeros of either sign are equal unless ``zeros_have_signs``.

    ``features`` count what it has: ``node:Select``, ``op:softmax``, ``dtype:f16``, ``extent:0``,
    ``primitive:split``, ``refused:split``, ``pass:unroll-loops``, ``rung:fractions``.

    A ``damaged`` sample is text, or the bytes of a model, which may be refused with an error that
    has a location; what is accepted must mean what it says.

    A ``sound`` sample has a meaning although NumPy did not compute it: an interpreter that refuses
    it is wrong.

    A sample that ``may_lack_memory`` has arguments with extents so large that its buffers may fit
    into no memory: what the interpreter refuses of the sample as drawn, others may refuse too. What
    is not refused must give the expected results.

    A model that ``may_be_refused`` is legal, but irkit does not promise to import it.
    """

    kind: Kind
    ir: Program
    pipeline: Pipeline
    schedule: ScheduleTrace = NO_SCHEDULE
    inputs: tuple[InputSet, ...] = ()
    expected: tuple[tuple[Array, ...] | None, ...] = ()
    allowed: tuple[tuple[Tolerance, ...], ...] = ()
    features: tuple[str, ...] = ()
    zeros_have_signs: bool = False
    damaged: bool = False
    sound: bool = False
    may_lack_memory: bool = False
    may_be_refused: bool = False

    @property
    def outputs(self) -> tuple[int, ...]:
        """The positions of the outputs among the arguments of a loop function."""
        return outputs_of(self.ir) if isinstance(self.ir, PrimFunc) else ()


def outputs_of(func: PrimFunc) -> tuple[int, ...]:
    """Return the positions of outputs: the parameters that the function names, or all arrays."""
    named = dict(func.attrs).get("outputs")
    if isinstance(named, tuple):
        return tuple(int(str(place)) for place in named)
    return tuple(at for at, param in enumerate(func.params) if isinstance(param, Buffer))
