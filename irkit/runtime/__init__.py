"""Run native code. Reading order: numpy_layout, cache and jit (make, link and load), pool (threads
for parallel loops), call (what was wrong with an argument), kernel (compile and call); model and
package for whole models, command."""

from irkit.runtime.cache import cache_folder, object_for
from irkit.runtime.jit import Library
from irkit.runtime.kernel import Kernel, Module, build_kernels, compile_functions
from irkit.runtime.model import Model, load
from irkit.runtime.numpy_layout import check_numpy_layout
from irkit.runtime.package import Contents
from irkit.runtime.pool import link, num_threads, set_num_threads

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
    "link",
    "load",
    "num_threads",
    "object_for",
    "set_num_threads",
]
