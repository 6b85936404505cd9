"""Cache of object files on disk, named by the content they are made from.

The folder is ``IRKIT_CACHE_DIR``, or ``irkit`` in the user's cache folder; ``IRKIT_CACHE=0`` turns
the cache off. Its files are executed, so they are trusted like an installed package: only the owner
can read the folder, and a folder that others can write to is not used. A damaged file counts as
missing.
"""

import hashlib
import os
import tempfile
from functools import cache
from importlib.metadata import version
from pathlib import Path

from irkit.codegen import EMITTER_VERSION, compile_object, complete_target, llvm_binding
from irkit.core import Target, cache_folder

_MAGIC = b"irkit object 1\n"
_DIGEST = 32


def object_for(llvm_text: str, target: Target, *, unroll: bool = True) -> bytes:
    """Return the object file of LLVM IR text, from the cache if possible.

    ``unroll`` is that of :func:`irkit.codegen.compile_object`.
    """
    folder = cache_folder()
    if folder is None:
        return compile_object(llvm_text, target, unroll=unroll)
    path = folder / _name(llvm_text, complete_target(target), unroll)
    found = _read(path)
    if found is None:
        found = compile_object(llvm_text, target, unroll=unroll)
        _write(path, found)
    return found


@cache
def _producer() -> bytes:
    wheel = version("llvmlite")
    return f"{EMITTER_VERSION} {wheel} {llvm_binding.llvm_version_info}".encode()


def _name(llvm_text: str, target: Target, unroll: bool) -> str:
    level = str(target.opt_level) + ("" if unroll else " without unrolling")
    parts = [target.triple, target.cpu, ",".join(target.features), level, llvm_text]
    digest = hashlib.sha256(_producer())
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest() + ".o"


def _read(path: Path) -> bytes | None:
    try:
        data = path.read_bytes()
    except OSError:
        return None
    start = len(_MAGIC) + _DIGEST
    image = data[start:]
    if data[:start] != _MAGIC + hashlib.sha256(image).digest():
        return None
    return image


def _write(path: Path, image: bytes) -> None:
    """Write to a temporary file and rename it, so that no reader sees half a file.

    A full disk is not an error.
    """
    try:
        handle, name = tempfile.mkstemp(prefix=".new", dir=path.parent)
    except OSError:
        return
    try:
        with open(handle, "wb") as file:
            file.write(_MAGIC + hashlib.sha256(image).digest() + image)
        os.replace(name, path)
    except OSError:
        Path(name).unlink(missing_ok=True)
