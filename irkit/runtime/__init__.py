"""Execution of native code.

Reading order: numpy_layout, cache and jit (make, link and load), object_loader (the same without
LLVM), pool (threads for parallel loops), call (what was wrong with an argument), profiles (what
takes how long), kernel (compile and call), device (launches on devices with threads); packages,
arenas, model_arrays, model_calls (a call in full, of a model here or in a library), array_files,
quick_call and model for whole models; specialised for models that are compiled at the call;
c_library for models in shared libraries.

The emitted stub reads the fields of NumPy arrays directly and says only which argument is wrong;
``call`` finds the words. Where the fields lie is compared with NumPy when this folder is imported.
Object files are cached by content, in a folder that is trusted like an installed package and not
used if others may write to it. One parallel region runs at a time, and who finds the pool busy runs
alone. Chunks are taken in order and the first failed one counts, so an error is the one that serial
code gives. A child forked while a region ran resets the pool. A package is a zip file, not
compressed; its code is checked before anything is linked, and large weights are mapped.
"""

from irkit.runtime.arenas import (
    aligned as aligned,
)
from irkit.runtime.array_files import (
    named_type as named_type,
    write_arrays as write_arrays,
)
from irkit.runtime.c_library import (
    LibraryModel as LibraryModel,
    load_library as load_library,
)
from irkit.runtime.cache import (
    SIZE_VARIABLE as SIZE_VARIABLE,
    cache_folder as cache_folder,
    cached_file as cached_file,
    most_cached_bytes as most_cached_bytes,
    object_for as object_for,
    producer as producer,
    read_cached as read_cached,
    stored_file as stored_file,
    write_cached as write_cached,
)
from irkit.runtime.deploy import (
    OUTPUT_KINDS as OUTPUT_KINDS,
    OutputKind as OutputKind,
    build_library as build_library,
    c_compiler as c_compiler,
    machine_flags as machine_flags,
    run_tool as run_tool,
    write_sources as write_sources,
)
from irkit.runtime.device import (
    DeviceKernel as DeviceKernel,
    NoDevice as NoDevice,
    build_device_kernels as build_device_kernels,
    has_cuda as has_cuda,
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
)
from irkit.runtime.model_arrays import (
    Cache as Cache,
    rows_of as rows_of,
)
from irkit.runtime.numpy_layout import (
    check_numpy_layout as check_numpy_layout,
    with_strides as with_strides,
)
from irkit.runtime.object_loader.imported_functions import (
    imported as imported,
)
from irkit.runtime.object_loader.renamed_symbols import (
    can_rename as can_rename,
    with_symbols as with_symbols,
)
from irkit.runtime.packages import (
    PackageContents as PackageContents,
    PackageReport as PackageReport,
    read_package as read_package,
    write_package as write_package,
)
from irkit.runtime.pool import (
    has_parallel_loops as has_parallel_loops,
    link as link,
    num_threads as num_threads,
    set_num_threads as set_num_threads,
)
from irkit.runtime.profiles.clocks import (
    ClockReading as ClockReading,
    LoopClocks as LoopClocks,
)
from irkit.runtime.profiles.profile import (
    CallProfile as CallProfile,
    KernelProfile as KernelProfile,
    ModelProfile as ModelProfile,
)
from irkit.runtime.quick_call import (
    PreparedCall as PreparedCall,
)
from irkit.runtime.specialised import (
    Cut as Cut,
    DeferredModel as DeferredModel,
    Specialisation as Specialisation,
    Specialise as Specialise,
    SpecialisedModel as SpecialisedModel,
    StagedModel as StagedModel,
    load as load,
    parts_of as parts_of,
    verify_package as verify_package,
)
from irkit.runtime.wasm_module import (
    write_wasm as write_wasm,
)

check_numpy_layout()
