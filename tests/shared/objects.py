"""Object files that tests have in common: LLVM makes the same from the same text, so each is made
once, by whichever worker comes first.

This stands behind :func:`irkit.runtime.cache.object_for` only: what calls LLVM itself, such as the
tests of the compiler and the invariants of the fuzzer, compiles each time.
"""

import hashlib
import os
import tempfile
from contextlib import suppress

from irkit.codegen import compile_object, complete_target
from irkit.core import Target
from irkit.runtime import cache
from tests.shared.folder import FOLDER


def install() -> None:
    """Share object files from now on."""
    cache.compile_object = shared_object


def shared_object(llvm_text: str, target: Target, *, unroll: bool = True) -> bytes:
    """Compile a module of LLVM IR, or read what another test has made of it."""
    key = repr((complete_target(target), unroll, llvm_text)).encode()
    path = FOLDER / f"{hashlib.sha256(key).hexdigest()}.o"
    with suppress(FileNotFoundError):
        return path.read_bytes()
    made = compile_object(llvm_text, target, unroll=unroll)
    with suppress(OSError):  # The folder is gone in a process that outlives the run.
        with tempfile.NamedTemporaryFile(dir=FOLDER, delete=False) as file:
            file.write(made)
        os.replace(file.name, path)
    return made
