"""Programs for another processor: functions linked with a driver, run by qemu-user.

The driver holds the arguments of every call as data, makes the calls in order, and writes the
status and all arrays of each to its output.
"""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from irkit.codegen import emit_c, record_size
from irkit.codegen.c.source_file import c_signature, c_symbol
from irkit.core import Target
from irkit.ir import Buffer, PrimFunc, numpy_dtype, shape_vars
from irkit.runtime import compile_functions

Call = tuple[PrimFunc, list[Any]]


class Machine(msgspec.Struct, frozen=True):
    """A processor that can be emulated: its compiler, and the command that runs its programs."""

    target: str
    compiler: str
    run: tuple[str, ...]

    @property
    def missing(self) -> str:
        """Return what is not installed, and where it comes from; empty if nothing is missing."""
        tools = [tool for tool in (self.compiler, self.run[0]) if shutil.which(tool) is None]
        return f"missing {', '.join(tools)}: apt install {PACKAGES}" if tools else ""


class EmulatorFailed(Exception):
    """The emulator stopped at an assertion of its own, so it cannot run this program."""


PACKAGES = "qemu-user gcc-aarch64-linux-gnu gcc-riscv64-linux-gnu libc6-dev-{arm64,riscv64}-cross"
MACHINES = (
    Machine("raspberry-pi-4", "aarch64-linux-gnu-gcc", ("qemu-aarch64", "-cpu", "cortex-a72")),
    Machine("neoverse-v1", "aarch64-linux-gnu-gcc", ("qemu-aarch64", "-cpu", "max")),
    Machine("rv64gc", "riscv64-linux-gnu-gcc", ("qemu-riscv64", "-cpu", "rv64")),
    Machine(
        "rv64gcv",
        "riscv64-linux-gnu-gcc",
        ("qemu-riscv64", "-cpu", "rv64,v=true,vlen=128,vext_spec=v1.0"),
    ),
)
machines = pytest.mark.parametrize(
    "machine",
    [
        pytest.param(
            each, id=each.target, marks=pytest.mark.skipif(bool(each.missing), reason=each.missing)
        )
        for each in MACHINES
    ],
)


def run_native(machine: Machine, calls: Sequence[Call], folder: Path) -> list[list[Any] | int]:
    """Run functions as LLVM makes them for a machine."""
    funcs = _functions(calls)
    target = Target(machine.target, opt_level=2)
    module = compile_functions({func.name: func for func in funcs}, target)
    files = {data for kernel in module.kernels.values() for data in kernel.object_files()}
    names = list[str]()
    for number, data in enumerate(sorted(files)):
        names.append(f"part{number}.o")
        (folder / names[-1]).write_bytes(data)
    return _run(machine, calls, folder, names)


def run_c(machine: Machine, calls: Sequence[Call], folder: Path) -> list[list[Any] | int]:
    """Run functions as C that the machine's compiler builds."""
    (folder / "kernels.c").write_text(emit_c(_functions(calls), Target("c")))
    return _run(machine, calls, folder, ["kernels.c"])


def _functions(calls: Sequence[Call]) -> list[PrimFunc]:
    return list({func.name: func for func, _ in calls}.values())


def _run(
    machine: Machine, calls: Sequence[Call], folder: Path, parts: list[str]
) -> list[list[Any] | int]:
    (folder / "driver.c").write_text(_driver(calls))
    flags = ["-std=c11", "-O1", "-ffp-contract=off", "-static", "-pthread"]
    command = [machine.compiler, *flags, "-o", "program", "driver.c", *parts, "-lm"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:3000]
    ran = subprocess.run(
        [*machine.run, "./program"], cwd=folder, capture_output=True, check=False, timeout=300
    )
    if ran.returncode < 0 and ran.stderr.startswith(b"qemu-") and b"Assertion" in ran.stderr:
        raise EmulatorFailed(ran.stderr[:200].decode(errors="replace"))
    assert ran.returncode == 0, (ran.returncode, ran.stderr[:1000])
    return _read(calls, ran.stdout)


def _driver(calls: Sequence[Call]) -> str:
    lines = [
        "#include <stdint.h>",
        "#include <stdio.h>",
        "#include <stdlib.h>",
        "#include <stdbool.h>",
    ]
    lines += [f"int32_t {c_symbol(f.name)}({c_signature(f)});" for f in _functions(calls)]
    body: list[str] = []
    for number, (func, args) in enumerate(calls):
        given: list[str] = []
        sizes: dict[int, int] = {}
        outputs: list[tuple[str, int]] = []
        for place, (param, arg) in enumerate(zip(func.params, args, strict=True)):
            if not isinstance(param, Buffer):
                value = np.asarray(arg, numpy_dtype(param.dtype))
                given.append(_scalar(value))
                continue
            array, name = np.asarray(arg), f"data{number}_{place}"
            lines.append(_data(name, array))
            given.append(f"(void *){name}")
            outputs.append((name, array.nbytes))
            steps = [step // array.itemsize for step in array.strides]
            dims = (*param.shape, *(param.strides or ()))
            for dim, size in zip(dims, (*array.shape, *steps), strict=False):
                sizes.setdefault(id(dim), size)
        given += [f"INT64_C({sizes[id(var)]})" for var in shape_vars(func)]
        given += ["NULL"] if record_size(func) else []
        body.append(f"    status = {c_symbol(func.name)}({', '.join(given)});")
        body.append("    fwrite(&status, 4, 1, stdout);")
        body += [f"    fwrite({name}, 1, {size}, stdout);" for name, size in outputs]
    return "\n".join(
        [*lines, "int main(void) {", "    int32_t status;", *body, "    return 0;", "}"]
    )


def _scalar(value: Any) -> str:
    bits = int.from_bytes(value.tobytes(), "little")
    if value.dtype.kind == "f" and value.itemsize > 2:
        kind, whole = ("float", "uint32_t") if value.itemsize == 4 else ("double", "uint64_t")
        return f"((union {{ {whole} bits; {kind} x; }}){{{bits}ull}}).x"
    kind = f"{'u' if value.dtype.kind not in 'i' else ''}int{8 * value.itemsize}_t"
    return f"({kind}){bits}ull"


def _data(name: str, array: Any) -> str:
    raw = np.ascontiguousarray(array).tobytes() if array.flags.c_contiguous else b""
    assert raw or not array.size, "drivers take arrays without gaps"
    words = np.frombuffer(raw + bytes(-len(raw) % 8 + 8), "u8")
    return f"_Alignas(64) static uint64_t {name}[] = {{{', '.join(f'{w}u' for w in words)}}};"


def _read(calls: Sequence[Call], data: bytes) -> list[list[Any] | int]:
    """Return the arrays of each call, or its status if that is not 0."""
    found: list[list[Any] | int] = []
    at = 0
    for _, args in calls:
        status = int.from_bytes(data[at : at + 4], "little", signed=True)
        at += 4
        arrays = list[Any]()
        for arg in args:
            if isinstance(arg, np.ndarray):
                raw = data[at : at + arg.nbytes]
                arrays.append(np.frombuffer(raw, arg.dtype).reshape(arg.shape))
                at += arg.nbytes
        found.append(status or arrays)
    assert at == len(data)
    return found
