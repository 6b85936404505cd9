"""LLVM's passes, run without leaking memory."""

from typing import Any

from irkit.codegen.llvm.compiler.library import llvm_binding


def run_passes(module: Any, machine: Any, options: Any) -> None:
    """Run the default passes for a target machine on a module, tuned by ``options``."""
    # A pass manager that runs twice aborts the process, so each module gets its own.
    passes = llvm_binding.create_pass_builder(machine, options)
    _run(passes.getModulePassManager(), module, passes)


def run_quick_passes(module: Any, machine: Any) -> None:
    """Run what loops that are vectors already need: inline the functions that must be, keep local
    arrays in registers, and combine instructions."""
    options = llvm_binding.create_pipeline_tuning_options(speed_level=1)
    passes = llvm_binding.create_pass_builder(machine, options)
    manager = llvm_binding.newpassmanagers.create_new_module_pass_manager()
    manager.add_always_inliner_pass()
    manager.add_sroa_pass()
    manager.add_instruction_combine_pass()
    _run(manager, module, passes)


def _run(manager: Any, module: Any, passes: Any) -> None:
    try:
        manager.run(module, passes)
    finally:
        # llvmlite 0.50 calls dispose of the wrong base class, which leaks 100 KiB.
        llvm_binding.newpassmanagers.NewPassManager._dispose(manager)
        manager.detach()  # Prevents a second disposal.
