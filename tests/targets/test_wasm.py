"""WebAssembly: kernels with vectors of 128 bits, linked by wasm-ld and run by wasmtime."""

import importlib.util
import math
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import irkit
from irkit.core import Target
from irkit.fuzz import arguments
from irkit.ir import Buffer, parse, shape_vars
from irkit.phases import DEFAULT
from irkit.runtime import compile_functions
from tests.codegen.c.test_c_source import drawn
from tests.targets.emulated import Call
from tests.targets.test_emulated import EXAMPLES, check, contiguous, exact

LINKER = next((n for n in ("wasm-ld", "wasm-ld-14", "wasm-ld-19") if shutil.which(n)), "")
MISSING = ", ".join(
    what
    for what, there in (
        ("wasm-ld: apt install lld", LINKER),
        ("wasmtime: pip install wasmtime", importlib.util.find_spec("wasmtime")),
    )
    if not there
)
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(bool(MISSING), reason=f"missing {MISSING}"),
]
_PAGES = 256


def _remainder(a: float, b: float) -> float:
    if b == 0 or math.isinf(a) or a != a or b != b:
        return math.nan
    return math.fmod(a, b)


class WasmProgram:
    """Functions linked into one WebAssembly module; the host gives memory and fmod."""

    def __init__(self, calls: Sequence[Call], folder: Path) -> None:
        funcs = {func.name: func for func, _ in calls}
        module = compile_functions(funcs, Target("wasm32", opt_level=2))
        files = {data for kernel in module.kernels.values() for data in kernel.object_files()}
        names = list[str]()
        for number, data in enumerate(sorted(files)):
            names.append(f"part{number}.o")
            (folder / names[-1]).write_bytes(data)
        exports = [f"--export={name}" for name in (*funcs, "__heap_base")]
        options = ["--no-entry", "--allow-undefined", "-z", "stack-size=1048576"]
        command = [LINKER, *options, *exports, f"--initial-memory={_PAGES << 16}"]
        subprocess.run([*command, "-o", "program.wasm", *names], cwd=folder, check=True)
        self.code = (folder / "program.wasm").read_bytes()

    def run(self, func: Any, args: list[Any]) -> list[Any] | int:
        import wasmtime as w

        store = w.Store(w.Engine())
        module = w.Module(store.engine, self.code)
        linker = w.Linker(store.engine)
        top = [_PAGES << 16]

        def allocate(align: int, size: int) -> int:
            top[0] = (top[0] - size) // align * align
            return top[0]

        def copy(to: int, source: int, size: int) -> int:
            memory.write(store, bytes(memory.read(store, source, source + size)), to)
            return to

        def fill(to: int, byte: int, size: int) -> int:
            memory.write(store, bytes([byte & 255]) * size, to)
            return to

        host: dict[str, Callable[..., Any]] = {
            "aligned_alloc": allocate, "free": lambda _: None, "memcpy": copy, "memmove": copy,
            "memset": fill, "fmod": _remainder, "fmodf": _remainder,
        }  # fmt: skip
        for wanted in module.imports:
            linker.define(store, "env", wanted.name, w.Func(store, wanted.type, host[wanted.name]))
        exports = linker.instantiate(store, module).exports(store)
        memory = exports["memory"]
        at = -(-exports["__heap_base"].value(store) // 64) * 64
        given, places, sizes = list[Any](), list[tuple[int, Any]](), dict[int, int]()
        for param, arg in zip(func.params, args, strict=True):
            if not isinstance(param, Buffer):
                value = np.asarray(arg)
                small = value.dtype.itemsize == 2 and value.dtype.kind not in "iu"
                given.append(int(value.view("u2")) if small else value.item())
                continue
            memory.write(store, arg.tobytes(), at)
            places.append((at, arg))
            given.append(at)
            at = -(-(at + arg.nbytes + 1) // 64) * 64
            steps = [step // arg.itemsize for step in arg.strides]
            dims = (*param.shape, *(param.strides or ()))
            for dim, size in zip(dims, (*arg.shape, *steps), strict=False):
                sizes.setdefault(id(dim), size)
        given += [sizes[id(var)] for var in shape_vars(func)]
        status = exports[func.name](store, *given)
        if status:
            return status
        return [
            np.frombuffer(bytes(memory.read(store, begin, begin + array.nbytes)), array.dtype)
            .reshape(array.shape)
            for begin, array in places
        ]  # fmt: skip


def run_wasm(machine: object, calls: Sequence[Call], folder: Path) -> list[Any]:
    program = WasmProgram(calls, folder)
    return [program.run(func, args) for func, args in calls]


def test_random_programs(tmp_path: Path) -> None:
    funcs = [exact(func) for func in drawn(EXAMPLES, 5)]
    funcs += [DEFAULT.run(func).replace(name=f"{func.name}_low") for func in funcs]
    calls = [(func, arguments(func, seed=4)) for func in funcs]
    calls = [pair for pair in calls if contiguous(pair[1])]
    check(run_wasm, None, calls, tmp_path)  # pyright: ignore


AXPY = """\
def axpy(x: f32[8, 16], y: f32[8, 16]):
    for i in parallel(0, 8):
        for j in vectorized(0, 16):
            y[i, j] = x[i, j] * f32(3.0) + y[i, j]
"""


def test_a_kernel_has_vectors_of_128_bits(tmp_path: Path) -> None:
    kernel = irkit.build(parse(AXPY), target="wasm32")
    assert "f32x4.mul" in kernel.source("asm")
    x, y = np.random.default_rng(0).random((2, 8, 16), "f4")
    (found,) = run_wasm(None, [(kernel.func, [x, y])], tmp_path)
    np.testing.assert_array_equal(found[1], x * np.float32(3) + y)
