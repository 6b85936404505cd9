"""The plan of a model's executor, as data: tensors, their places, kernel calls, copies."""

from typing import Literal

import msgspec

ALIGNMENT = 64


class TensorSpec(msgspec.Struct, frozen=True):
    """A tensor at the border of a model. Shapes: ``shape`` in elements; ``dtype`` as irkit writes
    it."""

    name: str
    shape: tuple[int, ...]
    dtype: str


class TensorPlace(msgspec.Struct, frozen=True):
    """Where a tensor lives during a run.

    Units: ``at`` is the number of an input or output, or an offset in bytes into the parameters or
    the arena.
    """

    kind: Literal["input", "output", "param", "arena"]
    at: int


class KernelCall(msgspec.Struct, frozen=True):
    """One kernel called with the places of its buffers, in order of its parameters; ``node`` says
    what it is for, ``records`` whether it takes the record of a call as well."""

    kernel: str
    args: tuple[TensorPlace, ...]
    node: str = ""
    records: bool = False


class Copy(msgspec.Struct, frozen=True):
    """Bytes moved at the end of a run, for an output that is also an input, a parameter or another
    output."""

    to: TensorPlace
    source: TensorPlace
    size: int


class ExecutorPlan(msgspec.Struct, frozen=True):
    """All that a run does. Units: sizes in bytes; ``params`` holds each parameter's offset in the
    parameter block."""

    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    params: tuple[tuple[int, TensorSpec], ...]
    param_bytes: int
    arena_bytes: int
    calls: tuple[KernelCall, ...]
    copies: tuple[Copy, ...] = ()
