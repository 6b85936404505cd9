"""The code of a backend, compared with the loops that say what it must compute."""

from irkit.codegen import emit_stubs, runnable_target, stub_symbol, symbol
from irkit.core import IRModule, Target
from irkit.ir import PrimFunc
from irkit.phases.backends.backend import Backend
from irkit.phases.backends.claimed_kernels import ClaimedKernels
from irkit.phases.graph import GRAPH
from irkit.runtime import Kernel, imported, link, object_for
from irkit.transform import Pipeline


def check_backend(
    module: IRModule,
    backend: Backend,
    *,
    graph_pipeline: Pipeline = GRAPH,
    samples: int = 4,
    seed: int = 0,
) -> dict[str, str]:
    """Run each kernel of a module that a backend claims on drawn inputs, and compare it with its
    loops; return what is wrong, by the name of the kernel: an empty text for one that is right.

    ``samples`` and ``seed`` are those of ``irkit.debug.check_code``. Code of a backend runs in this
    process, and nothing checks where it writes.
    Raises: IRKitError if the backend gives no code, or code that does not compile or link.
    """
    target = runnable_target(Target("llvm"))
    claimed = ClaimedKernels((backend,), target)
    for step in backend.into(graph_pipeline).steps(module):
        after = step.applied_to(module)
        assert isinstance(after, IRModule)
        module = after
        claimed.note(module)
    from irkit.debug import check_code  # Whoever compiles needs nothing that debugs.

    found: dict[str, str] = {}
    for name in claimed.names:
        func = module[name]
        assert isinstance(func, PrimFunc)
        kernel = _kernel(func, claimed, target)
        found[name] = check_code(func, kernel, samples=samples, seed=seed) or ""
    return found


def _kernel(func: PrimFunc, claimed: ClaimedKernels, target: Target) -> Kernel:
    image = claimed.image(func)
    stubs = object_for(emit_stubs([func], target), target)
    names = (symbol(func.name), stub_symbol(func.name))
    imports = imported(claimed.imports.values())
    return Kernel(func, target, link([image, stubs], names, imports=imports))
