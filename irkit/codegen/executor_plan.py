"""Plan of a model's executor, as data: tensors, their places, kernel calls, copies."""

from typing import Literal

import msgspec

from irkit.ir import Work


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

    ``node`` names the graph node it computes, ``operators`` what was fused into it: operators with
    the nodes they came from. ``records`` means that the kernel also takes a record.
    """

    kernel: str
    args: tuple[TensorPlace, ...]
    node: str = ""
    records: bool = False
    operators: tuple[str, ...] = ()


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
    ``work`` says what one run of a kernel computes and moves, for kernels of which that is known.
    """

    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    params: tuple[tuple[int, TensorSpec], ...]
    param_bytes: int
    arena_bytes: int
    calls: tuple[KernelCall, ...]
    copies: tuple[Copy, ...] = ()
    work: dict[str, Work] = {}
