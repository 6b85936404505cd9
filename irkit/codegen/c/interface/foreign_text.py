"""Kernels of a model whose C is not irkit's: a file for each, since their helpers may have equal
names."""

from collections.abc import Iterable

import msgspec

from irkit.codegen.c.source_file import c_signature
from irkit.codegen.executor_plan import ImportedFunction
from irkit.ir import PrimFunc


class ForeignKernel(msgspec.Struct, frozen=True):
    """C source that defines the function ``symbol``, which has the parameters of ``kernel``."""

    kernel: PrimFunc
    symbol: str
    code: str

    def named(self, prefix: str) -> PrimFunc:
        """Return the kernel under the name that its function has in the model ``prefix``."""
        return self.kernel.replace(name=f"{prefix}_{self.symbol}")

    def declared(self, prefix: str) -> str:
        return f"int32_t {prefix}_{self.symbol}({c_signature(self.kernel)});"

    def file(self, prefix: str) -> str:
        """Return the text of its file."""
        return (
            f"/* A kernel of the model {prefix}, by a backend. */\n#include <stdint.h>\n"
            f"#define {self.symbol} {prefix}_{self.symbol}\n"
            f"{self.declared(prefix)}\n\n{self.code}\n"
        )


def link_flags(imports: Iterable[ImportedFunction]) -> tuple[str, ...]:
    """Return what a linker needs for the shared libraries whose functions kernels call."""
    flags: list[str] = []
    for library in dict.fromkeys(each.library for each in imports):
        folder, slash, _ = library.rpartition("/")
        flags += [library, f"-Wl,-rpath,{folder}"] if slash else [f"-l:{library}"]
    return tuple(flags)
