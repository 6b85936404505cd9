"""A memory scope, as data: who reaches it, what it may hold, and where it lies."""

import re
from typing import Literal

import msgspec

from irkit.core import IRKitError
from irkit.ir.dtype import DType, as_dtype

_NAME = re.compile(r"[a-z][a-z0-9_.]*\Z")
Place = Literal["", "stack", "heap"]


class MemoryScope(msgspec.Struct, frozen=True):
    """The rules of a memory scope; with the defaults it is memory like any other.

    ``about`` is what it is, in a few words. A buffer belongs to one iteration of the loops around
    its allocation. Of a ``shared`` scope, all threads of a nest share it, also if it is allocated
    inside their loops; of a ``private`` one, each thread has its own, also if it is allocated
    around them. ``types`` are the names of the element types that it may hold, none for any. In
    native code, a buffer begins at a multiple of ``align`` bytes, takes at most ``most_bytes``, and
    lies on the ``stack`` or the ``heap``; 0 and nothing leave that open.
    """

    name: str
    about: str = ""
    shared: bool = False
    private: bool = False
    types: tuple[str, ...] = ()
    align: int = 0
    most_bytes: int = 0
    place: Place = ""

    def __post_init__(self) -> None:
        reason = self._problem()
        if reason:
            raise IRKitError(f"{self.name[:100]!r} is not a memory scope: {reason}")
        for name in self.types:
            as_dtype(name)

    def type_problem(self, dtype: DType) -> str:
        """Return why the scope may not hold elements of a type, or nothing."""
        if not self.types or str(dtype.element) in self.types:
            return ""
        return f"scope {self.name!r} holds {' or '.join(self.types)}, found {dtype.element}"

    def size_problem(self, size: int | None) -> str:
        """Return why the scope may not hold so many bytes (None if that is not constant), or
        nothing."""
        if not self.most_bytes and self.place != "stack":
            return ""
        if size is None:
            return f"scope {self.name!r} holds buffers of constant size"
        if self.most_bytes and size > self.most_bytes:
            return f"scope {self.name!r} holds at most {self.most_bytes} bytes, found {size}"
        return ""

    def _problem(self) -> str:
        if not _NAME.match(self.name):
            return "its name must be lower case"
        if self.align < 0 or self.align & (self.align - 1):
            return f"its alignment is {self.align}; expected a power of two"
        if self.most_bytes < 0:
            return f"it holds at most {self.most_bytes} bytes"
        if self.place not in ("", "stack", "heap"):
            return f"it lies in {self.place!r}; expected 'stack', 'heap' or nothing"
        if self.shared and self.private:
            return "it is shared by threads and private to each of them; expected one of the two"
        return ""
