"""What links and runs code for other processors: a row for each, and for C each of its compilers.

Nothing else here knows an emulator by name.
"""

import msgspec

from irkit.core import Target


class Emulated(msgspec.Struct, frozen=True):
    """How programs of a processor are linked and run. ``cpus`` maps what a target names to what the
    emulator calls it; "" stands for all others."""

    family: str
    compiler: str
    command: str
    cpus: dict[str, str]
    packages: str
    cpu: str = ""

    @property
    def run(self) -> tuple[str, ...]:
        """The command that runs a program."""
        return (self.command, "-cpu", self.cpus.get(self.cpu, self.cpus[""]))

    def of(self, target: Target) -> "Emulated":
        """Return the row for the processor of a target; vectors are told by its features."""
        wanted = "vectors" if "+v" in target.features else target.cpu
        return msgspec.structs.replace(self, cpu=wanted)


_VECTORS = "rv64,v=true,vlen=128,vext_spec=v1.0"
EMULATED = (
    Emulated(
        "aarch64",
        "aarch64-linux-gnu-gcc",
        "qemu-aarch64",
        {"": "max", "cortex-a72": "cortex-a72", "cortex-a76": "cortex-a76",
         "neoverse-n1": "neoverse-n1"},
        "qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross",
    ),
    Emulated(
        "riscv64",
        "riscv64-linux-gnu-gcc",
        "qemu-riscv64",
        {"": "rv64", "vectors": _VECTORS},
        "qemu-user gcc-riscv64-linux-gnu libc6-dev-riscv64-cross",
    ),
)  # fmt: skip


def emulated_by(family: str) -> Emulated | None:
    """Return the row of an architecture, or None."""
    return next((row for row in EMULATED if row.family == family), None)


def emulated_for_compiler(compiler: str) -> Emulated | None:
    """Return the row whose programs a compiler makes, or None for one of this machine."""
    return next((row for row in EMULATED if compiler.startswith(f"{row.family}-")), None)
