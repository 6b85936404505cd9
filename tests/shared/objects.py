"""Object files that tests have in common: LLVM makes the same from the same text, so each is made
once, by whichever worker comes first."""

import hashlib
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

from irkit.codegen import complete_target
from irkit.core import Target
from irkit.runtime import cache

_FOLDER = "IRKIT_TEST_OBJECTS"


class SharedObjects:
    """A folder of object files for one run of pytest, with all its workers.

    It stands behind :func:`irkit.runtime.cache.object_for` only: what calls LLVM itself, such as
    the tests of the compiler and the invariants of the fuzzer, compiles each time.
    """

    def __init__(self) -> None:
        self.owned = _FOLDER not in os.environ  # Workers inherit it.
        if self.owned:
            os.environ[_FOLDER] = tempfile.mkdtemp(prefix="irkit-test-objects-")
        self.folder = Path(os.environ[_FOLDER])
        self.compile_object = cache.compile_object

    def __call__(self, llvm_text: str, target: Target, *, unroll: bool = True) -> bytes:
        """Compile a module of LLVM IR, or read what another test has made of it."""
        key = repr((complete_target(target), unroll, llvm_text)).encode()
        path = self.folder / hashlib.sha256(key).hexdigest()
        try:
            return path.read_bytes()
        except FileNotFoundError:
            made = self.compile_object(llvm_text, target, unroll=unroll)
        with suppress(OSError):  # The folder is gone in a process that outlives the run.
            with tempfile.NamedTemporaryFile(dir=self.folder, delete=False) as file:
                file.write(made)
            os.replace(file.name, path)
        return made

    def remove(self) -> None:
        """Delete the folder, if it is this process that has made it."""
        if self.owned:
            shutil.rmtree(self.folder, ignore_errors=True)
            del os.environ[_FOLDER]
