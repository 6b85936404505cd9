"""C files built by a compiler of this machine, and their functions called with NumPy arrays."""

import ctypes
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from irkit.codegen import record_size
from irkit.codegen.c.source_file import c_symbol, emit_c
from irkit.core import IRKitError, Target
from irkit.ir import Buffer, PrimFunc, numpy_dtype, shape_vars

FLAGS = ("-std=c11", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC")
COMPILERS = [name for name in ("gcc", "clang", "clang-14") if shutil.which(name)]
needs_compiler = pytest.mark.skipif(not COMPILERS, reason="there is no C compiler: apt install gcc")


@cache
def need_sanitizers(compiler: str) -> None:
    """Skip a test if a compiler has no library of the sanitizers of addresses and behaviour."""
    command = [compiler, "-fsanitize=address,undefined", "-x", "c", "-o", os.devnull, "-"]
    done = subprocess.run(
        command,
        input="int main(void) { return 0; }",
        text=True,
        check=False,
        capture_output=True,
        timeout=60,
    )
    if done.returncode:
        pytest.skip(f"{compiler} has no sanitizers here: apt install libclang-rt-dev")


class CLibrary:
    """Functions of a C file, called as the interpreter is."""

    def __init__(
        self,
        funcs: Sequence[PrimFunc],
        folder: Path,
        *,
        compiler: str = "",
        level: str = "-O1",
        target: Target | None = None,
        hosted: bool = False,
        more: str = "",
    ) -> None:
        source, library = folder / "kernels.c", folder / "kernels.so"
        source.write_text(emit_c(funcs, target or Target("c"), hosted=hosted) + more)
        command = [compiler or COMPILERS[0], *FLAGS, level, "-o", library, source, "-lm"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
        assert done.returncode == 0, done.stderr[:4000]
        self.library = ctypes.CDLL(str(library))

    def call(self, func: PrimFunc, *args: Any) -> None:
        """Call a function. Raises: IRKitError if it does not return 0."""
        function = self.library[c_symbol(func.name)]
        function.restype = ctypes.c_int32
        sizes: dict[int, int] = {}
        given: list[Any] = []
        for param, arg in zip(func.params, args, strict=True):
            if isinstance(param, Buffer):
                array = np.asarray(arg)
                given.append(ctypes.c_void_p(array.ctypes.data))
                steps = [step // array.itemsize for step in array.strides]
                for dim, size in zip(
                    (*param.shape, *(param.strides or ())), (*array.shape, *steps), strict=False
                ):
                    sizes.setdefault(id(dim), size)
            else:
                given.append(_scalar(numpy_dtype(param.dtype).type(arg)))
        given += [ctypes.c_int64(sizes[id(var)]) for var in shape_vars(func)]
        count = record_size(func)
        if count:
            given.append((ctypes.c_int64 * count)())
        status = function(*given)
        if status:
            raise IRKitError(f"{func.name} returned {status}")


def _scalar(value: Any) -> Any:
    """Return a number as C takes it: a 16-bit float as its bits."""
    kind = np.dtype(type(value))
    if kind.itemsize == 2 and kind.kind not in "iu":
        value = value.view(np.uint16)
        kind = np.dtype(np.uint16)
    by_kind: Mapping[str, Any] = {
        "f4": ctypes.c_float, "f8": ctypes.c_double, "b1": ctypes.c_uint8, "i1": ctypes.c_int8,
        "i2": ctypes.c_int16, "i4": ctypes.c_int32, "i8": ctypes.c_int64, "u1": ctypes.c_uint8,
        "u2": ctypes.c_uint16, "u4": ctypes.c_uint32, "u8": ctypes.c_uint64,
    }  # fmt: skip
    return by_kind[f"{kind.kind}{kind.itemsize}"](value.item())
