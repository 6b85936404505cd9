"""Compiled models for programs without Python: C sources, and libraries that a C compiler makes.

A model is compiled to the target "c"; its sources are one file of kernels and interface, a header,
the weights, a CMakeLists.txt and an example. Nothing of irkit is needed at run time.
"""

import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from irkit.codegen import (
    emit_header,
    emit_interface,
    folder_files,
    host_target,
    interface_names,
    link_flags,
)
from irkit.core import IRKitError, Target, atomic_write
from irkit.runtime.model import Model

OutputKind = Literal["shared", "static", "object", "c"]
OUTPUT_KINDS: tuple[OutputKind, ...] = ("shared", "static", "object", "c")
_FLAGS = ("-std=c11", "-O3", "-ffp-contract=off", "-fPIC", "-fvisibility=hidden", "-pthread")
_LONGEST = 600.0


def write_sources(
    model: Model, folder: "str | os.PathLike[str]", *, name: str = "model"
) -> list[Path]:
    """Write the C sources of a model to a folder, with a CMakeLists.txt and an example; return
    their paths.

    ``name`` is the prefix of files and functions. Raises: IRKitError if the model was not compiled
    here, or has a type that the interface lacks.
    """
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    files = source_files(model, name)
    beside = folder_files(name, model.foreign, model.plan.imports)
    files |= {file: text.encode() for file, text in beside.items()}
    return [_written(place / file, data) for file, data in files.items()]


def source_files(model: Model, name: str) -> dict[str, bytes]:
    """Return the files that a library is made of, by name."""
    interface_names(name)
    if not model.functions and not model.foreign and model.plan.calls:
        raise IRKitError(
            "C source is made of a model that was compiled here, for all its sizes",
            hint='Use irkit.compile(path, target="c", shapes={"x": ("batch", 128)}).',
        )
    code = emit_interface(model.plan, model.functions, model.target, name, model.foreign)
    return {
        f"{name}.h": emit_header(name).encode(),
        f"{name}.c": code.encode(),
        f"{name}_weights.c": folder_files(name)[f"{name}_weights.c"].encode(),
        f"{name}_weights.bin": bytes(model.contents.params),
        **{f"{name}_{each.symbol}.c": each.file(name).encode() for each in model.foreign},
    }


def build_library(
    model: Model,
    output: "str | os.PathLike[str]",
    kind: OutputKind,
    *,
    name: str = "model",
    header: "str | os.PathLike[str] | None" = None,
    compiler: Sequence[str] | None = None,
) -> list[Path]:
    """Make a library of a model, an object file, or its C file; return the paths of what was
    written.

    ``compiler`` is the command of a C compiler; without it the environment's ``CC``, or ``cc``.
    With the kind "c", header and weights are written beside the output.
    Raises: IRKitError if there is no compiler, or it fails.
    """
    path, files = Path(output), source_files(model, name)
    made = [] if header is None else [_written(Path(header), files[f"{name}.h"])]
    if kind == "c":
        beside = [_written(path.parent / file, data) for file, data in list(files.items())[2:]]
        if header is None:
            made.append(_written(path.parent / f"{name}.h", files[f"{name}.h"]))
        return [_written(path, files[f"{name}.c"]), *made, *beside]
    command = list(compiler) if compiler is not None else c_compiler()
    with tempfile.TemporaryDirectory(prefix="irkit-") as folder:
        for file, data in files.items():
            (Path(folder) / file).write_bytes(data)
        objects = [f"{file[:-2]}.o" for file in files if file.endswith(".c")]
        libraries = link_flags(model.plan.imports)
        for each in objects:
            source = f"{each[:-2]}.c"
            run_tool(
                [*command, *_FLAGS, *machine_flags(model.target), "-c", source, "-o", each], folder
            )
        result = "result"
        if kind == "shared":
            linked = ["-o", result, *objects, *libraries, "-lm"]
            run_tool([*command, "-shared", "-pthread", *linked], folder)
        elif kind == "object":
            run_tool([*command, "-r", "-nostdlib", "-o", result, *objects], folder)
        else:
            run_tool(["ar", "rcs", result, *objects], folder)
        return [_written(path, (Path(folder) / result).read_bytes()), *made]


def c_compiler() -> list[str]:
    """Return the command of the C compiler.

    Raises: IRKitError if there is none.
    """
    command = shlex.split(os.environ.get("CC") or "cc")
    if not command or shutil.which(command[0]) is None:
        raise IRKitError(
            f"a library needs a C compiler, and {command[0] if command else 'CC'!r} was not found",
            hint="Install one (apt install gcc), name it in CC, or write sources: --source-dir.",
        )
    return command


def machine_flags(target: Target) -> list[str]:
    """Return the flags that make a C compiler use the vectors of a target."""
    host = host_target()
    if (target.triple or host.triple, target.cpu or host.cpu) == (host.triple, host.cpu):
        return ["-march=native"]  # LLVM knows names of processors that other compilers lack.
    return [f"-march={target.cpu}"] if target.cpu else []


def run_tool(command: Sequence[str], folder: str) -> None:
    """Run a compiler or linker in a folder.

    Raises: IRKitError with what it said, if it is missing, fails, or takes more than ten minutes.
    """
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=False, timeout=_LONGEST
        )
    except FileNotFoundError:
        raise IRKitError(f"{command[0]!r} was not found; it is needed for a library") from None
    except subprocess.TimeoutExpired:
        raise IRKitError(f"{command[0]} took more than {_LONGEST:.0f} s") from None
    if done.returncode:
        said = "\n".join((done.stderr or done.stdout).splitlines()[:20])
        raise IRKitError(f"{shlex.join(command)} failed:\n{said}")


def _written(path: Path, data: bytes) -> Path:
    with atomic_write(path) as temporary:
        Path(temporary).write_bytes(data)
    return path
