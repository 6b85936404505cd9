"""Plan of a model's executor, as data: tensors, their places, kernel calls, copies."""

from typing import Literal

import msgspec


class TensorSpec(msgspec.Struct, frozen=True):
    """An input, output or parameter of a model.

    Shapes: ``shape`` in elements. ``dtype`` is spelled as in IR text.
    """

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
    """Call of a kernel with the places of its buffers, in the order of its parameters.

    ``node`` names the graph node it computes; ``records`` means that the kernel also takes a
    record.
    """

    kernel: str
    args: tuple[TensorPlace, ...]
    node: str = ""
    records: bool = False


class Copy(msgspec.Struct, frozen=True):
    """Copy of bytes at the end of a run.

    It serves an output that is also an input, a parameter or another output.
    """

    to: TensorPlace
    source: TensorPlace
    size: int


class ExecutorPlan(msgspec.Struct, frozen=True):
    """Everything a run does.

    Units: sizes in bytes; ``params`` has the offset of each parameter in the parameter block.
    """

    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    params: tuple[tuple[int, TensorSpec], ...]
    param_bytes: int
    arena_bytes: int
    calls: tuple[KernelCall, ...]
    copies: tuple[Copy, ...] = ()
