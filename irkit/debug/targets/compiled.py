"""Programs of their own: C by a compiler, or LLVM's object files, linked with a driver.

A program for another processor is linked by a cross compiler and run by qemu-user.
"""

import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from irkit.codegen import emit_c
from irkit.core import IRKitError, Target
from irkit.debug.targets.c_driver import c_driver
from irkit.debug.targets.call_image import CallImage, call_image
from irkit.debug.targets.executor import (
    Legalise,
    TargetCall,
    TargetExecutor,
    TargetOutcome,
    refusing,
    unchanged,
)
from irkit.debug.targets.runner_table import Emulated
from irkit.ir import PrimFunc
from irkit.processes import death_text
from irkit.runtime import compile_functions, machine_flags

SECONDS = 300.0
_FLAGS = ("-std=c11", "-ffp-contract=off", "-pthread")


class CompiledExecutor(TargetExecutor):
    """Functions as C, or as LLVM's object files, in a program that a C compiler links.

    ``level`` is the compiler's option of optimisation. ``emulated`` says what links and runs
    programs of another processor. Units: ``seconds`` for the calls of one program.
    """

    def __init__(
        self,
        name: str,
        target: Target,
        compiler: str,
        legalise: Legalise = unchanged,
        *,
        emulated: Emulated | None = None,
        level: str = "-O2",
        seconds: float = SECONDS,
    ) -> None:
        super().__init__(name, target, legalise)
        self.compiler, self.emulated = compiler, emulated
        self.level, self.seconds = level, seconds

    @property
    def how(self) -> str:
        """What runs the code, for people."""
        built = f"C built by {self.compiler}" if self.target.kind == "c" else "LLVM's code"
        return f"{built}, run by {self.emulated.run[0]}" if self.emulated else built

    @property
    def missing(self) -> str:
        """What is not installed and where it comes from; empty if nothing is missing."""
        tools = [self.compiler, *(self.emulated.run[:1] if self.emulated else ())]
        away = [tool for tool in tools if shutil.which(tool) is None]
        packages = self.emulated.packages if self.emulated else self.compiler
        return f"{', '.join(away)} is not installed: apt install {packages}" if away else ""

    def run_all(self, calls: Sequence[TargetCall]) -> list[TargetOutcome]:
        """Run calls of functions with different names.

        Raises: IRKitError if they cannot be built.
        """
        funcs = list({func.name: func for func, _ in calls}.values())
        images = [(func, call_image(func, args)) for func, args in calls]
        with tempfile.TemporaryDirectory(prefix="irkit-targets-") as folder:
            self._build(funcs, images, Path(folder))
            with (Path(folder) / "in").open("wb") as file:
                for _, image in images:
                    file.write(image.memory)
            outcomes = list[TargetOutcome]()
            while len(outcomes) < len(images):
                outcomes += self._run_from(len(outcomes), images, Path(folder))
        return outcomes

    def _build(
        self, funcs: Sequence[PrimFunc], images: Sequence[tuple[PrimFunc, CallImage]], folder: Path
    ) -> None:
        parts = list[str]()
        with refusing():
            if self.target.kind == "c":
                parts.append("kernels.c")
                (folder / parts[0]).write_text(emit_c(funcs, self.target))
            else:
                module = compile_functions({func.name: func for func in funcs}, self.target)
                files = {data for k in module.kernels.values() for data in k.object_files()}
                for number, data in enumerate(sorted(files)):
                    parts.append(f"part{number}.o")
                    (folder / parts[-1]).write_bytes(data)
        (folder / "driver.c").write_text(c_driver(funcs, images))
        cross = ["-static"] if self.emulated else machine_flags(Target())
        command = [self.compiler, *_FLAGS, self.level, *cross, "-o", "program", "driver.c"]
        done = subprocess.run(
            [*command, *parts, "-lm"],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )
        if done.returncode:
            said = "\n".join(done.stderr.splitlines()[:20])
            raise IRKitError(f"{shlex.join(command)} failed:\n{said}")

    def _run_from(
        self, first: int, images: Sequence[tuple[PrimFunc, CallImage]], folder: Path
    ) -> list[TargetOutcome]:
        """Make the calls from a number on; the last outcome is that of a call that ended the
        program, if one did."""
        run = list(self.emulated.run) if self.emulated else []
        try:
            done = subprocess.run(
                [*run, "./program", "in", "out", str(first)],
                cwd=folder,
                capture_output=True,
                check=False,
                timeout=self.seconds,
                env={**os.environ, "LC_ALL": "C"},
            )
            code, said = done.returncode, done.stderr.decode(errors="replace")
        except subprocess.TimeoutExpired:
            code, said = -1, f"it did not end within {self.seconds:.0f} s"
        made = list[TargetOutcome]()
        with (folder / "out").open("rb") as file:
            for _, image in images[first:]:
                data = file.read(4 + len(image.memory))
                if len(data) < 4 + len(image.memory):
                    break
                made.append(_outcome(image, data))
        if len(made) < len(images) - first:
            text = said.strip().splitlines()[0] if said.strip() else f"it {death_text(code)}"
            made.append(TargetOutcome("failed", message=text[:300]))
        return made


def _outcome(image: CallImage, data: bytes) -> TargetOutcome:
    status = int.from_bytes(data[:4], "little", signed=True)
    try:
        arrays = image.arrays(data[4:])
    except IRKitError as error:
        return TargetOutcome("failed", message=str(error))
    if status:
        what = "it has no memory" if status < 0 else f"its assertion {status} does not hold"
        return TargetOutcome("stopped", arrays, what)
    return TargetOutcome("ran", arrays)
