"""Execution of native code.

Reading order: numpy_layout, cache and jit (make, link and load), pool (threads for parallel loops),
call (what was wrong with an argument), kernel (compile and call); model and package for whole
models.
"""

from irkit.runtime.cache import (
    cache_folder as cache_folder,
    object_for as object_for,
)
from irkit.runtime.jit import (
    Library as Library,
)
from irkit.runtime.kernel import (
    Kernel as Kernel,
    Module as Module,
    build_kernels as build_kernels,
    compile_functions as compile_functions,
)
from irkit.runtime.model import (
    Model as Model,
    load as load,
)
from irkit.runtime.numpy_layout import (
    check_numpy_layout as check_numpy_layout,
)
from irkit.runtime.package import (
    PackageContents as PackageContents,
)
from irkit.runtime.pool import (
    link as link,
    num_threads as num_threads,
    set_num_threads as set_num_threads,
)

check_numpy_layout()
