"""Object files and assembly from LLVM IR text: verify, optimise, generate code."""

from typing import Any

from irkit.codegen.llvm.compiler.host import complete_target, machine
from irkit.codegen.llvm.compiler.library import llvm_binding
from irkit.codegen.llvm.compiler.masked_logic import hide_logic
from irkit.codegen.llvm.compiler.masked_stores import has_narrow_masked_stores, hide_masks
from irkit.codegen.llvm.compiler.pass_manager import run_passes, run_quick_passes
from irkit.core import IRKitError, Target


def compile_object(llvm_text: str, target: Target, *, unroll: bool = True) -> bytes:
    """Compile a module of LLVM IR to an object file.

    Without ``unroll`` LLVM copies no loop bodies: compiling takes half the time, running twice.
    Raises: IRKitError if the text is not valid LLVM IR.
    """
    made = optimise(llvm_text, target, unroll=unroll)
    return machine(complete_target(target)).emit_object(made)


def assembly(llvm_text: str, target: Target) -> str:
    """Compile a module of LLVM IR to assembly."""
    return machine(complete_target(target)).emit_assembly(optimise(llvm_text, target))


def assembly_and_object(llvm_text: str, target: Target) -> tuple[str, bytes]:
    """Compile a module of LLVM IR once: to assembly, and that to the object file."""
    completed = complete_target(target)
    builder = machine(completed)
    text: str = builder.emit_assembly(optimise(llvm_text, completed))
    quoted = text.replace("\\", r"\5C").replace('"', r"\22").replace("\n", r"\0A")
    module = llvm_binding.parse_assembly(
        f'target triple = "{completed.triple}"\nmodule asm "{quoted}"',
        llvm_binding.create_context(),
    )
    return text, builder.emit_object(module)


def optimise(llvm_text: str, target: Target, *, unroll: bool = True) -> Any:
    """Parse, verify and optimise; return llvmlite's module, whose ``str`` is IR text.

    At level 1 few of LLVM's passes run: half the time for code that is vectors already, but loops
    over scalars stay as they are.
    Raises: IRKitError if the text is not valid LLVM IR, or the result of LLVM's passes is not.
    """
    completed = complete_target(target)
    module = _optimised(llvm_text, completed, completed.opt_level > 1, unroll)
    if not _verifies(module):
        # The SLP vectoriser of LLVM 22 may use a value before its definition.
        module = _optimised(llvm_text, completed, False, unroll)
        if not _verifies(module):
            raise IRKitError(
                "LLVM's passes turned this module into invalid IR",
                hint="Compile it with a lower opt_level.",
            )
    return _worked_around(module) if "+avx512f" in completed.features else module


def _worked_around(module: Any) -> Any:
    """Return a module without what LLVM's code generator gets wrong for AVX-512."""
    text = str(module)
    names = (function.name for function in module.functions)
    changed = hide_logic(hide_masks(text) if has_narrow_masked_stores(names) else text)
    if changed is text:
        return module
    module = llvm_binding.parse_assembly(changed, llvm_binding.create_context())
    module.verify()
    return module


def _optimised(llvm_text: str, completed: Target, slp_vectorize: bool, unroll: bool) -> Any:
    builder = machine(completed)  # Also initialises LLVM.
    try:
        module = llvm_binding.parse_assembly(llvm_text, llvm_binding.create_context())
        module.verify()
    except RuntimeError as error:
        raise IRKitError(f"the text is not valid LLVM IR: {error}") from None
    module.triple = completed.triple
    module.data_layout = str(builder.target_data)
    if completed.opt_level == 1:
        run_quick_passes(module, builder)
        return module
    options = llvm_binding.create_pipeline_tuning_options(speed_level=completed.opt_level)
    options.loop_vectorization = completed.opt_level > 1
    options.slp_vectorization = slp_vectorize
    options.loop_unrolling = unroll and options.loop_unrolling
    run_passes(module, builder, options)
    return module


def _verifies(module: Any) -> bool:
    try:
        module.verify()
    except RuntimeError:
        return False
    return True
