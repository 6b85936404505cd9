"""Linking of object files into this process."""

import itertools
import threading
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np

from irkit.codegen import BF16_SYMBOL, NDARRAY_SYMBOL, has_llvm, host_target, llvm_binding
from irkit.core import IRKitError
from irkit.runtime.object_loader import LoadedCode

_numbers = itertools.count()
_linking = threading.Lock()


@cache
def _engine() -> Any:
    """Return the only JIT linker of this process; libraries are added and removed independently."""
    host_target()
    return llvm_binding.create_lljit_compiler()


class Library:
    """Native code in this process, from object files; unloaded when nothing refers to it.

    Whoever holds an address must also hold the library. ``symbols`` are the functions to export,
    ``imports`` addresses that the object files refer to by name. LLVM's ORC links them, or where
    LLVM is missing, ``object_loader``. Raises: IRKitError if a symbol is
    missing or an object file is damaged.
    """

    def __init__(
        self,
        objects: Sequence[bytes],
        symbols: Iterable[str],
        imports: Mapping[str, int] | None = None,
    ) -> None:
        self.symbols = tuple(symbols)
        known = {
            NDARRAY_SYMBOL: id(np.ndarray),
            BF16_SYMBOL: np.dtype(ml_dtypes.bfloat16).num,
            **(imports or {}),
        }
        link = _linked_by_orc if has_llvm() else LoadedCode
        self._code: Any = link(objects, self.symbols, known)

    def address(self, symbol: str) -> int:
        """Return the address of an exported symbol."""
        if symbol not in self.symbols:
            raise IRKitError(f"the library does not export {symbol!r}")
        return self._code[symbol]


def _linked_by_orc(
    objects: Sequence[bytes], symbols: Sequence[str], imports: Mapping[str, int]
) -> Any:
    builder = llvm_binding.JITLibraryBuilder()
    for image in objects:
        builder.add_object_img(image)
    builder.add_current_process()
    for name, address in imports.items():
        builder.import_symbol(name, address)
    for name in symbols:
        builder.export_symbol(name)
    with _linking:
        try:
            return builder.link(_engine(), f"irkit{next(_numbers)}")
        except RuntimeError as error:
            raise IRKitError(f"the native code cannot be linked: {error}") from None
