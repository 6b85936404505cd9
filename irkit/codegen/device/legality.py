"""What a device can run: launches against its data, before any code is written.

That blocks are independent, and threads between two barriers, is what the loops say
(docs/semantics.md): ``bind`` refuses others, and ``irkit check`` finds those that meet.
"""

import math

from irkit.codegen.c.source_file import c_symbol
from irkit.codegen.device.program import (
    AXES,
    DeviceProgram,
    HostBranch,
    HostLoop,
    Launch,
    Steps,
    constant_dims,
    dim_text,
)
from irkit.core import DeviceRow, IRKitError, Node, Span, deep_recursion, walk
from irkit.ir import Assert, Expr, Var, as_int
from irkit.ir.threads import split_threads


@deep_recursion
def check_program(program: DeviceProgram, device: DeviceRow) -> None:
    """Raise IRKitError if a device cannot run a program: what, where, expected, found, remedy."""
    _check_steps(program.steps, device, {*program.scalars})


def _check_steps(steps: Steps, device: DeviceRow, known: set[Node]) -> None:
    for step in steps:
        if isinstance(step, Launch):
            _Check(step, device).all(known)
        elif isinstance(step, HostBranch):
            _check_steps(step.then, device, known)
            _check_steps(step.otherwise, device, known)
        else:
            inner = {step.loop.var} if isinstance(step, HostLoop) else set[Node]()
            _check_steps(step.steps, device, known | inner)


def threads_of(launch: Launch) -> tuple[int, int, int]:
    """Return the threads of a block along x, y and z.

    Raises: IRKitError if they are not constant.
    """
    x, y, z = constant_dims(launch.block)
    if x is None or y is None or z is None:
        raise IRKitError(
            f"the threads of a block of {launch.kernel.name!r} must be a constant number, found "
            f"{' x '.join(map(dim_text, launch.block))}",
            hint="Split the loop by a constant factor, and bind the inner loop to threads.",
            span=launch.span,
        )
    return x, y, z


def shared_bytes(launch: Launch) -> int:
    """Return the bytes of memory that the threads of a block share."""
    total = 0
    for buffer in launch.shared:
        dims = constant_dims_of(buffer.shape)
        if dims is None:
            raise IRKitError(
                f"buffer {buffer.name!r} of {launch.kernel.name!r}, which the threads of a block "
                "share, must have constant size",
                hint="Give its tile constant extents.",
                span=buffer.span or launch.span,
            )
        total += -(-math.prod(dims) * buffer.dtype.bytes // 16) * 16
    return total


def dynamic_bytes(launch: Launch, device: DeviceRow) -> int:
    """Return the bytes of shared memory that a launch asks for; 0 if its kernel declares them."""
    used = shared_bytes(launch)
    return used if device.static_bytes and used > device.static_bytes else 0


def described(launch: Launch) -> str:
    """Return the geometry of a launch as text: grid, block, bytes of shared memory."""
    grid, block = (" x ".join(map(dim_text, dims)) for dims in (launch.grid, launch.block))
    shared = f", {shared_bytes(launch)} bytes of shared memory" if launch.shared else ""
    return f"{c_symbol(launch.kernel.name)}: {grid} blocks of {block} threads{shared}"


def constant_dims_of(shape: tuple[Expr, ...]) -> tuple[int, ...] | None:
    """Return a constant shape, or None."""
    dims = [as_int(dim) for dim in shape]
    known = tuple(dim for dim in dims if dim is not None)
    return known if len(known) == len(dims) else None


class _Check:
    """The checks of one launch."""

    def __init__(self, launch: Launch, device: DeviceRow) -> None:
        self.launch = launch
        self.kernel = launch.kernel
        self.device = device

    def all(self, known: set[Node]) -> None:
        self._sizes(known)
        self._memory()
        self._assertions()
        self._barriers()

    def _refuse(self, what: str, hint: str, span: Span | None = None) -> None:
        raise IRKitError(
            f"kernel {self.kernel.name!r} for {self.device.name}: {what}",
            hint=hint,
            span=span or self.launch.span,
        )

    def _sizes(self, known: set[Node]) -> None:
        block = threads_of(self.launch)
        threads, most = math.prod(block), self.device.threads
        if threads > most:
            self._refuse(
                f"a block has {threads} threads ({' x '.join(map(str, block))}); expected at most "
                f"{most}",
                "Split a loop that is bound to threads, and bind the outer part to blocks.",
            )
        for axis, size, limit in zip(AXES, block, self.device.block, strict=True):
            if size > limit:
                self._refuse(
                    f"threadIdx.{axis} has {size} threads; expected at most {limit}",
                    f"Split its loop, or bind it to another axis than {axis}.",
                )
        grid = constant_dims(self.launch.grid)
        for axis, count, limit, extent in zip(
            AXES, grid, self.device.grid, self.launch.grid, strict=True
        ):
            unknown = [var.name for var in walk(extent, Var) if var not in known]
            if unknown:
                self._refuse(
                    f"blockIdx.{axis} has {dim_text(extent)} blocks, but {unknown[0]!r} is known "
                    "inside the kernel only",
                    "Bind a loop whose extent the caller knows.",
                )
            if count is not None and count > limit:
                self._refuse(
                    f"blockIdx.{axis} has {count} blocks; expected at most {limit}",
                    "Bind the longest loop to blockIdx.x, or fuse fewer loops.",
                )

    def _memory(self) -> None:
        used, most = shared_bytes(self.launch), self.device.shared_bytes
        if used > most:
            names = ", ".join(f"{b.name} {b.dtype}" for b in self.launch.shared)
            self._refuse(
                f"a block shares {used} bytes of memory ({names}); expected at most {most}",
                "Make the tiles smaller, or keep some in memory of a thread.",
                self.launch.shared[0].span,
            )

    def _assertions(self) -> None:
        found = next(iter(walk(self.kernel.body, Assert)), None)
        if found is not None:
            self._refuse(
                "an assertion inside a launch cannot stop it",
                'Check with target="llvm", which runs the same program.',
                found.span,
            )

    def _barriers(self) -> None:
        """Refuse barriers that not all threads of a block reach."""
        try:
            split_threads(self.kernel)
        except IRKitError as error:
            self._refuse(error.message, error.hint or "", error.span)
