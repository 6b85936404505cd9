"""The executor of a target, by its name."""

from irkit.core import IRKitError, Target, as_target
from irkit.debug.execution.executors import MAX_STEPS
from irkit.debug.targets.compiled import CompiledExecutor
from irkit.debug.targets.executor import Legalise, TargetExecutor, unchanged
from irkit.debug.targets.here import HereExecutor, InterpretedTarget, runs_here
from irkit.debug.targets.opencl import OpenCLExecutor
from irkit.debug.targets.runner_table import emulated_by, emulated_for_compiler
from irkit.debug.targets.webassembly import WasmExecutor


def target_executor(
    text: str, legalise: Legalise = unchanged, *, level: str = "-O2", max_steps: int = MAX_STEPS
) -> TargetExecutor:
    """Return what runs the code of a target on this machine.

    ``text`` is a target as ``irkit targets`` lists them, or "interpreter". "c@clang" names the
    compiler of C, which can be one for another processor ("c@aarch64-linux-gnu-gcc"), and
    "opencl@oclgrind" watches accesses. ``level`` is the option of optimisation for C compilers.
    Raises: IRKitError if nothing here can run the target, or there is no such target.
    """
    if text == "interpreter":
        return InterpretedTarget(max_steps)
    name, _, tool = text.partition("@")
    target = as_target(name)
    if tool and target.kind not in ("c", "opencl"):
        raise IRKitError(
            f"{text!r} names a tool after @, which is for the targets c and opencl",
            hint="Write c@clang, c@aarch64-linux-gnu-gcc or opencl@oclgrind.",
        )
    if target.kind == "c":
        compiler = tool or "cc"
        emulated = emulated_for_compiler(compiler)
        return CompiledExecutor(text, target, compiler, legalise, emulated=emulated, level=level)
    if target.kind == "opencl":
        if tool not in ("", "oclgrind"):
            raise IRKitError(f"{text!r}: OpenCL C is run by the first device, or by oclgrind")
        return OpenCLExecutor(text, target, legalise, watched=bool(tool))
    if runs_here(target):
        return HereExecutor(text, target, legalise)
    return _foreign(text, target, legalise, level)


def _foreign(text: str, target: Target, legalise: Legalise, level: str) -> TargetExecutor:
    family = target.triple.partition("-")[0]
    if target.kind == "llvm" and family == "wasm32":
        return WasmExecutor(text, target, legalise)
    row = emulated_by(family) if target.kind == "llvm" else None
    if row is None or "apple" in target.triple:
        raise IRKitError(
            f"nothing on this machine runs code for the target {text!r}",
            hint="Targets that run are those of this processor, aarch64, riscv64 and wasm32, "
            "c, opencl and interpreter.",
        )
    emulated = row.of(target)
    return CompiledExecutor(text, target, row.compiler, legalise, emulated=emulated, level=level)
