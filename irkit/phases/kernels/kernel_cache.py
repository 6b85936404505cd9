"""Compiled kernels by what they are made from, in this process and on disk.

The key of a kernel is the structure of its loops as they are before the phases, with the names in
them, and all that is done to them: each pass with its options, by the digest of its source; the
target; whether results are verified; the versions of irkit, LLVM and Python. The name of the kernel
and the places in source files are left out, as long as all passes are irkit's: the same layer of
another model is found. Remarks may speak of places, but are made again with the steps when those
are asked for.

``IRKIT_CACHE=0`` turns all of it off, ``IRKIT_CACHE=memory`` what is on disk.
"""

import hashlib
import os
import platform
import threading
from collections import OrderedDict

import msgspec

from irkit.autoschedule import ERRORS
from irkit.core import structural_hash, walk
from irkit.ir import LOOP_LEVEL, PrimFunc
from irkit.phases.kernels.kernel_code import KernelCode, KernelTask
from irkit.runtime import producer, read_cached, write_cached
from irkit.transform import Pipeline, pipeline_digest

MOST_BYTES = 64 << 20
"""The bytes of all kernels that a process keeps in memory."""
_VARIABLE = "IRKIT_CACHE"


class KernelKeys:
    """The keys of kernels of one compilation, whose pipelines are read once."""

    def __init__(self) -> None:
        self._pipelines: dict[int, tuple[Pipeline, str | None]] = {}

    def of(self, task: KernelTask) -> str | None:
        """Return the key of a kernel; None if it is not cached."""
        if os.environ.get(_VARIABLE) == "0":
            return None
        digests = [self._digest(part) for part in (task.passes, task.legalize)]
        made_by = [digest for digest in digests if digest is not None]
        if len(made_by) < len(digests):
            return None
        parts = (
            structural_hash(task.func),
            *_names(task.func),
            *(() if task.is_own else _places(task.func)),
            *made_by,
            *(str(getattr(task.target, name)) for name in task.target.__struct_fields__),
            str(task.verify),
            os.environ.get(ERRORS, ""),
            platform.python_version(),
            producer().decode(),
        )
        return hashlib.sha256(msgspec.json.encode(parts)).hexdigest()

    def _digest(self, pipeline: Pipeline) -> str | None:
        found = self._pipelines.get(id(pipeline))
        if found is None:
            found = self._pipelines[id(pipeline)] = pipeline, _digest_of(pipeline)
        return found[1]


def _digest_of(pipeline: Pipeline) -> str | None:
    for _, p in pipeline.placed:
        # Its messages say where in the source an access is.
        if p.name == "instrument-bounds":
            return None
    return pipeline_digest(pipeline)


def _names(func: PrimFunc) -> list[str]:
    assert LOOP_LEVEL.symbols is not None
    return [str(getattr(each, "name", "")) for each in LOOP_LEVEL.symbols(func, None)]


def _places(func: PrimFunc) -> list[str]:
    """Return what the key leaves out, which a pass from elsewhere may look at."""
    return [func.name, *(str(getattr(node, "span", None)) for node in walk(func))]


class KernelCache:
    """Kernels in memory, those used last, over the ones on disk."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found: OrderedDict[str, KernelCode] = OrderedDict()
        self._bytes = 0

    def get(self, key: str, name: str) -> KernelCode | None:
        """Return the kernel of a key, if it is there, and can be called ``name``."""
        with self._lock:
            found = self._found.get(key)
            if found is not None:
                self._found.move_to_end(key)
        if found is None:
            data = read_cached(f"{key}.kernel")
            found = None if data is None else _decoded(data)
            if found is not None:
                self._keep(key, found)
        return found if found is not None and found.name in ("", name) else None

    def put(self, key: str, code: KernelCode) -> None:
        """Keep a kernel."""
        self._keep(key, code)
        write_cached(f"{key}.kernel", msgspec.msgpack.encode(code))

    def clear(self) -> None:
        """Forget what is in memory."""
        with self._lock:
            self._found.clear()
            self._bytes = 0

    def _keep(self, key: str, code: KernelCode) -> None:
        with self._lock:
            old = self._found.pop(key, None)
            self._found[key] = code
            self._bytes += len(code.image) - (0 if old is None else len(old.image))
            while self._bytes > MOST_BYTES:
                self._bytes -= len(self._found.popitem(last=False)[1].image)


KERNELS = KernelCache()
"""The kernels of this process."""


def _decoded(data: bytes) -> KernelCode | None:
    try:
        return msgspec.msgpack.decode(data, type=KernelCode)
    except msgspec.MsgspecError:
        return None
