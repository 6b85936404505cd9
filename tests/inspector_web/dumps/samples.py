"""Dumps to read: samples that real tools made, and those of LLVM's own passes, made now."""

import subprocess
import sys
from pathlib import Path

import pytest

from irkit.inspector_web.dumps import readers
from irkit.inspector_web.dumps.tvm_dump import TVM
from irkit.transform import Step

SAMPLES = Path(__file__).parent / "samples"

_LLVM = """
import sys, llvmlite.binding as llvm
llvm.initialize_native_target()
llvm.initialize_native_asmprinter()
llvm.set_option("irkit", sys.argv[2])
module = llvm.parse_assembly(open(sys.argv[1]).read())
machine = llvm.Target.from_default_triple().create_target_machine(opt=2)
builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=2))
builder.getModulePassManager().run(module, builder)
"""


def llvm_dump(folder: Path, option: str) -> Path:
    """Run LLVM's passes at level 2 with an option that prints, and return the file."""
    command = [sys.executable, "-c", _LLVM, str(SAMPLES / "kernel.ll"), option]
    made = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    path = folder / "dump.txt"
    path.write_text(made.stderr)
    return path


def steps_of(path: Path) -> list[Step]:
    """Read a dump that is not damaged."""
    read = readers.read_dump(path)
    assert read.damage == ""
    return read.found.steps


def with_tvm(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read TVM's dumps, even if this checkout was installed before it had that entry point."""
    monkeypatch.setattr(readers, "OWN", (*readers.OWN, TVM))


def changed(steps: list[Step]) -> list[tuple[str, str]]:
    """List pass and function of the steps that changed something."""
    return [(step.name, step.function) for step in steps if step.changed]


def texts(step: Step) -> tuple[str, str]:
    """Return the text before and after a step, without blank lines."""
    before, after = step.scripts()
    return tuple("\n".join(filter(str.strip, side.split("\n"))) for side in (before, after))  # type: ignore[return-value]
