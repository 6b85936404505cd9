"""Run native code. Reading order: numpy_layout, cache and jit (make, link and load), call (what was
wrong with an argument), kernel (compile and call); model and package for whole models,
command."""

from irkit.runtime.cache import cache_folder, object_for
from irkit.runtime.jit import Library
from irkit.runtime.kernel import Kernel, Module, build_kernels, compile_functions
from irkit.runtime.model import Model, load
from irkit.runtime.numpy_layout import check_numpy_layout
from irkit.runtime.package import Contents

check_numpy_layout()

__all__ = [
    "Contents",
    "Kernel",
    "Library",
    "Model",
    "Module",
    "build_kernels",
    "cache_folder",
    "check_numpy_layout",
    "compile_functions",
    "load",
    "object_for",
]
