"""Run LLVM's passes on a module, and leave nothing behind."""

from typing import Any

from llvmlite import binding

llvm: Any = binding  # llvmlite comes without types.


def run_passes(module: Any, machine: Any, options: Any) -> None:
    """Run the default passes for a target machine, tuned as ``options`` say, on a module."""
    # One that runs twice aborts the process, so each module gets its own.
    passes = llvm.create_pass_builder(machine, options)
    manager = passes.getModulePassManager()
    try:
        manager.run(module, passes)
    finally:
        # llvmlite 0.50 asks the wrong parent of the class to dispose of it, and keeps 100 KiB.
        llvm.newpassmanagers.NewPassManager._dispose(manager)
        manager.detach()  # So that nobody disposes of it again.
