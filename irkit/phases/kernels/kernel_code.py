"""One kernel of a model: its passes, and what comes out of them."""

from collections.abc import Callable, Generator

import msgspec

from irkit.codegen import assertions, emit, record_size
from irkit.core import IRKitError, Target
from irkit.ir import LOOP_LEVEL, PrimFunc, Work, work_of
from irkit.runtime import can_rename, object_for, with_symbols
from irkit.transform import Apply, Pipeline, Step, apply_here, is_own, recorded, run_recorded

NAME = "irkit_kernel"
"""The name that a kernel has while it is compiled, so that equal kernels of any name are one."""


class KernelTask(msgspec.Struct, frozen=True, eq=False):
    """A kernel to compile: its function, named as the executor calls it, and the pipelines that it
    goes through. Work is counted between them, where a function is one operation."""

    func: PrimFunc
    passes: Pipeline
    legalize: Pipeline
    target: Target
    verify: bool

    @property
    def is_own(self) -> bool:
        """True if all passes are irkit's."""
        return all(is_own(p) for part in (self.passes, self.legalize) for _, p in part.placed)

    def steps(self, *, apply: Apply = apply_here) -> Generator[Step, None, "LoweredKernel"]:
        """Run all passes, one step at a time."""
        func, counted = self.func, self.func
        for part in (self.passes, self.legalize):
            counted, start = func, 0 if part is self.passes else len(self.passes.names)
            made = part.steps(func, verify=self.verify, start=start, apply=apply)
            for step in recorded(made, (LOOP_LEVEL,)):
                yield step
                assert isinstance(step.after, PrimFunc)
                func = step.after
        return LoweredKernel(self.func.name, counted, func)

    def lowered(self, *, apply: Apply = apply_here) -> "LoweredKernel":
        """Run all passes; what nobody sees is verified at the end."""
        if not self.verify:
            return self.recorded(_ignore, apply=apply)
        counted = run_recorded(self.passes, self.func, PrimFunc, (LOOP_LEVEL,), apply=apply)
        func = run_recorded(self.legalize, counted, PrimFunc, (LOOP_LEVEL,), apply=apply)
        return LoweredKernel(self.func.name, counted, func)

    def recorded(
        self, record: Callable[[Step], object], *, apply: Apply = apply_here
    ) -> "LoweredKernel":
        """Run all passes and pass each step to ``record``."""

        def to_the_end() -> Generator[Step, None, None]:
            nonlocal lowered
            lowered = yield from self.steps(apply=apply)

        lowered: LoweredKernel | None = None
        for step in to_the_end():
            record(step)
        assert lowered is not None
        return lowered


class LoweredKernel(msgspec.Struct, frozen=True, eq=False):
    """A kernel of a name after its phases, ``counted``, and at the end of all passes."""

    name: str
    counted: PrimFunc
    func: PrimFunc

    def code(self, target: Target) -> "KernelCode":
        """Return what the executor needs; C source needs no object file."""
        image = b"" if target.kind == "c" else _object(self.func, target)
        return KernelCode(
            "" if can_rename(image) else self.name,
            image,
            work_of(self.counted),
            record_size(self.func) > 0,
            tuple(each.message for each in assertions(self.func)),
        )


class KernelCode(msgspec.Struct, frozen=True):
    """A compiled kernel: its object file, in which it is called ``NAME`` unless it can only be that
    of one ``name``, its work if it can be counted, whether it takes a record, and the messages of
    its assertions."""

    name: str
    image: bytes
    work: Work | None
    records: bool
    messages: tuple[str, ...]

    def image_of(self, symbol: str) -> bytes:
        """Return the object file of the kernel of a symbol."""
        return self.image if self.name else with_symbols(self.image, NAME, symbol)


def _object(func: PrimFunc, target: Target) -> bytes:
    try:
        image = object_for(emit([func.replace(name=NAME)], target), target)
    except IRKitError:
        image = b""
    # Also where the error is to have the kernel's name.
    return image if can_rename(image) else object_for(emit([func], target), target)


def _ignore(step: Step) -> None:
    return None
