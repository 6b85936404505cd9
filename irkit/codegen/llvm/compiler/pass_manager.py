"""LLVM's passes, run without leaking memory."""

from typing import Any

from llvmlite import binding

llvm: Any = binding  # llvmlite comes without types.


def run_passes(module: Any, machine: Any, options: Any) -> None:
    """Run the default passes for a target machine on a module, tuned by ``options``."""
    # A pass manager that runs twice aborts the process, so each module gets its own.
    passes = llvm.create_pass_builder(machine, options)
    manager = passes.getModulePassManager()
    try:
        manager.run(module, passes)
    finally:
        # llvmlite 0.50 calls dispose of the wrong base class, which leaks 100 KiB.
        llvm.newpassmanagers.NewPassManager._dispose(manager)
        manager.detach()  # Prevents a second disposal.
