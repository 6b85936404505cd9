"""LLVM, which is loaded when it is first used: packages run where llvmlite is not installed."""

from functools import cache
from importlib import import_module
from typing import Any

from irkit.core import IRKitError


@cache
def has_llvm() -> bool:
    """Return True if llvmlite can be imported."""
    try:
        import_module("llvmlite.binding")
    except (ImportError, OSError):  # OSError: the shared library of a wheel for another system.
        return False
    return True


class _LLVM:
    def __getattr__(self, name: str) -> Any:
        if not has_llvm():
            raise IRKitError(
                "compiling needs llvmlite, which cannot be imported",
                hint="pip install llvmlite. Without it, packages can be loaded and run.",
            )
        return getattr(import_module("llvmlite.binding"), name)


llvm_binding: Any = _LLVM()  # llvmlite comes without types.
